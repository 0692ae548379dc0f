# shellcheck shell=bash disable=SC2034,SC2154

# ---- Evidence of a node and of the settings

record_node() { # before|after
    local sys=${MPICAMPAIGN_SYSFS:-/sys} counter value name load ticks
    read -r load </proc/loadavg
    record "node $HOSTNAME $1.load=${load% * *}"
    read_ticks
    record "node $HOSTNAME $1.ticks=${ticks[*]}"
    for counter in /sys/class/net/*/statistics/[rt]x_bytes; do
        name=${counter#/sys/class/net/}
        read -r value <"$counter" && record "node $HOSTNAME $1.net.${name%%/*}.${name##*/}=$value"
    done 2>/dev/null
    for counter in /sys/class/infiniband/*/ports/*/counters/port_{xmit,rcv}_data; do
        name=${counter#/sys/class/infiniband/}
        read -r value <"$counter" && record "node $HOSTNAME $1.ib.${name%%/*}.${name##*/}=$value"
    done 2>/dev/null
    # EFA and other devices that count bytes; Slingshot, with the time: 123@1700000000.5
    for counter in "$sys"/class/infiniband/*/ports/*/hw_counters/[rt]x_bytes \
        "$sys"/class/cxi/*/device/telemetry/hni_sts_[rt]x_ok_octets; do
        name=${counter#"$sys"/class/*/}
        read -r value <"$counter" && record "node $HOSTNAME $1.rdma.${name%%/*}.${name##*/}=${value%%@*}"
    done 2>/dev/null
    record_errors "$1"
}
# ticks=(...): clock ticks of all CPUs: used by any process, taken by the hypervisor, and in all.
read_ticks() {
    local user nice system idle wait irq softirq steal used
    read -r _ user nice system idle wait irq softirq steal _ </proc/stat
    used=$((user + nice + system + irq + softirq))
    ticks=("$used" "$steal" "$((used + steal + idle + wait))")
}
# How many CPUs others use once the ranks of a run that met its time limit have ended: the limit may be theirs.
record_others() {
    local ticks before cpus used
    read_ticks
    before=("${ticks[@]}")
    sleep 1
    read_ticks
    cpus=$(grep -c '^cpu[0-9]' /proc/stat)
    ((ticks[2] > before[2])) || return 0
    used=$((10 * cpus * (ticks[0] - before[0]) / (ticks[2] - before[2])))
    record "job others_used_cpus=$((used / 10)).$((used % 10)) of $cpus"
}
record_system() {
    local key value
    record_facts
    # A bond or VLAN counts the bytes of the interfaces below it again.
    for value in /sys/class/net/*/lower_*; do
        key=${value#/sys/class/net/}
        [ -e "$value" ] && record "node $HOSTNAME below.${key%%/*}/${key##*/lower_}=yes"
    done
    [ -z "${MPICAMPAIGN_SYSFS-}" ] || record "node $HOSTNAME declared_topology=$MPICAMPAIGN_SYSFS"
    record "node $HOSTNAME sockets=${#found[@]}"
    record "node $HOSTNAME cores=${#cores[@]}"
    record "node $HOSTNAME cpus=${cpus[*]}"
}
# The variables of MPI and of the job, except names that hint at a secret; then further settings that the label
# claims. Each rank records what differs from this file.
record_environment() {
    local lines
    list_environment 3>"$common/environment"
    mapfile lines <"$common/environment" # without a process
    printf '%s' "${lines[@]}" >&3
}
list_environment() {
    local name
    for name in "${!I_MPI_@}" "${!FI_@}" "${!OMPI_@}" "${!PMIX_@}" "${!PRTE_@}" "${!UCX_@}" "${!UCC_@}" "${!HCOLL_@}" \
        "${!HYDRA_@}" "${!MPIEXEC_@}" "${!MPIR@}" "${!MPIC@}" "${!MV2_@}" "${!PSM@}" "${!OMP_@}" "${!KMP_@}" "${!GOMP_@}" \
        "${!CUDA_@}" "${!NCCL_@}" "${!RCCL_@}" "${!ROCR_@}" "${!HIP_@}" "${!LD_@}" "${!GLIBC@}" "${!MALLOC_@}" "${!SLURM_JOB@}" "${!SLURM_N@}" "${!LSB_J@}" "${!LSB_H@}" \
        "${!LSB_M@}" LSB_QUEUE LSB_PROJECT_NAME PATH; do
        case ${name^^} in *TOKEN* | *SECRET* | *PASS* | *PWD* | *KEY* | *CRED* | *AUTH* | *COOKIE*) continue ;; esac
        record_variable "$name"
    done
    for name in $further_settings; do record_variable "$name"; done
}
record_variable() { [ -z "${!1+set}" ] || record "job env.$1=${!1}"; }
