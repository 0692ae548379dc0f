"""Which tests may run beside each other, where pytest-xdist runs several at a time (--dist loadgroup).

Tests of one lane run one after the other in one process, so that what they share is made once. MPI
programs have a lane, test clusters another; every other file is one of its own. What measures, or depends
on time, has the mark `alone`: the Makefile runs it afterwards, beside nothing.
"""

from __future__ import annotations

import pytest

CLUSTER = {"cluster_parts", "minicluster"}  # fixtures


def lane_of(item: pytest.Function) -> str:
    """A test on a cluster that starts MPI programs is in the cluster's lane."""
    if CLUSTER & set(item.fixturenames):
        return "cluster"
    return "mpi" if item.get_closest_marker("mpi") else item.module.__name__


def pytest_itemcollected(item: pytest.Function) -> None:
    if item.config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(lane_of(item)))
