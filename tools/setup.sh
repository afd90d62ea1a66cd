#!/usr/bin/env bash
# Leave a ready .venv/ and the system tools the lab needs. A second run installs nothing.
# Tried on Debian 12. Written for Debian 13 and Ubuntu 24.04 as well, untried there.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin"

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# Debian package that provides each command the lab or the tests call.
declare -A package_of=(
  [nft]=nftables [ip]=iproute2 [ethtool]=ethtool [ping]=iputils-ping [ssh]=openssh-client
  [unshare]=util-linux [sysctl]=procps [git]=git [tar]=tar
)

missing_packages() {
  local command
  for command in "${!package_of[@]}"; do
    command -v "$command" >/dev/null || echo "${package_of[$command]}"
  done | sort -u
}

usable_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
}

install_packages() {
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "these are missing and this is no Debian: $*. Install them with your package manager."
  if [ "$(id -u)" -ne 0 ]; then
    fail "these Debian packages are missing: $*. Run: sudo apt-get install --no-install-recommends $*"
  fi
  say "installing $*"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null
  apt-get install -y -q --no-install-recommends "$@" >/dev/null
}

# The lab runs sshd inside its own namespaces. The package would also start and enable one on this machine,
# so where it is not installed it is unpacked under .cache/ only.
unpack_sshd() {
  [ -x /usr/sbin/sshd ] || [ -x .cache/sshd/usr/sbin/sshd ] && return 0
  command -v apt-get >/dev/null || fail "sshd is missing: install your system's OpenSSH server package."
  ldconfig -p | grep -q libwrap.so.0 || install_packages libwrap0
  say "unpacking sshd under .cache/sshd (it is not installed, nothing is started)"
  mkdir -p .cache/sshd
  (cd .cache/sshd && apt-get download -q openssh-server >/dev/null 2>&1 && dpkg-deb -x openssh-server_*.deb . && rm -f openssh-server_*.deb) ||
    fail "could not download the openssh-server package. Run: sudo apt-get update"
  [ -z "$(ldd .cache/sshd/usr/sbin/sshd | grep 'not found')" ] || fail "sshd lacks a library: $(ldd .cache/sshd/usr/sbin/sshd | grep 'not found')"
}

build_venv() {
  local python stamp
  python=$(usable_python)
  stamp=.venv/.ready-$(cat requirements.txt requirements-dev.txt | sha256sum | cut -c1-16)
  [ -e "$stamp" ] && .venv/bin/python -c '' 2>/dev/null && return 0
  say "building .venv with $("$python" --version) (a few minutes the first time)"
  rm -rf .venv
  "$python" -m venv .venv
  .venv/bin/python -m pip install -q --upgrade pip
  .venv/bin/python -m pip install -q -r requirements-dev.txt
  touch "$stamp"
}

packages=$(missing_packages)
[ -n "$(usable_python)" ] || packages="$packages python3 python3-venv"
# shellcheck disable=SC2086
install_packages $packages
[ -n "$(usable_python)" ] || fail "no Python 3.11 to 3.13 with venv was found. Set PYTHON=/path/to/python3."
unpack_sshd
build_venv
