"""Good and bad inventories: every problem is told at once, with host, variable, value, allowed values and advice."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.intent import End, InvalidIntent, Member, read_intent
from unit.mtu.fabric import inventory, load


def problems(hosts):
    with pytest.raises(InvalidIntent) as caught:
        read_intent(hosts)
    return caught.value.problems


def shared(hosts):
    """The variables that all hosts see, to be edited in place."""
    return next(iter(hosts.values()))["variables"]


def test_defaults():
    intent = read_intent({"h1": {"platform": "linux", "groups": [], "variables": {}}})
    assert (intent.ip_mtu, intent.underlay_ip_mtu, intent.baseline_ip_mtu) == (9000, 9214, 1500)
    assert (intent.confirm_within, intent.soak_seconds, intent.max_wave) == (300, 86400, 4)
    assert intent.stages == ("lower", "canary", "leaf", "fabric", "soak")
    assert (intent.approve, intent.allow_reload, intent.encapsulations) == ((), False, ())


def test_an_empty_inventory_is_an_empty_intent():
    assert read_intent({}).devices == {}


def test_the_sample_fabric():
    intent, _topology = load(inventory())
    assert len(intent.links) == 18
    assert intent.segments[0].members[0] == Member("leaf1", "Vlan10")
    assert intent.segments[1].ip_mtu == 1500
    assert intent.soak_seconds == 30


def test_links_in_both_forms_and_boxes_in_the_cable():
    hosts = inventory(spines=1, leafs=1)
    shared(hosts)["jumbo_links"][0]["through"] = [{"name": "tap1", "kind": "tap", "max_frame": 1518}]
    link = read_intent(hosts).links[0]
    assert (str(link.a), str(link.b), link.routing, link.through[0].max_frame) == (
        "leaf1:Ethernet1",
        "spine1:Ethernet1",
        "static",
        1518,
    )


SCALARS = [
    ("jumbo_ip_mtu", "9000 ", "1280-9214"),
    ("jumbo_ip_mtu", "9000", "1280-9214"),
    ("jumbo_ip_mtu", True, "1280-9214"),
    ("jumbo_ip_mtu", 0, "1280-9214"),
    ("jumbo_ip_mtu", 1279, "1280-9214"),
    ("jumbo_ip_mtu", 65536, "1280-9214"),
    ("jumbo_ip_mtu", 9000.0, "1280-9214"),
    ("jumbo_underlay_ip_mtu", 9215, "1280-9214"),
    ("jumbo_baseline_ip_mtu", 1279, "1280-9214"),
    ("jumbo_confirm_within", 119, "120-3600"),
    ("jumbo_confirm_within", 3601, "120-3600"),
    ("jumbo_max_wave", 0, "1-1000"),
    ("jumbo_soak", "1 day", "24h"),
    ("jumbo_soak", 30, "24h"),
    ("jumbo_soak", "25h", "24h"),
    ("jumbo_soak", "0s", "24h"),
    ("jumbo_stages", ["canary", "leafs"], "fabric"),
    ("jumbo_stages", "canary", "a list"),
    ("jumbo_approve", ["everything"], "canary"),
    ("jumbo_allow_reload", "no", "true, false"),
    ("jumbo_reload_window", "25:00-26:00", "HH:MM-HH:MM"),
    ("jumbo_resume", "maybe", "auto"),
    ("jumbo_encapsulations", ["vxlna"], "vxlan"),
    ("jumbo_waivers", [{"kind": "everything", "object": "h1", "reason": "x"}], "unmanaged_member"),
    ("jumbo_waivers", [{"kind": "exposure", "object": "h1", "reason": ""}], "text"),
    ("jumbo_waivers", ["h1"], "{kind, object, reason}"),
    ("jumbo_lags", [{"device": "leaf9", "name": "Port-Channel1", "members": ["Ethernet1"]}], "leaf1"),
    ("jumbo_lags", [{"device": "leaf1", "name": "Port-Channel1", "members": []}], "members"),
    ("jumbo_pairs", [{"name": "p", "devices": ["leaf1"], "peer_link": None}], "leaf1"),
]


@pytest.mark.parametrize(("variable", "value", "limit"), SCALARS)
def test_a_bad_value_is_named_with_what_is_allowed(variable, value, limit):
    (problem, *_rest) = [p for p in problems(inventory(**{variable: value})) if p.variable == variable]
    assert problem.host is None, "it is the fabric's"
    assert variable in str(problem)


def test_underlay_must_hold_the_encapsulation():
    (problem,) = problems(inventory(jumbo_underlay_ip_mtu=9020, jumbo_encapsulations=["vxlan"]))
    assert (problem.variable, problem.wish, problem.limit) == ("jumbo_underlay_ip_mtu", 9020, "9050-9214")


def test_baseline_above_target():
    (problem,) = problems(inventory(jumbo_ip_mtu=1400))
    assert (problem.variable, problem.limit) == ("jumbo_baseline_ip_mtu", "1280-1400")


def test_all_problems_at_once():
    hosts = inventory(jumbo_ip_mtu="9000 ", jumbo_underlay_ip_mtu=9215, jumbo_soak="soon")
    hosts["spine1"]["platform"] = "nxos"
    assert {p.variable for p in problems(hosts)} >= {
        "jumbo_ip_mtu",
        "jumbo_underlay_ip_mtu",
        "jumbo_soak",
        "ansible_network_os",
    }


def test_unknown_platform():
    hosts = inventory()
    hosts["leaf2"]["platform"] = "nxos"
    (problem,) = [p for p in problems(hosts) if p.variable == "ansible_network_os"]
    assert (problem.host, problem.wish) == ("leaf2", "nxos")
    assert "eos" in problem.limit


def test_hosts_that_see_different_values():
    hosts = copy.deepcopy(inventory())
    hosts["h3"]["variables"] = {**hosts["h3"]["variables"], "jumbo_ip_mtu": 8000}
    (problem,) = problems(hosts)
    assert problem.variable == "jumbo_ip_mtu"
    assert "group_vars/all" in problem.advice


def test_a_host_that_sees_no_links():
    hosts = inventory()
    hosts["h3"]["variables"] = {k: v for k, v in hosts["h3"]["variables"].items() if k != "jumbo_links"}
    (problem,) = problems(hosts)
    assert (problem.host, problem.variable) == ("h3", "jumbo_links")


LINKS = [
    (["leaf1:Ethernet9"], "1 end"),
    ({"ends": ["leaf1:Ethernet9"]}, "1 end"),
    (["leaf1:Ethernet9", "leaf9:Ethernet9"], "leaf9"),
    (["leaf1:Ethernet9", "leaf1:Ethernet8"], "one device"),
    (["leaf1", "leaf2:Ethernet9"], "device and an interface"),
    (["leaf1:Ethernet9", 5], "no text"),
    (["leaf1:Ethernet1", "leaf2:Ethernet9"], "ends two links"),
    ({"ends": ["leaf1:Ethernet9", "leaf2:Ethernet9"], "routing": "rip"}, "rip"),
    ({"ends": ["leaf1:Ethernet9", "leaf2:Ethernet9"], "speed": 100}, "speed"),
    ({"ends": ["leaf1:Ethernet9", "leaf2:Ethernet9"], "through": [{"name": "x", "kind": "hub"}]}, "hub"),
    (
        {"ends": ["leaf1:Ethernet9", "leaf2:Ethernet9"], "through": [{"name": "x", "kind": "tap", "max_frame": "big"}]},
        "big",
    ),
    ("leaf1:Ethernet9 - leaf2:Ethernet9", "wrong shape"),
]


@pytest.mark.parametrize(("link", "told"), LINKS)
def test_bad_links(link, told):
    hosts = inventory()
    shared(hosts)["jumbo_links"].append(link)
    found = problems(hosts)
    assert all(p.variable == "jumbo_links" for p in found)
    assert any(told in str(p) for p in found)


SEGMENTS = [
    ({"members": []}, "no members"),
    ({"members": None}, "no members"),
    ({"members": ["h9:eth1"]}, "h9"),
    ({"members": ["h1:eth7"]}, "no interface 'eth7'"),
    ({"members": ["h1:eth1"]}, "member twice"),
    ({"members": ["leaf1"]}, "gateway interface must be named"),
    ({"members": ["printer"]}, "managed: false"),
    ({"members": ["h1"]}, "no interface of h1"),
    ({"members": [{"name": "x", "managed": False, "ip_mtu": "1500"}]}, "1500"),
    ({"members": [{"host": "x"}]}, "host"),
    ({"members": ["leaf1:Vlan30"], "role": "jmbo"}, "jmbo"),
    ({"members": ["leaf1:Vlan30"], "vlan": 4095}, "4095"),
    ({"members": ["leaf1:Vlan30"], "ip_mtu": "9000"}, "9000"),
    ({"members": ["leaf1:Vlan30"], "subnets": ["10.30.1.1/24"]}, "host bits"),
    ({"members": ["leaf1:Vlan30"], "subnets": ["10.10.1.128/25"]}, "overlaps"),
    ({"members": ["leaf1:Vlan30"], "subnets": []}, "needs its subnet"),
    ({"members": ["leaf1:Vlan30"], "subnet": "10.30.0.0/24"}, "both subnet and subnets"),
    ({"members": ["leaf1:Vlan30"], "name": "back1"}, "two segments have this name"),
    ({"members": ["leaf1:Vlan30"], "mtu": 9000}, "mtu"),
    ({"members": ["leaf1:Vlan30"], "name": None}, "name of a segment"),
]


@pytest.mark.parametrize(("segment", "told"), SEGMENTS)
def test_bad_segments(segment, told):
    hosts = inventory()
    entry = {"name": "more", "role": "jumbo", "vlan": 30, "subnets": ["10.30.0.0/24"], **segment}
    shared(hosts)["jumbo_segments"].append(entry)
    found = problems(hosts)
    assert all(p.variable == "jumbo_segments" for p in found)
    assert any(told in str(p) for p in found)


def test_a_bare_host_is_enough_where_one_interface_fits():
    hosts = inventory()
    members = shared(hosts)["jumbo_segments"][0]["members"]
    members[members.index("h1:eth1")] = "h1"
    assert read_intent(hosts).segments[0].members[1] == Member("h1", "eth1")


def test_a_bare_host_with_several_interfaces_is_refused():
    hosts = inventory()
    shared(hosts)["jumbo_segments"][1]["members"].remove("h1:eth0")
    members = shared(hosts)["jumbo_segments"][0]["members"]
    members[members.index("h1:eth1")] = "h1"
    (problem,) = problems(hosts)
    assert (problem.wish, problem.limit) == ("h1", "h1:eth0, h1:eth1")


def test_speakers_that_are_not_ours():
    hosts = inventory()
    shared(hosts)["jumbo_segments"][0]["members"] += [
        {"name": "printer", "managed": False},
        {"name": "nas", "managed": False, "ip_mtu": 9000},
    ]
    found = read_intent(hosts).segments[0].members[-2:]
    assert found == (Member("printer", None, False, 1500), Member("nas", None, False, 9000))


def test_vlan_interfaces_of_known_parents_are_known():
    hosts = inventory()
    entry = {"name": "more", "role": "jumbo", "vlan": 30, "subnets": ["10.30.0.0/24"], "members": ["h1:eth1.30"]}
    shared(hosts)["jumbo_segments"].append(entry)
    assert read_intent(hosts).segments[-1].members == (Member("h1", "eth1.30"),)


def test_a_host_in_two_racks():
    hosts = inventory()
    shared(hosts)["jumbo_links"].append(["h1:eth2", "leaf2:Ethernet30"])
    (problem,) = problems(hosts)
    assert problem.host == "h1"
    assert "two racks" in str(problem)


def test_other_networks_do_not_make_a_second_rack():
    hosts = inventory()
    links = shared(hosts)["jumbo_links"]
    links.remove(["h1:eth0", "leaf1:Ethernet21"])
    links.append(["h1:eth0", "leaf2:Ethernet30"])  # its front end, in a segment of another role
    links.append(["h1:eth2", "leaf3:Ethernet30"])
    hosts["h1"]["variables"] = {**shared(hosts), "jumbo_excluded_interfaces": ["eth2"]}
    intent = read_intent(hosts)
    assert intent.is_excluded(End("h1", "eth2"))
    assert not intent.is_excluded(End("h2", "eth2"))


def test_rack_against_its_links():
    hosts = inventory()
    hosts["h3"]["variables"] = {**shared(hosts), "jumbo_rack": "r1"}
    hosts["leaf2"]["variables"] = {**shared(hosts), "jumbo_rack": "r2"}
    (problem,) = problems(hosts)
    assert (problem.host, problem.variable, problem.wish, problem.limit) == ("h3", "jumbo_rack", "r1", "r2")


def test_hosts_of_one_leaf_in_several_racks():
    hosts = inventory()
    hosts["h3"]["variables"] = {**shared(hosts), "jumbo_rack": "r1"}
    hosts["h4"]["variables"] = {**shared(hosts), "jumbo_rack": "r2"}
    assert any("several racks" in str(problem) for problem in problems(hosts))


def test_a_host_without_any_way_to_its_rack():
    hosts = inventory()
    links = shared(hosts)["jumbo_links"]
    links[:] = [link for link in links if not (isinstance(link, list) and link[0].startswith("h1:"))]
    members = shared(hosts)["jumbo_segments"][0]["members"]
    members.remove("leaf1:Vlan10")
    assert any("the rack of this host is not known" in str(problem) for problem in problems(hosts))


def test_canary_over_two_racks():
    hosts = inventory()
    hosts["leaf1"]["groups"] = ["leafs", "canary"]
    hosts["h3"]["groups"] = ["servers", "canary"]
    (problem,) = problems(hosts)
    assert problem.wish == {"h3": "leaf2", "leaf1": "leaf1"}


def test_canary_without_a_rack():
    hosts = inventory()
    hosts["spine1"]["groups"] = ["spines", "canary"]
    assert any("in no rack" in str(problem) for problem in problems(hosts))


def test_addresses():
    hosts = inventory()
    hosts["leaf1"]["variables"] = {**shared(hosts), "jumbo_addresses": {"Ethernet1": ["10.0.0.0/31"]}}
    assert read_intent(hosts).devices["leaf1"].addresses == {"Ethernet1": ("10.0.0.0/31",)}


@pytest.mark.parametrize("value", [{"Ethernet1": ["10.0.0.300/31"]}, {"Ethernet1": "10.0.0.0/31"}, ["10.0.0.0/31"]])
def test_bad_addresses(value):
    hosts = inventory()
    hosts["leaf1"]["variables"] = {**shared(hosts), "jumbo_addresses": value}
    assert {(p.host, p.variable) for p in problems(hosts)} == {("leaf1", "jumbo_addresses")}


def test_a_pair_makes_one_rack():
    hosts = inventory(leafs=2)
    shared(hosts)["jumbo_links"].append(["h1:eth2", "leaf2:Ethernet30"])
    shared(hosts)["jumbo_pairs"] = [{"name": "pod1", "devices": ["leaf1", "leaf2"], "peer_link": "Port-Channel1"}]
    _intent, topology = load(hosts)
    assert topology.rack_of("h1") == topology.rack_of("leaf2") == "pod1"


@pytest.mark.parametrize(
    "pairs",
    [
        [{"name": "p", "devices": ["leaf1", "h1"]}],
        [{"name": "p", "devices": ["leaf1", "leaf1"]}],
        [{"name": "p", "devices": ["leaf1", "leaf2"]}, {"name": "q", "devices": ["leaf2", "leaf3"]}],
        [{"name": "", "devices": ["leaf1", "leaf2"]}],
    ],
)
def test_bad_pairs(pairs):
    assert {p.variable for p in problems(inventory(jumbo_pairs=pairs))} >= {"jumbo_pairs"}


def test_ports_in_two_lags():
    lags = [{"device": "leaf1", "name": f"Port-Channel{n}", "members": ["Ethernet1"]} for n in (1, 2)]
    (problem,) = problems(inventory(jumbo_lags=lags))
    assert problem.variable == "jumbo_lags"


def test_a_problem_reads_as_one_sentence_with_everything():
    (problem,) = problems(inventory(jumbo_ip_mtu=65536))
    assert str(problem) == (
        "this MTU (bytes of IP packet) is out of range (jumbo_ip_mtu is 65536); allowed: 1280-9214."
        " Choose a value in this range"
    )


def test_one_bad_subnet_is_one_problem():
    hosts = inventory(leafs=1)
    hosts["h1"]["variables"]["jumbo_segments"][0]["subnets"] = ["10.10.1.0/33"]
    assert len(problems(hosts)) == 1


def test_a_misspelt_word_is_answered_with_the_one_that_was_meant():
    hosts = inventory(leafs=1)
    hosts["h1"]["variables"]["jumbo_segments"][0]["role"] = "jumo"
    assert "Did you mean jumbo?" in str(problems(hosts)[0])


def test_what_is_wrong_with_a_fabric_wide_value_names_no_host():
    hosts = inventory(leafs=1, jumbo_ip_mtu="9000", jumbo_max_wave=0)
    assert [problem.host for problem in problems(hosts)] == [None, None]
    hosts["h2"]["variables"] = {**hosts["h2"]["variables"], "jumbo_soak": "1m"}
    assert "h2" in [problem.host for problem in problems(hosts)]


def test_a_value_that_is_missing_is_not_set():
    assert "(jumbo_links is not set)" in str(JumboError("no links", variable="jumbo_links"))
