"""What the test cluster consists of, and the texts of the files that say so to Slurm and ssh. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEAD_ADDRESS = "10.77.0.1"
USER = "scientist"
USER_ID = 27182
DECLARED_SYSFS = "/run/mpicampaign/sysfs"
NODE_SETTINGS = "/run/mpicampaign/node.sh"


@dataclass(frozen=True)
class NodeGroup:
    """Like nodes: a feature and a partition of Slurm with this name, and the declared topology of each.

    ``cpus``: how many CPUs' time the processes of a node get together; 0: no limit. ``gpus``: how many Slurm
    is told of, of type a100; devices that are something else stand for them.
    """

    name: str
    nodes: int = 2
    sockets: int = 1
    cores_per_socket: int = 2
    cpus: float = 0
    gpus: int = 0

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket


BLUE = NodeGroup("blue", sockets=1, cores_per_socket=2)
RED = NodeGroup("red", sockets=2, cores_per_socket=1)


@dataclass(frozen=True)
class Node:
    name: str
    index: int  # from 1
    group: NodeGroup

    @property
    def addresses(self) -> tuple[str, str]:
        """Those of eth0 and eth1: two networks, each a fabric of its own."""
        return f"10.77.0.{10 + self.index}", f"10.78.0.{10 + self.index}"


def nodes_of(groups: Sequence[NodeGroup]) -> list[Node]:
    members = [group for group in groups for _ in range(group.nodes)]
    return [Node(f"n{index}", index, group) for index, group in enumerate(members, start=1)]


def hosts(nodes: Sequence[Node]) -> str:
    """/etc/hosts: n1 is its address on the first network, n1-eth1 that on the second."""
    lines = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} head"]
    for node in nodes:
        first, second = node.addresses
        lines += [f"{first} {node.name}", f"{second} {node.name}-eth1"]
    return "\n".join(lines) + "\n"


def declared_topology(node: Node) -> str:
    """Lines "CPU SOCKET CORE" of the sysfs tree that stands for this node's hardware."""
    each = node.group.cores_per_socket
    return "".join(f"{cpu} {cpu // each} {cpu % each}\n" for cpu in range(node.group.cores))


def cpu_order(node: Node, real_cpus: int) -> str:
    """The node's CPUs beginning with another one on each node.

    The nodes share the machine's CPUs. Were the first rank of each node on CPU 0, spinning ranks would wait
    for a whole time slice for each message.
    """
    usable = min(node.group.cores, real_cpus)
    return ",".join(str((cpu + node.index - 1) % usable) for cpu in range(usable))


# No accounting data base, no cgroups, no binding by Slurm: the job scripts bind their ranks themselves.
# All intervals are short, so that tests need not wait. The controller holds its locks while it syncs its
# state: in memory, so that a slow disk does not make it silent for longer than those intervals.
SLURM_CONF = """\
ClusterName=minicluster
SlurmctldHost=head({head})
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SlurmdParameters=config_overrides
GresTypes=gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
SlurmdTimeout=8
MessageTimeout=6
InactiveLimit=0
KillWait=30
MinJobAge=3600
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
Licenses=machine:1
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
StateSaveLocation=/run/slurm-state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmdSpoolDir=/run/slurmd
{nodes}
{partitions}
"""


def node_line(node: Node) -> str:
    group = node.group
    return (
        f"NodeName={node.name} NodeAddr={node.addresses[0]} Feature={group.name} Boards=1"
        f" SocketsPerBoard={group.sockets} CoresPerSocket={group.cores_per_socket} ThreadsPerCore=1"
        f"{f' Gres=gpu:a100:{group.gpus}' if group.gpus else ''} State=UNKNOWN"
    )


def gres_conf(nodes: Sequence[Node]) -> str:
    devices = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random")
    return "".join(
        f"NodeName={node.name} Name=gpu Type=a100 File={device}\n"
        for node in nodes
        for device in devices[: node.group.gpus]
    )


def partition_line(name: str, nodes: Sequence[Node], default: str = "NO") -> str:
    names = ",".join(node.name for node in nodes)
    return f"PartitionName={name} Nodes={names} Default={default} MaxTime=60 State=UP"


def slurm_conf(folder: str, nodes: Sequence[Node]) -> str:
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.group.name, []).append(node)
    partitions = [partition_line("all", nodes, default="YES")]
    partitions += [partition_line(name, members) for name, members in groups.items()]
    return SLURM_CONF.format(
        head=HEAD_ADDRESS,
        folder=folder,
        nodes="\n".join(node_line(node) for node in nodes),
        partitions="\n".join(partitions),
    )


# Host keys and the user's key are made at each start: there is nothing to protect and nobody to ask.
SSHD_CONF = """\
HostKey /run/sshd_host_key
AuthorizedKeysFile {key}.pub
StrictModes no
UsePAM no
PidFile /run/sshd.pid
MaxStartups 100
"""

SSH_CONF = """\
Host *
    IdentityFile {key}
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
"""
