"""libfabric (OFI), which several MPI libraries use: its providers, their variables, and reports of them."""

from __future__ import annotations

import re

# The variable that restricts each provider to a device (tcp: an interface), by the manual pages fi_tcp(7),
# fi_verbs(7), fi_efa(7), fi_cxi(7) and fi_psm3(7). Those of PSM2 and OPX take the number of a unit, which the
# name of a device does not give.
_DEVICE_VARIABLES = {
    "tcp": "FI_TCP_IFACE",
    "verbs": "FI_VERBS_DEVICE_NAME",
    "efa": "FI_EFA_IFACE",
    "cxi": "FI_CXI_DEVICE_NAME",
    "opx": "",
    "psm2": "",
    "psm3": "PSM3_NIC",
}
PROVIDERS = tuple(_DEVICE_VARIABLES)
# Others that reports may name, by fi_provider(7)
OTHERS = ("bgq", "gni", "lnx", "mlx", "net", "psm", "shm", "sm2", "sockets", "ucx", "udp", "usnic", "xnet")
# Providers that bypass the kernel: none of their messages uses a socket. PSM3 has a mode that does.
WITHOUT_SOCKETS = ("verbs", "efa", "cxi", "psm2", "opx")
# Earlier releases called these ibv, and so do finished runs and imports.
ONCE_IBV = frozenset(("ibv", "psm", "psm2", "psm3", "opx", "efa"))
# I_MPI_DEBUG=5 and MPIR_CVAR_DEBUG_SUMMARY=1
_PROVIDER = re.compile(r"libfabric provider: ([\w+:-]+)")


def variables(provider: str, network: str) -> dict[str, str]:
    """The variables that make libfabric use a provider, on a device or interface where one is named."""
    device = _DEVICE_VARIABLES.get(provider, "")
    return {"FI_PROVIDER": provider} | ({device: network} if device and network else {})


def providers(output: str) -> set[str] | None:
    """The providers in a report, without the layers over them (``tcp;ofi_rxm``); None where there is none."""
    return set(_PROVIDER.findall(output)) or None
