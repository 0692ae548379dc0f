# shellcheck shell=bash
# For head.sh and node.sh: which folders of the machine the cluster sees.
#
#   MINICLUSTER_HIDDEN    a line for each folder that is covered by an empty one of the cluster's own
#   MINICLUSTER_VISIBLE   a line for each folder that is seen at the same path nevertheless; the first
#                         is the shared file system, the others are read only

# The visible folders are held in /media, where they stay reachable while their parents are hidden.
hold_visible() {
    local path number=0
    mount -t tmpfs held /media
    while IFS= read -r path; do
        number=$((number + 1))
        mkdir "/media/$number"
        mount --bind "$path" "/media/$number"
        # Others than root may not drop what a mount forbids already; they could not write there anyway.
        [ "$number" -eq 1 ] || mount -o remount,bind,ro "/media/$number" 2>/dev/null || true
    done <<<"$MINICLUSTER_VISIBLE"
}

hide_and_show() {
    local path number=0
    while IFS= read -r path; do
        mount -t tmpfs -o mode=755 hidden "$path"
    done <<<"$MINICLUSTER_HIDDEN"
    chmod 1777 /tmp
    while IFS= read -r path; do
        number=$((number + 1))
        mkdir -p "$path" 2>/dev/null || [ -d "$path" ]
        mount --bind "/media/$number" "$path"
    done <<<"$MINICLUSTER_VISIBLE"
}

private_memory() {
    mount -t tmpfs -o mode=1777 shm /dev/shm
}
