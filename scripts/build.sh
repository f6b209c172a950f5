#!/usr/bin/env bash
# Builds the project in build/dev: ./scripts/build.sh [TARGET...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$TRACEA_ROOT"
if [[ ! -f $TRACEA_BUILD/build.ninja ]]; then
  say "Configuring $TRACEA_BUILD"
  cmake --preset dev -B "$TRACEA_BUILD"
fi
say "Building in $TRACEA_BUILD"
run_ninja "$TRACEA_BUILD" "$@"
