#!/bin/bash
# probe.sh OUTPUT [MPIRUN]: writes what this node offers to OUTPUT, which appears complete or not at all.
#
# MPIRUN is the path of one more program to look for. The fields of a line are separated by tabs; the first one is
# the kind of line. Needs bash and coreutils only, changes nothing.
set -u
export LC_ALL=C
output=$1
mpirun=${2-}
sys=${MPICAMPAIGN_SYSFS:-/sys}
host=$(uname -n)
part=$output.$host.$$.part

line() { # FIELD...: control characters become spaces
    local field text=
    for field in "$@"; do text+=${text:+$'\t'}${field//[[:cntrl:]]/ }; done
    printf '%s\n' "$text"
}

content() { # FILE: prints its first line, if it can be read
    local text=
    { IFS= read -r text <"$1"; } 2>/dev/null
    printf '%s' "$text"
}

# All CPUs that are online, not only those of the job: this describes the node.
topology() {
    local path socket siblings cpus=0
    local -A sockets=() cores=()
    for path in "$sys"/devices/system/cpu/cpu[0-9]*/topology; do
        socket=$(content "$path/physical_package_id")
        siblings=$(content "$path/thread_siblings_list")
        [ -n "$siblings" ] || continue
        cpus=$((cpus + 1))
        case $socket in '' | -*) socket=0 ;; esac # as the job library counts
        sockets[$socket]=1
        cores[$siblings]=1
    done
    line topology "${#sockets[@]}" "${#cores[@]}" "$cpus"
}

# The NUMA domains and L3 caches that the kernel shows: 0 where it shows none.
domains_and_caches() {
    local path domain cache
    local -A domains=() caches=()
    for path in "$sys"/devices/system/cpu/cpu[0-9]*; do
        for domain in "$path"/node[0-9]*; do [ -e "$domain" ] && domains[${domain##*/}]=1; done
        cache=$(content "$path/cache/index3/shared_cpu_list")
        [ -z "$cache" ] || caches[$cache]=1
    done
    line places "${#domains[@]}" "${#caches[@]}"
}

# The memory of the node in kB, and the model of its CPUs; aarch64 names none.
memory_and_model() {
    local key value rest
    while read -r key value rest; do
        [ "$key" = MemTotal: ] && line memory "$value" && break
    done </proc/meminfo 2>/dev/null
    while IFS=: read -r key value; do
        case $key in "model name"*) line model "${value# }" && break ;; esac
    done </proc/cpuinfo 2>/dev/null
}

# The interfaces that have a route, and so an address: " eth0  eth1 ".
routed() {
    local name rest
    while read -r name rest; do printf ' %s ' "$name"; done </proc/net/route 2>/dev/null
}

interfaces() {
    local path name hardware route routes
    routes=$(routed)
    for path in "$sys"/class/net/*; do
        name=${path##*/}
        case $name in lo | docker* | virbr* | veth* | vnet* | cni* | cali* | flannel* | dummy* | ifb*) continue ;; esac
        if [ -e "$path/bridge" ] || [ -e "$path/tun_flags" ] || [ ! -e "$path/operstate" ]; then continue; fi
        hardware=no route=no
        { [ -e "$path/device" ] || [ -e "$path/bonding" ]; } && hardware=yes
        [[ $routes == *" $name "* ]] && route=yes
        line interface "$name" "$(content "$path/operstate")" "$(content "$path/speed")" "$hardware" "$route"
    done
}

ports() {
    local path device
    for path in "$sys"/class/infiniband/*/ports/*; do
        [ -e "$path/state" ] || continue
        device=${path%/ports/*}
        line port "${device##*/}" "${path##*/}" "$(content "$path/state")" "$(content "$path/link_layer")" "$(content "$path/rate")"
    done
    for path in "$sys"/class/infiniband/*; do
        [ -e "$path" ] && line device "${path##*/}" "$(driver "$path")" "$(content "$path/node_type")"
    done
    for path in "$sys"/class/cxi/*; do # Slingshot, whose second generation numbers its ports
        [ -e "$path" ] || continue
        line port "${path##*/}" 0 "$(content "$path/device/port/link")$(content "$path/device/port/0/link/state")" '' \
            "$(content "$path/device/port/speed")$(content "$path/device/port/0/link/speed")"
    done
}

driver() { # FOLDER of a device
    local key value
    while IFS='=' read -r key value; do [ "$key" = DRIVER ] && printf '%s' "$value" && break; done <"$1/device/uevent"
} 2>/dev/null

version() { # COMMAND...: the first line that it prints within 5 s
    local text
    text=$(timeout 5 "$@" 2>/dev/null </dev/null)
    printf '%s' "${text%%$'\n'*}"
}

programs() {
    local name path
    for name in mpirun mpiexec mpicc ompi_info numactl taskset IMB-MPI1 osu_latency; do
        path=$(command -v "$name") && line program "$name" "$path"
    done
    command -v mpirun >/dev/null && line version mpirun "$(version mpirun --version)"
    command -v ompi_info >/dev/null && line version ompi_info "$(version ompi_info --version)"
    [ -n "$mpirun" ] && [ -x "$mpirun" ] && line program environment "$mpirun"
}

trap 'rm -f "$part"' EXIT
{
    echo '#mpicampaign-probe 1'
    line host "$host"
    topology
    domains_and_caches
    memory_and_model
    interfaces
    ports
    programs
    echo 'end of probe'
} >"$part" && mv -f "$part" "$output"
