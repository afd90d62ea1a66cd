"""Kinds of topology that this version neither plans nor proves: said at once, rather than done wrongly."""

from __future__ import annotations

from .errors import InvalidIntent, JumboError
from .intent_types import Intent
from .topology import Topology


def refuse_unsupported(intent: Intent, topology: Topology) -> None:
    """Raise InvalidIntent for MLAG pairs and stretched segments."""
    problems = []
    if intent.pairs:
        message = "MLAG pairs are not planned by this version"
        pair = intent.pairs[0]
        problems.append(JumboError(message, object=pair.name, variable="jumbo_pairs", wish=list(pair.devices)))
    for segment in topology.jumbo_segments():
        racks = sorted({str(topology.rack_of(m.device)) for m in segment.members if m.managed})
        if len(racks) > 1:
            message = (
                f"the segment is stretched over the racks {', '.join(racks)}, which is not planned by this version"
            )
            problems.append(JumboError(message, object=segment.name, variable="jumbo_segments", wish=segment.name))
    if problems:
        raise InvalidIntent(tuple(problems))
