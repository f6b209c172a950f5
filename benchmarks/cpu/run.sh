#!/usr/bin/env bash
# Runs the CPU benchmark: benchmarks/cpu/run.sh [--record] [options]
#
#   --record   also write the tables to benchmarks/results/cpu-DATE-CPU.txt
#
# All other options go to tracea-graduation (--help lists them). Nothing is
# built: scripts/build.sh does that. TRACEA_BUILD is the build folder,
# build/dev by default.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${TRACEA_BUILD:-$root/build/dev}/bin/tracea-graduation

record=0
options=()
for option in "$@"; do
  case $option in
    --record) record=1 ;;
    *) options+=("$option") ;;
  esac
done
if [[ ! -x $program ]]; then
  printf 'error: %s is not built; run scripts/build.sh\n' "$program" >&2
  exit 1
fi

commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo "without a repository")
command=("$program" --commit="$commit" "${options[@]}")
if ((!record)); then
  exec "${command[@]}"
fi

# "AMD EPYC 9R14 96-Core Processor" -> amd-epyc-9r14-96-core-processor
cpu=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
cpu=$(tr 'A-Z' 'a-z' <<<"${cpu:-$(uname -m)}" | tr -cs 'a-z0-9' '-' | sed 's/^-*//; s/-*$//')
file=$root/benchmarks/results/cpu-$(date -u +%Y-%m-%d)-$cpu.txt
mkdir -p "$(dirname "$file")"
# Kept only when the run ends: half a table is no record.
trap 'rm -f "$file.part"' EXIT
"${command[@]}" | tee "$file.part"
mv "$file.part" "$file"
printf '\nWritten to %s\n' "${file#"$root"/}"
