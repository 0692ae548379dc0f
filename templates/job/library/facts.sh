# shellcheck shell=bash disable=SC2154

# ---- Facts by which nodes of one group may differ, and counters of their hardware's errors. What cannot be read,
# or is unknown, has no line. Files are read without processes: a node may have hundreds.

fact() { # KEY FILE
    local value=
    IFS= read -r value <"$2"
    case $value in '' | -1 | 4294967295 | unknown) ;; *) record "node $HOSTNAME $1=$value" ;; esac
}
record_facts() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} key value path devices=()
    read -r key </proc/sys/kernel/ostype
    read -r value </proc/sys/kernel/osrelease
    record "node $HOSTNAME kernel=$key $value"
    fact boot_id /proc/sys/kernel/random/boot_id
    while IFS=: read -r key value; do
        case $key in
            "model name"*) record "node $HOSTNAME cpu_model=${value# }" ;;
            microcode*) record "node $HOSTNAME microcode=${value# }" ;;
            "cpu MHz"*) record "node $HOSTNAME frequency_mhz=${value# }" && break ;;
        esac
    done </proc/cpuinfo
    read -r key value _ </proc/meminfo
    [ "$key" != MemTotal: ] || record "node $HOSTNAME memory_kb=$value"
    # Some kernels do not show on which NUMA nodes a process has its memory.
    value=no
    [ -e /proc/self/numa_maps ] && value=yes
    record "node $HOSTNAME numa_maps=$value"
    # Automatic NUMA balancing acts on ranks that taskset bound, not on those with numactl's own memory policy.
    fact numa_balancing /proc/sys/kernel/numa_balancing
    fact numa_nodes "$sys/devices/system/node/online"
    fact transparent_hugepages "$sys/kernel/mm/transparent_hugepage/enabled"
    fact bios "$sys/class/dmi/id/bios_version"
    path=$sys/devices/system/cpu
    fact online_cpus "$path/online"
    fact smt "$path/smt/control"
    fact governor "$path/cpu0/cpufreq/scaling_governor"
    fact scaling_min_freq "$path/cpu0/cpufreq/scaling_min_freq"
    fact scaling_max_freq "$path/cpu0/cpufreq/scaling_max_freq"
    fact boost "$path/cpufreq/boost"
    fact no_turbo "$path/intel_pstate/no_turbo"
    for path in "$sys"/class/net/*; do
        value=
        read -r value <"$path/operstate"
        [ "$value" = up ] || continue
        for key in speed duplex mtu; do fact "$key.${path##*/}" "$path/$key"; done
        record_driver "$path"
    done
    for path in "$sys"/class/infiniband/*; do
        [ -e "$path" ] || continue
        devices+=("${path##*/}")
        fact "firmware.${path##*/}" "$path/fw_ver"
        fact "node_type.${path##*/}" "$path/node_type"
        record_driver "$path"
    done
    record "node $HOSTNAME infiniband=${devices[*]:-none}"
    for path in "$sys"/class/infiniband/*/ports/*; do
        key=${path#"$sys"/class/infiniband/} key=${key/\/ports/}
        fact "state.$key" "$path/state"
        fact "link.$key" "$path/link_layer"
        fact "rate.$key" "$path/rate" # with the width: 100 Gb/sec (4X EDR)
    done
    record_gpus
} 2>/dev/null
record_driver() { # FOLDER of a network device
    local key driver='' version=
    while IFS='=' read -r key driver && [ "$key" != DRIVER ]; do :; done <"$1/device/uevent"
    read -r version <"$1/device/driver/module/version" # in drivers of vendors
    [ "$key" != DRIVER ] || record "node $HOSTNAME driver.${1##*/}=$driver${version:+ $version}"
}
# A sum over files, where any can be read.
total() { # KEY FILE...
    local file value sum=
    for file in "${@:2}"; do
        value=
        read -r value <"$file"
        case $value in '' | *[!0-9]*) ;; *) sum=$((${sum:-0} + 10#$value)) ;; esac
    done
    [ -z "$sum" ] || record "node $HOSTNAME $1=$sum"
}
record_errors() { # before|after
    local sys=${MPICAMPAIGN_SYSFS:-/sys} path key name socket throttled=()
    path=$sys/devices/system/cpu
    for key in "${cores[@]}"; do throttled+=("$path/cpu$key/thermal_throttle/core_throttle_count"); done
    for socket in "${found[@]}"; do # each CPU counts for its whole socket
        throttled+=("$path/cpu${cores_of[$socket]%% *}/thermal_throttle/package_throttle_count")
    done
    total "$1.throttled" "${throttled[@]}"
    total "$1.ecc_corrected" "$sys"/devices/system/edac/mc/mc*/ce_count
    total "$1.ecc_uncorrected" "$sys"/devices/system/edac/mc/mc*/ue_count
    for path in "$sys"/class/infiniband/*/ports/*/counters; do
        key=${path#"$sys"/class/infiniband/} key=${key%/counters}
        for name in symbol_error link_downed port_rcv_errors; do fact "$1.$name.${key/\/ports/}" "$path/$name"; done
    done
    for path in "$sys"/class/net/*; do
        [ -e "$path/device" ] || continue
        key=${path##*/}
        fact "$1.rx_errors.$key" "$path/statistics/rx_errors"
        fact "$1.tx_errors.$key" "$path/statistics/tx_errors"
        fact "$1.carrier_down_count.$key" "$path/carrier_down_count"
    done
} 2>/dev/null
