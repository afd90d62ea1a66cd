"""Plays the collection's own playbooks, as their YAML says, in this process: real actions, doubled devices.

It knows what these files use of Ansible and no more: imports, run_once, register, when, loop, serial batches. Whether
Ansible reads them the same way is what the tests in the lab are for.
"""

from __future__ import annotations

import copy
import importlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.jumbo.fabric.plugins.module_utils import journal, lock
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms import eos, junos, linux
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils import action, executor, judging, run, waves
from controller_doubles import DoubleDriver, World

ROOT = Path(__file__).resolve().parents[1]
ACTIONS = "ansible_collections.jumbo.fabric.plugins.action"
OF_STATE = re.compile(r"lookup\('jumbo\.fabric\.rollout_state', ('\w+'|jumbo_stage)\)\.([a-z.]+)")


class Player:
    """One controller: an evidence directory, and playbooks run one after the other."""

    def __init__(self, world: World, evidence: Path) -> None:
        self.world = world
        self.evidence = evidence
        self.pointer = evidence.with_name(f"{evidence.name}-pointer")
        self.process = 0
        self.said: list[str] = []
        self.report: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}

    def play(
        self, playbook: str = "rollout", *, check: bool = False, limit: list[str] | None = None, **variables: Any
    ) -> str:
        """Run a playbook and return the verdict; `said` has what a person was told, `report` the report."""
        self.process += 1
        self.pointer.unlink(missing_ok=True)
        self.said, self.report, self.check = [], {}, check
        self.variables = variables
        self.hosts = limit or list(self.world.hosts)
        for play in _yaml(ROOT / f"playbooks/{playbook}.yml"):
            self._play(play)
        return str(self.report.get("verdict"))

    def status(self) -> int:
        """Return what ansible-playbook would exit with."""
        return 4 if "unreachable" in self.ends else 2 if "failed" in self.ends else 0

    def _play(self, play: dict[str, Any]) -> None:
        scope = dict(play.get("vars", {}))
        hosts, sizes = self._hosts(play["hosts"], scope), None
        if "serial" in play:
            sizes = self._of_state(play["serial"], scope)
        self.registered: dict[str, Any] = {}
        self.ends: list[str] = []
        while hosts:
            size = sizes.pop(0) if sizes else len(hosts)
            self.batch, hosts = hosts[:size], hosts[size:]
            self._tasks(play["tasks"], scope)

    def _hosts(self, pattern: str, scope: dict[str, Any]) -> list[str]:
        wanted = self.hosts if pattern == "all" else self._of_state(pattern, scope)
        return [host for host in wanted if host in self.hosts] if wanted != waves.NOBODY else []

    def _of_state(self, text: str, scope: dict[str, Any]) -> Any:
        stage, path = OF_STATE.search(text).groups()
        current = run.Run.current()
        state = current.state() if current else {"verdict": "none"}
        value = waves.play_of(state, scope.get("jumbo_stage", stage.strip("'")))
        for key in path.split("."):
            value = value[key]
        return list(value)

    def _tasks(self, tasks: list[dict[str, Any]], scope: dict[str, Any]) -> None:
        for task in tasks:
            if "ansible.builtin.import_role" in task:
                name = task["ansible.builtin.import_role"]["tasks_from"]
                self._tasks(_yaml(ROOT / f"roles/jumbo/tasks/{name}.yml"), scope)
            elif "ansible.builtin.import_tasks" in task:
                name = task["ansible.builtin.import_tasks"]
                self._tasks(_yaml(ROOT / f"roles/jumbo/tasks/{name}"), {**scope, **task.get("vars", {})})
            else:
                self._task(task, scope)

    def _task(self, task: dict[str, Any], scope: dict[str, Any]) -> None:
        (name,) = [key for key in task if key.startswith("jumbo.fabric.")]
        items = self._of_state(task["loop"], scope) if "loop" in task else [None]
        for item in items:
            for host in self.batch[:1] if task.get("run_once") else self.batch:
                if not self._when(task.get("when")):
                    continue
                arguments = self._filled(task[name] or {}, {**scope, "item": item})
                result = self._act(name.rpartition(".")[2], host, arguments)
                self.said += [*result.get("progress", []), *([result["msg"]] if "msg" in result else [])]
                if "register" in task:
                    self.registered[task["register"]] = result
                if name.endswith("rollout_report"):
                    self.report = result
                if name.endswith("rollout_result"):
                    self.ends += [key for key in ("failed", "unreachable") if result.get(key)]

    def _when(self, condition: str | list[str] | None) -> bool:
        if condition is None:
            return True
        if isinstance(condition, list):
            return all(self._when(each) for each in condition)
        if " or " in condition:
            return any(self._when(each.strip("()")) for each in condition.split(" or "))
        name, _space, test = condition.partition(" ")
        if test.endswith("defined"):
            return (name in self.variables) is (test == "is defined")
        result = self.registered.get(name.partition(".")[0], {"skipped": True})
        if test == "is succeeded":
            return not result.get("failed")
        if test == "is not skipped":
            return not result.get("skipped")
        assert name.endswith(".goes_on"), condition
        return bool(result.get("goes_on"))

    def _filled(self, arguments: dict[str, Any], scope: dict[str, Any]) -> dict[str, Any]:
        filled = {}
        for key, value in arguments.items():
            name = value.strip("{} ") if isinstance(value, str) and value.startswith("{{") else None
            if name is None:
                filled[key] = value
            elif name == "jumbo_evidence_dir | default(omit)":
                filled[key] = str(self.evidence)
            elif name.removesuffix(" | default(omit)") in self.variables:
                filled[key] = self.variables[name.removesuffix(" | default(omit)")]
            elif name in scope:
                filled[key] = scope[name]
            elif name in self.registered:
                filled[key] = self.registered[name]
            elif not name.endswith("default(omit)"):
                raise AssertionError(f"{name} is not known here")
        return filled

    def _act(self, name: str, host: str, arguments: dict[str, Any]) -> dict[str, Any]:
        validated = ArgumentSpecValidator(ARGUMENTS[name]).validate(arguments)
        assert not validated.error_messages, validated.error_messages
        one = object.__new__(importlib.import_module(f"{ACTIONS}.{name}").ActionModule)
        one._task = type("Task", (), {"check_mode": self.check, "diff": False})()
        one.secrets = set()
        one.variables = {
            "inventory_hostname": host,
            "ansible_play_hosts_all": list(self.hosts),
            "ansible_play_batch": list(self.batch),
            "ansible_inventory_sources": ["memory"],
            "groups": {"all": list(self.world.hosts)},
            "hostvars": {
                each: {
                    **entry["variables"],
                    **self.variables,
                    "ansible_network_os": entry["platform"],
                    "group_names": entry["groups"],
                }
                for each, entry in self.world.hosts.items()
            },
        }
        try:
            return dict(one.perform(validated.validated_parameters))
        except Unreachable as error:
            return {"unreachable": True, "msg": str(error)}
        except JumboError as error:
            return {"failed": True, "msg": str(error)}


def _yaml(path: Path) -> Any:
    if path not in _FILES:
        _FILES[path] = yaml.safe_load(path.read_text())
    return _FILES[path]


_FILES: dict[Path, Any] = {}


class NoMeasurement:
    """Gates are judged by what the devices in memory carry; what they tell of their sessions is read a second apart."""

    def __init__(self, *_arguments: Any) -> None:
        pass

    def of(self, step: Any) -> dict[str, Any]:
        hosts = {change["host"] for change in step["changes"] if change["field"] == "drained"}
        read = {host: DoubleDriver(Access(host, "", "")).read() for host in hosts}
        return {
            name: {host: {**read[host], "read_at": at} for host in hosts} for at, name in enumerate(("before", "after"))
        }

    def watched(self, step: Any) -> list[str]:
        return sorted({pair[0].partition(":")[0] for pair in step["gate"]["pairs"]})


def install(monkeypatch: Any, player: Player) -> None:
    """Put the doubles where the devices, the measurements and the process are looked up."""
    DoubleDriver.world = player.world
    monkeypatch.setattr(eos, "EosDriver", DoubleDriver)
    monkeypatch.setattr(linux, "LinuxDriver", DoubleDriver)
    monkeypatch.setattr(junos, "JunosDriver", DoubleDriver)
    monkeypatch.setattr(action.FabricAction, "access", _access)
    monkeypatch.setattr(executor, "THREADS", 1)  # the same order in each run
    monkeypatch.setattr(judging, "Measurement", NoMeasurement)
    monkeypatch.setattr(judging, "baseline", lambda *_arguments: [])
    monkeypatch.setattr(judging.gates, "judge", player.world.judge)
    monkeypatch.setattr(importlib.import_module(f"{ACTIONS}.mtu_step"), "Measurement", NoMeasurement)
    monkeypatch.setattr(run, "_pointer", lambda: player.pointer)
    monkeypatch.setattr(lock, "_process_start", lambda _pid: str(player.process))
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    monkeypatch.setattr(run.secrets, "token_hex", lambda _bytes: f"{player.process:04x}")  # in order within a second


def _access(self: Any, host: str) -> Access:
    return Access(host, self.variables["hostvars"][host]["ansible_network_os"], "192.0.2.1")


def lines(evidence: Path) -> list[list[dict[str, Any]]]:
    """Return the journals of an evidence directory, oldest first."""
    paths = sorted(path for path in evidence.glob("*/journal.jsonl") if not path.parent.is_symlink())
    return [journal.Journal(path).lines() for path in paths]


@dataclass
class Moment:
    """What a SIGKILL would leave: the devices and the evidence, right before or after a line of the journal."""

    label: str
    devices: Any
    evidence: Path
    process: int


def moments(monkeypatch: Any, player: Player, playbook: str, only: str | None = None, **variables: Any) -> list[Moment]:
    """Play, and keep what is there at every line of a journal: after it, and before it where an act came between.

    `only`: the one that is wanted, by its label.
    """
    found: list[Moment] = []
    write, acts = journal.Journal.write, [-1]

    def keep(label: str) -> None:
        if only not in (None, label):
            return
        copied = player.evidence.with_name(f"{player.evidence.name}-{len(found)}")
        shutil.copytree(player.evidence, copied, symlinks=True)
        found.append(Moment(label, copy.deepcopy(player.world.devices), copied, player.process))
        acts[0] = player.world.acts

    def kept(self: journal.Journal, **line: Any) -> Any:
        label = f"{line['step']} {line['host']} {line['event']} {line['verb']}"
        if acts[0] != player.world.acts:
            keep(f"before {label}")
        done = write(self, **line)
        keep(f"after {label}")
        return done

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "write", kept)
        player.play(playbook, **variables)
    return found


def go_to(player: Player, moment: Moment) -> None:
    """Put the devices and the evidence to what they were then; the process of then is dead."""
    player.world.devices = copy.deepcopy(moment.devices)
    player.evidence = moment.evidence
    player.process = moment.process
