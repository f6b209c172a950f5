#!/usr/bin/env bash
# Runs programs for AArch64 under emulation: random modules of each family are
# compiled here, by the build in build/dev, and run and judged by the runtime that
# is built for AArch64 in build/aarch64, against plain loops in extended precision.
# Ends with "N passed, N failed".
#
# --can-run   only says by its exit status whether qemu-user and the cross
#             libraries are there; what is missing goes to stderr.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sysroot=/usr/aarch64-linux-gnu
missing=()
command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
[[ -e $sysroot/lib/libstdc++.so.6 && -d $sysroot/include/c++ ]] ||
  missing+=(libstdc++-12-dev-arm64-cross)
if ((${#missing[@]})); then
  say "AArch64 programs cannot run here: ${missing[*]} missing" >&2
  exit 1
fi
[[ ${1:-} != --can-run ]] || exit 0

cd "$TRACEA_ROOT"
cmake --preset aarch64 -DTRACEA_UNITY_BUILD="${TRACEA_UNITY_BUILD:-ON}" >/dev/null
run_ninja build/aarch64 tracea-numerics-judge

passed=0 failed=0
# numerics CPU TARGET ARGUMENT...: programs for a target on an emulated processor.
numerics() {
  local cpu=$1 target=$2 said p f status=0
  shift 2
  local judge="qemu-aarch64-static -cpu $cpu -L $sysroot build/aarch64/bin/tracea-numerics-judge"
  said=$("$TRACEA_BUILD/bin/tracea-numerics" --target "$target" --judge "$judge" "$@" 2>&1) || status=$?
  read -r p _ f _ <<<"$(tail -n 1 <<<"$said")"
  # Without counts of its own, or with counts that its end belies, it has failed.
  [[ $p =~ ^[0-9]+$ && $f =~ ^[0-9]+$ ]] || p=0 f=1
  if ((f == 0 && (status != 0 || p == 0))); then f=1; fi
  if ((f != 0)); then printf '%s\n' "$said"; fi
  printf '   %s on %s (%s): %s passed, %s failed\n' "$target" "$cpu" "$*" "$p" "$f"
  passed=$((passed + p)) failed=$((failed + f))
}

# What every processor has; dot products of bytes; those of bf16 as well.
numerics max armv8-a --no-regressions --seed 1 --cases 40
numerics neoverse-n1 neoverse-n1 --no-regressions --seed 2 --cases 40
numerics max neoverse-n2 --regressions
for family in gemm conv2d attention; do
  numerics max neoverse-n2 --no-regressions --seed 3 --family "$family" --cases 40
done
numerics max neoverse-v2 --no-regressions --seed 9 --cases 40
for family in gather conv2d_dgrad conv2d_wgrad grouped_gemm; do
  numerics max neoverse-v1 --no-regressions --seed 5 --family "$family" --cases 10
done

# Code that a processor lacks is refused, and not run.
if said=$("$TRACEA_BUILD/bin/tracea-numerics" --target neoverse-n2 --no-regressions --cases 1 --judge \
  "qemu-aarch64-static -cpu cortex-a57 -L $sysroot build/aarch64/bin/tracea-numerics-judge" 2>&1) ||
  [[ $said != *"does not load"*"dotprod"* ]]; then
  printf 'a processor without dot products took a program with them, or said something else:\n%s\n' "$said"
  failed=$((failed + 1))
else
  passed=$((passed + 1))
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
