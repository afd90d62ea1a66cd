"""`python -m ansible_collections.jumbo.fabric.lab`: what a person does with a lab."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .faults import FAULTS, Site
from .folder import LabFolder
from .inventory import design, load_hosts
from .launch import check_machine, down, up
from .namespaces import ENVIRONMENT, enter
from .show import events_text, status_text, violations_text

_BUNDLED = Path(__file__).resolve().parent.parent / "inventory/lab"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a problem is one sentence on standard error and exit status 1."""
    options = _parser().parse_args(arguments)
    action: Callable[[argparse.Namespace], int] = options.action
    try:
        return action(options)
    except JumboError as error:
        sys.stderr.write(f"lab: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description="An emulated fabric, built from an inventory.")
    parser.add_argument("--dir", type=Path, help="the lab's folder (default: $JUMBO_LAB_DIR, else .lab in the project)")
    verbs = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def verb(name: str, action: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        # After the command as well; without a value it must not undo what was given before the command.
        added.add_argument("--dir", type=Path, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        added.set_defaults(action=action)
        return added

    start = verb("up", _up, "build the fabric and return when every node answers")
    inventory = {"action": "append", "metavar": "PATH", "help": f"may be repeated (default: {_BUNDLED})"}
    start.add_argument("-i", "--inventory", **inventory)  # type: ignore[arg-type]
    start.add_argument("--fault", default="", metavar="NAME[@DEVICE[:INTERFACE]][,...]", help="see `faults`")
    able = verb("check", _check, "tell whether this machine can run the lab, and if not, what to do")
    able.add_argument("-i", "--inventory", **inventory)  # type: ignore[arg-type]
    verb("down", _down, "take it down; nothing is left behind")
    verb("status", _status, "show the nodes and the traffic").add_argument("--json", action="store_true")
    verb("events", _events, "show what happened so far").add_argument("--json", action="store_true")
    text = "show the production packets lost for their size; exit status 1 if there are any"
    verb("violations", _violations, text).add_argument("--json", action="store_true")
    faults = verb("faults", _faults, "list the faults that can be switched on")
    faults.add_argument("-i", "--inventory", **inventory)  # type: ignore[arg-type]
    run = verb("exec", _exec, "run a command inside a node")
    run.add_argument("node")
    run.add_argument("command", nargs=argparse.REMAINDER, help="default: a shell")
    verb("reboot", _reboot, "switch a node off and on").add_argument("node")
    verb("cut", _cut, "cut a node's management off; the node itself goes on").add_argument("node")
    verb("mend", _mend, "let a node's management answer again").add_argument("node")
    return parser


def _folder(options: argparse.Namespace) -> LabFolder:
    chosen = options.dir or os.environ.get("JUMBO_LAB_DIR")
    return LabFolder(Path(chosen).absolute() if chosen else _project() / ".lab")


def _project() -> Path:
    """Return the nearest folder upwards with an ansible.cfg, else the current one."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "ansible.cfg").exists()), here)


def _up(options: argparse.Namespace) -> int:
    folder, started = _folder(options), time.monotonic()
    result = up(folder, options.inventory or [str(_BUNDLED)], options.fault)
    if result.was_running:
        sys.stdout.write(f"lab: already running in {folder.path}\n")
        return 0
    seconds = time.monotonic() - started
    sys.stdout.write(f"lab: {result.nodes} nodes and {result.cables} cables up in {seconds:.1f} s, in {folder.path}\n")
    for fault in result.faults:
        sys.stdout.write(f"lab: fault {fault}: {FAULTS[fault.name].help}\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    check_machine(len(design(load_hosts(options.inventory or [str(_BUNDLED)])).fabric.nodes))
    return 0


def _down(options: argparse.Namespace) -> int:
    folder = _folder(options)
    sys.stdout.write(f"lab: {down(folder)}\n")
    return 0


def _status(options: argparse.Namespace) -> int:
    folder = _folder(options)
    status = {**folder.ask("status"), **folder.ask("violations")}
    sys.stdout.write(json.dumps(status, indent=2) + "\n" if options.json else status_text(status))
    return 0


def _events(options: argparse.Namespace) -> int:
    events: list[dict[str, Any]] = _folder(options).ask("events")["events"]
    sys.stdout.write("".join(json.dumps(e) + "\n" for e in events) if options.json else events_text(events))
    return 0


def _violations(options: argparse.Namespace) -> int:
    found: list[dict[str, Any]] = _folder(options).ask("violations")["violations"]
    sys.stdout.write("".join(json.dumps(v) + "\n" for v in found) if options.json else violations_text(found))
    return 1 if found else 0


def _faults(options: argparse.Namespace) -> int:
    plan = design(load_hosts(options.inventory or [str(_BUNDLED)]))
    site = Site(plan.fabric, plan.topology)
    for name, fault in FAULTS.items():
        try:
            default = fault.default(site)
        except JumboError:
            default = "nothing in this fabric"
        sys.stdout.write(f"{name}\n  {fault.help}\n  default:  {default} ({fault.place})\n")
        sys.stdout.write(f"  expected: {fault.expected}\n")
    return 0


def _exec(options: argparse.Namespace) -> int:
    node = _folder(options).ask("status")["nodes"].get(options.node)
    if node is None or node["pid"] is None:
        raise JumboError("this node is not in the lab, or is rebooting", wish=options.node, advice="See `lab status`")
    command = [*enter(node["pid"]), *(options.command or ["sh"])]
    environment = {**ENVIRONMENT, "HOME": "/run/root"}
    os.execvpe(command[0], command, environment)  # noqa: S606 - the node's command takes this process over


def _cut(options: argparse.Namespace) -> int:
    _folder(options).ask("cut", node=options.node)
    sys.stdout.write(f"lab: the management of {options.node} is cut\n")
    return 0


def _mend(options: argparse.Namespace) -> int:
    _folder(options).ask("mend", node=options.node)
    sys.stdout.write(f"lab: the management of {options.node} answers again\n")
    return 0


def _reboot(options: argparse.Namespace) -> int:
    _folder(options).ask("reboot", node=options.node)
    sys.stdout.write(f"lab: {options.node} is up again\n")
    return 0
