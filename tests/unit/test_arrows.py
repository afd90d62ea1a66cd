"""Which room may import which: the table of docs/explanation/architecture.md."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = "ansible_collections.jumbo.fabric."
MTU, PLATFORMS, PROBE = (f"plugins.module_utils.{name}" for name in ("mtu", "platforms", "probe"))
RECORDS = tuple(f"plugins.module_utils.{name}" for name in ("journal", "lock", "whoami"))
ARGUMENTS = tuple(f"plugins.module_utils.{name}" for name in ("arguments", "controller_only"))
BELOW = (MTU, PLATFORMS, PROBE, *RECORDS, *ARGUMENTS)
THIN = tuple(f"plugins.{kind}" for kind in ("modules", "action", "filter", "lookup", "callback"))

# Room: what it may import besides itself.
ALLOWED = {
    MTU: (),
    PLATFORMS: (MTU, PROBE),
    PROBE: (),
    **dict.fromkeys(RECORDS, (f"{MTU}.errors", *RECORDS)),
    **dict.fromkeys(ARGUMENTS, (MTU, *ARGUMENTS)),
    "plugins.plugin_utils": BELOW,
    **dict.fromkeys(THIN, (*BELOW, "plugins.plugin_utils")),
    # What an inventory calls a platform and how a probe is marked; nothing of the drivers that the lab is to test.
    "lab": (
        f"{MTU}.errors",
        f"{MTU}.intent",
        f"{MTU}.intent_types",
        f"{MTU}.topology",
        f"{PLATFORMS}.registry",
        f"{PROBE}.wire",
    ),
}


def within(module, rooms):
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def imports(path, module):
    """Yield the full names of what a file imports of this project."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        if node.level:
            parent = ".".join(module.split(".")[: -node.level])
            target = f"{parent}.{node.module}" if node.module else parent
        elif node.module and node.module.startswith(COLLECTION):
            target = node.module[len(COLLECTION) :]
        else:
            continue
        is_package = (ROOT / target.replace(".", "/")).is_dir()
        yield from (f"{target}.{name.name}" for name in node.names) if is_package else (target,)


@pytest.mark.parametrize("room", ALLOWED)
def test_arrows_run_one_way(room):
    base = ROOT / room.replace(".", "/")
    files = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    assert files
    for path in files:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        wrong = [name for name in imports(path, module) if not within(name, (room, *ALLOWED[room]))]
        assert wrong == [], f"{module} imports {', '.join(wrong)}, which {room} may not"
