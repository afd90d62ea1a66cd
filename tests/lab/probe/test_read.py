"""What a host says of itself, and that saying it changes nothing."""

from __future__ import annotations


def test_interfaces_say_what_they_are_and_what_they_stand_on(a):
    a.ip(
        """
        link add base type veth peer name other
        link add child link base type macvlan mode bridge
        link add bridge type bridge
        link set other master bridge
        link add vx type vxlan id 5 dev eth0 remote 10.9.0.12 dstport 4789
        addr add fd00::11/64 dev base
        link set base up
        """
    )
    reply = a.do("read", interfaces=None)
    found = reply["interfaces"]
    kinds = {name: (one["kind"], one["parent"], one["members"]) for name, one in found.items()}
    assert kinds == {
        "lo": ("loopback", None, []),
        "eth0": ("veth", None, []),
        "eth1": ("macvlan", None, []),  # its lower half is in another namespace: it counts as its own root
        "base": ("veth", None, []),
        "other": ("veth", None, []),
        "child": ("macvlan", "base", []),
        "bridge": ("bridge", None, ["other"]),
        "vx": ("vxlan", "eth0", []),
    }
    eth1 = found["eth1"]
    assert (eth1["mtu"], eth1["min_mtu"], eth1["max_mtu"], eth1["oper_up"]) == (1500, 68, 65535, True)
    assert eth1["addresses"][0] == "10.10.1.11/24"
    assert (found["lo"]["max_mtu"], found["child"]["oper_up"]) == (None, False)
    assert {"bytes", "packets", "length_errors", "crc_errors"} <= set(eth1["stats64"]["rx"])
    assert isinstance(eth1["carrier_changes"], int)
    assert (found["eth0"]["driver"], "NIC statistics:" in found["eth0"]["ethtool"]) == ("veth", True)
    assert (found["eth1"]["driver"], found["eth1"]["ethtool"]) == ("macvlan", None)
    assert (found["base"]["ipv6"], eth1["ipv6"], reply["ipv6"], reply["forwarding"]) == (True, False, True, False)
    assert a.do("read", interfaces=["eth1"])["ipv6"] is False


def test_a_driver_that_tells_is_quoted_as_it_speaks(a):
    folder = a.file("/run/bin")
    folder.mkdir()
    stand_in = folder / "ethtool"
    stand_in.write_text(
        '#!/bin/sh\nif [ "$1" = -i ]; then echo "driver: mlx5_core"; exit; fi\n'
        'printf "NIC statistics:\\n     %s: 3\\n" "$2"\n'
    )
    stand_in.chmod(0o755)
    a.path = "/run/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    eth1 = a.do("read", interfaces=["eth1"])["interfaces"]["eth1"]
    assert (eth1["driver"], eth1["ethtool"]) == ("mlx5_core", "NIC statistics:\n     eth1: 3\n")


def test_reading_writes_nothing_and_names_what_is_missing(a):
    before = a.run("find", "/run", "/etc", "-newer", "/proc/1/stat")
    reply = a.do("read", interfaces=["eth1", "eth9"])
    assert (list(reply["interfaces"]), reply["missing"]) == (["eth1"], ["eth9"])
    assert (reply["guard"], reply["guards"], reply["responders"], reply["persistence"]) == (None, [], [], None)
    assert not a.file("/run/jumbo-fabric").exists()
    assert a.run("find", "/run", "/etc", "-newer", "/proc/1/stat") == before


def test_a_member_of_something_else_is_not_changed_alone(a, changes):
    a.ip("link add br0 type bridge\nlink add port type veth peer name far\nlink set port master br0 up")
    error = a.refused("apply", id="t1", within=60, changes=changes("port"))
    assert (error["object"], "belongs to the bridge br0" in error["message"]) == ("port", True)
    assert a.mtu("port") == 1500
