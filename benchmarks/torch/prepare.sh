#!/usr/bin/env bash
# Prepares a run on a machine with a GPU, with torch, and without this compiler:
#   benchmarks/torch/prepare.sh VENV [TARGET] [FOLDER]
#
# VENV    an environment with the torch and the Python of that machine (3.12 or
#         later; no GPU is needed), nanobind, scikit-build-core and torchvision
# TARGET  what that machine's GPU is; sm_90a
# FOLDER  what is to be carried there; build/torch-gpu
#
# The folder gets a wheel, and the programs that the benchmark's graphs become,
# found on that machine in place of a compiler:
#   benchmarks/torch/gpu.sh FOLDER
# Graphs depend on torch's version. What is another one there is compiled there,
# where build/gpu-pack (benchmarks/gpu/pack.sh) has come along with LLVM; else its
# parts are eager's. The table says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
venv=$(realpath "${1:?an environment with torch}") target=${2:-sm_90a}
mkdir -p "${3:-build/torch-gpu}"
folder=$(realpath "${3:-build/torch-gpu}")
export TRACEA_PREFIX=${TRACEA_PREFIX:-$PWD/build/dev} PATH=$venv/bin:$PATH

rm -rf "$folder"/*.whl "$folder"/cache* "$folder"/compiler
pip wheel -q --no-build-isolation --no-deps -w "$folder" ./python \
  -C build-dir="$folder.build" -C cmake.define.TRACEA_PYTHON_COMPILER=OFF
pip install -q --force-reinstall --no-deps "$folder"/*.whl

# Files of the cache are named after the compiler's size and time, too.
library=$(realpath "$TRACEA_PREFIX/lib/libtracea.so")
mkdir -p "$folder/compiler"
cp "$library" "$folder/compiler/libtracea.so"
touch -d @1700000000 "$folder/compiler/libtracea.so"
stat -c %s "$folder/compiler/libtracea.so" >"$folder/compiler.size"

export TRACEA_CACHE_DIR=$folder/cache TRACEA_COMPILER_LIBRARY=$folder/compiler/libtracea.so
cd benchmarks/torch
failed=0
python gpu_check.py --fill "$target"
for options in "--dtype bfloat16 --channels-last" "--dtype bfloat16 --channels-last --train"; do
  python run.py --fill "$target" $options ${TRACEA_TORCH_ONLY:+--only "$TRACEA_TORCH_ONLY"} || {
    echo "prepare.sh: not every model was compiled with $options" >&2
    failed=1
  }
done
tar -C "$folder" -c cache | xz >"$folder/cache.tar.xz"
tar -C "$folder/compiler" -c libtracea.so | xz --x86 --lzma2=preset=9e >"$folder/compiler.tar.xz"
rm -rf "$folder/compiler" "$folder/cache"
echo "$target" >"$folder/target"
du -sh "$folder"
# What was compiled is packed; who asked is told that something is missing.
exit $failed
