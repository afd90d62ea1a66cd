"""Serve many EOS front ends without a data plane: the other side of the benchmark."""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import signal
import tempfile
from pathlib import Path

from ..static_plane import StaticPlane
from .device import EosDevice
from .server import Handle, serve
from .tls import self_signed


def startup_config(number: int, ports: int) -> str:
    """Return the configuration of one leaf: most ports switched, the last eight routed."""
    lines = [f"hostname leaf{number}", "ip routing"]
    for port in range(1, ports + 1):
        lines += [f"interface Ethernet{port}", f"description port {port}"]
        if port > ports - 8:
            lines += ["no switchport", f"ip address 10.{number // 250}.{number % 250}.{(port % 120) * 2}/31"]
    lines += ["interface Loopback0", f"ip address 10.255.{number // 250}.{number % 250}/32"]
    lines += ["interface Management1", f"ip address 192.0.2.{number % 250}/24"]
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="eos", description=__doc__)
    parser.add_argument("--count", type=int, default=1, help="how many front ends (default 1)")
    parser.add_argument("--ports", type=int, default=56, help="Ethernet ports of each (default 56)")
    parser.add_argument("--address", default="127.78.0.1", help="address to listen on")
    parser.add_argument("--base-port", type=int, default=20000, help="port of the first; the others follow")
    parser.add_argument("--user", default="admin", help="user name (default admin)")
    parser.add_argument("--password", default="admin", help="password (default admin)")
    parser.add_argument("--version", default="4.32.2F", help="EOS release (default 4.32.2F)")
    return parser.parse_args()


async def _serve_all(options: argparse.Namespace) -> list[Handle]:
    with tempfile.TemporaryDirectory() as scratch:
        context = self_signed(Path(scratch))
    handles = []
    for number in range(options.count):
        device = EosDevice(
            f"leaf{number}",
            startup_config(number, options.ports),
            StaticPlane(),
            version=options.version,
            users={options.user: options.password},
        )
        handles.append(await serve(device, options.address, options.base_port + number, context, inline=True))
    return handles


async def _main() -> None:
    options = _arguments()
    _raise_file_limit()
    handles = await _serve_all(options)
    gc.freeze()  # the devices stay: the collector need not walk them for each request's garbage
    print("ready", flush=True)  # noqa: T201 - what the benchmark waits for
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    for handle in handles:
        await handle.close()


def _raise_file_limit() -> None:
    """Take all descriptors there are: a thousand listeners and their connections need more than a shell gives."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    asyncio.run(_main())
