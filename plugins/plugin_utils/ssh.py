"""Running one program on a Linux host over Ansible's own SSH connection plugin, from any thread."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.errors import AnsibleAuthenticationFailure, AnsibleConnectionFailure, AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import become_loader, connection_loader
from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import AccessDenied, JumboError, Unreachable
from ansible_collections.jumbo.fabric.plugins.plugin_utils.program import program_text, reply_of

KEEP_ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=3"
"""A host that loses its way in mid-verb is noticed while the other devices' timers still run."""

NEW_CONNECTION = "-o ControlMaster=no -o ControlPath=none"
"""ControlPersist would reuse a TCP connection that a change may have cut for everybody else."""


OVER_SSH = "Make sure this host can be reached over ssh:"
"""What Ansible's plugin puts before the words of ssh."""

SSH = "ansible.builtin.ssh"

SSH_FAILED = 255
"""Exit status of ssh itself, see ssh(1), as opposed to that of the command on the host."""


def variables_of(become_method: str) -> set[str]:
    """Return the names of all variables that Ansible's ssh and become plugins take, and those that we read beside."""
    names = {"ansible_become", "ansible_become_method", "ansible_python_interpreter", "ansible_host"}
    become = become_loader.get(become_method)
    for kind, plugin in (("connection", connection_loader.get(SSH, PlayContext())), ("become", become)):
        if plugin is not None:
            names.update(_option_variables(kind, plugin))
    return names


def _option_variables(kind: str, plugin: Any) -> list[str]:
    # Known only after the plugin is loaded, and under the name that the loader gave it.
    return list(constants.config.get_plugin_vars(kind, plugin._load_name))


class LinuxShell:
    """One Linux host: requests of the `probe` package go in, its replies come out."""

    def __init__(self, host: str, variables: Mapping[str, Any]) -> None:
        self.host = host
        self.variables = variables

    def run(self, request: Mapping[str, Any], new_connection: bool) -> dict[str, Any]:
        """Return the reply to one request; raises JumboError with what the host said.

        A module-level failure of the program itself (no Python, no sudo) is an error naming the output's last line.
        """
        connection = self._connection(new_connection)
        try:
            status, out, err = connection.exec_command(
                self._command(connection), in_data=program_text(request).encode(), sudoable=bool(connection.become)
            )
        except AnsibleAuthenticationFailure as failure:
            raise AccessDenied(_sentence(failure), host=self.host, advice="Check ansible_user and its key.") from None
        except AnsibleConnectionFailure as failure:
            raise self._unreachable(_sentence(failure)) from None
        except AnsibleError as failure:
            raise JumboError(_sentence(failure), host=self.host) from None
        finally:
            connection.close()
        return self._judge(status, out.decode(errors="replace"), err.decode(errors="replace"))

    def _judge(self, status: int, out: str, err: str) -> dict[str, Any]:
        reply = reply_of(out)
        if reply is None:
            said = (err.strip() or out.strip() or "no output").splitlines()[-1]
            if "Permission denied (" in err:
                raise AccessDenied(said, host=self.host, advice="Check ansible_user and ansible_ssh_private_key_file.")
            if status == SSH_FAILED:
                raise self._unreachable(said)
            raise JumboError(
                f"the program did not run on the host (exit {status}): {said}",
                host=self.host,
                advice="It needs Python 3.8 or later (ansible_python_interpreter) and root (ansible_become).",
            )
        if not reply.get("ok"):
            error = {"message": f"the program gave no reason: {reply}", **(reply.get("error") or {})}
            raise JumboError(
                error["message"],
                host=self.host,
                object=error.get("object"),
                wish=error.get("wish"),
                limit=error.get("limit"),
                advice=error.get("advice"),
            )
        return reply

    def _unreachable(self, said: str) -> Unreachable:
        """Return what ssh says, without Ansible's words around it; a connection that is cut says nothing."""
        reason = said.rpartition(OVER_SSH)[2].strip() or "the connection was cut, and ssh gave no reason"
        where = str(self.variables.get("ansible_host") or self.host)
        advice = f"Try `ssh {where}` from here, then check ansible_host, ansible_port and what is between."
        return Unreachable(f"SSH to {where}: {reason}", host=self.host, advice=advice)

    def _command(self, connection: Any) -> str:
        interpreter = str(self.variables.get("ansible_python_interpreter") or "")
        if not interpreter or interpreter.startswith("auto"):
            interpreter = "python3"
        command = f"{shlex.quote(interpreter)} -"
        if connection.become:
            command = connection.become.build_become_command(command, connection._shell)
        return str(command)

    def _connection(self, new_connection: bool) -> Any:
        context = PlayContext()
        context.remote_addr = self.variables.get("ansible_host") or self.host
        connection = connection_loader.get(SSH, context)
        options = {"inventory_hostname": self.host, **self._options("connection", connection)}
        connection.set_options(var_options=options)
        # ssh takes the first of several: ours go before those of the user, which stay in force.
        first = f"{NEW_CONNECTION} {KEEP_ALIVE}" if new_connection else KEEP_ALIVE
        connection.set_option("ssh_args", f"{first} {connection.get_option('ssh_args') or ''}")
        if boolean(self.variables.get("ansible_become") or False, strict=False):
            method = str(self.variables.get("ansible_become_method") or "ansible.builtin.sudo")
            become = become_loader.get(method)
            if become is None:
                raise JumboError("unknown become method", host=self.host, variable="ansible_become_method", wish=method)
            become.set_options(var_options=self._options("become", become))
            connection.set_become_plugin(become)
        return connection

    def _options(self, kind: str, plugin: Any) -> dict[str, Any]:
        return {name: self.variables[name] for name in _option_variables(kind, plugin) if name in self.variables}


def _sentence(failure: Exception) -> str:
    """Return what went wrong in one line; the last line is the one in which ssh says why."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    return lines[-1] if lines else type(failure).__name__
