"""The guard: goes back by itself, cannot be killed with the session, keeps the pins, and is never fooled twice."""

from __future__ import annotations

import fcntl
import shlex

import pytest

CONNECTED = "10.10.1.0/24 dev eth1 proto kernel scope link src 10.10.1.11"


def ours(host):
    return [line for line in host.routes().splitlines() if "dev eth1" in line and "table local" not in line]


def test_unconfirmed_it_goes_back_to_the_byte_and_a_late_confirm_is_refused(a, changes, until):
    before = a.routes()
    a.do("apply", id="t1", within=1.2, changes=changes())
    assert a.mtu() == 9000
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.routes()) == (1500, before)
    error = a.refused("confirm", id="t1")
    assert "already gone back" in error["message"]
    assert (error["wish"], error["limit"]) == ("confirmed", "fired")
    until(lambda: not a.processes(), what="the end of the guard")
    assert a.state() == "fired"
    assert a.do("revert", id="t1", changes=changes())["undone"] == []


def test_it_survives_the_kill_of_the_session_that_armed_it(a, changes, until, program):
    request = program({"verb": "apply", "id": "t1", "within": 3, "changes": changes()})
    before = a.routes()
    # What a lost SSH connection does at its worst: SIGKILL to the whole process group, the program's parent included.
    a.run("setsid", "sh", "-c", f"{shlex.quote(a.python)} - ; kill -9 0", text=request, check=False)
    assert (a.mtu(), a.processes(), a.state()) == (9000, ["jumbo-guard"], "armed")
    a.run("kill", "-HUP", a.guard())
    assert a.state() == "armed"
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.routes()) == (1500, before)


def test_it_is_moved_out_of_the_session_where_systemd_is_there_and_goes_on_where_that_fails(a, changes):
    """With KillUserProcesses=yes a session takes its scope along. busctl is a stand-in: there is no systemd here."""
    a.file("/run/systemd/system").mkdir(parents=True)
    folder = a.file("/run/bin")
    folder.mkdir()
    (folder / "busctl").write_text('#!/bin/sh\necho "$*" > /run/asked\n')
    (folder / "busctl").chmod(0o755)
    a.path = "/run/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    a.do("apply", id="t1", within=60, changes=changes())
    guard = a.do("read", interfaces=["eth1"])["guard"]
    asked = a.file("/run/asked").read_text()
    assert "StartTransientUnit ssa(sv)a(sa(sv)) jumbo-guard-t1.scope fail 4 Description s " in asked
    assert f"PIDs au 1 {guard['pid']} Slice s system.slice" in asked
    assert (guard["state"], guard["unit"], "is not in it" in guard["no_unit"]) == ("armed", None, True)
    (folder / "busctl").write_text("#!/bin/sh\necho 'Access denied' >&2\nexit 1\n")
    a.do("revert", id="t1")
    a.do("apply", id="t1", within=60, changes=changes())
    assert "Access denied" in a.do("read", interfaces=["eth1"])["guard"]["no_unit"]


def test_the_wall_clock_decides_nothing(a, changes, until):
    """It may jump by hours: here it cannot even be asked, and the deadline comes all the same."""
    end = "    return time.clock_gettime(time.CLOCK_BOOTTIME)"
    before = a.routes()
    a.ask("apply", id="t1", within=1.2, changes=changes(), patches={"files": (end, f"    time.time = None\n{end}")})
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.routes()) == (1500, before)


def test_a_killed_apply_is_taken_back_from_where_it_was(a, changes, until, program):
    before = a.routes()
    folder = a.file("/run/bin")
    folder.mkdir()
    stand_in = folder / "ip"
    # The first `ip link set` of this session kills the program instead: pinned, but not raised.
    stand_in.write_text(
        '#!/bin/sh\nif [ "$1 $2" = "link set" ] && rm /run/bin/kill 2>/dev/null; then kill -9 $PPID; exit 1; fi\n'
        'exec /usr/sbin/ip "$@"\n'
    )
    stand_in.chmod(0o755)
    (folder / "kill").write_text("")
    request = program({"verb": "apply", "id": "t1", "within": 2, "changes": changes()})
    a.run("env", "PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin", a.python, "-", text=request, check=False)
    assert f"{CONNECTED} mtu 1500" in a.routes()
    until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.routes()) == (1500, before)


def test_a_verb_that_hangs_with_the_lock_does_not_stop_it(a, changes, until):
    before = a.routes()
    a.do("apply", id="t1", within=1, changes=changes(), patches={"guard": ("PATIENCE = 10.0", "PATIENCE = 0.3")})
    with a.file("/run/jumbo-fabric/.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        until(lambda: a.verdict("fired") and a.report()["complete"], what="the deadline")
    assert (a.mtu(), a.routes()) == (1500, before)


@pytest.mark.parametrize("lost", ["TERM", "folder"])
def test_it_goes_back_at_once_when_there_is_no_way_left_to_confirm(a, changes, until, lost):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    if lost == "TERM":
        a.run("kill", "-TERM", a.guard())
    else:
        a.run("rm", "-r", "/run/jumbo-fabric/t1")
    until(lambda: a.mtu() == 1500 and a.routes() == before, what="the way back")
    until(lambda: not a.processes(), what="the end of the guard")


def test_a_dead_guard_is_told_nothing_is_confirmed_and_revert_works_without_it(a, changes):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    a.run("kill", "-KILL", a.guard())
    state = a.do("read", interfaces=["eth1"])["guard"]
    assert (state["state"], state["verdict"], state["alive"]) == ("dead", "armed", False)
    assert "is dead" in a.refused("confirm", id="t1")["message"]
    a.do("revert", id="t1", changes=changes())
    assert (a.mtu(), a.routes()) == (1500, before)


def test_a_pin_lost_in_a_flap_is_set_again_and_told(a, changes, until):
    a.do("apply", id="t1", within=60, changes=changes())
    a.do("confirm", id="t1")
    a.ip("link set eth1 down\nlink set eth1 up")
    until(lambda: f"{CONNECTED} mtu 1500" in a.routes(), what="the pin")
    until(lambda: "224.0.0.0/4 dev eth1 table 9047 proto 147 scope link metric 2 mtu 1500" in a.routes(), what="224/4")
    state = a.do("read", interfaces=["eth1"])["guard"]
    assert f"unicast {CONNECTED.replace('eth1', 'eth1 table main')}" in [entry["route"] for entry in state["repinned"]]
    assert {"oper_up"} <= {entry["field"] for entry in state["link_changed"]}
    assert state["state"] == "confirmed"


def test_a_new_address_and_a_new_route_are_pinned_too_and_go_back_to_what_they_were(a, changes, until):
    a.do("apply", id="t1", within=60, changes=changes())
    a.ip("addr del 10.10.1.11/24 dev eth1\naddr add 10.10.1.11/24 dev eth1\naddr add 10.44.0.1/24 dev eth1")
    a.ip("route add 10.55.0.0/16 via 10.10.1.1 dev eth1 metric 7")
    a.ip("route add 10.56.0.0/16 via 10.10.1.1 dev eth1 mtu 8000")
    until(lambda: all("mtu 1500" in line for line in ours(a)) and len(ours(a)) == 5, what="the pins")
    a.do("confirm", id="t1")
    a.do("revert", id="t1", changes=changes())
    now = a.routes()
    assert f"{CONNECTED} \n" in now
    assert "10.55.0.0/16 via 10.10.1.1 dev eth1 metric 7 \n" in now
    assert "10.56.0.0/16 via 10.10.1.1 dev eth1 mtu 8000 \n" in now
    assert "mtu 1500" not in now


def test_somebody_elses_mtu_is_told_and_not_fought(a, changes, until):
    a.do("apply", id="t1", within=60, changes=changes())
    a.ip("link set eth1 mtu 4000")
    until(lambda: [e for e in a.report()["link_changed"] if e["field"] == "mtu" and e["to"] == 4000], what="the report")
    assert a.mtu() == 4000
    error = a.refused("confirm", id="t1")
    assert (error["object"], error["wish"], error["limit"]) == ("eth1", 9000, 4000)


def test_confirm_and_deadline_never_both_win(a, changes, until):
    for number in range(4):
        identity = f"race{number}"
        a.do("apply", id=identity, within=0.18 + 0.02 * number, changes=changes())
        reply = a.ask("confirm", id=identity)
        if reply["ok"]:
            assert a.mtu() == 9000
            a.do("revert", id=identity)
        else:
            until(lambda identity=identity: a.report(identity)["complete"], what="the way back")
        assert a.mtu() == 1500
    until(lambda: not a.processes(), what="the end of the guards")


def test_release_ends_the_guard_and_revert_still_knows_the_way(a, changes, until):
    before = a.routes()
    a.do("apply", id="t1", within=60, changes=changes())
    assert "not confirmed yet" in a.refused("release", id="t1")["message"]
    a.do("confirm", id="t1")
    assert a.do("release", id="t1")["released"]
    assert a.do("release", id="t1")["released"]
    until(lambda: not a.processes(), what="the end of the guard")
    assert a.mtu() == 9000
    a.do("revert", id="t1")
    assert (a.mtu(), a.routes()) == (1500, before)
