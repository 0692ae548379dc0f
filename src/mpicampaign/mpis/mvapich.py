"""MVAPICH2, after its user guide of 2.3.7 (sections 4.13, 5.2, 11.22, 11.25, 11.33, 11.89).

TCP needs a build with ch3:nemesis or ch3:nemesis:ib,tcp; the InfiniBand build ignores the two settings.
"""

from __future__ import annotations

import re

from mpicampaign.mpis.mpi import MpiLibrary
from mpicampaign.mpis.mpich import HYDRA

_MODULE = re.compile(r"(?:^|/)mvapich[0-9]*(?:[/-]|$)", re.IGNORECASE)
_SHM, _TCP = {"MV2_USE_SHARED_MEM": "1"}, {"MPICH_NEMESIS_NETMOD": "tcp"}
_IBV = {"MV2_IBA_HCA": "{device}", "MV2_NUM_HCAS": "1"}
_INTERFACE = ["-iface", "{interface}"]

MPI = MpiLibrary(
    name="mvapich2",
    title="MVAPICH2",
    launcher=HYDRA,
    settings={
        "command": "mpiexec",
        "pmi": "pmi2",
        "unbound": {"environment": {"MV2_ENABLE_AFFINITY": "0"}},
        "transports": {
            "shm": {"environment": _SHM},
            "tcp": {"options": _INTERFACE, "environment": _TCP},
            "ibv": {"environment": _IBV},
            "tcp+shm": {"options": _INTERFACE, "environment": {**_SHM, **_TCP}},
            "ibv+shm": {"environment": {**_SHM, **_IBV}},
        },
    },
    version=re.compile(r"MVAPICH2(?:-| Version\s*:\s*)(\d[\w.]*)"),
    # the module's name does not show the build, on which the transports depend
    of_module=lambda module: "" if _MODULE.search(module) else None,
    sonames=("libmpi.so.12",),
    file_says="MVAPICH2 Version",
    variables=("MV2_",),
)
