#!/usr/bin/env bash
# Packs the CPU benchmark for a machine without LLVM and without the peers:
#   benchmarks/cpu/pack.sh [FOLDER]
#
# Writes FOLDER/tools.tar.xz and FOLDER/peers.tar.xz (default: build/cpu-pack),
# oneDNN among the latter; OpenBLAS is the other machine's own where it has one.
# The libraries of LLVM are those of benchmarks/gpu/pack.sh. elsewhere.sh runs
# what is packed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib.sh
out=${1:-build/cpu-pack}
work=$(mktemp -d "${TMPDIR:-/tmp}/tracea-pack.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/peers"
pack_tools "$work" "$out" tracea tracea-graduation tracea-numerics tracea-numerics-judge
peer=$(ldconfig -p | awk '$1 == "libdnnl.so.2" { print $NF; exit }')
if [[ $peer && ! $out/peers.tar.xz -nt $peer ]]; then
  cp -L "$peer" "$work/peers/"
  tar -C "$work" -c peers | compress_code >"$work/peers.tar.xz"
  mv "$work/peers.tar.xz" "$out/"
fi
du -ch "$out"/*.tar.xz >&2
