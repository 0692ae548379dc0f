# shellcheck shell=bash disable=SC2034,SC2154

# ---- GPUs of a node, by the files of their drivers: /proc/driver/nvidia (README of NVIDIA's driver) and /sys/class/kfd.
# The job script sets gpus_per_node (0: the placement claims none) and gpu_binding. A folder that replaces /sys has its own
# proc and dev.

gpus_per_node=0 gpu_binding=none
gpu_functions=(read_gpus read_nvidia read_amd add_gpu numa_of_gpu choose_gpus order_by_closeness lacks_gpus give_gpus record_gpus)

# gpus=("ADDRESS UUID NUMA-NODE MODEL"): those that this job may use, as their library numbers them; a hyphen is unknown.
# visible=(...): how gpu_variable names those of the job, which a scheduler may have set: numbers or UUIDs.
read_gpus() {
    local root=${MPICAMPAIGN_SYSFS-} sys=${MPICAMPAIGN_SYSFS:-/sys} dev=${MPICAMPAIGN_SYSFS-}/dev path given
    gpus=()
    gpu_variable=CUDA_VISIBLE_DEVICES
    for path in "$root"/proc/driver/nvidia/gpus/*/information; do
        [ ! -r "$path" ] || read_nvidia "$path"
    done
    [ "${#gpus[@]}" -gt 0 ] || read_amd
    visible=("${!gpus[@]}")
    given=$gpu_variable
    [ "$given" != ROCR_VISIBLE_DEVICES ] || [ -n "${ROCR_VISIBLE_DEVICES+set}" ] || given=HIP_VISIBLE_DEVICES
    [ -z "${!given+set}" ] || IFS=, read -ra visible <<<"${!given}"
}
read_nvidia() { # FILE
    local key value uuid=- minor=- model=- address=${1%/*}
    while IFS=: read -r key value; do
        value=${value#"${value%%[![:blank:]]*}"}
        case $key in
            Model) model=$value ;;
            "GPU UUID") uuid=$value ;;
            "Device Minor") minor=$value ;;
        esac
    done <"$1"
    [ ! -r "$dev/nvidia$minor" ] || add_gpu "${address##*/}" "$uuid" "$model" # devices of other jobs are not readable
}
read_amd() {
    local node path=$sys/class/kfd/kfd/topology/nodes id key value domain location unique minor model address
    gpu_variable=ROCR_VISIBLE_DEVICES
    for ((node = 0; ; node++)); do
        [ -d "$path/$node" ] || break
        id=0 domain=0 location=0 unique=0 minor=- model=-
        { read -r id <"$path/$node/gpu_id"; } 2>/dev/null # not readable where it is another job's; 0: a CPU
        [ "$id" != 0 ] || continue
        while read -r key value; do
            case $key in
                domain) domain=$value ;;
                location_id) location=$value ;;
                unique_id) unique=$value ;;
                drm_render_minor) minor=$value ;;
                gfx_target_version) model="AMD gfx_target_version $value" ;;
            esac
        done <"$path/$node/properties"
        printf -v address '%04x:%02x:%02x.%x' "$domain" "$((location >> 8))" "$((location >> 3 & 31))" "$((location & 7))"
        printf -v unique 'GPU-%016x' "$unique"
        [ ! -r "$dev/dri/renderD$minor" ] || add_gpu "$address" "$unique" "$model"
    done
}
add_gpu() { # ADDRESS UUID MODEL
    local numa=
    { read -r numa <"$sys/bus/pci/devices/$1/numa_node"; } 2>/dev/null
    case $numa in '' | -*) numa=- ;; esac
    gpus+=("$1 $2 $numa $3")
}
# on_numa=NODE of the GPU that the job knows by a number or UUID; a hyphen where it is unknown.
numa_of_gpu() { # NAME
    local gpu
    on_numa=-
    [[ ! $1 =~ ^(0|[1-9][0-9]?)$ ]] || read -r _ _ on_numa _ <<<"${gpus[$1]:-- - -}"
    for gpu in "${gpus[@]}"; do
        [[ $1 != GPU-* || ${gpu#* } != "$1"* ]] || read -r _ _ on_numa _ <<<"$gpu"
    done
}
# rank_gpus=(...): for each local rank its part of `visible`, such as 2,3.
choose_gpus() {
    local order=() number rank share step list
    case $gpu_binding in
        closest) order_by_closeness ;;
        [0-9]*) IFS=, read -ra order <<<"$gpu_binding" ;;
        *) for ((number = 0; number < gpus_per_node; number++)); do order+=("$number"); done ;;
    esac
    share=$((${#order[@]} / ranks_per_node)) step=$share
    [ "$gpu_binding" != none ] || share=$gpus_per_node step=0
    rank_gpus=()
    for ((rank = 0; rank < ranks_per_node; rank++)); do
        list=
        for number in "${order[@]:rank*step:share}"; do list+=",${visible[number]-}"; done
        rank_gpus+=("${list#,}")
    done
}
# order=(...): the GPUs of all ranks in turn: first each rank gets those on the NUMA node of its first CPU, then the rest.
order_by_closeness() {
    local sys=${MPICAMPAIGN_SYSFS:-/sys} share=$((gpus_per_node / ranks_per_node))
    local pass rank number path own of=() count=() taken=()
    for pass in near any; do
        for ((rank = 0; rank < ranks_per_node; rank++)); do
            own=none
            for path in "$sys/devices/system/cpu/cpu${cpus[rank]%%,*}"/node[0-9]*; do own=${path##*/node}; done
            for ((number = 0; number < gpus_per_node; number++)); do
                [[ -z ${taken[number]-} && $((count[rank])) -lt $share ]] || continue
                numa_of_gpu "${visible[number]-}"
                [ "$pass" = any ] || [ "$on_numa" = "$own" ] || continue
                of[rank]+="$number " count[rank]=$((count[rank] + 1)) taken[number]=yes
            done
        done
    done
    read -ra order <<<"${of[*]}"
}
lacks_gpus() {
    local dev=${MPICAMPAIGN_SYSFS-}/dev one=([1]='') offers
    [ "$gpus_per_node" -gt 0 ] || return 0
    read_gpus
    if [ "${#gpus[@]}" -eq 0 ] && [ ! -e "$dev/nvidiactl" ] && [ ! -e "$dev/kfd" ]; then
        echo "gpus: no NVIDIA or AMD GPU on $HOSTNAME: $dev/nvidiactl and $dev/kfd are not there"
    elif [ "${#gpus[@]}" -lt "$gpus_per_node" ] || [ "${#visible[@]}" -lt "$gpus_per_node" ]; then
        offers=$((${#gpus[@]} < ${#visible[@]} ? ${#gpus[@]} : ${#visible[@]}))
        echo "gpus: needs $gpus_per_node GPU${one[gpus_per_node]-s}; $HOSTNAME offers $offers to this job"
    fi
}
# Leaves a rank the GPUs of its placement. HIP would count within ROCR_VISIBLE_DEVICES, and nccl-tests begin with the
# number of the local rank.
give_gpus() { # FILE of evidence
    local own why
    [ "$gpus_per_node" -gt 0 ] || return 0
    export CUDA_DEVICE_ORDER=PCI_BUS_ID
    [ "$gpu_binding" != library ] || return 0
    why=$(lacks_gpus)
    read_gpus
    choose_gpus
    own=${rank_gpus[local_number]-}
    if [ -n "$why" ] || [ -z "$own" ]; then
        echo "rank $number: ${why:-the launcher started more than $ranks_per_node ranks on $HOSTNAME}" >&2
        exit 71
    fi
    [ "$gpu_variable" = CUDA_VISIBLE_DEVICES ] || unset {CUDA,HIP}_VISIBLE_DEVICES GPU_DEVICE_ORDINAL
    [ "$gpu_binding" = none ] || export NCCL_TESTS_DEVICE=0
    export "$gpu_variable=$own"
    echo "rank $number launch.gpus=$gpu_variable=$own" >>"$1"
}
record_gpus() {
    local number models='' model
    [ "$gpus_per_node" -gt 0 ] || return 0
    read_gpus
    for number in "${!gpus[@]}"; do
        record "node $HOSTNAME gpu.$number=${gpus[number]}"
        read -r _ _ _ model <<<"${gpus[number]}"
        [[ "$models, " = *", $model, "* ]] || models+=", $model"
    done
    [ -z "$models" ] || record "node $HOSTNAME gpu_models=${models#, }"
    fact gpu_driver "${MPICAMPAIGN_SYSFS-}/proc/driver/nvidia/version"
    fact gpu_driver "${MPICAMPAIGN_SYSFS:-/sys}/module/amdgpu/version"
}
