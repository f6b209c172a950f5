#!/usr/bin/env bash
# Builds the project in build/dev: ./scripts/build.sh [TARGET...]
#
# A folder that it configures itself compiles several sources at a time, half the
# time of a full build: TRACEA_UNITY_BUILD=OFF keeps them apart, for daily work.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$TRACEA_ROOT"
if [[ ! -f $TRACEA_BUILD/build.ninja ]]; then
  say "Configuring $TRACEA_BUILD"
  cmake --preset dev -B "$TRACEA_BUILD" -DTRACEA_UNITY_BUILD="${TRACEA_UNITY_BUILD:-ON}"
fi
say "Building in $TRACEA_BUILD"
run_ninja "$TRACEA_BUILD" "$@"
