#!/usr/bin/env bash
# Runs what needs an NVIDIA GPU: benchmarks/gpu/run.sh [options] [part...]
#
#   --out DIR   where tables and logs go (default: a new folder under TMPDIR)
#   --quick     fewer cases
#   --record    also keep the tables in benchmarks/results/gpu-PART-DATE-GPU.txt
#
# Parts, all of them by default:
#   wavefronts  shared-memory accesses against the model of lib/Algebra/Banks
#
# Every part builds what it needs with nvcc, writes full tables to DIR, and adds
# a few lines to DIR/summary.txt, which is printed last. The exit status is 1
# if a part fails. Clocks and other settings of the card stay as they are.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

known=(wavefronts)
out='' quick=0 record=0 parts=()
usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
while (($#)); do
  case $1 in
    --out)
      [[ $# -ge 2 ]] || usage
      out=$2
      shift
      ;;
    --quick) quick=1 ;;
    --record) record=1 ;;
    -*) usage ;;
    *)
      [[ " ${known[*]} " == *" $1 "* ]] || usage
      parts+=("$1")
      ;;
  esac
  shift
done
((${#parts[@]})) || parts=("${known[@]}")
out=${out:-$(mktemp -d "${TMPDIR:-/tmp}/tracea-gpu.XXXXXX")}
mkdir -p "$out"
: >"$out/summary.txt"

for tool in nvcc nvidia-smi; do
  if ! command -v "$tool" >/dev/null; then
    printf 'error: %s is not on the PATH\n' "$tool" >&2
    exit 1
  fi
done
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
# Hopper's own instructions need the architecture-specific target.
[[ $capability == 90 ]] && capability=90a
arch=(-gencode "arch=compute_$capability,code=sm_$capability")

# What every record begins with.
describe_machine() {
  printf 'Tracea %s, %s\n' \
    "$(git describe --always --dirty 2>/dev/null || echo 'without a repository')" \
    "$(date -u '+%Y-%m-%d %H:%M UTC')"
  printf '%s, driver %s, nvcc %s\n' \
    "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)" \
    "$(nvcc --version | sed -n 's/.*, V//p')"
  printf 'Rerun: benchmarks/gpu/run.sh %s\n' "$1"
}

summarize() { cat >>"$out/summary.txt"; }

#===----------------------------------------------------------------------===#
# wavefronts
#===----------------------------------------------------------------------===#

part_wavefronts() {
  local dir=$out/wavefronts count=310 every=23
  ((quick)) && count=62 every=17
  mkdir -p "$dir"
  local algebra=lib/Algebra
  nvcc -std=c++17 -O2 "${arch[@]}" -Iinclude benchmarks/gpu/wavefronts/*.cu \
    benchmarks/gpu/wavefronts/*.cpp $algebra/Banks.cpp $algebra/BankSimulator.cpp \
    $algebra/F2Matrix.cpp $algebra/F2Subspace.cpp -o "$dir/wavefronts" || return 1

  # The profiler's counters, where it may read them.
  local counted=()
  if command -v ncu >/dev/null &&
    timeout 200 ncu --csv --page raw --clock-control none --cache-control none \
      --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared.sum \
      --log-file "$dir/counts.csv" \
      "$dir/wavefronts" count --count $count --every $every; then
    counted=(--counts "$dir/counts.csv")
  else
    echo 'wavefronts: no hardware counters; cycles only' | summarize
  fi
  describe_machine wavefronts >"$dir/table.txt"
  "$dir/wavefronts" measure --count $count --every $every "${counted[@]}" \
    --csv "$dir/patterns.csv" >>"$dir/table.txt"
  local status=$?
  # The head, and of each instruction what all families add up to.
  sed -n '1,6p' "$dir/table.txt" | summarize
  grep ' all  ' "$dir/table.txt" | summarize
  return $status
}

status=0
for part in "${parts[@]}"; do
  if ! "part_$part"; then
    echo "$part: FAILED" | summarize
    status=1
  elif ((record)); then
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-' | sed 's/-*$//')
    cp "$out/$part/table.txt" "benchmarks/results/gpu-$part-$(date -u +%Y-%m-%d)-$gpu.txt"
  fi
done
echo
cat "$out/summary.txt"
echo "full tables: $out"
exit $status
