#!/usr/bin/env bash
# Runs the CPU benchmark from what pack.sh made: benchmarks/cpu/elsewhere.sh COMMAND...
#
# Unpacks build/cpu-pack and the libraries of build/gpu-pack, once, and runs the
# command with the tools first in PATH and the peers where they are found:
#   benchmarks/cpu/elsewhere.sh taskset -c 2 tracea-graduation --threads=1
#   benchmarks/cpu/elsewhere.sh tracea-numerics --cases 500 --seed 7
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=${TRACEA_PACK:-/tmp/tracea-cpu-pack}
mkdir -p "$here"
for pack in build/gpu-pack/libraries build/cpu-pack/tools build/cpu-pack/peers; do
  name=${pack##*/}
  if [[ -f $pack.tar.xz && ! $here/$name.done -nt $pack.tar.xz ]]; then
    tar -C "$here" -xf "$pack.tar.xz" --no-same-owner
    touch "$here/$name.done"
  fi
done
export PATH=$here/bin:$PATH
export LD_LIBRARY_PATH=$here/lib:$here/peers${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$@"
