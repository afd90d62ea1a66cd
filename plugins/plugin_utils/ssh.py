"""Running one program on a Linux host over Ansible's own SSH connection plugin, from any thread."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleAuthenticationFailure, AnsibleConnectionFailure, AnsibleError
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import become_loader, connection_loader

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.plugin_utils.program import program_text, reply_of

NEW_CONNECTION = "-o ControlMaster=no -o ControlPath=none"
"""ControlPersist would reuse a TCP connection that a change may have cut for everybody else."""


class LinuxShell:
    """One Linux host: requests of the `probe` package go in, its replies come out."""

    def __init__(self, host: str, variables: Mapping[str, Any]) -> None:
        self.host = host
        self.variables = variables

    def run(self, request: Mapping[str, Any], new_connection: bool) -> dict[str, Any]:  # noqa: FBT001 - Access's shape
        """Return the reply to one request; raises JumboError with what the host said.

        A module-level failure of the program itself (no Python, no sudo) is an error naming the output's last line.
        """
        connection = self._connection(new_connection)
        try:
            status, out, err = connection.exec_command(
                self._command(connection), in_data=program_text(request).encode(), sudoable=bool(connection.become)
            )
        except AnsibleAuthenticationFailure as failure:
            raise AccessDenied(_first_line(failure), host=self.host, advice="Check ansible_user and its key.") from None
        except AnsibleConnectionFailure as failure:
            raise Unreachable(_first_line(failure), host=self.host) from None
        except AnsibleError as failure:
            raise JumboError(_first_line(failure), host=self.host) from None
        finally:
            connection.close()
        return self._judge(status, out.decode(errors="replace"), err.decode(errors="replace"))

    def _judge(self, status: int, out: str, err: str) -> dict[str, Any]:
        reply = reply_of(out)
        if reply is None:
            said = (err.strip() or out.strip() or "no output").splitlines()[-1]
            if "Permission denied (" in err:
                raise AccessDenied(said, host=self.host, advice="Check ansible_user and ansible_ssh_private_key_file.")
            if status == 255:  # ssh's own
                raise Unreachable(said, host=self.host)
            raise JumboError(
                f"the program did not run on the host (exit {status}): {said}",
                host=self.host,
                advice="It needs Python 3.8 or later (ansible_python_interpreter) and root (ansible_become).",
            )
        if not reply.get("ok"):
            error = reply["error"]
            raise JumboError(
                error["message"],
                host=self.host,
                object=error.get("object"),
                wish=error.get("wish"),
                limit=error.get("limit"),
                advice=error.get("advice"),
            )
        return reply

    def _command(self, connection: Any) -> str:
        interpreter = str(self.variables.get("ansible_python_interpreter") or "")
        if not interpreter or interpreter.startswith("auto"):
            interpreter = "python3"
        command = f"{shlex.quote(interpreter)} -"
        if connection.become:
            command = connection.become.build_become_command(command, connection._shell)  # noqa: SLF001 - as ActionBase does
        return str(command)

    def _connection(self, new_connection: bool) -> Any:  # noqa: FBT001
        context = PlayContext()
        context.remote_addr = self.variables.get("ansible_host") or self.host
        connection = connection_loader.get("ansible.builtin.ssh", context)
        options = self._options("connection", "ansible.builtin.ssh")
        options.setdefault("inventory_hostname", self.host)
        if new_connection:
            options["ansible_ssh_args"] = NEW_CONNECTION
        connection.set_options(var_options=options)
        if self.variables.get("ansible_become") in (True, "true", "yes", "True"):
            method = str(self.variables.get("ansible_become_method") or "ansible.builtin.sudo")
            become = become_loader.get(method)
            if become is None:
                raise JumboError("unknown become method", host=self.host, variable="ansible_become_method", wish=method)
            become.set_options(var_options=self._options("become", method))
            connection.set_become_plugin(become)
        return connection

    def _options(self, kind: str, name: str) -> dict[str, Any]:
        wanted = constants.config.get_plugin_vars(kind, name)
        return {name: self.variables[name] for name in wanted if name in self.variables}


def _first_line(failure: Exception) -> str:
    return str(failure).strip().splitlines()[0]
