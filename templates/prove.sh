#!/bin/bash
# Runs a command with the evidence library preloaded into its ranks. Its stdin, stdout, stderr, signals and exit status
# stay its own. FILE (evidence.txt) then says what ran where, and with which settings. Needs bash and coreutils.
#
#   prove [--quiet] [--write FILE] -- mpirun -n 4 ./program arguments
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317

# Parts of the job scripts' library: installing puts their text here. Within a function, since they set variables that
# the command may have exported.
take_library() {
    local here=${BASH_SOURCE[0]%/*}
. "$here/job/library/rank.sh"
. "$here/job/library/node.sh"
. "$here/job/library/facts.sh"
}

say() { printf 'prove: %s\n' "$1" >&2; }
say_unwritten() { say "cannot write $file: is the disk full, or a quota used up?"; }
refuse() { # STATUS WHY
    say "$2"
    exit "$1"
}
# Control characters become spaces: a value is one line.
record() { printf '%s\n' "${1//[[:cntrl:]]/ }" >&3 2>/dev/null || unwritten=yes; }
record_moment() { # KEY: in ms, where bash tells them
    local us=${EPOCHREALTIME-} time
    us=${us//[!0-9]/} time=${us%??????}
    TZ=UTC0 printf -v time '%(%Y-%m-%dT%H:%M:%S)T' "${time:--1}"
    us=${us: -6:3}
    record "job $1=$time${us:+.$us}Z"
}
read_uptime() { # uptime: in ms, by steps of 10 ms; nobody sets this clock
    read -r uptime _ </proc/uptime
    uptime=$((10 * 10#${uptime/./}))
}

read_options() { # file, quiet, command=(...)
    local usage="prove [--quiet] [--write FILE] -- COMMAND ARGUMENTS..."
    file=evidence.txt quiet=
    while [ "${1---}" != -- ]; do
        case $1 in
            --quiet) quiet=yes ;;
            --write) [[ ${2:--} != -* && $2 != */ ]] || refuse 64 "--write needs the name of a file: $usage"; file=$2; shift ;;
            *) refuse 64 "unknown option $1. The command comes after '--': $usage" ;;
        esac
        shift
    done
    command=("${@:2}")
    [[ $file = /* ]] || file=$PWD/$file
    [ "${#command[@]}" -gt 0 ] || refuse 64 "there is no command: $usage"
}
# Tasks of one launch would each keep evidence of themselves alone.
refuse_tasks() {
    local size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-1}} rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}
    if [ -z "$rank" ] && [ "${SLURM_STEP_ID:-9999999999}" -lt 4000000000 ]; then
        size=${SLURM_STEP_NUM_TASKS:-1} rank=${SLURM_PROCID:-0}
    fi
    [ "$size" -gt 1 ] || return 0
    [ "$rank" != 0 ] || say "a launcher started $size of these. Write prove before the launcher: prove -- srun -n $size ..."
    exit 64
}
find_library() { # library
    local here=${BASH_SOURCE[0]}
    [ ! -L "$here" ] || here=$(readlink -f "$here")
    [[ $here = */* ]] || here=./$here
    library=${MPICAMPAIGN_EVIDENCE_LIBRARY:-${here%/*}/evidence.so}
    [[ $library = /* ]] || library=$PWD/$library
    [ -r "$library" ] ||
        refuse 72 "cannot read the evidence library $library. Keep it beside prove, or name it in MPICAMPAIGN_EVIDENCE_LIBRARY"
}
# LD_PRELOAD is split at blanks and colons. A link in /tmp serves this host alone.
link_library() {
    local place=$folder
    [[ $library = *[[:space:]:]* ]] || return 0
    [[ $place != *[[:space:]:]* ]] || { place=/tmp/mpicampaign-prove-$$ && mkdir -m 700 "$place"; }
    ln -s -- "$library" "$place/library.so" && library=$place/library.so
}
# What is known before the start. Prints the settings of the command. It has a shell of its own: none of its variables
# is the command's.
prepare() {
    local file quiet command folder library checksums word launch='' unwritten=
    read_options "$@"
    refuse_tasks
    find_library
    type -P -- "${command[0]}" >/dev/null || refuse 127 "${command[0]}: there is no such command"
    [ ! -d "$file" ] || refuse 73 "cannot write $file: it is a folder"
    folder=$file.ranks-$$
    mkdir -- "$folder" || refuse 73 "cannot write beside $file"
    # Checksums of programs and libraries for the next time, where this user may keep them.
    checksums=${library%/*}/checksums
    [ -d "$checksums" ] || mkdir -- "$checksums" 2>/dev/null
    link_library
    take_library
    read -r HOSTNAME </proc/sys/kernel/hostname
    further_settings=
    exec 3>"$folder/evidence" || refuse 73 "cannot write beside $file"
    record "#mpicampaign-evidence 2"
    record_moment started
    record "job host=$HOSTNAME"
    record "job id=${SLURM_JOB_ID:-${LSB_JOBID:-$$}}"
    for word in "${command[@]}"; do
        [[ $word =~ ^[[:alnum:]_./:=,@%+-]+$ ]] || printf -v word %q "$word"
        launch+=" $word"
    done
    record "job launch=${launch# }"
    list_environment
    read_topology
    record_node before
    [ -z "$unwritten" ] || { rm -rf -- "$folder" && say_unwritten && exit 73; }
    printf 'export %s=%q\n' LD_PRELOAD "$library${LD_PRELOAD:+:$LD_PRELOAD}" MPICAMPAIGN_EVIDENCE_FOLDER "$folder" \
        MPICAMPAIGN_ENVIRONMENT "$folder/evidence" MPICAMPAIGN_CHECKSUMS "$checksums"
    record_moment launched
}

# ---- After the end

# Each launch of a program has a folder; their names are in the order of their starts. Ranks that called MPI_Init count.
# Where nothing did, what the launchers started counts; without a launcher, the command itself.
choose_programs() { # programs=(FOLDER/ ...)
    local each
    programs=()
    for each in "$folder"/*/; do
        set -- "$each"[0-9]*[0-9]
        [ $# -eq 0 ] || programs+=("$each")
    done
    [ "${#programs[@]}" -gt 0 ] || for each in "$folder"/*/; do
        set -- "$each"*.none
        [ $# -eq 0 ] || programs+=("$each")
    done
}
# Lines of the first program as they are, of the others behind "program N". Several ranks of one number are of several
# programs. A rank that called MPI_Init is the program, not the shell around it.
record_ranks() { # ranks=(FILE ...) of the first program
    local program path rank number=0 most i
    local -A times
    ranks=()
    for program in "${programs[@]}"; do
        times=() most=0
        for path in "$program"[0-9]*[0-9] "$program"*.none; do
            rank=${path##*/} rank=${rank%%.*} i=${times[$rank]-0}
            [[ -s $path && ($path != *.none || $i -eq 0) ]] || continue
            if [ $((number + i)) -eq 0 ]; then
                ranks+=("$path")
            else
                sed "s/^/program $((number + i + 1)) /" "$path" >&3 || unwritten=yes
            fi
            times[$rank]=$((i + 1))
            [ "$i" -lt "$most" ] || most=$((i + 1))
        done
        number=$((number + most))
    done
    set -- "$folder"/*/launcher
    [ $(($# + ${#programs[@]})) -gt 0 ] || [ ! -s "$folder/command" ] || ranks=("$folder/command")
    for ((i = 0; i < ${#ranks[@]}; i += 1000)); do # a command line has room for so many
        cat "${ranks[@]:i:1000}" >&3 || unwritten=yes
    done
    [ "$number" -le 1 ] || record "job programs=$number"
}
record_launcher() {
    local line lines version
    set -- "$folder"/*/launcher
    [ $# -gt 0 ] && mapfile -t lines <"$1" || return
    for line in "${lines[@]}"; do record "$line"; done
    read -rd '' -n 400 version < <(timeout 5 "${lines[0]#*=}" --version 2>/dev/null </dev/null)
    record "job launcher_version=$version"
}
# The program that became the first rank. It has computed its checksum if it reached MPI_Finalize.
record_program() {
    local line program='' sum=''
    [ "${#ranks[@]}" -eq 0 ] || while read -r line; do
        case $line in
            *" start.program="*) program=${line#*=} ;;
            *" end.program_sha256="*) sum=${line#*=} ;;
        esac
    done <"${ranks[0]}"
    [ -n "$program" ] || program=$(type -P -- "${command[0]}")
    record "job program=$program"
    [ -n "$sum" ] || read -r sum _ < <(sha256sum -- "$program" 2>/dev/null)
    record "job program_sha256=${sum#\\}"
}
# Programs among the words of the command that no library can be loaded into, by their ELF headers.
record_unable() {
    local word path own interpreter
    read_header "$library"
    own="${header[4]} ${header[*]:18:2}"
    for word in "${command[@]}"; do
        path=$(type -P -- "$word") || continue
        read_header "$path"
        [ "${header[*]:0:4}" = "127 69 76 70" ] || continue
        find_interpreter
        if [ "${header[4]} ${header[*]:18:2}" != "$own" ]; then
            record "job architecture=$path"
        elif [ -z "$interpreter" ]; then
            record "job static=$path"
        elif [ -u "$path" ] || [ -g "$path" ]; then
            record "job setuid=$path"
        elif [[ $interpreter != unread && $interpreter != */ld-linux* && $interpreter != */ld64* ]]; then
            record "job loader=$interpreter of $path"
        fi
    done
}
read_header() { # FILE: header=(BYTE ...)
    read -rd '' -a header < <(od -An -v -tu1 -N 4096 -- "$1" 2>/dev/null)
}
number_at() { # OFFSET BYTES: number
    local i
    for ((i = $2 - 1, number = 0; i >= 0; i--)); do number=$((number << 8 | ${header[$1 + i]-0})); done
}
find_interpreter() { # interpreter: the program's loader; empty: it has none; unread: beyond what was read
    local entry size count at number character
    interpreter=
    [ "${header[4]}" = 2 ] || return 0
    number_at 32 8; at=$number
    number_at 54 2; size=$number
    number_at 56 2; count=$number
    for ((entry = 0; entry < count; entry++, at += size)); do
        number_at "$at" 4
        [ "$number" -eq 3 ] || continue # PT_INTERP
        number_at $((at + 8)) 8
        while [ "${header[number]-0}" -ne 0 ]; do
            printf -v character '\\0%03o' "${header[number++]}"
            printf -v character '%b' "$character"
            interpreter+=$character
        done
        : "${interpreter:=unread}"
    done
}
# An earlier FILE stays as it is.
place_file() {
    local target=$file number=1
    until (set -C && : >"$target") 2>/dev/null; do
        [ -e "$target" ] || return
        target=$file.$((++number))
    done
    mv -f -- "$folder/evidence" "$target" || return
    [ "$target" = "$file" ] || say "$file was there before; the evidence is in $target"
    file=$target
}
finish() { # BEGAN: the time of the launch
    local programs ranks header one=([1]='') unwritten=
    take_library
    shopt -s nullglob
    LC_ALL=C
    exec 3>>"$folder/evidence"
    record_moment ended
    record "job launch_ms=$((uptime - $1))"
    read_topology
    record_node after
    cpus=()
    record_system
    choose_programs
    record_ranks
    record_launcher
    record_program
    [ "${#ranks[@]}" -gt 0 ] || record_unable
    record "job exit_status=$status"
    record "end of evidence"
    if [ -n "$unwritten" ] || ! place_file; then
        say_unwritten
    elif [ -z "$quiet" ]; then
        say "evidence of ${#ranks[@]} rank${one[${#ranks[@]}]-s}: $file"
    fi
    rm -rf -- "$folder"
    [[ $library != /tmp/mpicampaign-prove-$$/* ]] || rm -rf -- "${library%/*}"
}

# A terminal sends its signals to the command, too.
from_terminal() {
    local stat
    read -r stat </proc/self/stat
    read -ra stat <<<"${stat##*) }"
    [ "${stat[2]}" = "${stat[5]}" ]
}
pass() { # SIGNAL
    signalled=yes
    case $1 in INT | QUIT) ! from_terminal || return 0 ;; esac
    kill -s "$1" "$process" 2>/dev/null
}

MPICAMPAIGN_PROVE=$(prepare "$@") || exit
# In the background, since only then does this shell act on signals.
(
    trap - INT QUIT
    eval "$MPICAMPAIGN_PROVE"
    export MPICAMPAIGN_EVIDENCE_PROCESS=:$BASHPID
    unset MPICAMPAIGN_PROVE MPICAMPAIGN_EVIDENCE_FILE MPICAMPAIGN_EVIDENCE_PROGRAM
    while [ "$1" != -- ]; do shift; done
    shift
    exec -- "$@"
) <&0 &
process=$! signalled=
for signal in HUP INT QUIT USR1 USR2 TERM ALRM XCPU; do
    # shellcheck disable=SC2064
    trap "pass $signal" "$signal"
done
read_uptime
began=$uptime
while
    signalled=
    wait "$process"
    status=$?
    [ -n "$signalled" ]
do :; done 2>/dev/null
read_uptime
read -r HOSTNAME </proc/sys/kernel/hostname
eval "$MPICAMPAIGN_PROVE"
folder=$MPICAMPAIGN_EVIDENCE_FOLDER library=${LD_PRELOAD%%:*}
unset LD_PRELOAD
read_options "$@"
finish "$began"
exit "$status"
