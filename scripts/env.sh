# Shared set-up of the scripts: sourced, never run. Needs bash and a Python >= 3.11 with venv.
#
#   root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
#   . "$root/scripts/env.sh"
#   make_environment "$root"      # afterwards $VENV_BIN/python, $VENV_BIN/reshardctl, ... exist
#
# make_environment puts what scripts/requirements/dev.lock names, and the project itself (editable), into
# .venv of the checkout. The environment lasts until the lock, the Python or the checkout's place
# changes; the project is installed again when pyproject.toml changes.
# RESHARDCTL_PYTHON names the Python to use.

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Prints the first Python on this machine that is new enough; dies with what was found otherwise.
find_python() {
  local candidate seen="" candidates=(python3 python3.13 python3.12 python3.11 python)
  [ -z "${RESHARDCTL_PYTHON:-}" ] || candidates=("$RESHARDCTL_PYTHON")
  for candidate in "${candidates[@]}"; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
    seen="$seen $("$candidate" -V 2>&1 | head -n 1 | tr -s ' ' '-') ($candidate)"
  done
  die "Python 3.11 or later is needed; found:${seen:- none}." \
    "Install one, or name it: RESHARDCTL_PYTHON=/path/to/python3.11 $0"
}

# Two digests: what the environment is made from, and how the project is installed in it.
_stamps() {  # ROOT PYTHON
  "$2" - "$1" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
made = f"{root}\n{sys.version}\n{sys.base_prefix}\n".encode()
made += (root / "scripts/requirements/dev.lock").read_bytes()
print(hashlib.sha256(made).hexdigest())
print(hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest())
PY
}

# A usable environment that somebody else made in .venv is filled, not thrown away. One of ours
# carries a stamp from its first moment, so that one left half made is known and made anew.
_create_venv() {  # ROOT PYTHON
  local venv="$1/.venv"
  if [ ! -e "$venv/.reshardctl-stamp" ] && "$venv/bin/python" -c \
    'import sys, pip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    return 0
  fi
  "$2" -c 'import venv, ensurepip' >/dev/null 2>&1 ||
    die "$2 has no venv module. On Debian and Ubuntu: apt-get install python3-venv"
  rm -rf "$venv"
  { mkdir "$venv" && echo "not finished" >"$venv/.reshardctl-stamp" && "$2" -m venv "$venv"; } ||
    die "could not make $venv; is the checkout writable, and is python3-venv installed?"
}

# What pip is at, on stderr: one line that changes at a terminal, the two stages elsewhere.
_tell_progress() {  # PACKAGES
  local again="" line number=0
  [ ! -t 2 ] || again=$'\r\033[K'
  while read -r line; do
    case "$line" in
      "Collecting "*)
        number=$((number + 1))
        line=${line#Collecting }
        [ -z "$again" ] || printf '%s  downloading %d of %d: %s' "$again" "$number" "$1" "${line%% *}" >&2
        ;;
      "Installing collected packages"*) printf '%s  installing what was downloaded ...\n' "$again" >&2 ;;
    esac
  done
  printf '%s' "$again" >&2
}

_install_locked() {  # ROOT PYTHON
  local lock="$1/scripts/requirements/dev.lock" packages
  packages=$(grep -c '^[a-z].*==' "$lock")
  echo "Making $1/.venv with $("$2" -V), once: $packages packages, which takes some minutes ..." >&2
  _create_venv "$1" "$2"
  "$VENV_BIN/python" -m pip install --disable-pip-version-check --progress-bar off \
    --require-hashes -r "$lock" | _tell_progress "$packages" ||
    die "could not install scripts/requirements/dev.lock; is a package index reachable?"
}

make_environment() {  # ROOT
  local root=$1 python stamp wanted found
  # Commands are started by the hundred: without bytecode each would compile the package anew.
  unset PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
  python=$(find_python) || exit 1
  VENV_BIN="$root/.venv/bin"
  export VENV_BIN
  stamp="$root/.venv/.reshardctl-stamp"
  wanted=$(_stamps "$root" "$python") || die "cannot read the lock in $root/requirements"
  found=$(cat "$stamp" 2>/dev/null) || found=""
  [ -x "$VENV_BIN/python" ] || found=""
  if [ "$found" = "$wanted" ]; then
    return 0
  fi
  [ "${found%%$'\n'*}" = "${wanted%%$'\n'*}" ] || _install_locked "$root" "$python"
  echo "Installing the checkout itself ..." >&2
  "$VENV_BIN/python" -m pip install --quiet --disable-pip-version-check \
    --no-deps --no-build-isolation --editable "$root" || die "could not install the project"
  printf '%s\n' "$wanted" >"$stamp"
}
