#!/bin/bash
# head.sh STATE_FOLDER: the first process of the cluster; with its end, all others are killed.
#
# It makes the head: file systems, user, networks, munged. It says "ready" and then waits for the end of
# its input, which comes with the end of the tests, however that came about.
# USER_LINE: the ordinary user's line of passwd.
set -eu
state=$1
# shellcheck source=tests/minicluster/mounts.sh
. "${0%/*}/mounts.sh"

# A copy, since a package manager that works meanwhile replaces files by renaming others over them.
private_etc() {
    cp -a /etc /run/etc 2>/dev/null || true # others than root may not read all of it
    mount --bind /run/etc /etc
    printf '%s\n' "$USER_LINE" >>/etc/passwd
    printf '%s\n' "${USER_LINE%%:*}:x:$(cut -d : -f 3 <<<"$USER_LINE"):" >>/etc/group
    printf '%s:*:19000:0:99999:7:::\n' root "${USER_LINE%%:*}" >/etc/shadow
    printf '%s: files\n' passwd group shadow hosts >/etc/nsswitch.conf
    cp "$state/hosts" /etc/hosts
    mkdir -p /etc/slurm
    cp "$state"/{slurm,cgroup,gres}.conf /etc/slurm/
}

start_networks() {
    ip link set lo up
    ip link add eth0 type bridge
    ip link add eth1 type bridge
    ip address add 10.77.0.1/24 dev eth0
    ip address add 10.78.0.1/24 dev eth1
    ip link set eth0 up
    ip link set eth1 up
}

start_munged() {
    mkdir -m 755 /run/munge
    mkdir -m 700 /run/munge-private
    head -c 1024 /dev/urandom >/run/munge-private/key
    chmod 600 /run/munge-private/key
    munged --force --key-file=/run/munge-private/key --log-file=/run/munge-private/log \
        --pid-file=/run/munge/munged.pid --seed-file=/run/munge-private/seed --socket=/run/munge/munge.socket.2
}

hostname head
hold_visible
hide_and_show
mount -t tmpfs -o mode=755 run /run
mount -t sysfs sysfs /sys
private_memory
private_etc
mkdir -m 700 /run/slurm-state
chmod 755 "${state%/*}" "$state" "${state%/*}/home"
chown "${USER_LINE%%:*}:" "${state%/*}" "${state%/*}/home"
start_networks
start_munged
echo ready
read -r _ || true
