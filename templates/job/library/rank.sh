# shellcheck shell=bash disable=SC2034,SC2154

# ---- Ranks on a node. The job script sets ranks_per_node, threads of a rank, sockets (0: the placement claims none),
# binding, device, interface, rank_variable, local_rank_variable and evidence_library (empty: none is preloaded).

threads=1

# The physical cores that this process may use: found=(0 1), cores_of[0]="0 1 ". Hyper-threads count as one core,
# with the number of its first CPU; CPUs outside the job's allocation are left out.
read_topology() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} allowed=${MPICAMPAIGN_ALLOWED-}
    local key value range cpu path socket siblings
    local -A seen=()
    declare -gA cores_of=()
    found=()
    cores=()
    while [ -z "$allowed" ] && IFS=$':\t ' read -r key value; do
        [ "$key" = Cpus_allowed_list ] && allowed=$value
    done </proc/self/status
    for range in ${allowed//,/ }; do
        for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do
            path=$sys/devices/system/cpu/cpu$cpu/topology
            { read -r socket <"$path/physical_package_id" && read -r siblings <"$path/thread_siblings_list"; } 2>/dev/null || continue
            if [ "$socket" -ge 0 ] && [ -z "${seen[$siblings]-}" ]; then
                seen[$siblings]=1
                [ -n "${cores_of[$socket]-}" ] || found+=("$socket")
                cores_of[$socket]+="$cpu "
                cores+=("$cpu")
            fi
        done
    done
}
# cpus=(...): for each local rank, in order, a CPU for each of its threads (2,3); empty where the node has too few.
choose_cpus() {
    local all=$((ranks_per_node * threads)) chosen=() each first list own socket taken=0
    cpus=()
    if [ "$sockets" -eq 0 ]; then
        [ "${#cores[@]}" -ge "$all" ] && chosen=("${cores[@]:0:all}")
    else
        each=$(((ranks_per_node + sockets - 1) / sockets))
        each=$((each * threads))
        for socket in "${found[@]}"; do
            read -ra list <<<"${cores_of[$socket]}"
            if [ "${#list[@]}" -ge "$each" ] && [ "$taken" -lt "$sockets" ]; then
                chosen+=("${list[@]:0:each}")
                taken=$((taken + 1))
            fi
        done
        [ "$taken" -eq "$sockets" ] || chosen=()
    fi
    for ((first = 0; first < ${#chosen[@]}; first += threads)); do
        printf -v own '%s,' "${chosen[@]:first:threads}"
        cpus+=("${own%,}")
    done
}
# Prints the tool that binds a rank on this node: numactl, else taskset; nothing where neither works. Containers and
# kernels without NUMA may refuse numactl's memory policy.
binding_tool() {
    if numactl --localalloc true >/dev/null 2>&1; then
        echo numactl
    elif taskset -cp $$ >/dev/null 2>&1; then
        echo taskset
    fi
}
# Prints what this node lacks for the placement, as "cores: why", "program: why", "network: why" or "gpus: why".
lacks() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} one=([1]='') needs=$((ranks_per_node * threads)) offers port state=
    offers="${#found[@]} socket${one[${#found[@]}]-s} and ${#cores[@]} core${one[${#cores[@]}]-s}"
    if [ "$binding" = core ] && [ "${#cpus[@]}" -eq 0 ]; then
        if [ "$sockets" -eq 0 ]; then
            echo "cores: needs $needs cores; $HOSTNAME offers $offers"
        else
            echo "cores: needs $needs cores on $sockets socket${one[sockets]-s}; $HOSTNAME offers $offers"
        fi
    elif [ "$binding" = core ] && [ -z "$(binding_tool)" ]; then
        echo "program: no working numactl or taskset on $HOSTNAME to bind the ranks; install numactl, or util-linux"
    elif [ -n "$device" ] && [ ! -e "$sys/class/infiniband/$device" ]; then
        echo "network: no InfiniBand device $device on $HOSTNAME"
    elif [ -n "$device" ]; then
        for port in "$sys/class/infiniband/$device"/ports/*/state; do state+=$(cat "$port"); done
        [[ $state == *ACTIVE* ]] || echo "network: no active port of InfiniBand device $device on $HOSTNAME"
    elif [ -n "$interface" ] && [ ! -e "$sys/class/net/$interface" ]; then
        echo "network: no network interface $interface on $HOSTNAME"
    else
        lacks_gpus
    fi
}
# Writes the program that starts each rank: the functions above, with this job's placement.
write_rank() {
    local script_host=$HOSTNAME
    {
        echo '#!/bin/bash'
        declare -p ranks_per_node threads sockets binding device interface rank_variable local_rank_variable evidence_library
        declare -p script_host hosts gpus_per_node gpu_binding
        declare -f read_topology choose_cpus binding_tool lacks record record_facts fact record_driver become "${gpu_functions[@]}"
        echo 'become "$@"'
    } >"$rank"
    chmod +x,go-w "$rank"
    [ -x "$rank" ] || fail 72 "${run%/runs/*} is on a file system without permission to execute (noexec): put the results elsewhere"
    read_topology
    choose_cpus
}
become() { # PROGRAM ARGUMENTS...: one rank
    local number=${!rank_variable-} local_number=${!local_rank_variable-} mine bind=() cpu tool memory why library
    read -r HOSTNAME </proc/sys/kernel/hostname
    if [ -z "$number" ] || [ -z "$local_number" ]; then
        echo "the launcher did not set $rank_variable and $local_rank_variable" >&2
        exit 71
    fi
    mine=${0%/*}/ranks/$number
    if [ "$binding" = core ]; then
        read_topology
        choose_cpus
        cpu=${cpus[local_number]-}
        tool=$(binding_tool)
        case ${cpu:+$tool} in
            numactl) bind=(numactl --physcpubind="$cpu" --localalloc --) memory=local ;;
            taskset) # keeps the memory policy; the kernel's default is local, too, by first touch
                bind=(taskset -c "$cpu")
                { read -r _ memory _ </proc/self/numa_maps; } 2>/dev/null
                [ "${memory:-default}" != default ] || memory='first touch'
                ;;
            *)
                why=$(lacks)
                echo "rank $number: ${why:-the launcher started more than $ranks_per_node ranks on $HOSTNAME}" >&2
                exit 71
                ;;
        esac
        printf 'rank %s launch.bound_by=%s\nrank %s launch.memory=%s\n' "$number" "$tool" "$number" "$memory" >>"$mine"
    fi
    give_gpus "$mine"
    echo "rank $number launch.host=$HOSTNAME" >>"$mine"
    # The job script describes its own host, and those that the campaign lists.
    if [ "$local_number" -eq 0 ] && [ "${#hosts[@]}" -eq 0 ] && [ "$HOSTNAME" != "$script_host" ]; then
        record_facts 3>>"$mine"
    fi
    export MPICAMPAIGN_RANK=$number MPICAMPAIGN_LOCAL_RANK=$local_number MPICAMPAIGN_LOCAL_RANKS=$ranks_per_node
    export MPICAMPAIGN_EVIDENCE_FILE=$mine
    export MPICAMPAIGN_CHECKSUMS=${0%/runs/*}/lib/checksums MPICAMPAIGN_ENVIRONMENT=${0%/*}/environment
    library=$evidence_library
    # LD_PRELOAD is split at spaces and colons: a library with one in its path is passed as a file descriptor.
    case $library in
        *[[:space:]:]*) exec 8<"$library" && library=/proc/self/fd/8 ;;
    esac
    [ -z "$library" ] || export LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}"
    exec "${bind[@]}" "$@"
}
