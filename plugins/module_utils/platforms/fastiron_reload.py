"""Large frames on a FastIron box: `jumbo`, a save, a reload, and everything back that was there before.

The running configuration reads the same before and after the reload, so only the frame size that ports print counts.
Nothing takes a reload back: what was saved is what boots. Leaving `jumbo` on harms nobody, so that is what a failure
after the reload does. Before it, lines of ours that were not saved are taken out again. What interfaces send stays as
it is: see fastiron_sizes.py.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_state, parse_fastiron
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import fastiron_words as words
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access, NoAnswer
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_save import Saving
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_session import Session, asked, looked
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_sizes import Sizes
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_state import Interfaces
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.fastiron_words import Config

BETWEEN_LOGINS = 1.0
LOGIN_TIMEOUT = 10.0
UPTIME_SLACK = 5
STAYS_ON = (
    "`jumbo` stays on, and so do the sizes stated with it: a box that takes more harms nobody, and ending it takes "
    "`no jumbo`, a save and a second reload"
)


@dataclass(frozen=True)
class _There:
    """What must be there again: ports and LAGs that are up, and whom LLDP sees behind which port."""

    up: Sequence[str]
    neighbours: frozenset[tuple[str, str, str]]

    def lacking(self, now: _There) -> str:
        """Return what is not there yet, "" where everything is: ports first, since neighbours are seen later."""
        down = [name for name in self.up if name not in now.up]
        unseen = [f"{far}:{theirs} at {port}" for port, far, theirs in sorted(self.neighbours - now.neighbours)]
        if down:
            return f"not up again: {', '.join(down)}"
        return f"not seen by LLDP again: {', '.join(unseen)}" if unseen else ""


def _there(session: Session, interfaces: Interfaces) -> _There:
    seen = fastiron_state.neighbours_of(session.may_show("show lldp neighbors detail"))
    return _There(fastiron_state.ports_up(interfaces), seen)


class Reload:
    """The one way by which a box gets its large frames."""

    def __init__(self, access: Access) -> None:
        self.access = access

    # ------------------------------------------------------------------ what would be done

    def difference(self) -> str:
        """Return what would be typed, as a difference; "" where large frames are active and saved."""
        interfaces, saved, running = asked(self.access, looked)
        jumbo = fastiron_state.jumbo_of(interfaces, saved, running)
        sizes = self._kept(interfaces, saved, running, active=jumbo["active"] is True)
        return self._difference(jumbo, sizes, interfaces)

    def _kept(self, interfaces: Interfaces, saved: Config, running: Config, *, active: bool) -> Sizes:
        sizes = Sizes(interfaces, saved, running, active=active)
        if fastiron_state.is_active(interfaces) is None:
            raise JumboError(
                "no port prints its frame size, so nobody could see whether large frames are active",
                host=self.access.host,
                object=words.JUMBO,
                advice="A switched port prints it, routed ports do not: leave one port without an address, up or down.",
            )
        if not active:
            sizes.refuse_unknown(self.access)
        return sizes

    @staticmethod
    def _difference(jumbo: Mapping[str, bool | None], sizes: Sizes, interfaces: Interfaces) -> str:
        lines = [] if jumbo["configured"] else [f"+{words.JUMBO}"]
        stated = sizes.grown(interfaces) if jumbo["active"] else sizes.to_state
        lines += [words.told_size(name, None, sizes.wanted[name]) for name in stated]
        if not jumbo["active"]:
            lines.append("(a save and a reload: every port of the box is down for minutes)")
        elif not jumbo["saved"] or stated:
            lines.append("(a save)")
        return "\n".join(lines)

    # ------------------------------------------------------------------ doing it

    def run(self) -> dict[str, Any]:
        """Go on from wherever the box is; return {changed, diff, before}: `before` is what was up."""
        interfaces, saved, running = asked(self.access, looked)
        self._refuse_unsaved(fastiron_state.unsaved_of(saved, running))
        jumbo = fastiron_state.jumbo_of(interfaces, saved, running)
        before = asked(self.access, lambda session: _there(session, interfaces))
        sizes = self._kept(interfaces, saved, running, active=jumbo["active"] is True)
        difference = self._difference(jumbo, sizes, interfaces)
        if not difference:
            return {"changed": False, "diff": "", "before": before.up}
        if not jumbo["active"]:
            with Session(self.access) as session:
                self._refuse_scheduled(session)  # it would activate what is saved now at a time of its own
            self._configure_and_save(sizes, added=not jumbo["configured"])
            booted = self._reload()
            self._wait(booted, before)
        elif not (jumbo["configured"] and jumbo["saved"]):
            self._configure_and_save(None, added=not jumbo["configured"])
        self.check()
        after, _saved, now = asked(self.access, looked)
        sizes.bring_back(self.access, after)
        self._refuse_rewritten(sizes.others(running, now))
        return {"changed": True, "diff": difference, "before": before.up}

    def _refuse_rewritten(self, lines: str) -> None:
        if lines:
            raise JumboError(
                f"its configuration is not what it was before the reload:\n{lines}",
                host=self.access.host,
                advice="Something writes it (a controller, `manager registrar`). Nothing above it is raised.",
            )

    def _refuse_unsaved(self, unsaved: str) -> None:
        if unsaved:
            raise JumboError(
                f"running and saved configuration differ, and a reload would lose it:\n{unsaved}",
                host=self.access.host,
                advice="Save it or undo it, then run it again: we never save for others.",
            )

    def _configure_and_save(self, sizes: Sizes | None, *, added: bool) -> None:
        """Type `jumbo` if it has to be `added`, state these sizes, and save both."""
        others = sizes.others if sizes else fastiron_state.unsaved_of
        try:
            try:
                self._configure(sizes, added=added)
            except NoAnswer:  # a line without an answer may have been taken: only what is not there is typed again
                self._configure(sizes, added=added)
            Saving(self.access, others, words.JUMBO).run()
        except JumboError as failure:
            self._take_out(failure, sizes, added=added)
            raise

    def _configure(self, sizes: Sizes | None, *, added: bool) -> None:
        with Session(self.access) as session:
            _saved, running = session.configs()
            session.configure([words.JUMBO] if added and not running.has_jumbo else [])
            if sizes:
                sizes.state(session, running)
            _saved, running = session.configs()
            if not running.has_jumbo:
                message = f"`{words.JUMBO}` was typed, and the configuration reads as before"
                raise JumboError(message, host=self.access.host)

    def _take_out(self, failure: JumboError, sizes: Sizes | None, *, added: bool) -> None:
        """Take our unsaved lines out again; what cannot be said of them is added to the failure."""
        try:
            with Session(self.access) as session:
                saved, running = session.configs()
                if sizes:
                    sizes.unstate(session)
                if added and running.has_jumbo and not saved.has_jumbo:
                    session.configure([f"no {words.JUMBO}"])
        except JumboError as more:
            note = f"`jumbo` may stand in its running configuration, not saved and not active: {more.message}"
            failure.advice = f"{failure.advice or ''} {note}".strip()

    def _reload(self) -> float:
        """Reload; return the time after which the box must have booted. Whether an unanswered one began, is seen."""
        with Session(self.access) as session:
            self._refuse_scheduled(session)
            began = time.monotonic()
            with contextlib.suppress(NoAnswer):  # it is waited for: a box that did not reload is found by its uptime
                session.reload()
        return began

    def _refuse_scheduled(self, session: Session) -> None:
        scheduled = session.scheduled_reload()
        if scheduled is not None:
            message = f"a reload is scheduled already: {scheduled}"
            raise JumboError(message, host=self.access.host, advice="Cancel it (`reload cancel`) or wait for it.")

    # ------------------------------------------------------------------ waiting

    def _wait(self, began: float, before: _There) -> None:
        """Wait for a login, for a box that booted after `began`, for its frame size, then for what was there before."""
        give_up, seen = began + self.access.reload_within, "its SSH port does not answer"
        last: JumboError | None = None
        while time.monotonic() < give_up:
            try:
                seen, last = self._missing(began, before), None
            except JumboError as failure:  # a box that boots refuses users and commands that it knows later
                seen, last = failure.message, failure
            if not seen:
                return
            time.sleep(BETWEEN_LOGINS)
        advice = "Look at its console. What it has saved has `jumbo`, which may stay; nothing else was changed."
        raise Unreachable(
            f"it is not back {self.access.reload_within:g} s after its reload: {seen}",
            host=self.access.host,
            object=words.JUMBO,
            advice=f"{last.advice} {advice}" if isinstance(last, AccessDenied) and last.advice else advice,
        ) from last

    def _missing(self, began: float, before: _There) -> str:
        """Return what is not as it must be yet, "" where everything is."""
        patient = min(LOGIN_TIMEOUT, self.access.timeout)
        with Session(replace(self.access, timeout=patient)) as session:
            told = parse_fastiron.parse_version(session.show("show version"))["up_seconds"]
            if told is None or told > time.monotonic() - began + UPTIME_SLACK:
                return f"it has not restarted (up for {told} s)"
            interfaces, _saved, _running = looked(session)
            if fastiron_state.is_active(interfaces) is not True:
                return "its ports do not print large frames"
            return before.lacking(_there(session, interfaces))

    def check(self) -> None:
        """Raise unless large frames are configured, saved and active."""
        interfaces, saved, running = asked(self.access, looked)
        jumbo: Mapping[str, bool | None] = fastiron_state.jumbo_of(interfaces, saved, running)
        missing = [word for word, is_so in jumbo.items() if is_so is not True]
        if missing:
            message = f"its large frames are not {' and not '.join(missing)}{self._sizes(interfaces)}"
            raise JumboError(message, host=self.access.host, object=words.JUMBO, advice="Look at `show interfaces`.")

    @staticmethod
    def _sizes(interfaces: Interfaces) -> str:
        sizes = {one["device_mtu"] for one in interfaces.values() if one["kind"] in ("switched", "member")}
        return f": its ports print {', '.join(str(size) for size in sorted(map(str, sizes)))}" if sizes else ""
