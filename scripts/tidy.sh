#!/usr/bin/env bash
# Runs clang-tidy over the sources given, or over all of lib and tools, with the
# compile commands of build/dev.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$TRACEA_ROOT"
command -v clang-tidy-22 >/dev/null || die "clang-tidy-22 not found (Debian: apt-get install clang-tidy-22)"
[[ -f $TRACEA_BUILD/compile_commands.json ]] || die "no build in $TRACEA_BUILD; run scripts/build.sh first"
if (($# == 0)); then
  mapfile -t files < <(find lib tools -name '*.cpp' | sort)
else
  files=("$@")
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-22 --quiet -p "$TRACEA_BUILD"
