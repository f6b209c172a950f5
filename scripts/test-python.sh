#!/usr/bin/env bash
# Installs the Python package of build/dev into an environment and tests it there:
#   scripts/test-python.sh             in build/venv, which scripts/deps.sh made:
#                                      NumPy and no torch
#   scripts/test-python.sh --torch     what needs torch
#   scripts/test-python.sh --has-torch exit status 0 where --torch can run
#
# torch comes from the environment (a folder made by `python3 -m venv`, with
# torch, nanobind, scikit-build-core, numpy and pytest) that TRACEA_TORCH_VENV
# names, or from build/venv-torch. TRACEA_INSTALL_TORCH=1 makes the latter: 3 GB.
#
# The last line but pytest's own says "N passed, N failed, N skipped".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TRACEA_ROOT"

torch_venv=${TRACEA_TORCH_VENV:-$TRACEA_ROOT/build/venv-torch}
if [[ ${TRACEA_INSTALL_TORCH:-0} == 1 && ! -f $torch_venv/bin/activate ]]; then
  python3 -m venv "$torch_venv"
  "$torch_venv/bin/pip" install -q nanobind scikit-build-core numpy pytest expecttest \
    torch torchvision
fi

case ${1:-} in
--has-torch)
  [[ -x $torch_venv/bin/python ]] && "$torch_venv/bin/python" -c 'import torch' 2>/dev/null
  exit
  ;;
--torch) venv=$torch_venv tests=python/tests/pytorch ;;
'') venv=$TRACEA_ROOT/build/venv tests=python/tests ;;
*) die "unknown argument '$1'; see the top of scripts/test-python.sh" ;;
esac

if [[ ! -x $venv/bin/python ]]; then
  die "$venv is no Python environment; scripts/deps.sh makes it"
fi
# scikit-build-core looks for its tools in PATH.
PATH=$venv/bin:$PATH
export TRACEA_PREFIX=$TRACEA_BUILD
"$venv/bin/pip" install -q --disable-pip-version-check --no-build-isolation --no-deps \
  --force-reinstall ./python
# Elsewhere than in the sources, which hold no extension.
"$venv/bin/python" -m pytest -q -p no:cacheprovider "$tests" \
  --ignore-glob="$([[ $tests == python/tests ]] && echo '*/pytorch/*' || echo none)"
