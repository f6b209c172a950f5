# Shared by the scripts beside it: sourced, never run.
# Needs bash; callers set -euo pipefail.

TRACEA_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TRACEA_BUILD=${TRACEA_BUILD:-$TRACEA_ROOT/build/dev}

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Parallel jobs: every core, but no more than the memory carries. A translation
# unit over MLIR's headers takes up to 1.5 GB.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}

# Thins ninja's progress lines out to one in ten seconds; everything else
# (warnings, errors, commands that failed) passes.
thin_progress() {
  local line last=-10
  while IFS= read -r line; do
    if [[ $line == \[* ]]; then
      ((SECONDS - last >= 10)) || continue
      last=$SECONDS
    fi
    printf '%s\n' "$line"
  done
}

# run_ninja BUILD_DIR TARGET...
# On a terminal ninja keeps its progress to one line by itself.
run_ninja() {
  local dir=$1
  shift
  export NINJA_STATUS='[%f/%t %es] '
  if [[ -t 1 ]]; then
    ninja -C "$dir" -j "$(job_count)" "$@"
  else
    ninja -C "$dir" -j "$(job_count)" "$@" 2>&1 | thin_progress
  fi
}
