# shellcheck shell=bash disable=SC2034,SC2154

# ---- Ranks on a node. The job script sets ranks_per_node, threads of a rank, sockets (0: the placement claims none),
# binding, device, interface, rank_variable, local_rank_variable and evidence_library (empty: none is preloaded).

threads=1 sockets=0 numa_domains=0 l3_caches=0

# The physical cores that this process may use: found=(0 1), cores_of[0]="0 1 ". Hyper-threads count as one core,
# with the number of its first CPU; CPUs outside the job's allocation are left out. A socket without a number is 0: some
# kernels know none (-1). The cores of each cell are in cores_in, by the names of `name_cell`.
read_topology() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} allowed=${MPICAMPAIGN_ALLOWED-}
    local key value range cpu path socket siblings cell
    local -A seen=()
    declare -gA cores_of=() cores_in=()
    found=()
    cores=()
    cells=()
    while [ -z "$allowed" ] && IFS=$':\t ' read -r key value; do
        [ "$key" = Cpus_allowed_list ] && allowed=$value
    done </proc/self/status
    for range in ${allowed//,/ }; do
        for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do
            path=$sys/devices/system/cpu/cpu$cpu
            socket='' siblings=''
            { read -r siblings <"$path/topology/thread_siblings_list"; read -r socket <"$path/topology/physical_package_id"; } 2>/dev/null
            case $socket in '' | -*) socket=0 ;; esac
            if [ -n "$siblings" ] && [ -z "${seen[$siblings]-}" ]; then
                seen[$siblings]=1
                [ -n "${cores_of[$socket]-}" ] || found+=("$socket")
                cores_of[$socket]+="$cpu "
                cores+=("$cpu")
                name_cell "$socket" "$path"
                [ -n "${cores_in[$cell]-}" ] || cells+=("$cell")
                cores_in[$cell]+="$cpu "
            fi
        done
    done
}
# cell="SOCKET DOMAIN CACHE" of a core; "-" for what the placement does not claim, "?" for what /sys does not tell. An
# L3 cache has the number of its first CPU.
name_cell() { # SOCKET FOLDER
    local socket=- domain=- cache=-
    [ "$sockets" -eq 0 ] || socket=$1
    if [ "$numa_domains" -gt 0 ]; then
        for domain in "$2"/node[0-9]*; do domain=${domain##*/node}; done
    fi
    if [ "$l3_caches" -gt 0 ]; then
        cache=
        { read -r cache <"$2/cache/index3/shared_cpu_list"; } 2>/dev/null
        cache=${cache%%[,-]*}
    fi
    cell="$socket ${domain/#\[*/?} ${cache:-?}"
}
# cpus=(...): for each local rank, in order, a CPU for each of its threads (2,3); empty where the node has too few.
choose_cpus() {
    local wanted=1 each cell first list own picked=() chosen=()
    cpus=()
    for each in "$sockets" "$numa_domains" "$l3_caches"; do ((each <= wanted)) || wanted=$each; done
    each=$(((ranks_per_node + wanted - 1) / wanted))
    each=$((each * threads))
    pick_cells "$wanted" 0 || return 0
    for cell in "${picked[@]}"; do
        read -ra list <<<"${cores_in[$cell]}"
        chosen+=("${list[@]:0:each}")
    done
    for ((first = 0; first < ${#chosen[@]}; first += threads)); do
        printf -v own '%s,' "${chosen[@]:first:threads}"
        cpus+=("${own%,}")
    done
}
# picked=(...): the first cells with enough cores that are as many sockets, NUMA domains and L3 caches as claimed.
# Where one L3 cache of a domain does not do, its others do not either: to try them takes minutes.
pick_cells() { # HOW_MANY_MORE FIRST
    local index list failed=
    if [ "$1" -eq 0 ]; then
        spread_as_claimed exactly
        return
    fi
    for ((index = $2; index + $1 <= ${#cells[@]}; index++)); do
        read -ra list <<<"${cores_in[${cells[index]}]}"
        if [ "${#list[@]}" -lt "$each" ] || [[ ${cells[index]} == *\?* || ${cells[index]% *} == "$failed" ]]; then continue; fi
        picked+=("${cells[index]}")
        if spread_as_claimed && pick_cells $(($1 - 1)) $((index + 1)); then return 0; fi
        unset 'picked[-1]'
        failed=${cells[index]% *}
    done
    return 1
}
# Whether the picked cells are on no more sockets, domains and caches than claimed, in equal parts.
spread_as_claimed() { # [exactly]
    local claimed=("$sockets" "$numa_domains" "$l3_caches") cell level part
    local -A cells_on=() many=()
    for cell in "${picked[@]}"; do
        level=0
        for part in $cell; do
            if [ "${claimed[level]}" -gt 0 ]; then
                ((++cells_on[$level.$part] > 1)) || many[$level]=$((${many[$level]-0} + 1))
                ((cells_on[$level.$part] * claimed[level] < wanted + claimed[level])) || return 1
            fi
            level=$((level + 1))
        done
    done
    for level in "${!many[@]}"; do
        ((many[$level] <= claimed[level])) || return 1
        [ -z "${1-}" ] || ((many[$level] == claimed[level])) || return 1
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
# Prints " on 2 L3 caches of 1 NUMA domain": what the placement claims, the smallest first.
wanted_places() {
    local text='' one=([1]='')
    [ "$l3_caches" -eq 0 ] || text+=" of $l3_caches L3 cache${one[l3_caches]-s}"
    [ "$numa_domains" -eq 0 ] || text+=" of $numa_domains NUMA domain${one[numa_domains]-s}"
    [ "$sockets" -eq 0 ] || text+=" of $sockets socket${one[sockets]-s}"
    printf '%s' "${text/# of/ on}"
}
# Prints "1 socket, 2 L3 caches and 8 cores": what this node has of them.
offered_places() {
    local cell domain cache one=([1]='')
    local -A domains=() caches=()
    for cell in "${cells[@]}"; do
        read -r _ domain cache <<<"$cell"
        [ "$domain" = \? ] || domains[$domain]=
        [ "$cache" = \? ] || caches[$cache]=
    done
    printf '%s' "${#found[@]} socket${one[${#found[@]}]-s}"
    [ "$numa_domains" -eq 0 ] || printf ', %s' "${#domains[@]} known NUMA domain${one[${#domains[@]}]-s}"
    [ "$l3_caches" -eq 0 ] || printf ', %s' "${#caches[@]} known L3 cache${one[${#caches[@]}]-s}"
    printf ' and %s' "${#cores[@]} core${one[${#cores[@]}]-s}"
}
# Prints what this node lacks for the placement, as "cores: why", "program: why", "network: why" or "gpus: why".
lacks() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} port state=
    if [ "$binding" = core ] && [ "${#cpus[@]}" -eq 0 ]; then
        echo "cores: needs $((ranks_per_node * threads)) cores$(wanted_places); $HOSTNAME offers $(offered_places)"
    elif [ "$binding" = core ] && [ -z "$(binding_tool)" ]; then
        echo "program: no working numactl or taskset on $HOSTNAME to bind the ranks; install numactl, or util-linux"
    elif [ -e "$sys/class/infiniband/$device/ports" ]; then
        for port in "$sys/class/infiniband/$device"/ports/*/state; do state+=$(cat "$port"); done
        [[ $state == *ACTIVE* ]] || echo "network: no active port of device $device on $HOSTNAME"
    elif [ -n "$device" ] && [ ! -e "$sys/class/cxi/$device" ]; then
        echo "network: no RDMA device $device on $HOSTNAME"
    elif [ -n "$interface" ] && [ ! -e "$sys/class/net/$interface" ]; then
        echo "network: no network interface $interface on $HOSTNAME"
    else
        lacks_gpus
    fi
}
# The functions that place ranks.
placing=(read_topology name_cell choose_cpus pick_cells spread_as_claimed wanted_places offered_places binding_tool lacks)
# Writes the program that starts each rank: the functions above, with this job's placement.
write_rank() {
    local script_host=$HOSTNAME
    {
        echo '#!/bin/bash'
        declare -p ranks_per_node threads sockets numa_domains l3_caches binding device interface rank_variable local_rank_variable evidence_library
        declare -p run script_host hosts gpus_per_node gpu_binding
        declare -f "${placing[@]}" record record_facts fact record_driver preload become "${gpu_functions[@]}"
        echo 'become "$@"'
    } >"$rank"
    chmod +x,go-w "$rank"
    [ -x "$rank" ] || fail 72 "${run%/runs/*} is on a file system without permission to execute (noexec): put the results elsewhere"
    read_topology
    choose_cpus
}
preload() { # LD_PRELOAD is split at spaces and colons: a library with one in its path is passed as a file descriptor
    local library=$evidence_library
    [ -e "$library" ] || return 0 # no C compiler was there to build it
    case $library in
        *[[:space:]:]*) exec 8<"$library" && library=/proc/self/fd/8 ;;
    esac
    export LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}"
}
become() { # PROGRAM ARGUMENTS...: one rank
    local number=${!rank_variable-} local_number=${!local_rank_variable-} mine bind=() cpu tool memory why
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
    export MPICAMPAIGN_CHECKSUMS=${run%/runs/*}/lib/checksums MPICAMPAIGN_ENVIRONMENT=${0%/*}/environment
    preload
    exec "${bind[@]}" "$@"
}
