"""What differs from box to box: model, release, sizes, and how it asks, prints and reloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DEFAULT_MTU = 1500
JUMBO_MTU = 10200  # "Actual MTU is 10200 bytes (not 9216)", ICX7150 and ICX8200 with FastIron 10.0.10
OVERHEAD = 22  # the smallest reading of what 10200 counts: a header and two tags


@dataclass(frozen=True, slots=True)
class Hardware:
    """The properties of one box. Where public outputs differ, or are silent, each way can be chosen.

    ip_mtu: (smallest, largest) that `ip mtu` takes once jumbo is active; the largest is not confirmed. mtu_line: how
    `show interfaces` tells the size of a switched port: ICX ("MTU 1500 bytes, encapsulation ethernet"), older ICX
    ("MTU 10200 bytes"), FESX ("IP MTU 10240 bytes"). lag_line: how a member names its LAG (08.0.61 and later, or
    before). reload_questions: one, or two. any_key: a question takes a single key without Enter. reload_seconds: how
    long a reload keeps the box away (about 90 s on an ICX7150; less here). schedules: whether it knows `reload after`.
    interface_mtu: whether ports have an `ip mtu` of their own (not on an ICX8100). lldp: whether LLDP runs. client: the
    address that clients come from, as the box sees it.
    follows_jumbo: whether a ve or routed port without an `ip mtu` takes the largest once jumbo is active. default_line:
    what an `ip mtu` does that is the default anyway: it is kept as a line, taken without one, or refused. reload_words:
    how `show reload` tells that none is scheduled: by a sentence, by nothing, or in words that nobody has foreseen.
    """

    model: str = "ICX7150-24P"
    version: str = "08.0.95pT213"
    jumbo: int = JUMBO_MTU
    ip_mtu: tuple[int, int] = (1280, JUMBO_MTU - OVERHEAD)
    mtu_line: Literal["icx", "icx-older", "fesx"] = "icx"
    lag_line: Literal["lag", "primary"] = "lag"
    reload_questions: Literal[1, 2] = 1
    any_key: bool = True
    reload_seconds: float = 3.0
    schedules: bool = True
    interface_mtu: bool = True
    lldp: bool = True
    client: str = "192.0.2.250"
    follows_jumbo: bool = False
    default_line: Literal["kept", "dropped", "refused"] = "kept"
    reload_words: Literal["sentence", "nothing", "unforeseen"] = "sentence"
