"""The shared state fails closed: what was not recorded as passed has not passed."""

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError
from ansible_collections.jumbo.fabric.plugins.plugin_utils import waves


def step(stage, wave, phase, hosts, gate=None):
    changes = [{"host": host, "object": "x", "field": "ip_mtu", "from": 1500, "to": 9000} for host in hosts]
    return {
        "id": f"{stage}.{wave}.{phase}",
        "stage": stage,
        "wave": wave,
        "phase": phase,
        "changes": changes,
        "gate": gate,
    }


PLAN = [
    step("canary", 0, "host_link", ["h1", "h2"]),
    step("canary", 0, "svi", ["leaf1"]),
    step("canary", 0, "lift", ["h1", "h2"]),
    step("leaf", 0, "host_link", ["h3"]),
    step("leaf", 1, "host_link", ["h5"]),
    step("fabric", 0, "link", ["leaf1", "leaf2", "spine1"]),
    step("fabric", 1, "link", [], {"name": "cross_rack", "pairs": [["h1:e", "h3:e"], ["h3:e", "h1:e"]]}),
    step("fabric", 2, "lift", ["h1", "h3"]),
]


@pytest.fixture
def state():
    return {"verdict": "passed", "stages": waves.stages_of(PLAN), "wave": None}


def test_a_stage_is_serial_batches_of_its_waves(state):
    assert waves.play_of(state, "leaf")["hosts"] == ["h3", "h5"]
    assert waves.play_of(state, "leaf")["serial"] == [1, 1]
    assert waves.play_of(state, "canary") | {"conducted": None} == {
        "hosts": ["h1", "h2", "leaf1"],
        "serial": [3],
        "conducted": None,
    }


def test_conducted_waves_stand_apart_from_the_batches(state):
    fabric = waves.play_of(state, "fabric")
    assert fabric["hosts"] == ["h1", "h3"]
    assert fabric["conducted"] == {"hosts": ["leaf1", "leaf2", "spine1", "h1", "h3"], "waves": [0, 1]}


@pytest.mark.parametrize("verdict", ["running", "failed", "reverted", "planned", "stopped"])
def test_no_host_matches_unless_all_before_has_passed(state, verdict):
    state["verdict"] = verdict
    assert waves.play_of(state, "canary")["hosts"] == waves.NOBODY


def test_an_open_wave_takes_the_verdict_away_until_every_phase_is_confirmed(state):
    waves.open_wave(state, "canary", ["h1", "h2", "leaf1"])
    assert state["verdict"] == "running"
    for phase in ("host_link", "svi", "lift"):
        assert waves.may_apply(state, phase)
        assert not waves.may_confirm(state, phase)
        waves.record(state, phase, "applied", passed=True)
        assert waves.may_confirm(state, phase)
        assert not waves.wave_passed(state)
        waves.record(state, phase, "confirmed", passed=True)
    waves.close_wave(state, reverted=None)
    assert state["verdict"] == "passed"
    assert state["stages"]["canary"]["verdict"] == "passed"


def test_a_phase_waits_for_the_one_before(state):
    waves.open_wave(state, "canary", ["h1", "h2", "leaf1"])
    assert not waves.may_apply(state, "svi")
    waves.record(state, "host_link", "applied", passed=True)
    assert not waves.may_apply(state, "svi")
    assert not waves.may_apply(state, "l2")  # this wave has no such phase


@pytest.mark.parametrize(("reverted", "verdict"), [(True, "reverted"), (False, "failed"), (None, "failed")])
def test_a_wave_that_did_not_pass_ends_as_what_the_read_back_says(state, reverted, verdict):
    waves.open_wave(state, "leaf", ["h3"])
    waves.record(state, "host_link", "applied", passed=False)
    waves.close_wave(state, reverted=reverted)
    assert state["verdict"] == verdict
    assert waves.play_of(state, "leaf")["hosts"] == waves.NOBODY


@pytest.mark.parametrize("verdict", ["running", "failed", "reverted", "planned", "soaking"])
def test_the_next_batch_of_a_play_does_not_begin_after_a_failure(state, verdict):
    state["verdict"] = verdict
    assert not waves.open_wave(state, "leaf", ["h5"])
    assert (state["wave"], state["verdict"]) == (None, verdict)
    assert not waves.may_apply(state, "host_link")


def test_a_wave_is_opened_once(state):
    waves.open_wave(state, "leaf", ["h3"])
    state["verdict"] = "passed"
    with pytest.raises(JumboError, match="no wave of stage leaf"):
        waves.open_wave(state, "leaf", ["h3"])


def test_a_rack_is_taken_back_alone_and_the_fabric_as_a_whole(state):
    waves.open_wave(state, "leaf", ["h5"])
    assert waves.steps_to_take_back(state) == ["leaf.1.host_link"]
    state["verdict"] = waves.GO
    waves.open_wave(state, "fabric", ["h1", "h3"])
    assert waves.steps_to_take_back(state) == ["fabric.0.link", "fabric.1.link", "fabric.2.lift"]


def test_unreachable_wins_over_failed_and_the_first_reason_stays(state):
    waves.note_trouble(state, "h1", "first", unreachable=False)
    waves.note_trouble(state, "h1", "second", unreachable=False)
    assert state["troubles"]["h1"]["message"] == "first"
    waves.note_trouble(state, "h1", "gone", unreachable=True)
    assert state["troubles"]["h1"] == {"unreachable": True, "message": "gone"}


def test_a_rack_with_two_segments_is_conducted_since_a_host_is_in_one_batch_only():
    steps = [step("canary", 1, "host_link", ["h1", "leaf1"]), step("canary", 2, "host_link", ["h2", "leaf1"])]
    state = {"verdict": "passed", "stages": waves.stages_of(steps), "wave": None}
    play = waves.play_of(state, "canary")
    assert (play["hosts"], play["conducted"]) == (waves.NOBODY, {"hosts": ["h1", "leaf1", "h2"], "waves": [0, 1]})


def test_a_soak_that_only_persists_is_conducted_as_well():
    state = {"verdict": "passed", "stages": waves.stages_of([step("soak", 1, "persist", ["h1"])]), "wave": None}
    assert waves.play_of(state, "soak")["conducted"]["waves"] == [0]


def test_a_run_may_not_call_itself_passed_while_a_wave_never_ran(state):
    assert waves.not_run(state) == ["canary.0", "leaf.0", "leaf.1", "fabric.0", "fabric.1", "fabric.2"]
    waves.open_wave(state, "leaf", ["h3"])
    assert "leaf.0" not in waves.not_run(state)


def test_abandoning_a_wave_takes_nothing_back_and_lets_nothing_go_on(state):
    waves.open_wave(state, "leaf", ["h3"])
    waves.abandon_wave(state, "no answer")
    assert (state["verdict"], state["wave"], state["reason"]) == ("failed", None, "no answer")
    assert waves.play_of(state, "fabric")["conducted"]["hosts"] == waves.NOBODY
