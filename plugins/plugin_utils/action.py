"""What every action of the collection does the same way: arguments, errors, secrets, and the fabric it acts on."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from ansible import constants
from ansible.errors import AnsibleError
from ansible.module_utils.common.parameters import remove_values
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS, REQUIRED_IF
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access
from ansible_collections.jumbo.fabric.plugins.plugin_utils.access import access_to
from ansible_collections.jumbo.fabric.plugins.plugin_utils.executor import as_jumbo_error
from ansible_collections.jumbo.fabric.plugins.plugin_utils.plain import to_plain

display = Display()


PROGRESS = "jumbo.fabric.progress"


def _tell(lines: Iterable[str]) -> None:
    """Show what happened where the callback does not; one that writes data has standard output for itself."""
    callback = str(constants.DEFAULT_STDOUT_CALLBACK)
    if callback == PROGRESS:
        return
    for line in lines:
        display.display(f"  {line}", stderr="json" in callback)


class HostVariables(Mapping[str, Any]):
    """One host's inventory variables; only what is a template is rendered, for rendering costs more than reading."""

    def __init__(self, hostvars: Any, host: str) -> None:
        self._hostvars = hostvars
        self._host = host
        self._raw: Mapping[str, Any] = hostvars.raw_get(host)

    def __getitem__(self, name: str) -> Any:
        """Return the value as the host would see it."""
        value = self._raw[name]
        if isinstance(value, (bool, int)) or (isinstance(value, str) and "{" not in value):
            return value
        return self._rendered[name]

    @functools.cached_property
    def _rendered(self) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], self._hostvars[self._host])

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._raw)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._raw)


class FabricAction(ActionBase):
    """Runs in the controller's process: `perform` gets checked arguments and returns the result.

    A JumboError becomes a failed result, Unreachable an unreachable one; secrets of every access that was used are
    scrubbed from the result, since Ansible scrubs only what modules declare as no_log.
    """

    NAME = ""
    _requires_connection = False
    _supports_async = False
    _supports_check_mode = True
    _supports_diff = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Carry the action out for one host, or for all of them where it bypasses the host loop."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        self.variables: Mapping[str, Any] = task_vars or {}
        self.secrets: set[str] = set()
        try:
            _checked, arguments = self.validate_argument_spec(
                argument_spec=ARGUMENTS[self.NAME], required_if=REQUIRED_IF.get(self.NAME)
            )
            result.update(self.perform(to_plain(arguments)))
        except Unreachable as error:
            result.update(unreachable=True, msg=str(error), error=error.as_dict())
        except AnsibleError:
            raise
        except Exception as error:  # noqa: BLE001 - a traceback never reaches a user unasked
            known = as_jumbo_error(error, task_vars["inventory_hostname"] if task_vars else "")
            result.update(failed=True, msg=str(known), error=known.as_dict())
            if known is not error:
                display.vvv(traceback.format_exc())
        shown = dict(remove_values(result, self.secrets)) if self.secrets else result
        _tell(shown.get("progress") or [])
        return shown

    def perform(self, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - the shape of all actions
        """Do the work and return the result's keys."""
        raise AssertionError(f"{type(self).__name__} has no perform()")

    @property
    def host(self) -> str:
        """Return the inventory name of the host that this task is for."""
        return str(self.variables["inventory_hostname"])

    @property
    def check_mode(self) -> bool:
        """Return whether nothing may be written."""
        return bool(self._task.check_mode)

    @property
    def play_hosts(self) -> list[str]:
        """Return the hosts of the play that --limit leaves, dead ones included."""
        return list(self.variables["ansible_play_hosts_all"])

    @property
    def batch(self) -> list[str]:
        """Return the hosts of this serial batch."""
        return list(self.variables["ansible_play_batch"])

    def access(self, host: str) -> Access:
        """Return the way into one host; its secrets are scrubbed from this action's result."""
        if host not in self.variables["hostvars"]:
            raise JumboError("this host is not in the inventory", host=host, advice="Check the name.")
        variables = HostVariables(self.variables["hostvars"], host)
        access = access_to(host, variables, variables["group_names"])
        self.secrets.update(access.secrets)
        return access

    def accesses(self, hosts: Iterable[str]) -> dict[str, Access]:
        """Return the ways into several hosts, in the order given."""
        return {host: self.access(host) for host in hosts}
