#!/bin/bash
# node.sh NAME ADDRESS0 ADDRESS1 CPU_ORDER CONTROL_GROUP QUOTA PERIOD < lines "CPU SOCKET CORE": the first process of a node.
#
# It starts in the node's own namespaces; its network cards are there, and seen in /sys. It says "ready" when slurmd
# runs, and then waits for the end of its input. Killing it is the power cut of the node.
set -eu
name=$1
address0=$2
address1=$3
cpu_order=$4
group=/media/cpu/$5
quota=$6
period=$7
# shellcheck source=tests/minicluster/mounts.sh
. "${0%/*}/mounts.sh"

# /run is made aside, because munged's socket is taken over from the head's.
private_run() {
    mkdir -p /media/run
    mount -t tmpfs -o mode=755 run /media/run
    mkdir /media/run/munge
    mount --bind /run/munge /media/run/munge
    mount -n --move /media/run /run
}

start_network() {
    ip link set lo up
    ip address add "$address0/24" dev eth0
    ip address add "$address1/24" dev eth1
    ip link set eth0 up
    ip link set eth1 up
}

# The hardware that this node is said to have; network cards and memory are the real ones: declared sockets
# share the NUMA node that their memory really comes from, else honest ranks would look remote.
declare_hardware() {
    local sys=/run/mpicampaign/sysfs cpu socket core folder memory
    mkdir -p "$sys/class"
    ln -s /sys/class/net "$sys/class/net"
    while read -r cpu socket core && [ "$cpu" != end ]; do
        folder=$sys/devices/system/cpu/cpu$cpu
        memory=$(cd "/sys/devices/system/cpu/cpu$cpu" 2>/dev/null && compgen -G "node[0-9]*") || memory=node0
        mkdir -p "$folder/topology" "$sys/devices/system/node/$memory"
        echo "$socket" >"$folder/topology/physical_package_id"
        echo "$core" >"$folder/topology/core_id"
        echo "$cpu" >"$folder/topology/thread_siblings_list"
        ln -s "../../node/$memory" "$folder/$memory"
    done
}

# A kernel of its own has a boot of its own.
own_boot() {
    cat /proc/sys/kernel/random/uuid >/run/mpicampaign/boot_id
    mount --bind /run/mpicampaign/boot_id /proc/sys/kernel/random/boot_id
}

# For BASH_ENV: each bash that is started on this node reads it, whichever launcher started it.
write_settings() {
    cat >/run/mpicampaign/node.sh <<SETTINGS
export MPICAMPAIGN_SYSFS=/run/mpicampaign/sysfs
export MPICAMPAIGN_ALLOWED=$cpu_order
SETTINGS
}

# All processes that follow get so much CPU time together, however many others want the machine's.
limit_cpus() {
    mkdir -p /media/cpu
    mount -t cgroup -o cpu cgroup /media/cpu
    mkdir -p "$group"
    echo "$period" >"$group/cpu.cfs_period_us"
    echo "$quota" >"$group/cpu.cfs_quota_us"
    echo 262144 >"$group/cpu.shares" # as 256 processes
    echo 0 >"$group/cgroup.procs"
    umount /media/cpu
    mount -t tmpfs none /sys/fs/cgroup # no rank of this slow node sees that it is a quota
}

hostname "$name"
hide_and_show
private_run
private_memory
start_network
declare_hardware
own_boot
write_settings
[ "$quota" -eq 0 ] || limit_cpus
slurmd -N "$name"
echo ready
read -r _ || true
