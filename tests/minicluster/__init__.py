"""A real Slurm on one machine for tests: its nodes are namespaces with a network, name and memory each."""

from minicluster.cluster import ClusterError, MiniCluster
from minicluster.layout import BLUE, RED, Node, NodeGroup
from minicluster.needs import COMPILERS, USER_PATH, missing_parts

__all__ = [
    "BLUE",
    "COMPILERS",
    "RED",
    "USER_PATH",
    "ClusterError",
    "MiniCluster",
    "Node",
    "NodeGroup",
    "missing_parts",
]
