"""Which VLANs an EOS port carries, from the lines of its running-config."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.eos_vlans import vlans_by_interface


@pytest.mark.parametrize(
    ("lines", "vlans"),
    [
        ([], [[1, 1]]),
        (["description switchport access vlan 7", "switchport access vlan 10"], [[10, 10]]),
        (["switchport mode trunk"], [[1, 4094]]),
        (["switchport access vlan 10", "switchport mode trunk"], [[1, 4094]]),
        (
            ["switchport trunk native vlan 5", "switchport trunk allowed vlan 10,20-30", "switchport mode trunk"],
            [[10, 10], [20, 30]],
        ),
        (["switchport trunk allowed vlan none", "switchport mode trunk"], []),
        (["switchport access vlan 30", "switchport mode dot1q-tunnel"], [[30, 30]]),
        (["switchport mode tap"], []),
        (
            ["vxlan source-interface Loopback1", "vxlan vlan 10 vni 10010", "vxlan vlan 20-22 vni 1-3"],
            [[10, 10], [20, 22]],
        ),
    ],
)
def test_lines_of_an_interface(lines, vlans):
    config = "\n".join(
        ["vlan 10", "interface X1", *(f"   {line}" for line in lines), "!", "interface X2", "   mtu 9000"]
    )
    assert vlans_by_interface(config, {"X1": True}) == {"X1": vlans}


def test_what_routes_carries_none_and_what_is_not_told_is_unknown():
    config = "interface Ethernet1\n   switchport access vlan 10\n"
    assert vlans_by_interface(config, {"Ethernet1": False, "Ethernet2": None}) == {"Ethernet1": [], "Ethernet2": None}
