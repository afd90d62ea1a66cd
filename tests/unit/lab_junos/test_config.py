"""Configurations: three forms that mean the same, what is loaded, and how differences are shown."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.lab.junos import bgp, check, inherit, load, text, tree, xml_config
from ansible_collections.jumbo.fabric.lab.junos.device import read
from ansible_collections.jumbo.fabric.lab.junos.errors import Refused
from ansible_collections.jumbo.fabric.lab.junos.hardware import Hardware
from ansible_collections.jumbo.fabric.lab.junos.inherit import INTERFACES
from ansible_collections.jumbo.fabric.lab.junos.xml import parse
from hypothesis import given, settings
from hypothesis import strategies as st

PORT = st.integers(0, 3).map(lambda number: f"interfaces xe-0/0/{number}")
STATEMENT = st.one_of(
    st.tuples(PORT, st.integers(256, 9216)).map(lambda pair: f"{pair[0]} mtu {pair[1]}"),
    st.tuples(PORT, st.integers(256, 9202)).map(lambda pair: f"{pair[0]} unit 0 family inet mtu {pair[1]}"),
    PORT.map(lambda port: f"{port} flexible-vlan-tagging"),
    PORT.map(lambda port: f"{port} unit 0 family inet"),
    st.tuples(PORT, st.sampled_from(["up", "to spine 1", 'a "b" c'])).map(
        lambda pair: f"{pair[0]} description " + '"' + pair[1].replace('"', '\\"') + '"'
    ),
    st.sampled_from(["a", "b", "c"]).map(lambda hop: f"routing-options static route 10.0.0.0/8 next-hop {hop}"),
    st.sampled_from(["blue", "red"]).map(lambda vlan: f"vlans {vlan} vlan-id 10"),
    PORT.map(lambda port: f"{port} gigether-options 802.3ad ae0"),
)
CONFIG = st.lists(STATEMENT, max_size=12).map(lambda lines: "\n".join(f"set {line}" for line in lines))


@settings(max_examples=60, deadline=None)
@given(CONFIG)
def test_text_set_and_xml_mean_the_same(lines: str) -> None:
    config = tree.normal(read(lines) if lines else {})
    from_text, _told = load.apply({}, load.text_edits("\n".join(text.curly(config)), tagged=False))
    from_set, _told = load.apply({}, load.set_edits("\n".join(text.set_lines(config))))
    element = parse(f"<configuration>{xml_config.shown(config)}</configuration>")
    from_xml, _told = load.apply({}, xml_config.edits(element))
    assert tree.normal(from_text) == tree.normal(from_set) == tree.normal(from_xml) == config


@settings(max_examples=60, deadline=None)
@given(CONFIG, CONFIG)
def test_replaying_a_difference_makes_the_other(old: str, new: str) -> None:
    before, after = (tree.normal(read(lines) if lines else {}) for lines in (old, new))
    assert tree.normal(tree.replay(before, after, before)) == after
    assert bool(text.compare(before, after)) == (before != after)


def loaded(before: str, *edits: str, config: str = "") -> str:
    base = read(before)
    wanted = load.text_edits(config, tagged=True) if config else load.set_edits("\n".join(edits))
    after, _warnings = load.apply(base, wanted)
    return "\n".join(text.set_lines(after))


def test_what_was_made_and_deleted_leaves_nothing() -> None:
    before = "set system host-name a"
    made = "set interfaces xe-0/0/1 mtu 9014"
    assert loaded(before, made, "delete interfaces xe-0/0/1 mtu") == before
    unit = "set interfaces xe-0/0/1 unit 0 family inet"
    assert (
        loaded(before, f"{unit} mtu 9000", "delete interfaces xe-0/0/1 unit 0 family inet mtu") == f"{before}\n{unit}"
    )


def test_merge_keeps_and_replace_takes_what_is_not_said() -> None:
    before = "set interfaces xe-0/0/1 description x\nset interfaces xe-0/0/1 mtu 2000"
    assert "description x" in loaded(before, config="interfaces { xe-0/0/1 { mtu 9014; } }")
    assert loaded(before, config="interfaces { replace: xe-0/0/1 { mtu 9014; } }") == "set interfaces xe-0/0/1 mtu 9014"


def test_a_value_of_several_can_be_taken_out() -> None:
    before = "set routing-options static route 10.0.0.0/8 next-hop [ a b ]"
    after = loaded(before, "delete routing-options static route 10.0.0.0/8 next-hop a")
    assert after == "set routing-options static route 10.0.0.0/8 next-hop b"


@pytest.mark.parametrize(
    ("line", "element"),
    [
        ("set interfaces xe-0/0/1 mtoo 9014", "mtoo"),
        ("set interfaces xe-0/0/1 mtu", "mtu"),
        ("set interfaces xe-0/0/1 mtu many", "mtu"),
        ("set interfaces xe-0/0/1 mtu 255", "mtu"),
        ("set interfaces Ethernet1 mtu 9014", "Ethernet1"),
        ("set interfaces xe-0/0/1 unit 0 family inet address 10.0.0.300/24", "10.0.0.300/24"),
        ("set interfaces xe-0/0/1 disable now", "now"),
        ("sett interfaces", "sett"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, element: str) -> None:
    with pytest.raises(Refused) as caught:
        load.apply({}, load.set_edits(line))
    assert caught.value.complaints[0].element == element


@pytest.mark.parametrize("config", ["interfaces {", "interfaces } ", "interfaces { xe-0/0/1 { mtu 9014 } }", "mtu;"])
def test_braces_that_do_not_fit(config: str) -> None:
    with pytest.raises(Refused):
        load.text_edits(config, tagged=False)


def test_the_difference_names_the_level() -> None:
    before = read("set interfaces xe-0/0/1 mtu 2000\nset interfaces xe-0/0/2 mtu 2000")
    after = read("set interfaces xe-0/0/1 mtu 9014\nset vlans blue vlan-id 10")
    assert text.compare(tree.normal(before), tree.normal(after)).splitlines() == [
        "[edit]",
        "+   vlans {",
        "+       blue {",
        "+           vlan-id 10;",
        "+       }",
        "+   }",
        "[edit interfaces]",
        "-   xe-0/0/2 {",
        "-       mtu 2000;",
        "-   }",
        "[edit interfaces xe-0/0/1]",
        "-   mtu 2000;",
        "+   mtu 9014;",
    ]


GROUPS = """
set groups big interfaces <xe-*> mtu 9192
set groups big interfaces <xe-*> unit <*> family inet mtu 9000
set groups quiet protocols bgp group up neighbor <*> shutdown
set apply-groups big
set apply-groups quiet
set interfaces interface-range hosts member xe-0/0/7
set interfaces interface-range hosts member-range xe-0/0/10 to xe-0/0/11
set interfaces interface-range hosts mtu 4000
set interfaces xe-0/0/1 unit 0 family inet address 10.0.0.1/31
set interfaces xe-0/0/2 mtu 2000
set interfaces ae0 unit 0 family inet
set protocols bgp group up neighbor 10.0.0.0 peer-as 65000
"""


def test_what_is_inherited_is_in_force_and_says_where_it_comes_from() -> None:
    config, origins = inherit.effective(read(GROUPS))
    sizes = {name: tree.value(block, "mtu") for name, block in tree.entries(config[INTERFACES], "interface").items()}
    assert sizes == {
        "xe-0/0/1": "9192",
        "xe-0/0/2": "2000",
        "xe-0/0/7": "4000",
        "xe-0/0/10": "4000",
        "xe-0/0/11": "4000",
        "ae0": None,
    }
    port = (INTERFACES, ("interface", "xe-0/0/1"))
    assert origins[*port, ("mtu", "")] == ("group", "big")
    assert tree.value(config, *port, ("unit", "0"), "family", "inet", "mtu") == "9000"
    assert origins[*(INTERFACES, ("interface", "xe-0/0/7")), ("mtu", "")] == ("interface-range", "hosts")
    assert [peer.shut for peer in bgp.bgp_of(config).peers] == [True]
    shown = str(xml_config.shown(config, origins=origins))
    assert '<mtu junos:group="big">9192</mtu>' in shown
    assert '<mtu junos:interface-range="hosts">4000</mtu>' in shown
    assert "groups" not in shown
    assert "interface-range>" not in shown


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("set apply-groups nobody", "configuration group nobody is not defined"),
        ("set interfaces <xe-*> mtu 2000", "a pattern stands in groups only"),
        ("set groups big interfaces <ae*> unit 0 family inet mtu 9100", "Family MTU 9100 is too large"),
    ],
)
def test_what_a_commit_refuses_of_it(more: str, said: str) -> None:
    found = check.problems(tree.normal(read(f"{GROUPS}\n{more}")), Hardware())
    assert said in [complaint.message[: len(said)] for complaint in found]
