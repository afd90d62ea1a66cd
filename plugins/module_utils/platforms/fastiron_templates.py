"""Templates (TTP) of what FastIron prints. Every variant that public outputs show is a line of its own.

The size of an interface has these forms: `MTU 1500 bytes, encapsulation ethernet` (ICX), `MTU 10200 bytes` (older ICX),
`IP MTU 10240 bytes` (FESX, FWS), and behind the address of a routed port, a management port or a virtual interface. A
LAG has none. Counters follow the interface that they belong to. (The library unescapes a backslash of its own.)
"""

from __future__ import annotations

import threading
from typing import Any

try:
    from ttp import ttp
except ImportError as error:
    IMPORT_ERROR: ImportError | None = error
else:
    IMPORT_ERROR = None

INTERFACES = r"""
<group name="found*">
{{ name | re("\\S+(?: \\S+)?") | _start_ }} is {{ state | re("[a-z ]+?") }}, line protocol is {{ up | re("\\w+") }}
  MTU {{ mtu | DIGIT }} bytes
  MTU {{ mtu | DIGIT }} bytes, encapsulation {{ ignore(".*") }}
  IP MTU {{ ip_mtu | DIGIT }} bytes
  IP MTU {{ ip_mtu | DIGIT }} bytes, encapsulation {{ ignore(".*") }}
  Internet address is {{ address | re("\\d\\S*?") }}, MTU {{ l3_mtu | DIGIT }} bytes{{ ignore(".*") }}
  Internet address is {{ address | re("\\d\\S*?") }}, IP MTU {{ l3_mtu | DIGIT }} bytes{{ ignore(".*") }}
  No Internet address, IP MTU {{ l3_mtu | DIGIT }} bytes{{ ignore(".*") }}
  ipv6 address {{ ipv6 | re("\\S+") }}
  Member of active trunk ports {{ ports | re("\\S+?") }}, Lag Interface is {{ lag | re("\\S+") }}
  Member of active trunk ports {{ ports | re("\\S+?") }}, primary port is {{ primary | re("\\S+") }}
  Member of active trunk ports {{ ports | re("\\S+?") }}
  {{ input_packets | DIGIT }} packets input, {{ ignore(".*") }}
  {{ input_errors | DIGIT }} input errors, {{ crc | DIGIT }} CRC, {{ ignore(".*") }}
  {{ runts | DIGIT }} runts, {{ giants | DIGIT }} giants
</group>
"""

NEIGHBOURS = r"""
<group name="found*">
Local port: {{ port | re("\\S+") | _start_ }}
<group name="neighbours*">
  Neighbor: {{ mac | re("\\S+") | _start_ }}, TTL {{ ignore(".*") }}
    + Port ID (interface name): {{ port_id | re("\\S+") }}
    + System name{{ ignore(" *") }}: "{{ host | re(".*?") }}"
    + Port description{{ ignore(" *") }}: "{{ description | re(".*?") }}"
    + Maximum frame size{{ ignore(" *") }}: {{ max_frame | DIGIT }} octets
</group>
</group>
"""

VERSION = r"""
<group name="found*">
    UNIT {{ unit | DIGIT | _start_ }}: compiled on {{ ignore(".*") }}
        SW: Version {{ version | re("\\S+") }}{{ ignore(".*") }}
UNIT {{ ignore("\\d+") }}: SL {{ ignore("\\d+") }}: {{ model | re("\\S+") }}{{ ignore(".*") }}
  HW: {{ hardware | re(".*") }}
</group>
"""

STATISTICS = r"""
<group name="found*">
  Port {{ port | re("\\S+") | _start_ }} Counters:
{{ ignore(" *") }}InGiantPkts {{ giants | DIGIT }}{{ ignore(".*") }}
</group>
"""

_one_at_a_time = threading.Lock()  # the library keeps the parser that runs in a global


def parse(template: str, text: str) -> list[dict[str, Any]]:
    """Return what a template finds in a text, in order; raises ImportError where the library is missing."""
    if IMPORT_ERROR is not None:
        raise IMPORT_ERROR
    if not text.strip():
        return []
    with _one_at_a_time:
        parser = ttp(data=f"\n{text}\n", template=template, log_level="ERROR")
        parser.parse(one=True)
        (result,) = parser.result()
    found = result[0].get("found", []) if result and isinstance(result[0], dict) else []
    return [dict(entry) for entry in (found if isinstance(found, list) else [found])]
