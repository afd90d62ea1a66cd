"""The guard: a process on the host that is a dead-man first and keeper of the pins after.

Until it is confirmed it takes everything back by itself at its deadline. Once confirmed it keeps the pins, until they
are released; where they matter again later, it is started again (keep.py).

Pins vanish when a link goes down by hand or an address is set anew (the kernel makes the routes again, without their
MTU), so the guard listens to the kernel and looks at the routes after each word, and every two seconds anyway. It only
ever makes routes smaller; what is missing it reports and does not invent, except for what we have added ourselves.

While nothing is lifted it also watches what leaves (egress.py): a large packet that is no probe shows a sender whom
pins do not bind. Before it is confirmed it goes back at once; after that others depend on the link, so it tells, and
the gate of the next phase takes the wave back in order.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import Any, Dict

from . import ipv6, multicast
from .daemon import detach, tell_kernel
from .egress import Watched
from .errors import ProbeError
from .files import boot_time, clock_text, lock, take_lock, write_json
from .links import Link, read_links
from .netlink import Heard, Watch
from .pins import pin_loose
from .record import GUARDED, LOCK_FILE, ROOT, Record, make_folder
from .routes import Width, of_device, parse_routes, read_routes
from .systemd import move_to_unit
from .undo import ALL, Undo, remember_theirs

LOOK_EVERY = 2.0
TRY_AGAIN = 0.1
# A tap that had something to say is not listened to for that long: more of the same must not cost a host its time.
REST = 0.1
# At the deadline a verb that hangs with the lock must not keep the host from going back.
PATIENCE = 10.0
REMEMBERED = 200
STOP_LIMIT = 5.0
Json = Dict[str, Any]


def start(record: Record) -> None:
    """Start the guard of a record and return when it is on watch. Nothing may be changed before this returns."""
    detach(lambda ready: Guard(record).run(ready), "jumbo-guard")


def stop(record: Record) -> None:
    """Wait until the guard of a decided record has gone. Call it without holding the lock: the guard may want it."""
    record.wake()
    with open(record.path("alive"), "a+b") as file:
        if not take_lock(file.fileno(), STOP_LIMIT):
            message = f"the guard of {record.id} does not end"
            raise ProbeError(message, object=record.id, advice=f"its process id is in {record.path('report.json')}")


class Guard:
    """One guard: what it has been told is in the record, what it has seen in the report."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.data = record.load()
        # One that is started again goes on with what the one before has seen.
        self.report: Json = {
            "repinned": [],
            "link_changed": [],
            "exposed": [],
            "problems": [],
            "adopted": {},
            "undone": [],
            **record.report(),
            "pid": 0,
            "complete": None,
        }
        self.seen: dict[str, Link] = {}
        self.watched = Watched()
        self.rested = 0.0
        self.terminated = False
        self.confirmed = record.verdict() == "confirmed"
        self.firing = False

    def run(self, ready: Any) -> None:
        """Keep watch until the verdict says that there is nothing to guard."""
        with open(self.record.path("alive"), "r+b") as alive:
            if not take_lock(alive.fileno(), STOP_LIMIT):
                message = "another guard is on watch already"
                raise ProbeError(message, object=self.record.id)
            watch = Watch()
            wake = os.open(self.record.path("wake"), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            tell_kernel("oom_score_adj", "-900")  # a dead-man that the kernel kills for memory is none
            signal.signal(signal.SIGTERM, self._terminate)
            signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
            self.seen = read_links()
            self.report["pid"] = os.getpid()
            self.report["unit"], self.report["no_unit"] = move_to_unit(f"jumbo-guard-{self.record.id}")
            self._follow()
            self._write()
            ready()
            self._watch(watch, wake)

    def _watch(self, watch: Watch, wake: int) -> None:
        pause = LOOK_EVERY
        while True:
            try:
                taps = self.watched.taps.values() if time.monotonic() >= self.rested else ()
                select.select([watch.fileno(), wake, *taps], [], [], self._limit(pause if taps else min(pause, REST)))
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                pause = self._turn(watch.drain())
            except Exception as error:  # noqa: BLE001 - whatever it is, a guard does not die of it
                self._note_problem(f"{type(error).__name__}: {error}")
                pause = TRY_AGAIN
            if pause == 0.0:
                return

    def _turn(self, heard: Heard) -> float:
        """Do what is due; returns the seconds until the next look, 0 where there is nothing left to guard."""
        verdict = self.record.verdict()
        if self.firing or self._is_due(verdict):
            return 0.0 if self._fire() else LOOK_EVERY
        if verdict not in GUARDED:
            return 0.0
        if self.terminated:
            self._note_problem("ended by SIGTERM while keeping the pins")
            return 0.0
        self.data = self.record.load()
        self._follow()
        if self._is_exposed() and verdict == "armed":
            self.terminated = True  # as if the deadline had come: nothing depends on this link yet
            return TRY_AGAIN
        ours = self._indexes()
        self._note_flaps(heard.down & ours)
        if heard.complete and heard.indexes and not heard.indexes & ours:
            return LOOK_EVERY
        return LOOK_EVERY if self._look() else TRY_AGAIN

    def _follow(self) -> None:
        try:
            self.watched.follow(self.data["interfaces"])
        except ProbeError as problem:  # nobody could tell then: that is told, and no gate passes
            self._note_problem(str(problem))

    def _is_exposed(self) -> bool:
        """Write down who sends more than the pin, once per kind and destination; True where somebody does."""
        known = [(one["interface"], one["kind"], one["destination"]) for one in self.report["exposed"]]
        found: list[Json] = []
        for name, seen in self.watched.drain():
            if (name, seen.kind, seen.destination) not in known:
                known.append((name, seen.kind, seen.destination))
                found.append({"time": clock_text(), "interface": name, **seen._asdict()})
            self.rested = time.monotonic() + REST
        if found:
            self._remember("exposed", found)
            self._write()
        return bool(found)

    def _limit(self, pause: float) -> float:
        if self.firing or self.record.verdict() != "armed":
            return pause
        return max(0.0, min(pause, float(self.data["deadline"]) - boot_time()))

    def _is_due(self, verdict: str | None) -> bool:
        if verdict is None:  # somebody has removed the folder: there is no way left to confirm
            return not self.confirmed
        self.confirmed = verdict != "armed"
        return verdict == "armed" and (self.terminated or boot_time() >= float(self.data["deadline"]))

    def _indexes(self) -> set[int]:
        return {link.ifindex for name, link in self.seen.items() if name in self.data["interfaces"]}

    def _look(self) -> bool:
        """Compare what is with what should be, and pin what is loose. False where a verb is at work: look again."""
        with lock(os.path.join(ROOT, LOCK_FILE), 0.0) as held:
            if not held:
                return False
            if self.record.verdict() in GUARDED:
                try:
                    self._compare()
                except ProbeError as problem:
                    self._note_problem(str(problem))
        return True

    def _compare(self) -> None:
        links, changed = read_links(), False
        for name, entry in self.record.load()["interfaces"].items():
            changed = self._compare_link(name, links.get(name), entry.get("ip_mtu")) or changed
            if name in links and entry.get("pin") is not None:
                changed = self._keep_pins(name, entry, links[name]) or changed
        self.seen = links
        if changed:
            self._write()

    def _compare_link(self, name: str, link: Link | None, size: Json | None) -> bool:
        """Write down what others did to a link; that it got the size we gave it is no news."""
        before = self.seen.get(name)
        if before is None or link is None:
            facts = [("exists", before is not None, link is not None)]
        else:
            facts = [
                (field, getattr(before, field), getattr(link, field))
                for field in ("mtu", "oper_up", "ifindex", "carrier_changes", "addresses")
            ]
        changed = [
            {"time": clock_text(), "interface": name, "field": field, "from": old, "to": new}
            for field, old, new in facts
            if old != new and not (field == "mtu" and size and new == size["to"])
        ]
        self._remember("link_changed", changed)
        return bool(changed)

    def _note_flaps(self, down: set[int]) -> None:
        """Write down a link that was heard to be down: it may be up again before anybody looks."""
        for name, link in list(self.seen.items()):
            if link.ifindex in down and link.oper_up:
                self.seen[name] = link._replace(oper_up=False)
                entry = {"time": clock_text(), "interface": name, "field": "oper_up", "from": True, "to": False}
                self._remember("link_changed", [entry])
                self._write()

    def _keep_pins(self, name: str, entry: Json, link: Link) -> bool:
        """Pin again what is loose, and put back what we had added and the kernel has dropped."""
        bound = ipv6.bind(name, ipv6.target(entry, link.mtu))  # first: it binds most of IPv6 at once
        settings = ipv6.read(name)
        width = Width(link.mtu, settings.mtu if settings else None)
        pinned, problems = pin_loose(name, entry, width)
        remember_theirs(entry, pinned, self.report["adopted"])
        entries = [{"time": clock_text(), "route": text} for text in [*bound, *(route.text for route in pinned)]]
        entries += self._put_back(name, entry, problems)
        self._remember("repinned", entries)
        for problem in problems:
            self._note_problem(str(problem))
        return bool(entries or problems)

    def _put_back(self, name: str, entry: Json, problems: list[ProbeError]) -> list[Json]:
        present = {(route.prefix, route.table) for route in of_device(read_routes(), name)}
        entries = []
        for added in entry["added"]:
            route = parse_routes(added["text"])[0]
            if (route.prefix, route.table) in present:
                continue
            try:
                multicast.put_pin(added, name)
            except ProbeError as problem:
                if self.seen.get(name) and self.seen[name].oper_up:  # a link that is down takes no route
                    problems.append(problem)
            else:
                entries.append({"time": clock_text(), "route": added["text"]})
        return entries

    def _fire(self) -> bool:
        """Take everything back, unless a confirm was first. True when there is nothing left to do."""
        make_folder(ROOT)
        with lock(os.path.join(ROOT, LOCK_FILE), PATIENCE):
            lost = self.record.verdict() is None
            if not self.firing and not lost and not self.record.decide("armed", "fired"):
                return False
            self.firing = True
            data = self.data if lost else self.record.load()
            undo = Undo(data["interfaces"], self.report["adopted"])
            undo.run({name: set(ALL) for name in data["interfaces"]})
            self.report["undone"] += undo.done
            self.report["complete"] = not undo.problems
            if not lost:
                self.record.save(data)
                for problem in undo.problems:
                    self._note_problem(str(problem))
                self._write()
        return not undo.problems

    def _terminate(self, *_: Any) -> None:
        self.terminated = True

    def _note_problem(self, text: str) -> None:
        if text not in [entry["message"] for entry in self.report["problems"]]:
            self._remember("problems", [_entry(text)])
            with contextlib.suppress(OSError):
                self._write()

    def _remember(self, what: str, entries: list[Json]) -> None:
        self.report[what] = (self.report[what] + entries)[-REMEMBERED:]

    def _write(self) -> None:
        write_json(self.record.path("report.json"), self.report)


def _entry(text: str) -> Json:
    return {"time": clock_text(), "message": text}
