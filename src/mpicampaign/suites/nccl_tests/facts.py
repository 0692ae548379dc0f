"""What an output of nccl-tests says of its program, devices, hosts and libraries."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from mpicampaign.suites.nccl_tests import BEGIN, JSON
from mpicampaign.suites.nccl_tests.json_results import UNEXPECTED, loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAM = re.compile(r"^# Collective test (?:starting|concluded): *(\w{1,60})", re.MULTILINE)
_DEVICE = re.compile(
    r"^#? +Rank +([0-9]{1,7})(?: +Group +([0-9]{1,7}))?(?: +Pid +[0-9]{1,10})? +on +(\S{1,255})"
    r" +device +[0-9]{1,4} +\[[^\]\n]{1,40}\] +(\S[^\n]{0,99})",
    re.MULTILINE,
)
_LIBRARY = re.compile(r"nccl-library=([0-9]{4,6})|\b[NR]CCL version *:? *([0-9][0-9.]{0,20})")
_DEVICE_KEYS = ("rank", "group", "hostname", "device_info")
_JOBS = ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID")
_MOST_RANKS = 10**7


class _Device(NamedTuple):
    rank: str
    group: str
    host: str
    name: str


def printed_program(text: str) -> str:
    """As the output names it; empty where it does not."""
    if JSON.match(text):
        arguments = loaded(text).get("args")
        return str(arguments[0]).rpartition("/")[2] if isinstance(arguments, list) and arguments else ""
    printed = _PROGRAM.search(text)
    return printed[1] if printed else ""


def facts_of(text: str) -> dict[str, str]:
    """By the names of facts of imports, and ``ranks``; an empty value where one is unknown."""
    return _facts_of_json(text) if JSON.match(text) else _facts_of_text(text)


def _facts_of_text(text: str) -> dict[str, str]:
    devices = [_Device(*groups) for groups in _DEVICE.findall(text)]
    library, begin = _LIBRARY.search(text), BEGIN.search(text)
    version = (_dotted(library[1] or "") or library[2].rstrip(".")) if library else ""
    facts = _of_devices(devices, 1) | {"nccl": version}
    of_process = int(begin[1]) * int(begin[2]) if begin else 1
    numbers = {int(device.rank) for device in devices}
    if numbers != {*range(len(devices))} or len(devices) % max(of_process, 1):  # lines are missing
        facts.pop("ranks", "")
    return facts


def _facts_of_json(text: str) -> dict[str, str]:
    """Each process names its first device alone."""
    data = loaded(text)
    try:
        config = data["config"]
        devices = [_Device(*(str(each[key]) for key in _DEVICE_KEYS)) for each in config["devices"]]
        of_each = int(config["nthreads"]) * int(config["ngpus"])
        if not 0 < of_each < _MOST_RANKS:
            return {}
        variables = dict(str(each).partition("=")[::2] for each in data["env"])
        job = next((variables[name] for name in _JOBS if name in variables), "")
        started = str(data["start_time"]).replace(" ", "T")
        version = _dotted(str(data["nccl_version"]))
    except UNEXPECTED:
        return {}
    return _of_devices(devices, of_each) | {"nccl": version, "started": started, "job": job}


def _of_devices(devices: Sequence[_Device], each: int) -> dict[str, str]:
    """``ranks``: those of the first communicator; ``each``: devices for which one is listed."""
    hosts = Counter(device.host for device in devices)
    if not hosts:
        return {}
    on_host = {each * number for number in hosts.values()}
    return {
        "ranks": str(each * sum(device.group == devices[0].group for device in devices)),
        "gpus": str(each * len(devices)),
        "gpus_per_node": str(*on_host) if len(on_host) == 1 else "",
        "gpu": ", ".join(dict.fromkeys(device.name.strip() for device in devices)),
        "hosts": " ".join(hosts),
        "nodes": str(len(hosts)),
    }


def _dotted(code: str) -> str:
    """``2.7.8`` for 2708, ``2.28.9`` for 22809: from 2.9 on the number has a digit more."""
    if not code.isascii() or not code.isdecimal():
        return ""
    major, minor = divmod(int(code), 1000 if len(code) == 4 else 10000)
    return f"{major}.{minor // 100}.{minor % 100}"
