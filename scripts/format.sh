#!/usr/bin/env bash
# Formats the C++ sources in place; --check only names the files that differ.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$TRACEA_ROOT"
command -v clang-format-22 >/dev/null || die "clang-format-22 not found (Debian: apt-get install clang-format-22)"
mode=(-i)
case ${1:-} in
"") ;;
--check) mode=(--dry-run -Werror) ;;
*) die "unknown argument '$1'; there is only --check" ;;
esac
find include lib tools unittests test benchmarks examples cmake \
  \( -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.c' \) -print0 2>/dev/null |
  xargs -0 -r -n 32 -P "$(nproc)" clang-format-22 "${mode[@]}"
