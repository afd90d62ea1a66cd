"""The host's own tools: found without a PATH, run with a limit, their refusals explained."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Sequence

from .errors import ProbeError

# A session over SSH often has no sbin in its PATH.
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
TIME_LIMIT = 20.0

# What the kernel says to `ip link set mtu` and `ip route`, and what it means (rtnetlink(7), net/core/dev.c, net/8021q).
MEANINGS = (
    ("mtu greater than device maximum", "the driver of this device allows no more", "ask for at most the limit"),
    ("mtu less than device minimum", "the driver of this device allows no less", "ask for at least the limit"),
    ("Numerical result out of range", "a VLAN cannot be larger than its parent", "raise the parent device first"),
    ("Cannot find device", "there is no such device", "see `ip link` on the host"),
    ("Operation not permitted", "changing the network needs CAP_NET_ADMIN", "become root on this host"),
)
MTU_MEANINGS = (
    (
        "Invalid argument",
        "the kernel refuses this size: the device below (macvlan, vxlan) is smaller",
        "raise the device below first; it may be in another namespace",
    ),
)


def find_program(name: str) -> str | None:
    """Return the absolute path of a program, or None; the PATH goes first, the system's folders after it."""
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder.startswith("/")]
    for folder in (*folders, *SYSTEM_FOLDERS):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def need_program(name: str) -> str:
    """Return the absolute path of a program that the task cannot do without."""
    path = find_program(name)
    if path is None:
        message = f"the program {name} is not on this host"
        raise ProbeError(message, object=name, advice=f"install the package that brings {name}")
    return path


def plain_environment() -> dict[str, str]:
    """Return the environment with messages in English, whatever the session says."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": "C"}


def run_program(arguments: Sequence[str], limit: float = TIME_LIMIT) -> tuple[int, str, str]:
    """Run a program to its end: its status, output and messages. One that hangs is killed and named."""
    try:
        done = subprocess.run(
            list(arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
            env=plain_environment(),
        )
    except subprocess.TimeoutExpired:
        message = f"`{' '.join(arguments)}` did not end within {limit:g} s"
        raise ProbeError(message, object=arguments[0], advice="look at the load of this host") from None
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def kernel_text(messages: str) -> str:
    """Return what the kernel said, out of the messages of `ip`."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    text = lines[0] if lines else "no message"
    for opening in ("RTNETLINK answers: ", "Error: "):
        if text.startswith(opening):
            return text[len(opening) :].rstrip(".")
    return text


def refusal(
    messages: str,
    *,
    command: str,
    about: str | None,
    wish: Any = None,
    limit: Any = None,
) -> ProbeError:
    """Return the error for a refused `ip` command: the kernel's words, then what they mean."""
    said = kernel_text(messages)
    known = MEANINGS if wish is None else MEANINGS + MTU_MEANINGS
    for words, meaning, advice in known:
        if words in said:
            return ProbeError(f"{meaning} (kernel: {said})", object=about, wish=wish, limit=limit, advice=advice)
    return ProbeError(f"`{command}` was refused: {said}", object=about, wish=wish, limit=limit)


def ip(*arguments: str, about: str | None = None, wish: Any = None, limit: Any = None) -> str:
    """Run `ip` and return its output; a refusal is a ProbeError with the kernel's text, the wish and the limit."""
    status, output, messages = run_program([need_program("ip"), *arguments])
    if status != 0:
        command = " ".join(("ip", *arguments))
        raise refusal(messages, command=command, about=about, wish=wish, limit=limit)
    return output


def ip_json(*arguments: str, about: str | None = None) -> list[dict[str, Any]]:
    """Run `ip -j` and return its list; iproute2 prints nothing at all for an empty one."""
    output = ip("-j", *arguments, about=about).strip()
    try:
        # Old versions leave an empty object for what they filtered out.
        return [entry for entry in json.loads(output or "[]") if entry]
    except ValueError:
        command = " ".join(("ip -j", *arguments))
        message = f"`{command}` printed no JSON"
        raise ProbeError(message, object=about, advice="iproute2 4.14 or later is needed") from None
