"""Who else on a host reads link MTUs or forwards for others: container networks, hypervisors, routers, by process name.

They take the size of what they make (pods, taps, tunnels) from a link, at a moment of their own: a raised link would
reach guests that no route of this host binds. So such a host is a router here, never a pinned end.
"""

from __future__ import annotations

import os

from .errors import ProbeError

# Names as in /proc/PID/comm, cut at 15 letters (TASK_COMM_LEN).
READERS = {
    "kubelet": "Kubernetes",
    "k3s-server": "Kubernetes (k3s)",
    "k3s-agent": "Kubernetes (k3s)",
    "rke2": "Kubernetes (RKE2)",
    "k0s": "Kubernetes (k0s)",
    "kube-proxy": "Kubernetes",
    "calico-node": "CNI Calico",
    "flanneld": "CNI Flannel",
    "cilium-agent": "CNI Cilium",
    "weaver": "CNI Weave",
    "kube-router": "CNI kube-router",
    "dockerd": "Docker",
    "libvirtd": "libvirt",
    "virtqemud": "libvirt",
    "virtnetworkd": "libvirt",
    "pvedaemon": "Proxmox VE",
    "ovs-vswitchd": "Open vSwitch",
    "nova-compute": "OpenStack Nova",
    "neutron-openvsw": "OpenStack Neutron",
    "xapi": "XCP-ng",
}


def link_readers(folder: str = "/proc") -> dict[str, str]:
    """Return {process name: what it belongs to} of the daemons that run here."""
    found = {}
    for entry in os.listdir(folder):
        if entry.isdigit():
            name = _name(os.path.join(folder, entry, "comm"))
            if name in READERS:
                found[name] = READERS[name]
    return dict(sorted(found.items()))


def require_none() -> None:
    """Refuse to pin a host that has such a daemon."""
    for name, system in link_readers().items():
        message = f"{name} ({system}) runs here: it gives a link's MTU to guests whom no pin of this host binds"
        advice = "treat this host as a router, or stop the daemon and move its guests away first"
        raise ProbeError(message, object=name, wish="pinned routes", limit="hosts without such daemons", advice=advice)


def _name(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
