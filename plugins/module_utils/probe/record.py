"""What this host remembers of one change, below /run: who may decide, what was before, what is wanted.

A folder `/run/jumbo-fabric/<id>/` holds:

* one token file whose name is the verdict: `armed`, then by one atomic rename `confirmed` or `fired`, later `reverted`
  or `released`; whoever renames first has decided;
* `record.json`: the original routes and sizes, what is wanted now (replaced atomically by every verb);
* `report.json`: what the guard has seen and done (written by the guard only);
* `alive`: locked by the guard as long as it lives; `wake`: a pipe that makes it look at once.

`/run/jumbo-fabric/.lock` lets one of all verbs and guards act at a time. /run is memory: a reboot forgets all of it,
and starts from what was persisted.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, Dict, Iterator, NamedTuple

from .errors import ProbeError
from .files import PRIVATE_FOLDER, boot_time, is_locked, lock, read_json, write_json

ROOT = "/run/jumbo-fabric"
LOCK_FILE = ".lock"
LOCK_LIMIT = 15.0
TOKENS = ("armed", "confirmed", "fired", "reverted", "released")
# A guard should be running for these.
GUARDED = ("armed", "confirmed")
ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
Json = Dict[str, Any]


class Record(NamedTuple):
    """The folder of one id."""

    id: str

    def path(self, name: str = "") -> str:
        """Return the path of one of its files."""
        return os.path.join(ROOT, self.id, name) if name else os.path.join(ROOT, self.id)

    def exists(self) -> bool:
        """Whether this host remembers the id."""
        return os.path.exists(self.path("record.json"))

    def create(self, data: Json, verdict: str = "armed") -> None:
        """Make the folder, over that of a change which is over; the token comes last: then all else is there."""
        make_folder(self.path())
        for name in (*TOKENS, "report.json"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(name))
        self.save(data)
        if not os.path.exists(self.path("wake")):
            os.mkfifo(self.path("wake"), 0o600)
        for name in ("alive", verdict):
            with open(self.path(name), "a", encoding="ascii"):
                pass

    def load(self) -> Json:
        """Return the remembered data."""
        data = read_json(self.path("record.json"))
        if data is None:
            message = f"this host remembers no change {self.id!r}"
            raise ProbeError(message, object=self.id, limit=", ".join(known_ids()) or None, advice="apply it first")
        return data

    def save(self, data: Json) -> None:
        """Replace the remembered data."""
        write_json(self.path("record.json"), data)

    def report(self) -> Json:
        """Return what the guard has written down."""
        return read_json(self.path("report.json")) or {}

    def verdict(self) -> str | None:
        """Return the verdict so far, None where the folder is not complete."""
        return next((name for name in TOKENS if os.path.exists(self.path(name))), None)

    def decide(self, old: str, new: str) -> bool:
        """Turn one verdict into another; False where somebody else was first."""
        try:
            os.rename(self.path(old), self.path(new))
        except FileNotFoundError:
            return False
        return True

    def guard_lives(self) -> bool:
        """Whether the guard of this id is running."""
        return is_locked(self.path("alive"))

    def wake(self) -> None:
        """Make the guard look at once; nothing happens where it is gone."""
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path("wake"), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.write(descriptor, b"!")
            finally:
                os.close(descriptor)

    def is_over(self) -> bool:
        """Whether nothing of this change is left on the host."""
        verdict = self.verdict()
        return verdict == "reverted" or (verdict == "fired" and bool(self.report().get("complete")))

    def seconds_left(self) -> float | None:
        """Return the seconds until the guard reverts, None where no deadline runs."""
        if self.verdict() != "armed":
            return None
        return round(max(0.0, float(self.load()["deadline"]) - boot_time()), 1)


def need_record(identity: Any) -> Record:
    """Return the folder of an id that a request names; the id becomes a file name, so its letters are checked."""
    if not isinstance(identity, str) or not ID.fullmatch(identity):
        message = f"the id {identity!r} is not usable"
        raise ProbeError(message, object="id", wish=identity, limit="letters, digits and _ . -, at most 64")
    return Record(identity)


def known_ids() -> list[str]:
    """Return the ids that this host remembers."""
    try:
        return sorted(name for name in os.listdir(ROOT) if Record(name).exists())
    except FileNotFoundError:
        return []


def in_charge_of(interface: str) -> Record | None:
    """Return the change that holds this interface: not undone, its pins not yet handed over."""
    return next((one for one in holding(interface) if one.verdict() != "released"), None)


def last_holder(interface: str) -> Record | None:
    """Return the change whose originals of this interface count: a guarded one, else one that was released."""
    return next(iter(holding(interface)), None)


def holding(interface: str) -> list[Record]:
    """Return all changes of this interface that have not been undone: guarded ones first, the newest first."""
    found = [Record(identity) for identity in known_ids()]
    found = [one for one in found if one.verdict() and not one.is_over() and interface in one.load()["interfaces"]]
    return sorted(found, key=lambda one: (one.verdict() not in GUARDED, -float(one.load().get("armed_at", 0.0))))


def make_folder(path: str) -> None:
    """Make a folder below ROOT, and ROOT itself, for nobody else to read."""
    for folder in (ROOT, path):
        os.makedirs(folder, mode=PRIVATE_FOLDER, exist_ok=True)


@contextlib.contextmanager
def acting() -> Iterator[None]:
    """Be the only one on this host who reads and changes routes and links on our behalf."""
    make_folder(ROOT)
    with lock(os.path.join(ROOT, LOCK_FILE), LOCK_LIMIT) as held:
        if not held:
            message = f"another request of ours has held {ROOT}/{LOCK_FILE} for more than {LOCK_LIMIT:g} s"
            raise ProbeError(message, object="lock", advice="see what else is run against this host")
        yield
