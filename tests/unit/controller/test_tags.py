"""Tags choose nothing, said by Ansible itself: with a part of its tasks a roll-out would be another one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("playbook", "arguments", "named"),
    [
        ("rollout", ["--tags", "canary"], "--tags is 'canary'"),
        ("rollback", ["--skip-tags", "soak"], "--skip-tags is 'soak'"),
    ],
)
def test_tags_are_refused_before_anything_is_written_or_read(tmp_path, playbook, arguments, named):
    tool = str(Path(sys.executable).with_name("ansible-playbook"))
    where = ["-i", "inventory/example", "-e", f"jumbo_evidence_dir={tmp_path / 'evidence'}"]
    done = subprocess.run(
        [tool, f"playbooks/{playbook}.yml", *where, *arguments],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "tags choose nothing here" in done.stdout
    assert named in done.stdout
    assert "jumbo_stages" in done.stdout
    assert list(tmp_path.iterdir()) == []
