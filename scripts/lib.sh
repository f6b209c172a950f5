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

# What code compresses best with: branches in one form, and a long window.
compress_code() { xz --threads=1 --x86 --lzma2=preset=9e,dict=128MiB; }

# pack_tools WORK OUT TOOL...: the tools of the build, stripped, in
# OUT/tools.tar.xz; WORK is a folder for what is made on the way.
pack_tools() {
  local work=$1 out=$2 tool
  shift 2
  mkdir -p "$work/bin"
  for tool in "$@"; do
    [[ -x $TRACEA_BUILD/bin/$tool ]] || die "no $TRACEA_BUILD/bin/$tool: build it first"
    cp "$TRACEA_BUILD/bin/$tool" "$work/bin/"
  done
  strip "$work"/bin/*
  tar -C "$work" -c bin | compress_code >"$work/tools.tar.xz"
  mv "$work/tools.tar.xz" "$out/"
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
