"""Whether an interface's IPv6 can be kept is tried, not asked of access(2)."""

import os

import pytest
from ansible_collections.jumbo.fabric.plugins.module_utils.probe import ipv6
from ansible_collections.jumbo.fabric.plugins.module_utils.probe.errors import ProbeError


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Return a folder with eth1's settings, in the place of /proc/sys."""
    for name in ipv6.Settings._fields:
        (tmp_path / name).write_text("1500\n")
    monkeypatch.setattr(ipv6, "_path", lambda _name, setting: str(tmp_path / setting))
    return tmp_path


def test_a_user_with_capabilities_may_write_whatever_access_says(settings, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_arguments, **_options: False)
    ipv6.require_writable("eth1")
    assert {path.read_text() for path in settings.iterdir()} == {"1500\n"}


@pytest.mark.usefixtures("settings")
def test_what_cannot_be_opened_is_refused_by_name(monkeypatch):
    opened = os.open

    def read_only(path, flags, *more):
        if path.endswith("accept_ra_mtu") and flags & os.O_WRONLY:
            raise PermissionError(13, "Permission denied", path)
        return opened(path, flags, *more)

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(ProbeError, match=r"net\.ipv6\.conf\.eth1\.accept_ra_mtu cannot be written") as refused:
        ipv6.require_writable("eth1")
    assert refused.value.advice == ipv6.ADVICE
