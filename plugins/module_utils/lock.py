"""The lock of an evidence directory: one roll-out at a time in it."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import platform
from pathlib import Path
from typing import Any, Iterator, Mapping

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.whoami import user


class Lock:
    """One roll-out at a time in an evidence directory. A lock whose process is gone is taken over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def take(self, rollout: str, pid: int) -> None:
        """Take the lock for a process (ansible-playbook itself, not its worker); JumboError names the holder."""
        content = json.dumps(_holder(rollout, pid)).encode()
        with self._one_taker():
            holder = self.running()
            if holder is not None:
                raise JumboError(
                    f"another roll-out is running: {holder['rollout']} of {holder['user']} on {holder['host']}, "
                    f"process {holder['pid']}, since {holder['since']} ({_age(holder)} ago)",
                    object=str(self.path),
                    advice="Wait for it. If you know that it is gone on another machine, delete the lock file.",
                )
            scratch = self.path.with_name(f".{self.path.name}-{rollout}")
            scratch.write_bytes(content)
            os.replace(str(scratch), str(self.path))

    def require_ours(self) -> None:
        """Raise unless ansible-playbook, of which this is a worker, still holds the lock; where nobody does, go on.

        Workers are sessions of their own: they outlive an ansible-playbook that is killed, and would go on alone.
        """
        holder = self.holder()
        if holder is not None and holder["pid"] not in (os.getppid(), os.getpid()):
            raise JumboError(
                f"this worker's ansible-playbook is gone, and the lock is held by process {holder['pid']}",
                object=str(self.path),
                advice="Nothing more is begun by it. Run the roll-out again.",
            )

    @contextlib.contextmanager
    def _one_taker(self) -> Iterator[None]:
        """Let one process at a time look and take: forked workers cannot hold a flock for a whole roll-out."""
        descriptor = os.open(str(self.path.parent), os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def holder(self) -> dict[str, Any] | None:
        """Return who holds it: {rollout, user, host, pid, started, boot_id, since}; None where nobody does."""
        try:
            holder = json.loads(self.path.read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise JumboError(
                f"the lock cannot be read: {error}",
                object=str(self.path),
                advice="See who owns this evidence directory; if nobody is using it, delete the lock file.",
            ) from None
        return dict(holder)

    def running(self) -> dict[str, Any] | None:
        """Return who holds it as `holder` does, None also where that process is gone."""
        holder = self.holder()
        return holder if holder is not None and _is_alive(holder) else None

    def release(self, rollout: str) -> None:
        """Give the lock back; somebody else's stays."""
        holder = self.holder()
        if holder is not None and holder.get("rollout") == rollout:
            self.path.unlink(missing_ok=True)


def _holder(rollout: str, pid: int) -> dict[str, Any]:
    return {
        "rollout": rollout,
        "user": user(),
        "host": platform.node(),
        "pid": pid,
        "started": _process_start(pid),
        "boot_id": _boot_id(),
        "since": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def _age(holder: Mapping[str, Any]) -> str:
    """Return how long a lock has been held, in whole minutes or hours."""
    since = datetime.datetime.fromisoformat(str(holder["since"]))
    minutes = int((datetime.datetime.now(datetime.timezone.utc) - since).total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"  # noqa: PLR2004 - two hours


def _is_alive(holder: Mapping[str, Any]) -> bool:
    """Judge by process id, its start time and this boot; a holder on another machine counts as alive."""
    if holder.get("host") != platform.node():
        return True
    return holder.get("boot_id") == _boot_id() and _process_start(int(holder["pid"])) == holder.get("started")


def _process_start(pid: int) -> str | None:
    """Return field 22 of /proc/PID/stat (proc(5)): start time in clock ticks after boot; None for no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
