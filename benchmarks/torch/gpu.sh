#!/usr/bin/env bash
# Runs the benchmark on a machine with a GPU, from what prepare.sh made:
#   benchmarks/torch/gpu.sh FOLDER [OPTIONS OF run.py]
#
# Inference, and what gpu_check.py checks; with --train, training. JSON with all
# samples goes to $OUT, where that is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$(realpath "${1:?what prepare.sh made}")
shift
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python3 -m pip install -q --no-index --no-deps --target "$here/site" "$folder"/*.whl
tar -C "$here" -xf "$folder/cache.tar.xz" --no-same-owner
chmod -R go-w "$here"
if [[ -f build/gpu-pack/libraries.tar.xz ]]; then
  tar -C "$here" -xf "$folder/compiler.tar.xz" --no-same-owner
  tar -C "$here" -xf build/gpu-pack/libraries.tar.xz --no-same-owner
  # What the machine has is newer, and what Python was built with.
  known=$(ldconfig -p)
  for library in "$here"/lib/*; do
    if grep -q "^[[:space:]]*${library##*/} " <<<"$known"; then rm "$library"; fi
  done
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  # What stands for the compiler: programs are found by its size and time.
  truncate -s "$(cat "$folder/compiler.size")" "$here/libtracea.so"
  touch -d @1700000000 "$here/libtracea.so"
fi
export PYTHONPATH=$here/site TRACEA_CACHE_DIR=$here/cache
export TRACEA_COMPILER_LIBRARY=$here/libtracea.so
target=$(cat "$folder/target") name=torch-gpu status=0
cd benchmarks/torch
if [[ " $* " == *" --train "* ]]; then
  name=torch-gpu-train
else
  python3 gpu_check.py --target "$target" || status=1
fi
python3 run.py --device cuda --target "$target" --dtype bfloat16 --channels-last \
  --json "${OUT:-$here}/$name.json" "$@" | tee "${OUT:-$here}/$name.txt" || status=1
exit $status
