#!/usr/bin/env bash
# Installs what building, testing and benchmarking need and what is missing, on
# Debian 12 as root or through sudo. Quick when everything is there.
#
# TRACEA_SKIP_DEPS=1 skips it, for machines where LLVM, MLIR and the libraries
# below come from somewhere else.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  # Compiler, linker, sanitizer runtimes.
  clang-22 lld-22 llvm-22 libclang-rt-22-dev
  # What the compiler is built on. llvm-22-tools carries lit and FileCheck.
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools liblld-22-dev
  # What LLVM's CMake package looks for.
  libzstd-dev zlib1g-dev libxml2-dev libffi-dev
  # Build tools.
  cmake ninja-build ccache python3
  # The Python package: build/venv, into which pip puts what is not Debian's.
  python3-dev python3-venv
  # lit's time limit per test; the formulas that the oracle is compared with.
  python3-psutil python3-numpy
  # Libraries. Of libssl-dev it is libcrypto, for signatures.
  libssl-dev nlohmann-json3-dev libcli11-dev libxxhash-dev libgtest-dev libgmock-dev
  # Other projects find the C interface by pkg-config; its ABI is compared by abidiff.
  pkg-config abigail-tools
  # The ONNX node tests, and the libraries that the benchmarks compare with.
  libonnx-testdata libopenblas-dev libblis4-pthread libeigen3-dev
)

# Programs for AArch64 run under emulation (scripts/test-aarch64.sh), which is left
# out, and said so, where these are not to be had.
emulation=(qemu-user-static libstdc++-12-dev-arm64-cross)

if [[ ${TRACEA_SKIP_DEPS:-0} == 1 ]]; then
  exit 0
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this is no Debian system (apt-get not found). Install the equivalents of
  ${packages[*]}
with LLVM and MLIR 22, and run again with TRACEA_SKIP_DEPS=1"
fi

missing_of() { # PACKAGE...
  comm -23 <(printf '%s\n' "$@" | sort -u) \
    <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" \
        2>/dev/null | awk '$1 == "installed" { print $2 }' | sort -u)
}
mapfile -t missing < <(missing_of "${packages[@]}")
mapfile -t missing_emulation < <(missing_of "${emulation[@]}")
# The Python package is built and tested in an environment of its own.
python_environment() {
  local venv=$TRACEA_ROOT/build/venv
  local wanted=(nanobind==3.1.0 scikit-build-core==1.1.2 numpy pytest pytest-xdist)
  # A peer of the CPU benchmark: oneDNN as it is built for x86-64 without GPUs.
  local peers=(onednn-cpu-gomp==2023.2.0 onednn-devel-cpu-gomp==2023.2.0)
  [[ $(cat "$venv/wanted" 2>/dev/null) != "${wanted[*]} ${peers[*]}" ]] || return 0
  say "Installing ${wanted[*]} into build/venv"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "${wanted[@]}"
  "$venv/bin/pip" install -q --disable-pip-version-check "${peers[@]}" ||
    say "Without ${peers[*]}: the CPU benchmark has one peer less"
  echo "${wanted[*]} ${peers[*]}" >"$venv/wanted"
}

if ((${#missing[@]} + ${#missing_emulation[@]} == 0)); then
  python_environment
  exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
  command -v sudo >/dev/null || ((${#missing[@]} == 0)) || die "these packages are missing, and neither root nor sudo is at hand:
  apt-get install ${missing[*]}"
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get -q -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0)

say "Installing $((${#missing[@]} + ${#missing_emulation[@]})) packages: ${missing[*]} ${missing_emulation[*]}"
"${apt[@]}" update || ((${#missing[@]} == 0))
for package in "${missing[@]}"; do
  apt-cache show "$package" >/dev/null 2>&1 ||
    die "apt knows no package '$package'. Debian 12 has LLVM 22 in its security suite; is
  deb http://deb.debian.org/debian-security bookworm-security main
among this machine's sources?"
done
if ((${#missing[@]})); then
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
fi
if ((${#missing_emulation[@]})); then
  "${apt[@]}" install -y --no-install-recommends "${missing_emulation[@]}" ||
    say "Not to be had: ${missing_emulation[*]}. Programs for AArch64 will not be run."
fi
python_environment
