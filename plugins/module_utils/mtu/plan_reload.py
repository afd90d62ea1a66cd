"""The phase reload: boxes with one frame size for all ports get large frames, one box at a time, before anything else.

Only a reload activates them (see boxes.py), and it takes the whole box away: every link is a declared outage, its hosts
and all racks behind it need another way, or the waiver `only_path` that names the box or its rack. What its ports
accept grows at once, on all of them; what its interfaces send stays as it is, so nobody sends more for it.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from . import boxes
from .detours import hosts_on, links_of, lost_without
from .errors import JumboError
from .intent_types import End, natural_key
from .planner import Planner
from .platform_table import BOX_FRAME, BOX_FRAME_JUMBO
from .steps import Change, Outage
from .wave import Row

NAMED = 4  # so many that lose their way are named


def reload_boxes(row: Row, devices: Iterable[str]) -> None:
    """Append a step for each of these boxes that is not in the plan yet, in waves of their own."""
    planner = row.planner
    for device in sorted(dict.fromkeys(devices), key=natural_key):
        if device not in planner.reloaded:
            planner.reloaded.add(device)
            _refuse_only_path(planner, device)
            _reload(row, device)


def _reload(row: Row, device: str) -> None:
    planner = row.planner
    frames = (BOX_FRAME_JUMBO if planner.live.box(device) != BOX_FRAME else BOX_FRAME, BOX_FRAME_JUMBO)
    change = Change(device, boxes.OBJECT, "jumbo", False, True, *frames)
    outage = [Outage(str(link), planner.intent.reload_within) for link in links_of(planner.topology, device)]
    gate = planner.gate("cross_rack", _across(planner, device), [planner.intent.baseline_ip_mtu], ecmp=True)
    text = f"No other box is down, no link is drained; {device} is alone in its step, and what it sends stays as it is."
    row.add("reload", [change], gate, text, outage=outage)
    _note_others(planner, device)


def _across(planner: Planner, device: str) -> list[tuple[End, End]]:
    """Return pairs that show that the box forwards again: its own hosts, and one of each segment."""
    here = [end for end in hosts_on(planner.topology, device) if planner.is_endpoint(end)]
    firsts = [hosts[0] for hosts in (planner.hosts([s]) for s in planner.topology.jumbo_segments()) if hosts]
    read = [end for end in dict.fromkeys([*here, *firsts]) if planner.live.is_read(end.device)]
    return [pair for pair in planner.topology.near(read) if planner.topology.path_count(*pair)]


def _refuse_only_path(planner: Planner, device: str) -> None:
    lost = lost_without(planner.topology, device)
    rack = planner.topology.rack_of(device)
    if not lost or planner.intent.waived("only_path", device, *([rack] if rack else ())):
        return
    shown = ", ".join(lost[:NAMED]) + (f" and {len(lost) - NAMED} more" if len(lost) > NAMED else "")
    planner.scope.problems.append(
        JumboError(
            f"its large frames need a reload, and {shown} have no other way meanwhile",
            host=device,
            object=boxes.OBJECT,
            advice=f"Add another way, or accept the outage: jumbo_waivers with kind only_path and object {device}",
        )
    )


def _note_others(planner: Planner, device: str) -> None:
    """Say which other interfaces accept more from then on, the excluded ones too: the box has one size for all."""
    others = [str(port) for port in _switched(planner, device) if _is_foreign(planner, port)]
    if others:
        shown = ", ".join(others[:NAMED]) + (f" and {len(others) - NAMED} more" if len(others) > NAMED else "")
        sentence = f"After its reload {device} accepts larger frames on {shown} as well; nobody sends larger ones there"
        planner.scope.note(f"{sentence} because of it.")


def _switched(planner: Planner, device: str) -> Sequence[End]:
    ports = planner.live.states[device]["interfaces"]
    return [end for end in (End(device, name) for name in ports) if planner.live.is_switched(end)]


def _is_foreign(planner: Planner, port: End) -> bool:
    """Tell whether a port is excluded, or leads to a speaker in a segment that is not jumbo."""
    if planner.intent.is_excluded(port):
        return True
    far = [link.other(port) for link in planner.topology.links_at(port)]
    segments = [planner.topology.segment_of(planner.topology.logical(end)) for end in far]
    return any(segment is not None and segment.role != "jumbo" for segment in segments)
