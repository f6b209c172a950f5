#!/usr/bin/env bash
# Runs the benchmark on a machine with a GPU, from what prepare.sh made:
#   benchmarks/torch/gpu.sh FOLDER [OPTIONS OF run.py]
# JSON with all samples goes to $OUT, where that is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(realpath "${1:?what prepare.sh made}")
shift
here=$(mktemp -d)
python3 -m pip install -q --no-index --no-deps --target "$here/site" "$folder"/*.whl
cp -r "$folder/cache" "$here/cache"
chmod -R go-w "$here"
# What stands for the compiler: programs are found by its size and time.
truncate -s "$(cat "$folder/compiler.size")" "$here/libtracea.so"
touch -d @1700000000 "$here/libtracea.so"
export PYTHONPATH=$here/site TRACEA_CACHE_DIR=$here/cache
export TRACEA_COMPILER_LIBRARY=$here/libtracea.so
cd benchmarks/torch
python3 gpu_check.py --target "$(cat "$folder/target")" || true
for mode in "" "--train"; do
  python3 run.py --device cuda --target "$(cat "$folder/target")" --dtype bfloat16 --channels-last \
    $mode "$@" --json "${OUT:-$here}/torch-gpu${mode//-/_}.json" || true
done
