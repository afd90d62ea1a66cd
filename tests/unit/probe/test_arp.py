"""The kernel's ARP table: who has answered, and nobody else."""

from ansible_collections.jumbo.fabric.plugins.module_utils.probe.arp import known_neighbours

TABLE = """\
IP address       HW type     Flags       HW address            Mask     Device
10.10.1.1        0x1         0x2         02:00:00:00:00:01     *        eth1
10.10.1.9        0x1         0x0         00:00:00:00:00:00     *        eth1
10.10.1.8        0x1         0x6         02:00:00:00:00:08     *        eth0
"""


def test_only_those_that_have_answered(tmp_path):
    path = tmp_path / "arp"
    path.write_text(TABLE)
    assert known_neighbours(str(path)) == [
        {"address": "10.10.1.1", "interface": "eth1"},
        {"address": "10.10.1.8", "interface": "eth0"},
    ]


def test_no_table_is_unknown(tmp_path):
    assert known_neighbours(str(tmp_path / "none")) is None
