"""What cannot be done is refused before anything is touched, in sentences that name host, variable, value and range."""

import json

import pytest

pytestmark = pytest.mark.lab

GOOD_LINKS = 'jumbo_links=[["leaf1:Ethernet1","spine1:Ethernet1"]]'


@pytest.fixture(scope="module")
def lab(module_fabric):
    return module_fabric()


@pytest.fixture
def refused(lab):
    """Run a roll-out that must be refused; nothing has changed and nothing is pending afterwards."""

    def run(*arguments, status=2):
        outcome = lab.play("rollout", *arguments)
        assert (outcome.status, outcome.report["verdict"]) == (status, "failed"), outcome.output
        assert {mtu for ports in lab.ip_mtus().values() for mtu in ports.values()} == {1500}
        for name, audit in lab.lab.folder.ask("audit")["audit"].items():
            assert not audit["written"], name
            assert audit["open_sessions"] == [session for session in audit["open_sessions"] if session == "bob"]
        assert not (lab.evidence / "lock").exists()
        assert "Traceback" not in outcome.output
        return outcome

    return run


def extra(**variables):
    return ["-e", json.dumps(variables)]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"jumbo_ip_mtu": "9000 "}, ["jumbo_ip_mtu", "'9000 '", "1280-9214"]),
        ({"jumbo_ip_mtu": 0}, ["jumbo_ip_mtu is 0", "1280-9214"]),
        ({"jumbo_ip_mtu": 1279}, ["jumbo_ip_mtu is 1279", "1280-9214"]),
        ({"jumbo_ip_mtu": 65536}, ["jumbo_ip_mtu is 65536", "1280-9214"]),
        ({"jumbo_underlay_ip_mtu": 9215}, ["jumbo_underlay_ip_mtu is 9215", "1280-9214"]),
        ({"jumbo_approve": ["everything"]}, ["jumbo_approve", "everything", "fabric"]),
        ({"jumbo_resume": "resume"}, ["jumbo_resume is 'resume'", "no roll-out", "auto, new"]),
        ({"ansible_network_os": "nxos"}, ["leaf1", "ansible_network_os", "nxos", "eos"]),
    ],
)
def test_values_are_refused_with_their_range(refused, variables, said):
    output = refused(*extra(**variables)).output
    for part in said:
        assert part in output


def test_every_problem_is_told_at_once(refused, lab):
    design = lab.variables()
    links = [
        *design["jumbo_links"],
        ["leaf1:Ethernet9"],
        ["leaf1:Ethernet8", "nobody:eth0"],
        ["h1:eth7", "leaf2:Ethernet9"],
    ]
    segments = [*design["jumbo_segments"], {"name": "empty", "role": "jumbo", "subnet": "10.9.0.0/24", "members": []}]
    output = refused(*extra(jumbo_links=links, jumbo_segments=segments, jumbo_max_wave=0)).output
    for part in ("leaf1:Ethernet9", "nobody", "empty", "jumbo_max_wave is 0", "1-1000"):
        assert part in output


def test_a_host_in_two_racks_is_named_with_its_links(refused, lab):
    links = [*lab.variables()["jumbo_links"], ["h1:eth7", "leaf2:Ethernet9"]]
    output = refused(*extra(jumbo_links=links)).output
    assert "h1: this host is in two racks" in output
    assert "leaf2" in output


def test_wrong_credentials_name_the_host_and_the_variables(refused):
    output = refused("-e", "jumbo_lab_password=wrong", status=4).output
    assert "leaf1: eAPI at" in output
    assert "ansible_password" in output
    assert "wrong" not in output.replace("jumbo_lab_password=wrong", "")


def test_a_device_that_is_off_stops_everything_before_anything(refused, lab):
    lab.lab.folder.ask("cut", node="spine2")
    try:
        output = refused(status=4).output
    finally:
        lab.lab.folder.ask("mend", node="spine2")
    assert "spine2: eAPI at" in output
    assert "does not answer" in output


def test_somebody_elses_session_is_named_and_left_alone(refused, lab):
    reply = lab.lab.eapi("leaf2", "enable", "configure session bob", "interface Ethernet1", "description mine")
    assert "result" in reply
    try:
        output = refused().output
        assert "leaf2" in output
        assert "bob" in output
        sessions = lab.lab.eapi("leaf2", "enable", "show configuration sessions")["result"][1]["sessions"]
        assert sessions["bob"]["state"] == "pending"
    finally:
        lab.lab.eapi("leaf2", "enable", "configure session bob abort")


def test_a_member_that_is_missing_from_its_segment_is_found_by_what_devices_tell(refused, lab):
    segments = lab.variables()["jumbo_segments"]
    backend = next(segment for segment in segments if segment["name"] == "backend3")
    backend["members"].remove("h6:eth1")
    output = refused(*extra(jumbo_segments=segments)).output
    assert "h6:eth1: it speaks in backend3 and is not its member (it has 10.10.3.3/24" in output
    assert "h6:eth1: its cable ends in backend3 and it is not its member (leaf3:Ethernet14 carries VLAN 10" in output
    for segment in segments:
        segment["members"] = [member for member in segment["members"] if not member.startswith("h6:")]
    links = [link for link in lab.variables()["jumbo_links"] if not any(str(end).startswith("h6:") for end in link)]
    output = refused(*extra(jumbo_segments=segments, jumbo_links=links)).output
    assert "leaf3:Ethernet14: it carries backend3, and jumbo_links has no cable for it (it is up in VLAN 10" in output
