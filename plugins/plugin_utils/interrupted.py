"""When ansible-playbook itself is ended by Ctrl-C or SIGTERM: a report is written and the lock given back.

Nothing is taken back here: a second Ctrl-C may come at any moment, and what is armed goes back by itself. The journal
is left as it is, without an end, so that the next roll-out finds the same as after a crash.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import threading
from typing import Any

from ansible import context
from ansible.utils.display import Display
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent_types import natural_key
from ansible_collections.jumbo.fabric.plugins.plugin_utils import waves
from ansible_collections.jumbo.fabric.plugins.plugin_utils.report import write_report
from ansible_collections.jumbo.fabric.plugins.plugin_utils.run import Run
from ansible_collections.jumbo.fabric.plugins.plugin_utils.standing import ROLLOUT, Standing, standing

TERMINATED = 128 + signal.SIGTERM

_WATCHED: set[int] = set()


def watch() -> None:
    """Watch the end of this process, if it is ansible-playbook and not one of its workers.

    Called where an action is imported, which ansible-playbook does itself before it forks. It hands SIGTERM on to its
    workers and dies at once; here it leaves as it does on Ctrl-C, through its own clean-up, which ends the workers.
    """
    is_playbook = "forks" in context.CLIARGS and multiprocessing.parent_process() is None
    if not is_playbook or os.getpid() in _WATCHED or threading.current_thread() is not threading.main_thread():
        return
    _WATCHED.add(os.getpid())
    atexit.register(_at_exit, os.getpid())
    signal.signal(signal.SIGTERM, _leave)


def _leave(_number: int, _frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise SystemExit(TERMINATED)


def _at_exit(process: int) -> None:
    run = Run.current() if os.getpid() == process else None
    if run is not None:
        for line in end(run):
            Display().display(line)


def end(run: Run) -> list[str]:
    """Write the report of a roll-out that nobody has closed, give the lock back, return what a person is told."""
    lines = run.journal.lines()
    if any(line["step"] == ROLLOUT and line["verb"] == "close" for line in lines):
        return []
    stands = standing(lines)
    verdict, reason = judged(stands)
    run.update(lambda state: _settle(state, verdict, reason))
    write_report(run)
    run.close(publish=not run.state()["check_mode"])
    return [f"verdict: {verdict}", reason, f"evidence: {run.path}/report.html"]


def judged(stands: Standing) -> tuple[str, str]:
    """Return the verdict of an interrupted roll-out and its reason: `stopped` only where nothing waits anywhere."""
    again = "run it again: it says where it stands, and goes on from there"
    if not stands.left and not stands.soak_failed:
        return "stopped", f"ansible-playbook was ended from outside, nothing is pending; {again}"
    hosts = ", ".join(sorted({host for _step, host in stands.left}, key=natural_key))
    return "failed", (
        f"ansible-playbook was ended from outside, and {hosts} may be in the middle of a change: what is armed goes "
        f"back by itself; {again} after taking back the rest"
    )


def _settle(state: waves.State, verdict: str, reason: str) -> None:
    if state.get("wave"):
        state["stages"][state["wave"]["stage"]].update(verdict=verdict, ended=waves.now())
    state.update(verdict=verdict, reason=reason, wave=None)
