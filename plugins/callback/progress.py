# Copyright: The jumbo.fabric maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: progress
type: stdout
author: The jumbo.fabric maintainers (@jumbo-fabric)
version_added: 0.1.0
short_description: A roll-out that a person can follow
description:
  - Prints one line for each thing that happens - stage, wave, device, gate, verdict - and nothing else.
  - Tasks say what happened in the key C(progress) of their result; failures are always shown.
  - With C(-v) every task is shown as the default callback does.
extends_documentation_fragment:
  - default_callback
requirements:
  - set as stdout in the configuration
"""

from typing import Any

from ansible import constants
from ansible.plugins.callback.default import CallbackModule as Default


class CallbackModule(Default):
    """The default callback, silent about everything that has nothing to say."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "jumbo.fabric.progress"

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Name the stage, once; the batches of a serial play start a play each."""
        name = play.get_name().strip()
        if self._verbose():
            super().v2_playbook_on_play_start(play)
        elif name != getattr(self, "_shown_play", None):
            self._pending_title = name
        self._play = play

    def v2_runner_on_ok(self, result: Any) -> None:
        """Print what the task reports, and the devices' differences with --diff."""
        if self._verbose():
            super().v2_runner_on_ok(result)
            return
        data = self._data(result)
        self._say(data.get("progress") or [], constants.COLOR_CHANGED if data.get("changed") else constants.COLOR_OK)
        if self._is_module(result, "debug") and "msg" in data:
            self._say(str(data["msg"]).splitlines(), constants.COLOR_OK)

    def v2_on_file_diff(self, result: Any) -> None:
        """Show a device's own difference, where --diff asks for it."""
        if self._verbose():
            super().v2_on_file_diff(result)
            return
        difference = self._data(result).get("diff")
        if difference:
            self._title()
            self._display.display(self._get_diff(difference))

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """Print what one round of a loop reports, as soon as it is over."""
        if self._verbose():
            super().v2_runner_item_on_ok(result)
            return
        data = self._data(result)
        self._say(data.get("progress") or [], constants.COLOR_CHANGED if data.get("changed") else constants.COLOR_OK)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """Print why one round of a loop failed."""
        if self._verbose():
            super().v2_runner_item_on_failed(result)
            return
        self._bad(result)

    def v2_runner_item_on_skipped(self, result: Any) -> None:
        """Say nothing."""
        if self._verbose():
            super().v2_runner_item_on_skipped(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Print why, in whole sentences; the roll-out decides what follows from it."""
        if self._verbose():
            super().v2_runner_on_failed(result, ignore_errors)
        elif "results" not in self._data(result):  # a loop: its rounds have said it
            self._bad(result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Print which host, and why."""
        if self._verbose():
            super().v2_runner_on_unreachable(result)
            return
        self._bad(result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """Say nothing."""
        if self._verbose():
            super().v2_runner_on_skipped(result)

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """Say nothing before there is something to say."""
        if self._verbose():
            super().v2_playbook_on_task_start(task, is_conditional)

    def v2_playbook_on_include(self, included_file: Any) -> None:
        """Say nothing."""
        if self._verbose():
            super().v2_playbook_on_include(included_file)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """Say nothing: a stage without hosts has nothing to do."""
        if self._verbose():
            super().v2_playbook_on_no_hosts_matched()

    def _verbose(self) -> bool:
        return bool(self._display.verbosity > 0)

    def _title(self) -> None:
        title = getattr(self, "_pending_title", None)
        if title:
            self._display.display(f"\n{title}", color=constants.COLOR_HIGHLIGHT)
            self._shown_play, self._pending_title = title, None

    def _say(self, lines: list[str], color: str) -> None:
        if lines:
            self._title()
        for line in lines:
            for part in str(line).splitlines():
                self._display.display(f"  {part}", color=color)

    def _bad(self, result: Any) -> None:
        data = self._data(result)
        host = self._host(result)
        text = str(data.get("msg") or data.get("exception") or "failed without a reason")
        lines = [*text.strip().splitlines(), *str(data.get("stderr", "")).strip().splitlines()]
        if host not in lines[0] and not self._task(result).run_once:
            lines[0] = f"{host}: {lines[0]}"
        if data.get("progress"):
            lines = [*data["progress"], *lines]
        self._say(lines, constants.COLOR_ERROR)

    @staticmethod
    def _data(result: Any) -> dict[str, Any]:
        return dict(result.result if hasattr(result, "result") else result._result)

    @staticmethod
    def _host(result: Any) -> str:
        host = result.host if hasattr(result, "host") else result._host
        return str(host.get_name())

    @staticmethod
    def _task(result: Any) -> Any:
        return result.task if hasattr(result, "task") else result._task

    @classmethod
    def _is_module(cls, result: Any, name: str) -> bool:
        return str(cls._task(result).action).rpartition(".")[2] == name
