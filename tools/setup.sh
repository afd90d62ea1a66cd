#!/usr/bin/env bash
# Leave a ready .venv/ and the system tools the lab needs. A second run installs nothing. PYTHON=python3.13 chooses the
# interpreter. Root installs what is missing; anybody else is told the one line that does, before anything is made.
# Tried on Debian 12. Written for Debian 13 and Ubuntu 24.04 as well, untried there.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=${PATH//"$PWD/.venv/bin:"/}:/usr/sbin:/sbin
# shellcheck source=tools/python.sh
. tools/python.sh

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# Debian package that provides each command the lab or the tests call.
declare -A package_of=(
  [nft]=nftables [ip]=iproute2 [ethtool]=ethtool [ping]=iputils-ping [ssh]=openssh-client [hostname]=hostname
  [unshare]=util-linux [sysctl]=procps [git]=git [tar]=tar [mount]=mount
)

missing_packages() {
  local command
  for command in "${!package_of[@]}"; do
    command -v "$command" >/dev/null || echo "${package_of[$command]}"
  done
  [ -n "$(usable_python)" ] || printf '%s\n' python3 python3-venv
  # Not grep -q: it leaves at the first hit, and pipefail takes what ldconfig makes of that for a miss.
  has_sshd || ldconfig -p | grep libwrap.so.0 >/dev/null || echo libwrap0
}

usable_python() {
  local candidate
  for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 /usr/bin/python3}; do
    candidate=$(find_python "$candidate")
    can_build "$candidate" && echo "$candidate" && return
  done
  return 0
}

install_packages() {
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "these are missing and this is no Debian: $*. Install them with your package manager."
  [ "$(id -u)" -eq 0 ] || fail "these Debian packages are missing: $*. Run: sudo apt-get install --no-install-recommends $*"
  say "installing $*"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -y -q --no-install-recommends "$@"; } >/dev/null ||
    fail "apt-get could not install $*, see above."
}

has_sshd() { [ -x /usr/sbin/sshd ] || [ -x .cache/sshd/usr/sbin/sshd ]; }

# The lab runs sshd inside its own namespaces. The package would also start and enable one on this machine,
# so where it is not installed it is unpacked under .cache/ only, which takes no root.
unpack_sshd() {
  has_sshd && return 0
  command -v apt-get >/dev/null || fail "sshd is missing: install your system's OpenSSH server package."
  say "unpacking sshd under .cache/sshd (it is not installed, nothing is started)"
  local new=.cache/sshd.new lacks
  rm -rf "$new"
  mkdir -p "$new"
  (cd "$new" && apt-get download -q openssh-server >/dev/null 2>&1 && dpkg-deb -x openssh-server_*.deb . && rm -f openssh-server_*.deb) ||
    { rm -rf "$new"; fail "the package openssh-server cannot be downloaded. Run: sudo apt-get update"; }
  lacks=$(ldd "$new/usr/sbin/sshd" | awk '/not found/ { print $1 }' | xargs)
  [ -z "$lacks" ] || { rm -rf "$new"; fail "sshd lacks libraries: $lacks. Run: sudo apt-get install --no-install-recommends openssh-server"; }
  rm -rf .cache/sshd
  mv "$new" .cache/sshd
}

version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])'; }

build_venv() {
  local python stamp
  stamp=.venv/.ready-$(cat requirements.txt requirements-dev.txt | sha256sum | cut -c1-16)
  # A ready one stays as it is, whatever made it, unless another interpreter is asked for.
  if [ -e "$stamp" ] && .venv/bin/python -c '' 2>/dev/null; then
    [ -n "${PYTHON:-}" ] || return 0
    [ "$(version_of .venv/bin/python)" != "$(version_of "$(usable_python)")" ] || return 0
  fi
  python=$(usable_python)
  say "building .venv with $("$python" --version) (a few minutes the first time)"
  rm -rf .venv
  trap 'rm -rf .venv' EXIT
  "$python" -m venv .venv || fail "$python cannot make a virtual environment, see above."
  { .venv/bin/python -m pip install -q --upgrade pip && .venv/bin/python -m pip install -q -r requirements-dev.txt; } ||
    fail "pip could not install what requirements-dev.txt names, see above; .venv is removed. Run make setup again."
  touch "$stamp"
  trap - EXIT
}

[ -z "${PYTHON:-}" ] || [ -n "$(usable_python)" ] ||
  fail "PYTHON=$PYTHON is no Python 3.11 to 3.13 that can make virtual environments (on Debian: package python3-venv)."
# shellcheck disable=SC2046
install_packages $(missing_packages | sort -u)
[ -n "$(usable_python)" ] || fail "no Python 3.11 to 3.13 was found. Give one: make setup PYTHON=/path/to/python3"
unpack_sshd
build_venv
