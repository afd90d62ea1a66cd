"""The module half of what works through an action plugin in the controller's process."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.jumbo.fabric.plugins.module_utils.arguments import ARGUMENTS, REQUIRED_IF


def main_of(name: str) -> None:
    """Check the arguments as the action does, then say that the action was not used.

    Ansible runs the action plugin of the same name instead of the module; only a caller that goes around it comes here.
    """
    module = AnsibleModule(argument_spec=ARGUMENTS[name], required_if=REQUIRED_IF.get(name), supports_check_mode=True)
    module.fail_json(msg=f"jumbo.fabric.{name} works through its action plugin only: call it as a task, without async")
