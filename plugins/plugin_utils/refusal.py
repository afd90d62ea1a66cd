"""A roll-out that is refused: what is written down, and which hosts are to blame for it."""

from __future__ import annotations

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import InvalidIntent, JumboError, NotReadAgain
from ansible_collections.jumbo.fabric.plugins.plugin_utils import waves


def note_refusal(state: waves.State, error: JumboError) -> None:
    """Make the state `failed` with the reason, its findings and the hosts to blame; none for a fabric-wide variable."""
    state["verdict"] = "failed"
    state["reason"] = str(error)
    problems = error.problems if isinstance(error, InvalidIntent) else (error,)
    known = [*state.get("findings", [])]
    known += [
        {"host": p.host, "interface": p.object, "reason": str(p), "evidence": None, "blocking": True} for p in problems
    ]
    state["findings"] = known
    for finding in known:
        if finding.get("blocking") and finding["host"]:
            waves.note_trouble(state, finding["host"], finding["reason"], unreachable=False)
    if isinstance(error, NotReadAgain):
        for host, told in error.errors.items():
            waves.note_trouble(state, host, told["text"], unreachable=bool(told["unreachable"]))
