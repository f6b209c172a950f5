#!/usr/bin/env bash
# Measures how long the tools take: benchmarks/compile-time/run.sh [RUNS]
#
#   start      tracea-opt over an empty module; wanted: under 0.1 s
#   gemm, …    one operation from text to native code, as `tracea compile`
#              from start to exit; wanted: under 0.2 s
#
# Each is run RUNS times (20), in turns, after one run to warm the caches.
# TRACEA_BUILD is the build folder, build/dev by default. Exit code 1 when a
# median is above what is wanted.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${TRACEA_BUILD:-$here/../../build/dev}/bin
runs=${1:-20}
[[ $runs =~ ^[1-9][0-9]*$ ]] || {
  printf 'error: expected a number of runs, found "%s"\n' "$runs" >&2
  exit 1
}
for tool in tracea-opt tracea; do
  [[ -x $bin/$tool ]] || {
    printf 'error: %s is not built; run scripts/build.sh\n' "$bin/$tool" >&2
    exit 1
  }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo 'module {}' >"$scratch/empty.mlir"

work() {
  case $1 in
    start) "$bin/tracea-opt" "$scratch/empty.mlir" -o "$scratch/out.mlir" ;;
    *) "$bin/tracea" compile "$here/$1.mlir" --target cpu --emit object -o "$scratch/out.o" ;;
  esac
}

names=(start)
for file in "$here"/*.mlir; do
  names+=("$(basename "$file" .mlir)")
done
for name in "${names[@]}"; do
  work "$name" >/dev/null
done
for ((i = 0; i < runs; ++i)); do
  for name in "${names[@]}"; do
    begin=${EPOCHREALTIME/[.,]/}
    work "$name" >/dev/null
    end=${EPOCHREALTIME/[.,]/}
    echo $((end - begin)) >>"$scratch/$name.times"
  done
done

printf '%d runs, load %s; milliseconds\n' "$runs" "$(cut -d' ' -f1 /proc/loadavg)"
printf '%-12s %8s %8s %8s %8s\n' what min median max wanted
slow=0
for name in "${names[@]}"; do
  wanted=200
  [[ $name == start ]] && wanted=100
  sort -n "$scratch/$name.times" | awk -v name="$name" -v wanted=$wanted '
    { t[NR] = $1 / 1000 }
    END {
      median = NR % 2 ? t[(NR + 1) / 2] : (t[NR / 2] + t[NR / 2 + 1]) / 2
      printf "%-12s %8.1f %8.1f %8.1f %8s\n", name, t[1], median, t[NR], "< " wanted
      exit median >= wanted
    }' || slow=1
done
exit $slow
