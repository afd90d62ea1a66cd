"""A roll-out that leaves every host out is refused; where some are left, the rest goes on with a note."""


def unkept(player, *hosts):
    for host in hosts:
        player.world.devices[host].state["persistence"] = None


def waived(*hosts):
    return [{"kind": "no_dead_man", "object": host, "reason": "its own configuration follows"} for host in hosts]


def test_where_no_host_is_left_to_raise_the_roll_out_is_refused(player):
    unkept(player, "h1", "h2", "h3", "h4")
    assert player.play(check=True) == "failed"
    assert player.status() == 2
    reason = player.report["reason"]
    assert "every host that should be raised is left out" in reason
    assert "h1 cannot persist its MTU" in reason
    assert "(waiver: no_dead_man)" in reason
    assert "jumbo_ip_mtu is 9000" in reason
    assert player.world.is_as_before()


def test_where_one_rack_is_left_it_goes_on_with_a_note(player):
    unkept(player, "h1", "h2")
    assert player.play() == "passed"
    assert any("h1 cannot persist" in line for line in player.said)


def test_all_hosts_accepted_by_name_are_raised(player):
    unkept(player, "h1", "h2", "h3", "h4")
    for host in player.world.hosts.values():
        host["variables"]["jumbo_waivers"] = waived("h1", "h2", "h3", "h4")
    assert player.play() == "passed"
    assert player.world.sizes() == {9000, 9214}
    assert any("not covered after a reboot" in line for line in player.said)


def test_links_alone_may_be_asked_for(player):
    unkept(player, "h1", "h2", "h3", "h4")
    for host in player.world.hosts.values():
        host["variables"]["jumbo_stages"] = ["fabric"]
    assert player.play(check=True) == "planned"
    assert player.play(check=True, limit=["spine1", "leaf1", "leaf2"]) == "planned"


def test_a_stage_that_is_done_may_be_asked_for_again(player):
    for host in player.world.hosts.values():
        host["variables"]["jumbo_stages"] = ["canary"]
    assert player.play() == "passed"
    assert player.play() == "passed"
