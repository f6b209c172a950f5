#!/usr/bin/env bash
# Packs the CPU benchmark for a machine without LLVM and without the peers:
#   benchmarks/cpu/pack.sh [FOLDER]
#
# Writes FOLDER/tools.tar.xz and FOLDER/peers.tar.xz (default: build/cpu-pack):
# the latter has oneDNN, OpenBLAS, BLIS and Eigen where they are here.
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
# OpenBLAS comes with Fortran's library, which other machines may lack.
mapfile -t peers < <(ldconfig -p |
  awk '/x86-64/ && $1 ~ /^lib(blis.so.4|openblas.so.0|gfortran.so.5|quadmath.so.0)$/ {print $NF}')
for library in build/venv/lib/libdnnl.so.3 "$TRACEA_BUILD"/lib/libtracea-eigen-*.so; do
  [[ ! -f $library ]] || peers+=("$library")
done
if ((${#peers[@]})); then
  newest=$(ls -tL "${peers[@]}" | head -1)
  if [[ ! $out/peers.tar.xz -nt $newest ]]; then
    cp -L "${peers[@]}" "$work/peers/"
    strip --strip-unneeded "$work"/peers/*
    tar -C "$work" -c peers | compress_code >"$work/peers.tar.xz"
    mv "$work/peers.tar.xz" "$out/"
  fi
fi
du -ch "$out"/*.tar.xz >&2
