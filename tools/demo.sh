#!/usr/bin/env bash
# Lab up, one whole roll-out, lab down. FAULT=name[@device[:interface]] switches a fault of the lab on.
# The exit status is the roll-out's own: 0 passed, 2 failed or taken back, 4 a host was unreachable; it is 1 where the
# lab's sentinel has seen production lost for its size, however the roll-out ended.
set -euo pipefail
cd "$(dirname "$0")/.."

lab() { tools/lab "$@"; }

status=1
finish() {
  lab down >/dev/null || true
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

lab up ${FAULT:+--fault "$FAULT"}
status=0
ansible-playbook playbooks/rollout.yml "$@" || status=$?
lab violations || status=1
