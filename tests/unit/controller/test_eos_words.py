"""What the EOS driver reads out of EOS's own words, without a device."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos, eos_changes

RUNNING = """! Command: show running-config
! device: leaf1 (vEOS-lab, EOS-4.32.2F)
!
hostname leaf1
!
interface Ethernet1
   no switchport
   ip address 10.0.0.0/31
!
interface Vlan10
   ip address 10.10.1.1/24
!
end
"""


def test_equal_configurations_differ_in_nothing_but_their_comments():
    assert eos_changes.config_difference(RUNNING, RUNNING.replace("show running-config", "show startup-config")) == []


def test_a_difference_is_told_with_the_block_it_stands_in():
    other = RUNNING.replace("   no switchport\n", "   no switchport\n   mtu 9214\n").replace("leaf1\n", "leaf9\n")
    assert eos_changes.config_difference(RUNNING, other) == [
        "- hostname leaf1",
        "+ hostname leaf9",
        "+ interface Ethernet1 > mtu 9214",
    ]


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ({"sessions": {}}, ("none", None, None)),
        ({"sessions": {"cfg-1": {"state": "completed"}}}, ("none", None, None)),
        ({"sessions": {"bob": {"state": "pending"}}}, ("foreign", "bob", None)),
        ({"sessions": {"jumbo-r-s": {"state": "pending"}}}, ("ours", "jumbo-r-s", None)),
        ({"sessions": {"jumbo-x": {"state": "pendingCommitTimer", "commitBy": 1090.0}}}, ("ours", "jumbo-x", 90)),
        ({"sessions": {"x": {"state": "pendingCommitTimer", "commitBy": 1_700_000_090.0}}}, ("foreign", "x", 90)),
        (
            {"sessions": {"x": {"state": "committed"}}, "commitTimerSessionName": "x", "commitTimerExpireTime": 1060.0},
            ("foreign", "x", 60),
        ),
        ({"sessions": {"x": {"state": "pendingCommitTimer"}}}, ("foreign", "x", None)),
    ],
)
def test_a_pending_commit_is_seen_in_both_shapes_and_both_clocks(detail, expected):
    found = eos.pending_commit(detail, uptime=1000.0, now=1_700_000_000.0)
    assert (found["owner"], found["name"], found["seconds_left"]) == expected


def test_session_names_are_ours_short_and_unique():
    long = "20261130T120000Z-abcd-fabric.0.link-with-a-very-long-name"
    names = {eos.session_name(long), eos.session_name(long + "2"), eos.session_name("canary.0.svi")}
    assert len(names) == 3
    assert all(name.startswith("jumbo-") and len(name) <= 46 and "." not in name for name in names)
