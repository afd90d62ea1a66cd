"""A fabric at 9000 is wanted at 4000: senders are pinned first, everything comes down, is proven and lifted again."""

import pytest

pytestmark = [pytest.mark.lab, pytest.mark.long]

SMALLER = ("-e", '{"jumbo_ip_mtu": 4000, "jumbo_underlay_ip_mtu": 4100}')


def test_down_to_a_smaller_size_and_all_the_way_back(fabric):
    lab = fabric()
    assert lab.play("rollout").report["verdict"] == "passed"

    down = lab.play("rollout", *SMALLER)
    assert (down.status, down.report["verdict"]) == (0, "passed"), down.output
    now = lab.ip_mtus()
    assert {now[f"h{n}"]["eth1"] for n in range(1, 7)} == {4000}
    assert {mtu for host in ("spine1", "spine2") for mtu in now[host].values()} == {4100}
    assert {now[f"leaf{n}"]["Vlan10"] for n in (1, 2, 3)} == {4000}
    assert lab.lab.ping("h1", lab.lab.address("h5"), 4000).received == 2
    check_order(down.journal)

    again = lab.play("rollout", *SMALLER)
    assert (again.status, again.report["stages"]) == (0, []), again.output

    back = lab.play("rollback")  # 4000 is taken back, what was lowered is raised, then all of the first roll-out
    assert (back.status, back.report["verdict"]) == (0, "passed"), back.output
    assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
    assert lab.lab.run("h1", "cat", "/etc/jumbo-lab.json").split() == ['{"links":', "{},", '"routes":', "[]}"]
    assert lab.stalls() == []


def check_order(lines):
    """Every pin is read back before anything comes down; gateways and links before the hosts' own links."""
    done = {}
    for line in lines:
        if line["step"].startswith("lower.") and line["verb"] in ("apply", "lift", "persist"):
            done.setdefault(line["step"].rpartition(".")[2], []).append(line["seq"])
    assert max(done["lift"]) < min(done["persist"])
    assert max(done["persist"]) < min(done["svi"])
    assert max(done["svi"]) < min(done["link"])
    assert max(done["link"]) < min(done["host_link"])
