#!/usr/bin/env bash
# ansible-test sanity on a mirror of the tracked files: it wants a real path that ends in ansible_collections/<ns>/<name>,
# which the symlink farm is not. Extra arguments go to ansible-test.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
cache=$root/.cache/sanity
mirror=$cache/ansible_collections/jumbo/fabric
version=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

rm -rf "$mirror"
mkdir -p "$mirror" "$cache/home/.ansible/test/cache" "$cache/home/.config/pip"
git ls-files -z -co --exclude-standard -- . ':!collections' |
  while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
  tar --null --no-recursion -T- -cf - | tar xf - -C "$mirror"

# ansible-test downloads get-pip from one fixed host; a file in its cache replaces the download. It also drops PIP_*
# variables, so the index settings of this environment are handed on as a pip.conf.
pinned=$(sed -n 's/.*get_pip_\([0-9_]*\)\.py.*/\1/p' "$(.venv/bin/python -c 'import ansible_test._internal.python_requirements as m; print(m.__file__)')" | head -1)
cat > "$cache/home/.ansible/test/cache/get_pip_${pinned:-24_2}.py" <<'PY'
import subprocess, sys
subprocess.check_call([sys.executable, "-m", "ensurepip", "--upgrade"])
wanted = [word for word in sys.argv[1:] if not word.startswith("--no-")]
subprocess.check_call([sys.executable, "-m", "pip", "install", *wanted])
PY
{
  echo "[global]"
  env | sed -n 's/^PIP_\([A-Z_]*\)=\(.*\)/\1 = \2/p' | while IFS= read -r line; do
    name=${line%% = *}; echo "$(echo "$name" | tr 'A-Z_' 'a-z-') = ${line#* = }"
  done
} > "$cache/home/.config/pip/pip.conf"

(cd "$mirror" && git init -q . && git add -A -f . >/dev/null)
cd "$mirror"
HOME=$cache/home PATH=$root/.venv/bin:$PATH "$root/.venv/bin/ansible-test" sanity --requirements --python "$version" --color no "$@"
