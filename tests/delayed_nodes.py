"""Nodes whose messages take a known time and whose clocks differ, in namespaces around TUN devices.

    python tests/delayed_nodes.py DELAY OFFSET... -- COMMAND

runs COMMAND; NODES has the process ids of the nodes, one for each OFFSET (s) of CLOCK_MONOTONIC. This process
carries each packet to its node after DELAY (s), as netem does, which many kernels lack. Needs root.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

_TUNSETIFF, _TUN_WITHOUT_HEADER, _NEW_NETWORK = 0x400454CA, 0x1001, 0x40000000
ENTER = """set -- $NODES -- "$@"; shift ${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; node=$1
while [ "$1" != -- ]; do shift; done; shift; exec nsenter --target $node --net --time --uts "$@" """
"""For ``sh -c``: a rank's program on the node of its number."""


def _node(number: int, offset: str) -> tuple[int, subprocess.Popen[bytes]]:
    """Its device, and a process that keeps its namespaces."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "no network namespace")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"tun0", _TUN_WITHOUT_HEADER))
    setup = f"""ip link set lo up; ip address add 10.0.0.{number}/24 dev tun0; ip link set tun0 up
        hostname n{number}; echo ready; exec sleep infinity"""
    command = ["unshare", "--uts", "--time", "--monotonic", offset, "sh", "-ec", setup]
    keeper = subprocess.Popen(command, stdout=subprocess.PIPE)
    if not (keeper.stdout and keeper.stdout.readline()):
        raise OSError("no node")
    return device, keeper


def _carry(devices: list[int], delay: float, done: subprocess.Popen[bytes]) -> None:
    waiting: list[tuple[float, int, bytes]] = []
    while done.poll() is None:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.1
        for device in select.select(devices, [], [], timeout)[0]:
            packet = os.read(device, 65536)
            if packet[0] >> 4 == 4 and 0 < packet[19] <= len(devices):  # IPv4, to one of the nodes
                heapq.heappush(waiting, (time.monotonic() + delay, packet[19], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, number, packet = heapq.heappop(waiting)
            os.write(devices[number - 1], packet)


def main(delay: str, *words: str) -> int:
    end = words.index("--")
    made = [_node(number, offset) for number, offset in enumerate(words[:end], start=1)]
    environment = {**os.environ, "NODES": " ".join(str(keeper.pid) for _, keeper in made)}
    try:
        with subprocess.Popen(words[end + 1 :], env=environment) as command:
            _carry([device for device, _ in made], float(delay), command)
        return command.returncode
    finally:
        for _, keeper in made:
            keeper.kill()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
