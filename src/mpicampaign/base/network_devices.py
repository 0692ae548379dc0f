"""Which network a device of /sys/class/infiniband, or of Slingshot's /sys/class/cxi, is on."""

from __future__ import annotations

import re

INFINIBAND, ROCE, IWARP = LINKS = ("infiniband", "roce", "iwarp")
EFA, OMNI_PATH, CN5000, SLINGSHOT, MANA = "EFA", "Omni-Path", "Omni-Path CN5000", "Slingshot", "MANA"
# Drivers, and the names that drivers and rdma-core's udev rules give: they tell more than the link layer, by
# which Omni-Path is InfiniBand and Microsoft's MANA is Ethernet.
_BY_DRIVER = {"efa": EFA, "hfi1": OMNI_PATH, "hfi2": CN5000, "mana": MANA}
_BY_NAME = {
    **{"efa_": EFA, "hfi1_": OMNI_PATH, "hfi2_": CN5000, "opap": OMNI_PATH, "cxi": SLINGSHOT},
    **{"mana_": MANA},
    **{"rocep": ROCE, "iwp": IWARP},
}
_BY_LAYER = {"InfiniBand": INFINIBAND, "Unspecified": EFA}


def network_of(device: str, layer: str, node_type: str = "", driver: str = "") -> str:
    """One of the above, by the files of /sys (``1: CA``, ``4: RNIC``); empty where they do not tell.

    Without its node type an Ethernet device may be RoCE or iWARP: irdma is either.
    """
    name = re.match("|".join(_BY_NAME), device)
    if known := _BY_DRIVER.get(driver) or (_BY_NAME[name[0]] if name else _BY_LAYER.get(layer)):
        return known
    return {"1": ROCE, "4": IWARP}.get(node_type[:1], "") if layer == "Ethernet" else ""
