#!/bin/bash
#BSUB -x
#BSUB -n 2
#BSUB -R "span[ptile=2]"
#BSUB -J PingPong-2afdb6dc2cd5
#BSUB -o /home/user/mpicampaign/results/golden/runs/lsf-mpich/SHM/PingPong/r01-2afdb6dc2cd5/%J.out
#BSUB -e /home/user/mpicampaign/results/golden/runs/lsf-mpich/SHM/PingPong/r01-2afdb6dc2cd5/%J.err
#BSUB -W 0:45
#BSUB -m haswell
# mpicampaign job script of campaign golden
#
# One run of an MPI benchmark: PingPong as SHM on lsf-mpich, repeat 1.
# Submit with: bsub < job.sh
# Needs bash, coreutils and numactl on the node. Whatever it writes lies in run_folder below:
# result/ appears by one rename after success; a failed attempt stays in attempts/.

set -u
export LC_ALL=C
HOSTNAME=$(uname -n) # an exported one may be the login node's
run_folder=/home/user/mpicampaign/results/golden/runs/lsf-mpich/SHM/PingPong/r01-2afdb6dc2cd5
script_hash=2afdb6dc2cd5

if [ -e "$run_folder/result/output.txt" ]; then
    echo "already done: $run_folder/result"
    exit 0
fi
attempt=$run_folder/attempts/$(date -u +%Y%m%dT%H%M%SZ)-${LSB_JOBID:-$$}
mkdir -p "$attempt/ranks" || exit 73
[ ! -e "$run_folder/exit" ] || rm -f "$run_folder/exit" # of an attempt before, or before a requeue
evidence=$attempt/evidence.txt
launched=
succeeded= # a status of 0 may be that of a shell which was killed: this is set at the end of the script

# A value is one line, whatever it holds.
record() { printf '%s\n' "${1//[[:cntrl:]]/ }" >>"$evidence"; }

# Ranks that outlive their launcher would disturb the next run: some ignore TERM, in sessions of
# their own. They are known by a variable that only they have.
# shellcheck disable=SC2317  # called by a trap, too
end_here() { # ATTEMPT: on this host; prints the processes that had to be killed
    local process
    grep -lzsF "MPICAMPAIGN_EVIDENCE_FILE=$1/" /proc/[0-9]*/environ | while IFS=/ read -r _ _ process _; do
        kill -KILL "$process" 2>/dev/null && echo "$process on $(uname -n)"
    done
}
# shellcheck disable=SC2317
end_ranks() {
    local process
    kill -KILL -- "-$launched" 2>/dev/null # the launch is a process group of its own
    while read -r process; do
        record "job killed=$process: did not end with its launcher"
    done < <(end_here "$attempt")
}

# Whatever happens, the exit status is left in a file, and a result appears whole or not at all.
# shellcheck disable=SC2317  # called by a trap
finish() {
    local sum file
    status=$1
    trap - EXIT
    [ "$status" -ne 0 ] || [ -n "$succeeded" ] || status=75
    cat "$attempt"/ranks/* >>"$evidence" 2>/dev/null
    rm -rf "$attempt/ranks" "$attempt/rank.sh"
    while read -r sum file; do
        record "job sha256.${file##*/}=$sum"
    done < <(sha256sum "$attempt"/{output,stderr}.txt 2>/dev/null)
    record "job ended=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    record "job exit_status=$status"
    record "end of evidence"
    if [ "$status" -eq 0 ] && [ ! -e "$run_folder/result/output.txt" ]; then
        # a result that lost its output is none
        [ ! -e "$run_folder/result" ] || mv -T "$run_folder/result" "$attempt-found-damaged"
        mv -T "$attempt" "$run_folder/result" || status=74
    fi
    printf '%s\n' "$status" >"$run_folder/exit.part" && mv -T "$run_folder/exit.part" "$run_folder/exit"
    exit "$status"
}
# shellcheck disable=SC2317
interrupt() {
    record "job reason=interrupted by signal $1"
    if [ -n "$launched" ]; then
        kill -TERM "$launched" 2>/dev/null
        wait "$launched"
        end_ranks
    fi
    exit $((128 + $1))
}
fail() {
    record "job reason=$2"
    printf '%s\n' "$2" >&2
    exit "$1"
}
trap 'finish $?' EXIT
# A shell that dies of a signal runs the trap of EXIT with status 0: each one that a scheduler may send
# is taken by its own trap. LSF sends USR2 at the run limit, before it kills.
trap 'interrupt 1' HUP
trap 'interrupt 2' INT
trap 'interrupt 3' QUIT
trap 'interrupt 10' USR1
trap 'interrupt 12' USR2
trap 'interrupt 14' ALRM
trap 'interrupt 15' TERM
trap 'interrupt 24' XCPU

# ---- The claim that the evidence will be held against
cat >"$evidence" <<'END'
#mpicampaign-evidence 1
claim campaign=golden
claim system=lsf-mpich
claim host_group=lsf-mpich
claim placement=SHM
claim benchmark=PingPong
claim suite=imb
claim repeat=1
claim script_hash=2afdb6dc2cd5
claim nodes=1
claim ranks=2
claim ranks_per_node=2
claim sockets=
claim binding=none
claim transport=shm
claim loopback=no
claim interface=
claim device=
claim mpi=mpich-ucx
claim members=
claim program_sha256=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
claim time_limit=2700
claim recipe=6efa116f7bf4
claim largest_size=
claim settings=1
claim setting.UCX_LOG_LEVEL=info
END
record "job started=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
record "job host=$HOSTNAME"
record "job id=${LSB_JOBID:-$$}"
script="$run_folder/job.sh"
# The hash is that of the text with a mark in the hash's own places; a script edited by hand shows.
[ -f "$script" ] && [ -r "$script" ] &&
    record "job script_hash=$(sed "s/$script_hash/@script""-hash@/g" "$script" | sha256sum | cut -c 1-12)"

# ---- Software
module load mpich/4.0 || fail 69 'module load mpich/4.0 failed'
export UCX_LOG_LEVEL=info
program=/apps/imb/IMB-MPI1

# ---- On each rank: bind to a core by this node's own topology, then become the program
cat >"$attempt/rank.sh" <<'END_OF_RANK'
#!/bin/bash
# rank.sh PROGRAM ARGS: one MPI rank.
# rank.sh --check: prints what this node lacks for the placement, "cores: why" or "network: why".
# rank.sh --topology: prints the sockets and cores that the job may use here, and the ranks' CPUs.
HOSTNAME=$(uname -n) # an exported one may be another node's
ranks_per_node=2
sockets_wanted=0 # 0: the placement claims none
binding=none
device=''
interface=''
sys=${MPICAMPAIGN_SYSFS:-/sys}

# The physical cores that this process may use: sockets=(0 1), cores_of[0]="0 1 ". Hyper-threads
# of a core are one core, named by its first CPU; CPUs that the job is not allowed are not there.
declare -A cores_of=()
sockets=()
cores=()
read_topology() {
    local key value allowed=${MPICAMPAIGN_ALLOWED-} range cpu path socket siblings
    local -A seen=()
    while [ -z "$allowed" ] && IFS=$':\t ' read -r key value; do
        [ "$key" = Cpus_allowed_list ] && allowed=$value
    done </proc/self/status
    for range in ${allowed//,/ }; do
        for ((cpu = ${range%-*}; cpu <= ${range#*-}; cpu++)); do
            path=$sys/devices/system/cpu/cpu$cpu/topology
            { read -r socket <"$path/physical_package_id" && read -r siblings <"$path/thread_siblings_list"; } 2>/dev/null || continue
            [ "$socket" -ge 0 ] && [ -z "${seen[$siblings]-}" ] || continue
            seen[$siblings]=1
            [ -n "${cores_of[$socket]-}" ] || sockets+=("$socket")
            cores_of[$socket]+="$cpu "
            cores+=("$cpu")
        done
    done
}
# cpus=(...): one CPU for each local rank, in their order; empty where the node can't offer them.
choose_cpus() {
    local each socket list taken=0
    cpus=()
    if [ "$sockets_wanted" -eq 0 ]; then
        [ "${#cores[@]}" -ge "$ranks_per_node" ] && cpus=("${cores[@]:0:ranks_per_node}")
        return
    fi
    each=$(((ranks_per_node + sockets_wanted - 1) / sockets_wanted))
    for socket in "${sockets[@]}"; do
        read -ra list <<<"${cores_of[$socket]}"
        [ "${#list[@]}" -ge "$each" ] && [ "$taken" -lt "$sockets_wanted" ] || continue
        cpus+=("${list[@]:0:each}")
        taken=$((taken + 1))
    done
    [ "$taken" -eq "$sockets_wanted" ] || cpus=()
}
check() {
    local found="${#sockets[@]} socket(s) and ${#cores[@]} core(s)" port state=
    if [ "$binding" = core ] && [ "${#cpus[@]}" -eq 0 ]; then
        if [ "$sockets_wanted" -eq 0 ]; then
            echo "cores: needs $ranks_per_node cores; $HOSTNAME offers $found"
        else
            echo "cores: needs $ranks_per_node cores on $sockets_wanted socket(s); $HOSTNAME offers $found"
        fi
    elif [ -n "$device" ] && [ ! -e "$sys/class/infiniband/$device" ]; then
        echo "network: no InfiniBand device $device on $HOSTNAME"
    elif [ -n "$device" ]; then
        for port in "$sys/class/infiniband/$device"/ports/*/state; do state+=$(cat "$port"); done
        [[ $state == *ACTIVE* ]] || echo "network: no active port of InfiniBand device $device on $HOSTNAME"
    elif [ -n "$interface" ] && [ ! -e "$sys/class/net/$interface" ]; then
        echo "network: no network interface $interface on $HOSTNAME"
    fi
}
read_topology
choose_cpus
case ${1-} in
    --check) check && exit ;;
    --topology) printf 'sockets=%s\ncores=%s\ncpus=%s\n' "${#sockets[@]}" "${#cores[@]}" "${cpus[*]}" && exit ;;
esac

rank=${PMI_RANK:?not set by the launcher}
local_rank=${MPI_LOCALRANKID:?not set by the launcher}
mine=${0%/*}/ranks/$rank
bind=()
if [ "$binding" = core ]; then
    cpu=${cpus[local_rank]-}
    [ -n "$cpu" ] || { echo "rank $rank: $(check)" >&2 && exit 71; }
    bind=(numactl --physcpubind="$cpu" --localalloc --)
fi
echo "rank $rank launch.host=$HOSTNAME" >>"$mine"
library=/home/user/mpicampaign/build/lsf-mpich/0123456789ab/evidence.so
# LD_PRELOAD is a list that spaces and colons part: a library in such a folder goes by a file descriptor.
case $library in
    *[[:space:]:]*) exec 8<"$library" && library=/proc/self/fd/8 ;;
esac
exec "${bind[@]}" env MPICAMPAIGN_RANK="$rank" MPICAMPAIGN_EVIDENCE_FILE="$mine" \
    LD_PRELOAD="$library${LD_PRELOAD:+:$LD_PRELOAD}" "$@"
END_OF_RANK

# ---- The node before the run
record_node() { # $1: before or after
    local counter value name load
    read -r load </proc/loadavg
    record "node $HOSTNAME $1.load=${load% * *}"
    for counter in /sys/class/net/*/statistics/[rt]x_bytes; do
        name=${counter#/sys/class/net/}
        read -r value <"$counter" && record "node $HOSTNAME $1.net.${name%%/*}.${name##*/}=$value"
    done 2>/dev/null
    for counter in /sys/class/infiniband/*/ports/*/counters/port_{xmit,rcv}_data; do
        name=${counter#/sys/class/infiniband/}
        read -r value <"$counter" && record "node $HOSTNAME $1.ib.${name%%/*}.${name##*/}=$value"
    done 2>/dev/null
}
# The settings that the label claims, then what else steers MPI and the job's own; of the latter a name
# that hints at a secret is left out.
record_variable() { [ -z "${!1+set}" ] || record "job env.$1=${!1}"; }
record_environment() {
    local name
    record_variable UCX_LOG_LEVEL
    for name in $(compgen -e); do
        case ${name^^} in *TOKEN* | *SECRET* | *PASS* | *PWD* | *KEY* | *CRED* | *AUTH* | *COOKIE*) continue ;; esac
        case $name in
            I_MPI_* | FI_* | OMPI_* | PMIX_* | PRTE_* | UCX_* | MPI[RC]* | MV2_* | PSM* | OMP_* | SLURM_JOB* | SLURM_N* | LSB_[JHM]* | PATH | LD_LIBRARY_PATH)
                record_variable "$name"
                ;;
        esac
    done
}
record_system() {
    local key value
    record "node $HOSTNAME kernel=$(uname -sr)"
    while IFS=: read -r key value; do
        case $key in
            "model name"*) record "node $HOSTNAME cpu_model=${value# }" ;;
            "cpu MHz"*) record "node $HOSTNAME frequency_mhz=${value# }" && break ;;
        esac
    done </proc/cpuinfo
    { read -r value </sys/devices/system/cpu/cpu0/cpufreq/scaling_governor && record "node $HOSTNAME governor=$value"; } 2>/dev/null
    # Some kernels do not tell where a process has its memory.
    value=no
    [ -e /proc/self/numa_maps ] && value=yes
    record "node $HOSTNAME numa_maps=$value"
    # A bond or VLAN counts the bytes of the interfaces below it once more.
    for value in /sys/class/net/*/lower_*; do
        key=${value#/sys/class/net/}
        [ -e "$value" ] && record "node $HOSTNAME below.${key%%/*}/${key##*/lower_}=yes"
    done
    [ -z "${MPICAMPAIGN_SYSFS-}" ] || record "node $HOSTNAME declared_topology=$MPICAMPAIGN_SYSFS"
    bash "$attempt/rank.sh" --topology | while read -r value; do record "node $HOSTNAME $value"; done
}
record_system
record_environment

missing=$(bash "$attempt/rank.sh" --check)
command -v "$program" >/dev/null || missing="program: $(basename "$program") is not on $HOSTNAME"
if [ -n "$missing" ]; then
    # what is missing (cores, network, program), then the words
    record "job not_available_kind=${missing%%: *}"
    record "job not_available=${missing#*: }"
    : >"$attempt/output.txt"
    printf 'not available: %s\n' "${missing#*: }"
    succeeded=yes
    exit 0
fi
program=$(command -v "$program")
record "job program=$program"
record "job program_sha256=$(sha256sum <"$program" | cut -d ' ' -f 1)"
record_node before

# ---- The run
timeout --kill-after=10 2700 \
    mpiexec -n 2 -ppn 2 -bind-to none \
    bash "$attempt/rank.sh" "$program" -iter 1000 -time 200 -msglog 0:24 -iter_policy off PingPong \
    >"$attempt/output.txt" 2>"$attempt/stderr.txt" </dev/null &
launched=$!
wait "$launched"
status=$?
record_node after
[ "$status" -eq 0 ] || end_ranks
launched=

# ---- Success is an exit status of 0 and an output that is whole
[ "$status" -eq 124 ] && fail 124 'stopped at the time limit of 2700 s'
[ "$status" -eq 0 ] || fail "$status" "the benchmark ended with exit status $status; see stderr.txt"
grep -Eq '^ +[0-9]+ ' "$attempt/output.txt" ||
    fail 65 'the benchmark ended with exit status 0 but its output is not complete: no line matches ^ +[0-9]+ '
grep -Eq '^# All processes entering MPI_Finalize|, MT part' "$attempt/output.txt" ||
    fail 65 'the benchmark ended with exit status 0 but its output is not complete: no line matches ^# All processes entering MPI_Finalize|, MT part'
refusal=$(grep -Em 1 '^Invalid benchmark name' "$attempt/output.txt") && fail 65 "the benchmark did something else than it was asked for: $refusal"
succeeded=yes
exit 0
