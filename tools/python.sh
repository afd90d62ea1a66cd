# shellcheck shell=bash
# To be sourced. find_python NAME: print the real path of an interpreter, such as python3.13 or /opt/py/bin/python3, or
# nothing; never that of a virtual environment, which may be about to go. pyenv puts a file for every version it has on
# the PATH that works for the chosen ones only: it is asked then.
find_python() {
  local print='import sys; print(getattr(sys, "_base_executable", sys.executable))' version
  "$1" -c "$print" 2>/dev/null && return 0
  command -v pyenv >/dev/null || return 0
  for version in $(pyenv whence "${1##*/}" 2>/dev/null); do
    "$(pyenv prefix "$version")/bin/${1##*/}" -c "$print" 2>/dev/null && return 0
  done
  return 0
}

# can_build PYTHON: tell whether it is a version the project runs on, and can make virtual environments.
can_build() {
  [ -n "$1" ] && "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}
