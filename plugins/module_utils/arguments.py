"""The argument specification of every module of the collection: one place, used by the module and by its action."""

from __future__ import annotations

from typing import Any

from .mtu.intent_values import DEFAULT_CONFIRM_WITHIN
from .mtu.steps import PHASES

CHANGES: dict[str, Any] = {
    "phase": {"type": "str", "choices": list(PHASES)},
    "confirm_within": {"type": "int", "default": DEFAULT_CONFIRM_WITHIN},
}

ARGUMENTS: dict[str, dict[str, Any]] = {
    "rollout_journal": {
        "state": {"type": "str", "choices": ["opened", "closed"]},
        "wave": {"type": "str", "choices": ["opened", "closed"]},
        "stage": {"type": "str"},
        "evidence_dir": {"type": "path", "default": "./evidence"},
        "plan_only": {"type": "bool", "default": False},
    },
    "fleet_facts": {
        "to": {"type": "path"},
        "gather": {"type": "str", "choices": ["all", "interfaces"], "default": "all"},
        "scope": {"type": "str", "choices": ["play", "fabric"], "default": "play"},
    },
    "mtu_plan": {"facts": {"type": "path"}},
    "mtu_gate": {
        "phase": {"type": "str", "required": True, "choices": list(PHASES)},
        "after": {"type": "str", "required": True, "choices": ["applied", "confirmed"]},
    },
    "mtu_step": {
        "state": {"type": "str", "required": True, "choices": ["applied", "reverted"]},
        "stage": {"type": "str"},
        "wave": {"type": "int"},
    },
    "interface_mtu": {
        **CHANGES,
        "interfaces": {
            "type": "list",
            "elements": "dict",
            "options": {
                "name": {"type": "str", "required": True},
                "ip_mtu": {"type": "int", "required": True},
                "pinned_at": {"type": "int"},
            },
        },
    },
    "route_mtu": {
        **CHANGES,
        "interface": {"type": "str"},
        "prefixes": {"type": "list", "elements": "str"},
        "ip_mtu": {"type": "int"},
    },
    "pending_change": {
        "state": {"type": "str", "choices": ["queried", "confirmed", "reverted"], "default": "queried"},
        "phase": CHANGES["phase"],
        "handle": {"type": "dict"},
    },
    "path_probe": {
        "source": {"type": "str", "required": True},
        "targets": {"type": "list", "elements": "str", "required": True},
        "ip_mtus": {"type": "list", "elements": "int", "default": [9000, 1500]},
        "flows": {"type": "int", "default": 21},
    },
    "device_ping": {
        "target": {"type": "str", "required": True},
        "ip_mtu": {"type": "int", "required": True},
        "source": {"type": "str"},
        "count": {"type": "int", "default": 3},
    },
    "rollout_resume": {},
    "rollout_rollback": {"rollout": {"type": "str"}},
    "rollout_report": {},
    "rollout_result": {"report": {"type": "dict"}},
}

REQUIRED_IF: dict[str, list[Any]] = {
    "rollout_journal": [("wave", "opened", ["stage"])],
    "mtu_step": [("state", "applied", ["stage", "wave"])],
}
"""What else must be given, by module: (option, value, the others)."""
