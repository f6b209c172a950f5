#!/usr/bin/env bash
# Runs the trained network on the held-out images and compares the result with
# the labels and with what the training framework computed.
#   ./run.sh [OPTION OF tracea run]...
# Expects a build in $TRACEA_BUILD (build/dev without it).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${TRACEA_BUILD:-$here/../../build/dev}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$build/bin/tracea" run "$here/model.mlir" --input "$here/images_test.npy" \
  --output "$scratch/probabilities.npy" "$@"
python3 "$here/check.py" "$scratch/probabilities.npy"
