"""The test cluster: starting and stopping it, calling commands in it, and breaking it on purpose."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from minicluster import cpu_limits, layout
from minicluster.layout import BLUE, Node, NodeGroup
from minicluster.needs import SYSTEM_PATH, USER_NAMESPACE, USER_PATH
from minicluster.sight import hidden_folders, visible_folders

HERE = Path(__file__).resolve().parent
NAMESPACES = ("--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc")
INTERFACES = ("eth0", "eth1")
USER_IDS = (f"--reuid={layout.USER_ID}", f"--regid={layout.USER_ID}", "--clear-groups")
TIMED_OUT = (124, 137)

Done = subprocess.CompletedProcess[str]


class ClusterError(Exception):
    """The cluster itself failed, not the command that was called in it."""


class Space:
    """The namespaces that one process opens: those of the head or of a node.

    The process waits for the end of its input. The kernel closes our end of that pipe however we end, and
    kills all processes of the namespaces with the first one of them.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path, depth: int) -> None:
        with log.open("a") as errors:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._log = log
        self._depth = depth  # of helper processes before the first one inside
        self._first = 0

    def wait_until_ready(self, text: str = "") -> None:
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(BrokenPipeError):  # where it ended, its log says why
            self._process.stdin.write(text)
            self._process.stdin.flush()
        if self._process.stdout.readline() != "ready\n":
            self.end()
            raise ClusterError(f"{self._log.name}: {self._log.read_text()}")
        first = self._process.pid
        for _ in range(self._depth):
            first = only_child(first)
        self._first = first

    @property
    def first(self) -> int:
        """The first process inside, by its number on the machine."""
        if self._process.poll() is not None or not self._first:
            raise ClusterError("it is not running")
        return self._first

    def kill(self) -> None:
        """All processes inside end at once, like at a power cut."""
        os.kill(self.first, 9)
        self.end()

    def end(self) -> None:
        assert self._process.stdin and self._process.stdout
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        try:
            self._process.wait(240)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def only_child(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


class MiniCluster:
    """A Slurm cluster of a head and nodes n1, n2, … The folder is the file system that all of them share.

    with MiniCluster(folder, [NodeGroup("blue", nodes=2)]) as cluster:
        cluster.call(["srun", "-N2", "hostname"])
    """

    def __init__(
        self, folder: Path, groups: Sequence[NodeGroup] = (BLUE,), visible: Sequence[Path] = ()
    ) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "home"
        self.nodes = {node.name: node for node in layout.nodes_of(groups)}
        self._state = self.folder / "slurm"
        self._visible = visible_folders(self.folder, visible)
        self._head: Space | None = None
        self._spaces: dict[str, Space] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # ---- The whole cluster

    def start(self, timeout: float = 120) -> None:
        """Returns when all nodes are idle."""
        self._write_files()
        try:
            self._start_head()
            self.start_controller()
            for node in self.nodes.values():
                self._begin_node(node)
            for node in self.nodes.values():
                self._finish_node(node)
            self.wait_for(self._all_idle, timeout, "all nodes are idle")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends everything; calling it twice does no harm. The folder stays."""
        head, self._head = self._head, None
        spaces, self._spaces = self._spaces, {}
        if head is not None:
            head.end()
        for space in spaces.values():
            space.end()
        cpu_limits.remove(self.nodes.values())

    @property
    def environment(self) -> dict[str, str]:
        """What a campaign's system must export so that each node shows its declared hardware."""
        return {"MPICAMPAIGN_SYSFS": layout.DECLARED_SYSFS, "BASH_ENV": layout.NODE_SETTINGS}

    def give(self, path: Path) -> None:
        """Makes a folder inside the shared one the ordinary user's, as its own project copy is."""
        self.administer(["chown", "--recursive", "--no-dereference", f"{layout.USER}:", str(path)])

    # ---- Commands inside

    def call(
        self,
        command: Sequence[str],
        timeout: float = 120,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Runs a command on the head as the ordinary user."""
        return self._call(self._head_space(), command, timeout, env, cwd, USER_IDS)

    def call_on(
        self,
        node: str,
        command: Sequence[str],
        timeout: float = 120,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Done:
        """Runs a command on a node as the ordinary user, past Slurm."""
        return self._call(self._space(node), command, timeout, env, cwd, USER_IDS)

    def administer(self, command: Sequence[str], node: str | None = None, timeout: float = 120) -> str:
        """Runs a command as the cluster's root, on the head or a node, and demands success."""
        space = self._space(node) if node else self._head_space()
        done = self._call(space, command, timeout, None, Path("/"), ())
        if done.returncode != 0:
            raise ClusterError(
                f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}{done.stdout}"
            )
        return done.stdout

    def wait_for(self, condition: Callable[[], bool], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                raise ClusterError(f"not within {timeout} s: {what}\n{self.controller_log()[-2000:]}")
            time.sleep(0.05)

    # ---- What Slurm says

    def node_states(self) -> dict[str, str]:
        return self._pairs("sinfo", "--noheader", "--Node", "--partition=all", "--format=%N %T")

    def queue(self) -> dict[str, str]:
        """The state of each job that the controller knows, finished ones included."""
        return self._pairs("squeue", "--noheader", "--states=all", "--format=%i %T")

    def completed_jobs(self) -> list[dict[str, str]]:
        """The lines of Slurm's job-completion file: JobId, JobState, ExitCode, NodeList and others."""
        file = self._state / "jobs.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        return [dict(re.findall(r"(\w+)=(.*?)(?=\s+\w+=|\s*$)", line)) for line in lines]

    def controller_log(self) -> str:
        file = self._state / "slurmctld.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def node_log(self, node: str) -> str:
        file = self._state / f"slurmd-{node}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def counters(self, node: str) -> dict[str, int]:
        """Bytes sent and received by each interface of a node since it booted."""
        script = "cd /sys/class/net && for i in *; do echo $i $(cat $i/statistics/[rt]x_bytes); done"
        lines = self.administer(["sh", "-c", script], node).splitlines()
        return {name: int(received) + int(sent) for name, received, sent in map(str.split, lines)}

    # ---- Faults and changes

    def start_controller(self) -> None:
        self.administer(["slurmctld"])
        self.wait_for(self._controller_answers, 10, "slurmctld answers")

    def stop_controller(self) -> None:
        self.administer(["sh", "-c", "kill $(cat /run/slurmctld.pid)"])
        self.wait_for(self._controller_ended, 20, "slurmctld has ended")

    def kill_node(self, node: str) -> None:
        """A power cut: neither its processes nor its kernel say good-bye."""
        self._spaces.pop(node).kill()
        self._remove_network(node)

    def boot_node(self, node: str) -> None:
        """After kill_node; returns when slurmd runs, which is before the controller has noticed."""
        self._begin_node(self.nodes[node])
        self._finish_node(self.nodes[node])

    def cut_link(self, node: str, interface: str = "eth0") -> None:
        self.administer(["ip", "link", "set", f"{node}-{interface}", "down"])

    def join_link(self, node: str, interface: str = "eth0") -> None:
        self.administer(["ip", "link", "set", f"{node}-{interface}", "up"])

    def shape(self, node: str, interface: str, rate: str) -> None:
        """Limits what the node sends, for example to 1gbit; the small burst keeps middle sizes honest."""
        limits = ["rate", rate, "burst", "32kb", "latency", "50ms"]
        self.administer(["tc", "qdisc", "replace", "dev", interface, "root", "tbf", *limits], node)

    def shape_links(self, node: str, interface: str, rate: str, slower: Mapping[str, str]) -> None:
        """Limits what the node sends, with lower rates to some other nodes."""
        tc = f"tc {{}} dev {interface} parent 1: {{}}\n".format
        lines = [f"tc qdisc replace dev {interface} root handle 1: htb default 1\n"]
        for number, (name, limit) in enumerate({"": rate, **slower}.items(), start=1):
            lines.append(tc("class add", f"classid 1:{number} htb rate {limit} burst 32kb cburst 32kb"))
            if name:
                address = self.nodes[name].addresses[INTERFACES.index(interface)]
                lines.append(tc("filter add", f"protocol ip u32 match ip dst {address} flowid 1:{number}"))
        self.administer(["sh", "-ec", "".join(lines)], node)

    def unshape(self, node: str, interface: str) -> None:
        self.administer(["tc", "qdisc", "delete", "dev", interface, "root"], node)

    def declare(self, node: str, file: str, text: str) -> None:
        """Writes a file of the node's declared /sys, such as class/dmi/id/bios_version."""
        script = 'mkdir -p "${1%/*}" && echo "$2" >"$1"'
        self.administer(["bash", "-c", script, "bash", f"{layout.DECLARED_SYSFS}/{file}", text], node)

    def undeclare(self, node: str, file: str) -> None:
        """Removes it again."""
        self.administer(["rm", f"{layout.DECLARED_SYSFS}/{file}"], node)

    def start_sshd(self) -> None:
        """After it, the user reaches head and nodes by ssh without being asked anything."""
        folder = self.home / ".ssh"
        key = folder / "id_ed25519"
        (self._state / "ssh_config").write_text(layout.SSH_CONF.format(key=key))
        (self._state / "sshd_config").write_text(layout.SSHD_CONF.format(key=key))
        script = (
            'mkdir -p "$0"; chmod 700 "$0"; cp "$2" "$0/config";'
            ' [ -e "$1" ] || ssh-keygen -q -t ed25519 -N "" -f "$1"'
        )
        self.administer(["sh", "-ec", script, str(folder), str(key), str(self._state / "ssh_config")])
        self.give(folder)
        for node in (None, *self._spaces):
            self._start_sshd_on(node)

    # ---- Parts

    def _write_files(self) -> None:
        for folder in (self.folder, self.home, self._state):
            folder.mkdir(parents=True, exist_ok=True)
        nodes = list(self.nodes.values())
        (self._state / "hosts").write_text(layout.hosts(nodes))
        (self._state / "slurm.conf").write_text(layout.slurm_conf(str(self._state), nodes))
        (self._state / "gres.conf").write_text(layout.gres_conf(nodes))
        # Nothing uses cgroups, but slurmd insists on knowing which kind there would be.
        (self._state / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def _start_head(self) -> None:
        command = [
            "unshare",
            *USER_NAMESPACE,
            *NAMESPACES,
            "--net",
            "bash",
            str(HERE / "head.sh"),
            str(self._state),
        ]
        self._head = Space(command, self._setup_environment(), self._state / "head.log", depth=1)
        self._head.wait_until_ready()

    def _setup_environment(self) -> dict[str, str]:
        user = f"{layout.USER}:x:{layout.USER_ID}:{layout.USER_ID}::{self.home}:/bin/bash"
        return {
            "PATH": SYSTEM_PATH,
            "LC_ALL": "C",
            "USER_LINE": user,
            "MINICLUSTER_VISIBLE": "\n".join(map(str, self._visible)),
            "MINICLUSTER_HIDDEN": "\n".join(map(str, hidden_folders(self._visible))),
        }

    def _begin_node(self, node: Node) -> None:
        self._make_network(node.name)
        arguments = [node.name, *node.addresses, layout.cpu_order(node, len(os.sched_getaffinity(0)))]
        arguments += cpu_limits.arguments(node)
        unshare = ["unshare", *NAMESPACES, "bash", str(HERE / "node.sh"), *arguments]
        command = [*self._enter(self._head_space()), "ip", "netns", "exec", node.name, *unshare]
        log = self._state / f"{node.name}.log"
        self._spaces[node.name] = Space(command, self._setup_environment(), log, depth=2)

    def _finish_node(self, node: Node) -> None:
        self._spaces[node.name].wait_until_ready(layout.declared_topology(node) + "end\n")

    def _make_network(self, node: str) -> None:
        """A network namespace with two cards, whose other ends are plugged into the head's two bridges."""
        lines = [f"ip netns add {node}"]
        for card in INTERFACES:
            lines.append(f"ip link add {node}-{card} type veth peer name {card} netns {node}")
            lines.append(f"ip link set {node}-{card} master {card} up")
        self.administer(["sh", "-ec", "\n".join(lines)])

    def _remove_network(self, node: str) -> None:
        links = "".join(f"ip link delete {node}-{card}\n" for card in INTERFACES)
        self.administer(["sh", "-ec", f"{links}ip netns delete {node}"])

    def _start_sshd_on(self, node: str | None) -> None:
        script = (
            "[ -e /run/sshd_host_key ] && exit; mkdir -m 755 /run/sshd;"  # it runs already
            " ssh-keygen -q -t ed25519 -N '' -f /run/sshd_host_key; /usr/sbin/sshd -f \"$0\""
        )
        self.administer(["sh", "-ec", script, str(self._state / "sshd_config")], node)

    def _call(
        self,
        space: Space,
        command: Sequence[str],
        timeout: float,
        env: Mapping[str, str] | None,
        cwd: Path | None,
        ids: Sequence[str],
    ) -> Done:
        """The time limit is set inside: killing nsenter would leave the command alone in there."""
        limit = ["timeout", "--kill-after=2", str(timeout)]
        wanted = ["env", f"--chdir={cwd or self.home}", *limit, *command]
        started = time.monotonic()
        done = subprocess.run(
            [*self._enter(space), "setpriv", *ids, "--", *wanted],
            env={**self._user_environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout + 10,
            check=False,
        )
        if done.returncode in TIMED_OUT and time.monotonic() - started >= timeout:
            error = subprocess.TimeoutExpired(list(command), timeout, done.stdout, done.stderr)
            error.add_note(self._what_was_seen(done))
            raise error
        return done

    def _what_was_seen(self, done: Done) -> str:
        """For the reader of a failed test: what the command had said, and how Slurm saw the time."""
        logs = {"stdout": done.stdout, "stderr": done.stderr, "slurmctld": self.controller_log()}
        logs |= {f"slurmd of {node}": self.node_log(node) for node in self._spaces}
        return "\n".join(f"---- {name}, its end:\n{text[-4000:]}" for name, text in logs.items())

    def _enter(self, space: Space) -> list[str]:
        user = ["--user"] if USER_NAMESPACE else []
        return ["nsenter", f"--target={space.first}", *user, "--mount", "--uts", "--ipc", "--net", "--pid"]

    def _user_environment(self) -> dict[str, str]:
        user = {"HOME": str(self.home), "USER": layout.USER, "LOGNAME": layout.USER, "SHELL": "/bin/bash"}
        own = {name: value for name, value in os.environ.items() if name == "MPICAMPAIGN_STATES"}
        return {"PATH": USER_PATH, "LC_ALL": "C.UTF-8", **user, **own}

    def _head_space(self) -> Space:
        if self._head is None:
            raise ClusterError("the cluster is not running")
        return self._head

    def _space(self, node: str) -> Space:
        if node not in self._spaces:
            raise ClusterError(f"node {node} is not running")
        return self._spaces[node]

    def _pairs(self, *command: str) -> dict[str, str]:
        """From a command that prints two words a line; nothing while the controller does not answer."""
        return dict(line.split() for line in self.call(command).stdout.splitlines())

    def _all_idle(self) -> bool:
        states = self.node_states()
        return states.keys() == self.nodes.keys() and set(states.values()) == {"idle"}

    def _controller_answers(self) -> bool:
        return self.call(["scontrol", "ping"]).returncode == 0

    def _controller_ended(self) -> bool:
        return self.call(["pgrep", "-x", "slurmctld"]).returncode != 0
