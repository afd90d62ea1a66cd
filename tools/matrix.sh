#!/usr/bin/env bash
# The oldest and the newest that is supported, as far as the interpreters are there: a virtual environment for each under
# .cache/matrix, in it the unit tests, then a whole roll-out in the lab. `tools/matrix.sh unit [3.13 ...]` stops after
# the unit tests, and takes only the rows of the Pythons that are named.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/python.sh
. tools/python.sh

# Python, and the ansible-core of that row. 3.11 knows no later one than 2.19; 2.19.0 is what meta/runtime.yml allows.
rows=(
  "3.11 ansible-core==2.19.0"
  "3.12 ansible-core>=2.20,<2.21"
  "3.13 ansible-core>=2.21,<2.22"
)
# What runs on managed hosts has an older floor.
host_python=python3.8

what=${1:-all}
case $what in all | unit) ;; *) echo "usage: tools/matrix.sh [all | unit [3.11 ...]]" >&2; exit 2 ;; esac
only=" ${*:2} "

say() { printf 'matrix: %s\n' "$*"; }

environment() { # PYTHON REQUIREMENT VERSION: leave .cache/matrix/VERSION ready
  local folder=.cache/matrix/$3 stamp
  stamp=$folder/.ready-$(cat - requirements.txt <<<"$2" | sha256sum | cut -c1-16)
  [ -e "$stamp" ] && return 0
  rm -rf "$folder"
  # What follows `||` and `&&` does not end at an error by itself.
  "$1" -m venv "$folder" && "$folder/bin/python" -m pip install -q --disable-pip-version-check \
    -r requirements.txt "$2" 'aiohttp>=3.10,<4' 'hypothesis>=6.100' 'pytest>=8.3' 'pytest-xdist>=3.6' &&
    touch "$stamp"
}

tests() { # FOLDER: what has to pass in it
  local bin=$PWD/$1/bin
  "$bin/ansible" --version | sed -n '1s/^/matrix: /p'
  PATH=$bin:$PATH "$bin/pytest" tests/unit tests/property -q -n 4 || return 1
  [ "$what" = all ] || return 0
  PATH=$bin:$PATH "$bin/pytest" -q tests/lab/rollout/test_rollout.py -k all_the_way_back -m 'not long'
}

missing=() failed=()
for row in "${rows[@]}"; do
  version=${row%% *} python=$(find_python "python${row%% *}")
  [[ $only = "  " || $only = *" $version "* ]] || continue
  if ! can_build "$python"; then
    missing+=("python$version")
    continue
  fi
  say "Python $version, ${row#* }"
  { environment "$python" "${row#* }" "$version" && tests ".cache/matrix/$version"; } || failed+=("python$version")
done
if [ "$what" = all ]; then
  old=$(find_python "$host_python")
  if [ -n "$old" ]; then
    say "$host_python on the managed hosts"
    JUMBO_HOST_PYTHON=$old .venv/bin/pytest -q tests/lab/probe || failed+=("$host_python on hosts")
  else
    missing+=("$host_python")
  fi
fi
[ ${#missing[@]} -eq 0 ] || say "not here, so not tried: ${missing[*]}"
[ ${#failed[@]} -eq 0 ] || { say "failed: ${failed[*]}"; exit 1; }
