"""Intel MPI; settings and report seen with 2021.18."""

from __future__ import annotations

import re

from mpicampaign.mpis import libfabric
from mpicampaign.mpis.mpi import MpiLibrary
from mpicampaign.mpis.mpich import HYDRA

_TCP = {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "{interface}"}
_IBV = {"FI_PROVIDER": "verbs", "FI_VERBS_DEVICE_NAME": "{device}"}
# Where the ranks are, how Hydra starts them, and memory policies that it derives from the binding.
_LAUNCHER_SETS = re.compile(
    r"I_MPI_(INFO_.*|JOB_.*|INTERNAL_.*|PIN_INFO|PIN_MAPPING|MPIRUN|"
    r"BIND_WIN_ALLOCATE|RETURN_WIN_MEM_NUMA|PROCESS_MANAGER)"
)
# As seen (tests/fixtures/derived_variables.yaml). Whatever pins the ranks, they record their CPUs.
_DERIVES = {
    "I_MPI_PIN_DOMAIN": r" --?cpu-bind[ =]{value}",
    "I_MPI_PIN_DOMAIN_SIZE": r"I_MPI_PIN_(DOMAIN|PROCESSOR_LIST)[ =]| --?cpu-bind[ =]",
    "I_MPI_PIN_CELL": r"(I_MPI_PIN_DOMAIN| --?cpu-bind)[ =](auto|omp|cache)",
    "I_MPI_PIN_ORDER": r"(I_MPI_PIN_DOMAIN| --?cpu-bind)[ =]\S+:{value}|I_MPI_PIN_PROCESSOR_LIST[ =]",
    "I_MPI_PROXY_PROC_COUNT": r"I_MPI_BIND_NUMA[ =]",
    "I_MPI_RETURN_INTERNAL_MEM_NUMA": r"I_MPI_HBW_POLICY[ =]",
    "I_MPI_TUNING_BIN": r" --?tune[ =]{value}",
    "I_MPI_PRINT_PROT": r" --?prot\b",
    "I_MPI_SILENT_ABORT": r" --?silent-abort\b",
    "FI_TCP_PORT_(LOW|HIGH)_RANGE": r"(I_MPI|MPIEXEC)_PORT_RANGE[ =]",
}
_MODULE = re.compile(r"(?:^|/)(?:impi|intel-?mpi|intel-oneapi-mpi)(?:[/-]|$)", re.IGNORECASE)


def _report(output: str) -> set[str] | None:
    """I_MPI_DEBUG=5: it names a libfabric provider if and only if it uses libfabric."""
    if "MPI startup(): Intel(R) MPI Library" not in output:
        return None
    called = {"sockets": "tcp", "verbs": "ibv", "mlx": "ibv"}
    return {called.get(provider, provider) for provider in libfabric.providers(output) or ()} or {"shm"}


MPI = MpiLibrary(
    name="intelmpi",
    title="Intel MPI",
    launcher=HYDRA,
    settings={
        "pmi": "pmi2",
        "environment": {"I_MPI_DEBUG": "5"},
        "unbound": {"environment": {"I_MPI_PIN": "off"}},
        "transports": {
            "shm": {"environment": {"I_MPI_FABRICS": "shm"}},
            "tcp": {"environment": {"I_MPI_FABRICS": "ofi", **_TCP}},
            "ibv": {"environment": {"I_MPI_FABRICS": "ofi", **_IBV}},
            "ofi": {"environment": {"I_MPI_FABRICS": "ofi"}},
            "tcp+shm": {"environment": {"I_MPI_FABRICS": "shm:ofi", **_TCP}},
            "ibv+shm": {"environment": {"I_MPI_FABRICS": "shm:ofi", **_IBV}},
            "ofi+shm": {"environment": {"I_MPI_FABRICS": "shm:ofi"}},
        },
    },
    # starts with literal text, which is found fast: the whole output is searched
    version=re.compile(
        r"Intel\(R\) MPI Library,? (?:Version )?(\d[\w.]*(?: Update \d+)?)|"
        r"Intel\(R\) MPI Library for [^\n]{1,30}?Version (\d[\w.]*(?: Update \d+)?)"
    ),
    launcher_version=re.compile(r"Intel\(R\) MPI Library for [^\n]{1,30}?Version (\d[\w.]*(?: Update \d+)?)"),
    report=_report,
    providers=libfabric.providers,
    of_module=lambda module: "intelmpi" if _MODULE.search(module) else None,
    mpirun_says=re.compile(r"Intel\(R\) MPI"),
    sonames=("libmpi.so.12",),
    file_says="Intel(R) MPI Library",
    prefix_variable="I_MPI_ROOT",
    variables=("I_MPI_",),
    launcher_sets=_LAUNCHER_SETS,
    derives=_DERIVES,
    wheel="impi-devel",
    wheel_for=("x86_64",),
)
