"""BGP neighbours of an interface: which a drain shuts down, and when a session counts as down."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos_bgp, junos_bgp


@pytest.mark.parametrize(
    ("state", "routes", "down"),
    [("Idle", 0, True), ("Established", 0, False), ("Idle", 3, False), ("Idle", None, False), (None, None, False)],
    ids=["down", "up", "routes left", "routes not told", "not told"],
)
def test_a_session_is_down_only_where_that_is_told(state, routes, down):
    assert eos_bgp.is_down({"peerState": state, "prefixReceived": routes}) is down
    assert junos_bgp.is_down({"state": state, "routes": routes}) is down


def test_a_neighbour_of_whom_nothing_is_told_is_not_down():
    assert not eos_bgp.is_down({})
    assert not junos_bgp.is_down({})
