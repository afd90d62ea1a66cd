"""Two hosts behind a switch, a third behind its router, each in namespaces of its own that go with the test.

The switch's ends stay at 9216; a host's port is a macvlan on such an end, so that its MTU limits what it sends and
never what it receives, as on a real NIC.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.jumbo.fabric.lab.user_namespace import join, own_namespace
from lab_helpers import no_namespaces

PROGRAM = Path(__file__).parents[3] / "plugins" / "module_utils" / "probe"
PYTHON = os.environ.get("JUMBO_HOST_PYTHON", os.path.realpath(sys.executable))
ORIGINAL = b'{"links": {"eth0": 1500},\n  "routes": ["10.5.0.0/16 via 10.9.0.1 dev eth0"], "note": "hands off"}\n'
# What the controller's loader does: the package comes through standard input and is never a file on the host. Compiled
# before, by the same interpreter, since these tests send it some hundred times.
LOADER = """
import base64, marshal, sys, zlib
from importlib.machinery import ModuleSpec
CODES = marshal.loads(zlib.decompress(base64.b64decode({codes!r})))
class Finder:
    def find_spec(self, name, path=None, target=None):
        head, _sep, tail = name.partition(".")
        if head != "jumbo_probe" or (tail or "__init__") not in CODES:
            return None
        return ModuleSpec(name, self, is_package=not tail)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        tail = module.__name__.partition(".")[2] or "__init__"
        exec(CODES[tail], module.__dict__)
sys.meta_path.insert(0, Finder())
from jumbo_probe.host import main
sys.exit(main({request!r}))
"""
PRIVATE = """
set -e
mount -t tmpfs tmpfs /run
mkdir /run/etc
for name in passwd group hosts nsswitch.conf iproute2 ld.so.cache alternatives; do
    if [ -e /etc/$name ]; then cp -a /etc/$name /run/etc/; fi
done
mount --bind /run/etc /etc
echo ready
exec >/dev/null
while :; do sleep 86400 & wait $!; done
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and skip them where namespaces cannot be made."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.lab)
            if why := no_namespaces():
                item.add_marker(pytest.mark.skip(reason=why))


KEPT: list[subprocess.Popen[bytes]] = []


@functools.cache
def keeper() -> int:
    """Return a process of the user namespace that all nodes are made in: this one where it may make them itself.

    It ends with this process, which holds the other end of its standard input.
    """
    words = own_namespace()
    if not words:
        return os.getpid()
    command = [*words, "sh", "-c", "echo ready; read _"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    KEPT.append(process)
    return process.pid


COMPILE = """
import base64, json, marshal, sys, zlib
codes = {name: compile(text, name, "exec") for name, text in json.load(sys.stdin).items()}
sys.stdout.write(base64.b64encode(zlib.compress(marshal.dumps(codes), 1)).decode())
"""


@functools.cache
def codes(patches: tuple[tuple[str, tuple[str, str]], ...]) -> str:
    content = {path.stem: path.read_text() for path in PROGRAM.glob("*.py")}
    for name, (old, new) in patches:
        assert old in content[name]
        content[name] = content[name].replace(old, new)
    command = [PYTHON, "-c", COMPILE]
    return subprocess.run(command, input=json.dumps(content), capture_output=True, text=True, check=True).stdout


def make_program(request: dict[str, Any], patches: Mapping[str, tuple[str, str]] | None = None) -> str:
    """Return what is sent to `python3 -` for one request; `patches` replace a text of a module."""
    return LOADER.format(codes=codes(tuple((patches or {}).items())), request=json.dumps(request))


def eventually(condition: Callable[[], Any], limit: float = 8.0, what: str = "it") -> Any:
    """Wait until a condition holds and return its value."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not happen within {limit} s"
        time.sleep(0.03)


class Node:
    """A namespace of processes, mounts and network; all of it dies with the process that holds it."""

    def __init__(self, name: str) -> None:
        self.name = name
        options = ["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        # Even a killed test run leaves nothing behind: its death ends unshare, which ends the namespaces.
        command = [str(shutil.which("setpriv")), "--pdeathsig", "KILL", "unshare", *options, "sh", "-c", PRIVATE]
        self.holder = subprocess.Popen([*join(keeper()), *command], stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout is not None
        assert self.holder.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children")
        self.pid = int(children.read_text().split()[0])

    def command(self, *arguments: str) -> list[str]:
        return [*join(self.pid), "nsenter", "-t", str(self.pid), "--net", "--mount", "--uts", "--pid", *arguments]

    def run(self, *arguments: str, text: str | None = None, check: bool = True) -> str:
        done = subprocess.run(
            self.command(*arguments), input=text, capture_output=True, text=True, check=False, timeout=60
        )
        assert not check or done.returncode == 0, f"{self.name}: {' '.join(arguments)}: {done.stderr}{done.stdout}"
        return done.stdout

    def ip(self, lines: str) -> None:
        """Build: from outside the process namespace, so that other nodes can be named by their process id."""
        command = [*join(self.pid), str(shutil.which("nsenter")), "-t", str(self.pid), "--net", "ip", "-batch", "-"]
        done = subprocess.run(command, input=textwrap.dedent(lines), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{self.name}: {done.stderr} in {lines}"

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a helper of the test: outside the process namespace, where nsenter execs and a kill hits it."""
        command = [*join(self.pid), str(shutil.which("nsenter")), "-t", str(self.pid), "--net", "--mount", *arguments]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.holder.kill()
        self.holder.communicate()


class Host(Node):
    """A Linux host as the controller sees it."""

    python = PYTHON
    path = "/usr/sbin:/usr/bin:/sbin:/bin"

    def ask(self, verb: str, *, patches: Mapping[str, tuple[str, str]] | None = None, **fields: Any) -> dict[str, Any]:
        """Run one request as the controller does; the reply must be one line of JSON, whatever happens."""
        output = self.run(
            "env", f"PATH={self.path}", self.python, "-", text=make_program({"verb": verb, **fields}, patches)
        )
        assert output.count("\n") == 1, output
        reply = json.loads(output)
        assert isinstance(reply, dict)
        return reply

    def do(self, verb: str, **fields: Any) -> dict[str, Any]:
        """Run a request that must succeed."""
        reply = self.ask(verb, **fields)
        assert reply["ok"], json.dumps(reply, indent=1)
        return reply

    def refused(self, verb: str, **fields: Any) -> dict[str, Any]:
        """Run a request that must be refused; returns the error."""
        reply = self.ask(verb, **fields)
        assert not reply["ok"], json.dumps(reply, indent=1)
        assert set(reply["error"]) >= {"message", "object", "wish", "limit", "advice"}
        return dict(reply["error"])

    def routes(self) -> str:
        return self.run("ip", "-4", "route", "show", "table", "all") + self.run("ip", "-4", "rule")

    def mtu(self, interface: str = "eth1") -> int:
        return int(json.loads(self.run("ip", "-j", "link", "show", interface))[0]["mtu"])

    def processes(self) -> list[str]:
        """Return the names of living processes, the holder and the one that asks left out."""
        lines = self.run("sh", "-c", "grep -Hs . /proc/[0-9]*/comm; true").splitlines()
        names = [line.split(":", 1)[1] for line in lines]
        return [name for name in names if name.startswith(("jumbo-", "python"))]

    def state(self, identity: str = "t1") -> str | None:
        found = [one for one in self.do("read", interfaces=["eth1"])["guards"] if one["id"] == identity]
        return str(found[0]["state"]) if found else None

    def file(self, path: str) -> Path:
        """Return a path of the host as seen from here."""
        return Path(f"/proc/{self.pid}/root{path}")

    def boot(self) -> dict[str, Any]:
        """Return what this host boots with."""
        return dict(json.loads(self.file("/etc/jumbo-lab.json").read_text()))

    def reboot(self) -> None:
        """Bring the host up as its boot would: no process and nothing remembered, the file applied."""
        self.run("sh", "-c", "kill -9 $(grep -l jumbo-guard /proc/[0-9]*/comm | cut -d/ -f3); rm -rf /run/jumbo-fabric")
        self.run("sh", "-c", "ip rule del pref 9047; ip route flush table 9047; ip route flush dev eth1; true")
        self.ip("link set eth1 mtu 1500 down\nlink set eth1 up")
        self.ip("route replace 10.10.0.0/16 via 10.10.1.1 dev eth1 src 10.10.1.11 proto static")
        data = self.boot()
        routes = [f"route replace {text}" for text in data["routes"] if "eth1" in text]
        six = [line for line in routes if ":" in line.split(" via ")[0]]
        four = [line for line in routes if line not in six]
        self.ip("\n".join([*four, *(f"rule add {text}" for text in data.get("rules", []))]))
        for name in data.get("ipv6", {}):
            self.sysctl(name, accept_ra_mtu=0, mtu=1280)  # away from what routes have, while the link grows
        self.ip("\n".join(f"link set {name} mtu {mtu}" for name, mtu in data["links"].items()))
        for name, settings in data.get("ipv6", {}).items():
            self.sysctl(name, **settings)
        self.run("ip", "-6", "-batch", "-", text="\n".join(six))

    def sysctl(self, interface: str, **settings: int) -> None:
        """Write net.ipv6.conf of an interface."""
        for setting, value in settings.items():
            self.run("sh", "-c", f"echo {value} > /proc/sys/net/ipv6/conf/{interface}/{setting}")

    def ipv6(self, interface: str = "eth1") -> tuple[int, int]:
        """Return the IPv6 MTU of an interface, and whether advertisements may set it."""
        folder = f"/proc/sys/net/ipv6/conf/{interface}"
        found = self.run("cat", f"{folder}/mtu", f"{folder}/accept_ra_mtu").split()
        return int(found[0]), int(found[1])

    def verdict(self, name: str, identity: str = "t1") -> bool:
        return self.file(f"/run/jumbo-fabric/{identity}/{name}").exists()

    def report(self, identity: str = "t1") -> dict[str, Any]:
        return dict(json.loads(self.file(f"/run/jumbo-fabric/{identity}/report.json").read_text()))

    def guard(self, identity: str = "t1") -> str:
        """Return the process id of a guard inside the host."""
        return str(self.report(identity)["pid"])


class Fabric:
    """The switch in the middle: 10.10.1.0/24 and 10.10.2.0/24 for jumbo, 10.9.0.0/24 as frontend at 1500."""

    def __init__(self) -> None:
        self.switch = Node("switch")
        self.hosts: list[Host] = []
        self.switch.ip(
            """
            link set lo up
            link add br1 type bridge
            link add br2 type bridge
            link add front type bridge
            link set br1 up
            link set br2 up
            link set front up
            addr add 10.10.1.1/24 dev br1
            addr add 10.10.2.1/24 dev br2
            addr add 10.9.0.1/24 dev front
            """
        )
        self.switch.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def add(self, name: str, rack: int, number: int) -> Host:
        """Add a host at 1500 with a jumbo port eth1 and a frontend eth0 that has the default route."""
        host = Host(name)
        self.hosts.append(host)
        self.switch.ip(
            f"""
            link add p-{name} mtu 9216 type veth peer name c-{name} mtu 9216
            link set p-{name} master br{rack} up
            link set c-{name} up
            link add eth1 link c-{name} mtu 1500 netns {host.pid} type macvlan mode passthru
            link add f-{name} type veth peer name eth0 netns {host.pid}
            link set f-{name} master front up
            """
        )
        host.ip(
            f"""
            link set lo up
            link set eth0 up
            link set eth1 gso_max_segs 1 up
            addr add 10.9.0.{number}/24 dev eth0
            addr add 10.10.{rack}.{number}/24 dev eth1
            route add default via 10.9.0.1
            route add 10.10.0.0/16 via 10.10.{rack}.1 dev eth1 src 10.10.{rack}.{number} proto static
            """
        )
        return host

    def close(self) -> None:
        for node in (*self.hosts, self.switch):
            node.close()


def raise_changes(interface: str = "eth1", to: int = 9000) -> list[dict[str, Any]]:
    """The changes of a host link: written link first, since the order of a request must not matter."""
    return [
        {"host": "a", "object": interface, "field": "ip_mtu", "from": 1500, "to": to},
        {"host": "a", "object": interface, "field": "route_mtu", "from": None, "to": 1500},
    ]


@pytest.fixture
def fabric() -> Iterator[Fabric]:
    made = Fabric()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def a(fabric: Fabric) -> Host:
    return fabric.add("a", 1, 11)


@pytest.fixture
def b(fabric: Fabric) -> Host:
    return fabric.add("b", 1, 12)


@pytest.fixture
def c(fabric: Fabric) -> Host:
    return fabric.add("c", 2, 21)


@pytest.fixture
def kept(a: Host) -> Path:
    """Return a lab host's file."""
    path = a.file("/etc/jumbo-lab.json")
    path.write_bytes(ORIGINAL)
    return path


@pytest.fixture
def original() -> bytes:
    return ORIGINAL


@pytest.fixture
def changes() -> Callable[..., list[dict[str, Any]]]:
    return raise_changes


@pytest.fixture
def until() -> Callable[..., Any]:
    return eventually


@pytest.fixture
def program() -> Callable[..., str]:
    return make_program
