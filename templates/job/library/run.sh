# shellcheck shell=bash disable=SC2034,SC2154
# The library of job scripts: what all runs of a campaign share. It needs bash, coreutils and util-linux, but no
# Python. Ranks are bound by numactl, or by taskset where there is no numactl. A run works on the node's own disk. In its
# folder is one file of it, attempt-TIME-JOB.txt, with the first lines of its evidence from the start, and with all at
# the end; after success it becomes result.txt by one rename.
#
# A job script sets `run` (its folder), `job` (the job's id), `script` (its own file), `lock` (empty with a scheduler)
# and `shared` (yes: what its ranks read and write is below its folder, which other nodes see), then it sources this
# file, which starts an attempt. The last command of the script is `measure`.

hosts=() silent='' exported=() further_settings='' refused='' version_option='' result_file=''
umask o-w # what the group may write is up to the user
export LC_ALL=C PATH HOME=${HOME:-~} # a scheduler may start a job with almost no environment
read -r HOSTNAME </proc/sys/kernel/hostname # an exported value may be the login node's

# Variables that steer MPI, its threads or the loader are for this script to set. Those of the shell that it was started
# or submitted from, or of the login environment that Slurm loads, are unset; `steering` has their prefixes. Without
# Slurm the library may be one of that shell, so that what only says where something is (`places`) stays.
forget() { # PREFIX...
    local prefix name names
    for prefix; do
        eval "names=(\"\${!$prefix@}\")"
        for name in "${names[@]}"; do
            case " ${places[*]} " in *" $name "*) ;; *) unset "$name" ;; esac
        done
    done
}
if [ -z "$lock" ] && [ -n "${SLURM_JOB_ID-}" ]; then
    places=()
    unset LD_LIBRARY_PATH
fi
# What srun takes from a shell, and sbatch never sets.
forget "${steering[@]}" BASH_ENV LD_PRELOAD LD_AUDIT GLIBC_TUNABLES MALLOC_ SRUN_ SLURM_CPU_BIND SLURM_MPI_TYPE SLURM_KILL_BAD_EXIT \
    SLURM_LABELIO SLURM_OVERLAP SLURM_EXACT SLURM_EXCLUSIVE SLURM_WHOLE SLURM_RESV_PORTS SLURM_TASK_EPILOG \
    SLURM_TASK_PROLOG SLURM_EPILOG SLURM_PROLOG SLURM_WAIT SLURM_REMOTE_CWD SLURM_WORKING_DIR SLURM_STD SLURM_PMI \
    SLURM_UNBUFFEREDIO SLURM_BCAST
# A machine without a scheduler may be an allocation of one: the launcher of this script is not to use that.
leave_allocation() { # LAUNCHER
    [ -n "$lock" ] || return 0
    forget LSB_ PBS_ PALS_ COBALT_ FLUX_ LOADL_ PE_HOSTFILE
    case ${1##*/} in srun*) ;; *) forget SLURM ;; esac
}

unlocked='' # why the run has not the lock of the machine
[ -z "$lock" ] || take_lock
has_result() { [ -e "$run/result.txt" ] || [ -e "$run/result/output.txt" ]; } # the latter is of an earlier release
if has_result; then
    echo "already done: $run"
    exit 0
fi

# A file server that restarts may be read-only for a while: a run must not be lost by that.
wait_until_writable() { # FOLDER
    local tries
    for ((tries = 0; tries < 30; tries++)); do
        [ ! -w "$1" ] && [ -d "$1" ] || return 0
        sleep 2
    done
}

wait_until_writable "$run"
TZ=UTC0 printf -v kept '%(%Y%m%dT%H%M%SZ)T' -1
kept=$run/attempt-$kept-$job.txt common='' attempt=''
# Such a status tells the caller to make the run again when there is room: its benchmark has not failed.
cannot_write() {
    trap - EXIT
    rm -rf "$attempt" "$common" "$kept" 2>/dev/null
    echo "results could not be written: is the file system of $run full, over quota or read-only?" >&2
    exit 73
}
# attempt=...: a folder on the node's own disk, where that has room and lets programs start
work_in() { # PLACE...
    local place
    for place; do
        attempt=$(mktemp -d "$place/mpicampaign-$job.XXXXXX") && : >"$attempt/rank" && chmod +x "$attempt/rank" &&
            { [ -x "$attempt/rank" ] || [ "$place" = "$run" ]; } &&
            printf '%8192s' '' >"$attempt/reserve" && return # space for the last lines, should the disk be full
        rm -rf "$attempt"
    done 2>/dev/null
    return 1
}
# What killed scripts left: no process holds the lock of its evidence.
remove_leftovers() {
    local left
    for left in "$TMPDIR"/mpicampaign-*.??????; do
        [ -O "$left/evidence.txt" ] && [ -n "$(find "$left/evidence.txt" -mmin +5)" ] &&
            flock -n "$left/evidence.txt" true && rm -rf "$left"
    done 2>/dev/null
}
case ${TMPDIR-} in /*) ;; *) TMPDIR=/tmp ;; esac
remove_leftovers
disks=("$TMPDIR" /tmp)
# One filled in an earlier attempt; TMPDIR may have another name in each job.
full='job reason=could not write to '
! grep -hsF "$full" "$run"/attempt-*.txt | grep -qvF "$full$run on " || disks=()
{ mkdir -p "$run" && work_in "${disks[@]}" "$run"; } || cannot_write
common=$attempt # what the ranks read and write
[ -z "$shared" ] || common=$(mktemp -d "$run/mpicampaign-$job.XXXXXX") || cannot_write
mkdir "$common/ranks" || cannot_write
rank=$common/rank # starts each rank: binds it, then becomes the program
evidence=$attempt/evidence.txt
launched='' started_before='' reader=''
succeeded= # set at the end of `measure`: a shell that was killed may also have status 0
unwritten= # set when evidence could not be written
exec 3>"$evidence" || cannot_write
flock -n 3

# Control characters become spaces: a value is one line.
record() {
    printf '%s\n' "${1//[[:cntrl:]]/ }" >&3 || {
        unwritten=yes
        return 1
    }
}
record_time() { # KEY
    local now
    TZ=UTC0 printf -v now '%(%Y-%m-%dT%H:%M:%SZ)T' -1
    record "job $1=$now"
}

end_ranks() {
    local process scan
    kill -KILL -- "-$launched" 2>/dev/null # the launch is a process group of its own
    for scan in 1 2; do # the second scan finds processes that the first ones had just started
        while read -r process; do
            record "job killed=$process: did not end with its launcher"
        done < <(end_here "$common"; [ "$scan" = 2 ] || end_on_hosts)
    done
}

# Descriptor 5 is a pipe whose reader notes what passes to the file; without the evidence library the file itself.
open_output() {
    local to from
    [ -e "$evidence_library" ] || { exec 5>"$attempt/output.txt" && return; }
    coproc passing {
        trap '' HUP INT QUIT USR1 USR2 ALRM TERM XCPU
        preload
        MPICAMPAIGN_NOTES_TO=6 exec cat 6>&1 >"$attempt/output.txt" 2>/dev/null 3>&- 9>&-
    }
    reader=$! to=${passing[1]} from=${passing[0]}
    exec 5>&"$to" 6<&"$from" {to}>&- {from}<&-
}
close_output() { # what the launcher started may hold the pipe for longer
    local notes=''
    exec 5>&-
    [ -n "$reader" ] || return 0
    read -rd '' -t 1 -u 6 notes || [ -n "$notes" ] || { kill -URG "$reader" && read -rd '' -t 20 -u 6 notes; }
    kill -KILL "$reader" 2>/dev/null
    reader=''
    printf '%s\n' "${notes:-job passed=}" >&3 && [[ $notes != *unwritten=* ]] || unwritten=yes
}

# Writes the evidence, then what the program wrote, over the lines that are there: it is on the disk then.
write_kept() { # [STATUS]
    local file size
    {
        cat "$evidence" || exit
        for file in ${1:+stderr output}; do
            [ "$file" = output ] || printf 'job exit_status=%s\nend of evidence\n' "$1"
            : >>"$attempt/$file.txt"
            size=$(stat -c %s "$attempt/$file.txt") && printf '\n==> %s.txt, %s bytes <==\n' "$file" "$size" &&
                head -c "$size" "$attempt/$file.txt" || exit
        done
    } | dd of="$kept" bs=64k conv=notrunc,fsync 2>/dev/null
    [ "${PIPESTATUS[*]}" = "0 0" ]
}
record_full() { # FOLDER
    record "job reason=could not write to $1 on $HOSTNAME: is the disk full, a quota used up, or the file system read-only?"
}
# Whatever happens, the exit status is recorded, and a result appears complete or not at all.
finish() { # STATUS
    local status=$1 sum file
    trap '' HUP INT QUIT USR1 USR2 ALRM TERM XCPU # for what is started here, too
    trap - EXIT
    close_output
    [ "$status" -ne 0 ] || [ -n "$succeeded" ] || status=75
    # what failed at the end of a full disk may have failed for that: its output is cut
    if [ "$status" -ne 0 ]; then
        dd if=/dev/zero of="$attempt/room" bs=65536 count=1 conv=fsync 2>/dev/null || unwritten=yes
        rm -f "$attempt/room"
    fi
    : 2>/dev/null >"$attempt/reserve"
    cat "$common"/ranks/* >&3 2>/dev/null
    while read -r sum file; do
        record "job sha256.${file##*/}=${sum#\\}"
    done < <(sha256sum "$attempt"/{output,stderr}.txt 2>/dev/null)
    record_time ended
    if [ -n "$unwritten" ] && [ "$status" -ne 124 ] && [ "$status" -lt 128 ]; then # not stopped from outside
        status=74
        record_full "${attempt%/*}"
    fi
    [ "$status" -ge 128 ] || wait_until_writable "$run"
    if ! write_kept "$status"; then
        [ "$status" -ge 124 ] || status=74
        : 2>/dev/null >"$kept"
        truncate -s '<4096' "$attempt"/{output,stderr}.txt
        record_full "$run"
        write_kept "$status"
    fi
    if [ "$status" -eq 0 ] && ! has_result; then
        mv -nT "$kept" "$run/result.txt"
        has_result || status=74
    fi
    rm -rf "$attempt" "$common"
    exit "$status"
}
interrupt() { # SIGNAL
    record "job reason=interrupted by signal $1"
    # a signal may come between the launch and the line that notes its number
    [ "$started_before" = "$!" ] || launched=${launched:-$!}
    if [ -n "$launched" ]; then
        kill -TERM "$launched" 2>/dev/null
        wait "$launched"
        end_ranks
    fi
    exit $((128 + $1))
}
fail() { # STATUS REASON
    record "job reason=$2"
    printf '%s\n' "$2" >&2
    exit "$1"
}
trap 'finish $?' EXIT
# A shell that dies of a signal runs the EXIT trap with status 0: each signal that a scheduler may send has a trap
# of its own. LSF sends USR2 at the run limit, before it kills.
trap 'interrupt 1' HUP
trap 'interrupt 2' INT
trap 'interrupt 3' QUIT
trap 'interrupt 10' USR1
trap 'interrupt 12' USR2
trap 'interrupt 14' ALRM
trap 'interrupt 15' TERM
trap 'interrupt 24' XCPU

record "#mpicampaign-evidence 2"
record_time started
record "job host=$HOSTNAME"
record "job id=$job"
record "job run=${run#"${run%/*/*/*/*}"/}"
record "job folder=$attempt"
write_kept || cannot_write
[ -z "$unlocked" ] || record "job without_lock=$unlocked"

# An input file: the program starts in the folder that holds its inputs, which no other run sees.
stage() { # NAME SHA256 [FILE]: without FILE, base64 comes in
    local staged=$common/work/$1
    mkdir -p "$common/work" || exit 73
    if [ -n "${3-}" ]; then cat -- "$3"; else base64 -d; fi >"$staged" || fail 66 "cannot stage the input file $1"
    [ "$(sha256sum <"$staged")" = "$2  -" ] || fail 66 "the input file $1 differs from the one that the campaign declares"
    record "job input.$1=$2"
}
# Some programs write their results to a file, not to their output.
append_results() {
    [ -n "$result_file" ] || return 0
    cat "$common/work/$result_file" >>"$attempt/output.txt" 2>>"$attempt/stderr.txt"
}

# The run itself. Arguments before "$rank" launch the ranks; after it come the program and its arguments.
measure() {
    local launch=() began uptime ended status pattern refusal said missing launched_us
    while [ "$1" != "$rank" ]; do
        launch+=("$1")
        shift
    done
    shift 2
    leave_allocation "${launch[0]}"
    choose_bootstrap
    ask_version
    write_rank
    record_system
    learn_constraint
    record_environment
    missing=$(lacks)
    command -v "$program" >/dev/null || missing="program: ${program##*/} is not on $HOSTNAME"
    look_at_hosts before
    [ -z "$missing" ] || give_up "$missing"
    [ "${program##*/*}" = "" ] || program=$(command -v "$program")
    record_command "$@"
    record_version
    record_node before

    [ ! -d "$common/work" ] || cd "$common/work" || exit 73
    open_output
    began=$SECONDS
    read -r uptime _ </proc/uptime # in steps of 10 ms; nobody sets this clock
    started_before=$!
    launched_us=${EPOCHREALTIME:-$(date +%s.%6N)} # ranks of other hosts have no other clock in common; not in bash 4
    timeout --kill-after=10 "$time_limit" "${launch[@]}" "$rank" "$program" "$@" \
        >&5 2>"$attempt/stderr.txt" </dev/null 3>&- 5>&- 6<&- &
    launched=$!
    wait "$launched"
    status=$?
    read -r ended _ </proc/uptime
    record "job launched_us=${launched_us/./}"
    record "job launch_ms=$((10 * (10#${ended/./} - 10#${uptime/./})))"
    record_node after
    look_at_hosts after
    [ "$status" -eq 0 ] || end_ranks
    close_output
    launched='' started_before=$!
    append_results

    # Success is an exit status of 0 and a complete output. A launcher that timeout had to kill leaves 137.
    [ "$status" -ne 137 ] || [ "$((SECONDS - began))" -lt "$time_limit" ] || status=124
    [ -z "$silent" ] || [ "$status" -eq 0 ] ||
        fail 69 "$silent does not answer ssh from $HOSTNAME since the launch, which ended with exit status $status"
    [ "$status" -ne 124 ] || record_others
    [ "$status" -ne 124 ] || fail 124 "stopped at the time limit of $time_limit s"
    [ "$status" -eq 0 ] || fail "$status" "the benchmark ended with exit status $status; see stderr.txt"
    for pattern in "${whole[@]}"; do
        said="the benchmark ended with exit status 0, but its output is incomplete: no line matches $pattern"
        grep -Eq -e "$pattern" "$attempt/output.txt" && continue
        missing=$(grep -am 1 '^#@not_available=' "$attempt/output.txt") && give_up "memory: ${missing#*=}"
        fail 65 "$said"
    done
    if [ -n "$refused" ] && refusal=$(grep -Em 1 -e "$refused" "$attempt/output.txt"); then
        fail 65 "the benchmark rejected its arguments: $refusal"
    fi
    succeeded=yes
    exit 0
}
# In a job of LSF, Hydra starts the ranks by LSF's blaunch, whether it is there or not; volclava has none.
choose_bootstrap() {
    local places by=ssh
    if [ -n "${MPICAMPAIGN_AGENT-}" ]; then # in a step of several runs the job's own launcher would mix them up
        export I_MPI_HYDRA_BOOTSTRAP=ssh HYDRA_LAUNCHER=ssh OMPI_MCA_plm=rsh PRTE_MCA_plm=ssh
        export {I_MPI_HYDRA_BOOTSTRAP_EXEC,HYDRA_LAUNCHER_EXEC,OMPI_MCA_plm_rsh_agent,PRTE_MCA_plm_ssh_agent}="$MPICAMPAIGN_AGENT"
        return
    fi
    read -ra places <<<"${LSB_MCPU_HOSTS-}" # HOST RANKS HOST RANKS
    [ "${#places[@]}" -eq 0 ] || command -v blaunch >/dev/null || [ -x "${LSF_BINDIR-}/blaunch" ] || {
        [ "${#places[@]}" -gt 2 ] || by=fork
        export I_MPI_HYDRA_BOOTSTRAP=${I_MPI_HYDRA_BOOTSTRAP:-$by} HYDRA_LAUNCHER=${HYDRA_LAUNCHER:-$by}
    }
}
# Slurm tells a job its partition and account, but (22.05) not its constraint: it is asked where the claim names one.
learn_constraint() {
    local said
    [ -n "${SLURM_JOB_ID-}" ] && [ -z "$lock${SLURM_JOB_CONSTRAINTS-}" ] || return 0
    grep -q '^claim request.constraint=.' "$run/claim" 2>/dev/null || return 0
    said=$(timeout 10 scontrol --oneliner show job "$SLURM_JOB_ID" 2>/dev/null)
    [[ $said =~ \ Features=([^ ]+)\  ]] && export SLURM_JOB_CONSTRAINTS="${BASH_REMATCH[1]#(null)}"
}
# A run that this machine cannot do is neither a failure nor a result with values.
give_up() { # KIND: WHY
    record "job not_available_kind=${1%%: *}" # cores, gpus, network, program or memory
    record "job not_available=${1#*: }"
    : >"$attempt/output.txt"
    printf 'not available: %s\n' "${1#*: }"
    succeeded=yes
    exit 0
}
# What is about to be launched, for comparison with the claim; it shows edited scripts.
record_command() { # ARGUMENTS...
    local name sum first
    record "job launch=${launch[*]}"
    record "job program=$program"
    record "job arguments=$*"
    read -rn 200 first <"$program" 2>/dev/null
    case $first in
        $'\x7fELF'*) record "job program_kind=binary" ;;
        *) record "job program_kind=script $first" ;; # it will become another program
    esac
    while read -r sum name; do
        [ "$name" = "$program" ] && name=program || name=script
        record "job ${name}_sha256=${sum#\\}"
    done < <(sha256sum -- "$program" "$script" 2>/dev/null)
}
# The version of the launcher, which the MPI library of the ranks must have. The launcher needs some
# milliseconds, while other facts are recorded.
ask_version() {
    [ -z "$version_option" ] ||
        exec 4< <(exec timeout 5 "${launch[0]}" "$version_option" 2>/dev/null </dev/null 3>&- 9>&-)
}
record_version() {
    local text
    [ -n "$version_option" ] || return
    read -rt 5 -d '' -n 400 -u 4 text
    exec 4<&-
    record "job launcher_version=$text"
}
