#!/usr/bin/env bash
# Installs what is missing, builds, and runs the two demonstrations:
#   1. a small trained convolutional network over real handwritten digits,
#   2. the CPU benchmark: fused against separate kernels, awkward shapes, GEMM.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$TRACEA_ROOT/scripts/deps.sh"
"$TRACEA_ROOT/scripts/build.sh"
export TRACEA_BUILD

say "Handwritten digits"
"$TRACEA_ROOT/examples/digits/run.sh" --check

say "CPU benchmark"
"$TRACEA_ROOT/benchmarks/cpu/run.sh" --quick
