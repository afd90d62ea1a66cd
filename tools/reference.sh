#!/usr/bin/env bash
# The reference under docs/reference/generated, made from the documentation of the modules, filters and the role.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p docs/reference/generated
ANSIBLE_CONFIG=$PWD/ansible.cfg antsibull-docs collection --use-current --squash-hierarchy --fail-on-error \
  --dest-dir docs/reference/generated --output-format simplified-rst jumbo.fabric
echo "docs/reference/generated: $(find docs/reference/generated -name '*.rst' | wc -l) pages"
