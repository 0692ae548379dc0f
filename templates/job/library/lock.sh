# shellcheck shell=bash disable=SC2154

# ---- The lock of the machine: two measurements would disturb each other, whoever makes them. It is a folder, which
# each user can open, and the kernel frees it when the last process that holds it ends. Links in it, each named by its
# user's number, say who measures. What others put at its place is neither followed nor written to: a run goes
# without the lock then, and `unlocked` says why.

# Opens the folder as descriptor 9. It is open to all users, or it is ours or root's and nobody else may change it.
open_lock() {
    local made='' path mode user kind
    [ -e "$lock" ] || made=$(mkdir -m 1777 "$lock" 2>&1)
    { exec 9<&- 9<"$lock/."; } 2>/dev/null
    # shellcheck disable=SC2046 # numbers: of the path itself, which may be a link, then of what was opened
    set -- $(stat -c '%d:%i %f %u' "$lock" /proc/self/fd/9/. 2>/dev/null)
    unlocked="$lock cannot be made: ${made##*: }"
    [ $# -gt 0 ] || return
    path=$1 mode=$((16#$2)) user=$3
    if [ "${4-}" = "$path" ]; then
        [ $((mode & 01777)) -ne $((01777)) ] || return 0
        { [ "$user" -ne "$EUID" ] && [ "$user" -ne 0 ]; } || [ $((mode & 022)) -ne 0 ] || return 0
    fi
    case $((mode >> 12)) in
        4) printf -v kind 'folder with mode %o' $((mode & 07777)) ;;
        8) kind="file, no folder" ;;
        10) kind="link, no folder" ;;
        *) kind="special file, no folder" ;;
    esac
    user=$(stat -c '%U (uid %u)' "$lock")
    unlocked="$lock is a $kind, of $user"
    return 1
}
# Who took the lock last. Anybody may write a link, but its owner and its time are the kernel's.
say_who_measures() {
    local time number user link since holder="an unknown process"
    read -r time number user link < <(stat -c '%.9Z %u %U %N' /proc/self/fd/9/[0-9]* 2>/dev/null | sort -rn)
    if [ -n "$time" ]; then
        [ "$user" != UNKNOWN ] || user="uid $number"
        link=${link#*-> } # quoted by stat
        TZ=UTC0 printf -v since '%(%FT%TZ)T' "${time%.*}"
        holder="${link//\'/} (of $user, since $since)"
    fi
    echo "waiting for the lock of this machine, $lock; last taken by $holder"
}
take_lock() {
    local is_told='' status
    while open_lock; do
        flock -n 9
        status=$?
        if [ "$status" -eq 0 ]; then
            ln -sfT "process $$, $run" "/proc/self/fd/9/$EUID" 2>/dev/null
            unlocked=''
            return
        fi
        unlocked="$lock cannot be locked: flock ended with status $status"
        [ "$status" -eq 1 ] || break
        [ -n "$is_told" ] || say_who_measures
        is_told=yes
        flock 9 || break # then again from the start: the folder may have been replaced
    done
    exec 9<&-
    echo "warning: another measurement may run at the same time: $unlocked; MPICAMPAIGN_LOCK names another folder" >&2
}
