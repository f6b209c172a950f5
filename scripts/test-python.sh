#!/usr/bin/env bash
# Installs the Python package of build/dev into an environment and tests it there:
#   scripts/test-python.sh             in build/venv, which scripts/deps.sh made:
#                                      NumPy and no torch
#   scripts/test-python.sh --torch     what needs torch
#   scripts/test-python.sh --has-torch exit status 0 where --torch can run
#
# torch comes from the environment (a folder made by `python3 -m venv`, with
# torch, nanobind, scikit-build-core, numpy, pytest and pytest-xdist) that
# TRACEA_TORCH_VENV names, or from build/venv-torch. TRACEA_INSTALL_TORCH=1 makes
# the latter: a download of 3 GB, 5 GB on the disk. With TRACEA_INSTALL_TORCH=try
# it is given up after TRACEA_TORCH_TIMEOUT seconds (600), or where the disk has
# no 10 GB: then there is no torch, and no error.
#
# The last line but pytest's own says "N passed, N failed, N skipped".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$TRACEA_ROOT"

torch_venv=${TRACEA_TORCH_VENV:-$TRACEA_ROOT/build/venv-torch}

# Made under another name: what was given up halfway is no environment.
install_torch() {
  local new=$torch_venv.new limit=${TRACEA_TORCH_TIMEOUT:-600}
  mkdir -p "$(dirname "$torch_venv")"
  if [[ $TRACEA_INSTALL_TORCH == try ]]; then
    local free
    free=$(df --output=avail -BG "$(dirname "$torch_venv")" | tail -n 1 | tr -dc 0-9)
    if ((free < 10)); then
      say "No torch: $free GB free, 10 are needed"
      return 1
    fi
  else
    limit=0
  fi
  say "Installing torch into $torch_venv, which is 3 GB to be had"
  rm -rf "$new"
  if python3 -m venv "$new" &&
    timeout --foreground "$limit" "$new/bin/python" -m pip install -q --no-cache-dir \
      --disable-pip-version-check nanobind==3.1.0 scikit-build-core==1.1.2 numpy pytest \
      pytest-xdist expecttest torch==2.15.0 torchvision==0.29.2; then
    # Scripts of an environment name its folder; python itself does not.
    mv "$new" "$torch_venv"
    return 0
  fi
  rm -rf "$new"
  say "No torch: it could not be installed within $limit s"
  return 1
}

wants_torch=${TRACEA_INSTALL_TORCH:-0}
if [[ ${1:-} == --*torch && $wants_torch != 0 && ! -x $torch_venv/bin/python ]]; then
  install_torch || [[ $wants_torch == try ]]
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
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps \
  --force-reinstall ./python
# Elsewhere than in the sources, which hold no extension.
# A compilation of one graph is mostly one thread's work.
"$venv/bin/python" -m pytest -q -p no:cacheprovider \
  --numprocesses "$(job_count)" --dist worksteal "$tests" \
  --ignore-glob="$([[ $tests == python/tests ]] && echo '*/pytorch/*' || echo none)"
