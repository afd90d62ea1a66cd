"""What a Linux host of the lab has of its own on disk: its /etc, and in it the one file that its boot applies."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .sshd import SshFiles

PERSISTED = "jumbo-lab.json"
_EMPTY: Mapping[str, Any] = {"links": {}, "routes": []}
_MACHINES_ETC = "/run/lab/etc"  # where node.sh shows the machine's own /etc
_STANDIN = Path(__file__).with_name("ethtool.sh")
# The user of the lab is called root, whoever it is (see user_namespace.py). Its home is in memory, its account is not
# locked whatever the machine says, and sshd's own account exists.
_ROOT = "root:x:{user}:{group}:root:/run/root:/bin/sh"
# Terminals belong to the lab's own group: sshd gives them to `tty`, and may change no group where it is not root.
_TTY = "tty:x:{group}:"
_SSHD = "sshd:x:105:65534::/run/sshd:/usr/sbin/nologin"
_SHADOW = "root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n"


def make_etc(folder: Path, name: str, ssh: SshFiles, names: Mapping[str, str]) -> None:
    """Fill a host's /etc. `names`: {host name: address} for its /etc/hosts."""
    ours = folder / "jumbo-lab"
    ours.mkdir(parents=True)
    ssh.install(ours)
    shutil.copy(_STANDIN, ours / "ethtool")
    (ours / "ethtool").chmod(0o755)
    _write(folder / "passwd", _accounts())
    _write(folder / "group", _groups())
    _write(folder / "shadow", _SHADOW, 0o600)
    _write(folder / "hostname", f"{name}\n")
    _write(
        folder / "hosts",
        "".join(f"{address}\t{host}\n" for host, address in {"localhost": "127.0.0.1", **names}.items()),
    )
    _write(folder / PERSISTED, json.dumps(_EMPTY) + "\n")
    for entry in Path("/etc").iterdir():
        link = folder / entry.name
        if not link.exists() and not link.is_symlink():
            link.symlink_to(entry.readlink() if entry.is_symlink() else f"{_MACHINES_ETC}/{entry.name}")


def read_persisted(folder: Path) -> tuple[Mapping[str, Any], str]:
    """Return what a host's boot applies, and what is wrong with the file, if anything."""
    try:
        content = json.loads((folder / PERSISTED).read_text())
    except (OSError, ValueError) as error:
        return _EMPTY, f"/etc/{PERSISTED} is not usable: {error}"
    if not isinstance(content, dict):
        return _EMPTY, f"/etc/{PERSISTED} does not hold an object"
    return content, ""


def private_tmp(needed: Iterable[Path]) -> str:
    """Return "yes" if a host can have a /tmp of its own: nothing it needs, such as the checkout, is there."""
    temporary = Path("/tmp").resolve()  # noqa: S108 - the folder itself is meant
    return "no" if any(path.resolve().is_relative_to(temporary) for path in needed) else "yes"


def _accounts() -> str:
    return "\n".join([_ROOT.format(user=os.geteuid(), group=os.getegid()), _SSHD, *_others("passwd"), ""])


def _groups() -> str:
    return "\n".join([*_others("group"), _TTY.format(group=os.getegid()), ""])


def _others(file: str) -> list[str]:
    """Return the machine's entries, without those that a host has its own of."""
    lines = Path("/etc", file).read_text().splitlines()
    own = {"passwd": ("root", "sshd"), "group": ("tty",)}[file]
    return [line for line in lines if line.partition(":")[0] not in own]


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.touch(mode=mode)
    path.write_text(text)
