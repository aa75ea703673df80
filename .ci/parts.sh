# Parts of a script and how long each took: sourced, never run. Needs bash.
#
#   . "$root/.ci/parts.sh"
#   part "Lint" ruff check .         # names it, runs it, and notes its seconds in $RESHARDCTL_PARTS
#   side_by_side fetch_all check_all # runs functions at the same time
#   part_in_time 30 "Old" try_old    # the same, unless the first script began 30 minutes ago
#   print_parts                      # the table
#
# A script that another one of these starts notes its parts in the same file.

# Makes the file, unless a script that started this one has.
begin_parts() {  # begin_parts FILE
  if [ -z "${RESHARDCTL_PARTS:-}" ]; then
    export RESHARDCTL_PARTS=$1 RESHARDCTL_BEGAN=$EPOCHSECONDS
    parts_are_ours=yes
    : >"$RESHARDCTL_PARTS"
  fi
}

part() {  # part NAME COMMAND...
  local name=$1 begun=$SECONDS
  shift
  printf '\n=== %s\n' "$name"
  "$@"
  printf '%6d s  %s\n' $((SECONDS - begun)) "$name" >>"$RESHARDCTL_PARTS"
}

# For a part that has a script or an option of its own, which a slow machine may leave to that.
part_in_time() {  # part_in_time MINUTES NAME COMMAND...
  local minutes=$1
  shift
  if [ $((EPOCHSECONDS - RESHARDCTL_BEGAN)) -lt $((60 * minutes)) ]; then
    part "$@"
    return
  fi
  printf '\n=== %s: LEFT OUT, as %d minutes are gone\n' "$1" "$minutes"
  printf '  left out  %s\n' "$1" >>"$RESHARDCTL_PARTS"
}

# Only in the script that made the file.
print_parts() {
  [ "${parts_are_ours:-}" = yes ] || return 0
  printf '\n=== Seconds of each part; those side by side count twice. In all: %d\n' "$SECONDS"
  cat "$RESHARDCTL_PARTS"
}

# Each command in a subshell of its own. What the first prints comes at once, what the second
# prints comes whole when both have ended. Fails if one of them failed.
side_by_side() {  # side_by_side COMMAND COMMAND
  local failed=0 log first second
  log=$(mktemp)
  "$1" </dev/null &
  first=$!
  "$2" >"$log" 2>&1 </dev/null &
  second=$!
  wait "$first" || failed=1
  wait "$second" || failed=1
  cat "$log"
  rm -f "$log"
  return "$failed"
}
