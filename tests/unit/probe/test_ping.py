"""Words of iputils 20221126 and of its neighbours, both streams together."""

from __future__ import annotations

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.ping import parse

HEADER = "PING 198.18.0.2 (198.18.0.2) 8972(9000) bytes of data.\n"


def summary(sent, received, extra=""):
    counts = f"{sent} packets transmitted, {received} received{extra}, 0% packet loss"
    return f"\n--- 198.18.0.2 ping statistics ---\n{counts}\n"


def test_ok():
    found = parse(HEADER + "8980 bytes from 198.18.0.2: icmp_seq=1 ttl=64 time=0.044 ms\n" + summary(3, 3))
    assert found == {
        "sent": 3,
        "received": 3,
        "too_big_by": None,
        "reported_mtu": None,
        "local": False,
        "error": None,
    }


@pytest.mark.parametrize("name", ["198.18.1.254", "gw.example (198.18.1.254)"])
def test_a_router_reports(name):
    text = HEADER + f"From {name} icmp_seq=1 Frag needed and DF set (mtu = 1500)\n" + summary(1, 0, ", +1 errors")
    found = parse(text, 1)
    assert (found["too_big_by"], found["reported_mtu"], found["local"]) == (name.split()[0], 1500, False)


@pytest.mark.parametrize(
    "words", ["local error: message too long, mtu=1500", "local error: Message too long, mtu: 1500"]
)
def test_the_own_kernel_refuses(words):
    found = parse(HEADER + f"ping: {words}\n" + summary(2, 0, ", +2 errors"), 1)
    assert (found["received"], found["local"], found["reported_mtu"], found["error"]) == (0, True, 1500, None)


def test_the_first_is_reported_by_a_router_and_the_next_by_the_cache():
    text = HEADER + "From 198.18.1.254 icmp_seq=1 Frag needed and DF set (mtu = 1400)\n"
    found = parse(text + summary(2, 0) + "ping: local error: message too long, mtu=1400\n", 1)
    assert (found["too_big_by"], found["local"], found["reported_mtu"]) == ("198.18.1.254", True, 1400)


def test_partial_loss_is_status_0_and_told_by_the_counts():
    assert parse(HEADER + summary(10, 5))["received"] == 5


@pytest.mark.parametrize(
    ("text", "status", "error"),
    [
        ("ping: invalid -M argument: probe\n", 2, "ping: invalid -M argument: probe"),
        (
            HEADER + "ping: sendmsg: No buffer space available\n" + summary(1, 0),
            1,
            "ping: sendmsg: No buffer space available",
        ),
        ("", -9, "ping ended with status -9"),
    ],
)
def test_what_is_no_answer_is_an_error(text, status, error):
    assert parse(text, status)["error"] == error
