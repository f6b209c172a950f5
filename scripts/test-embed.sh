#!/usr/bin/env bash
# Installs the build in build/dev to a scratch folder and uses it as another
# project would: examples/embed, once with the compiler and once where CMake may
# find no LLVM at all, examples/variant, which the compiler loads, and examples/c,
# by CMake and by pkg-config; compares the C interface with test/ABI. Ends with
# "N passed, N failed".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# check NAME COMMAND...
check() {
  local name=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    printf 'PASS: %s\n' "$name"
    passed=$((passed + 1))
  else
    printf 'FAIL: %s\n' "$name"
    cat "$scratch/log"
    failed=$((failed + 1))
  fi
}

configure_and_build() { # NAME EXAMPLE CMAKE_ARGUMENT...
  local build=$scratch/$1 example=$2
  shift 2
  cmake -G Ninja -S "$TRACEA_ROOT/examples/$example" -B "$build" \
    -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 "$@" &&
    ninja -C "$build"
}

prints() { # EXPECTED COMMAND...
  local expected=$1 found
  shift
  found=$("$@") || return
  [[ $found == *"$expected"* ]] || {
    printf 'expected "%s" in the output, found:\n%s\n' "$expected" "$found"
    return 1
  }
}

needs_no_llvm() { # PROGRAM
  local libraries
  libraries=$(ldd "$1") || return
  ! grep -E 'libLLVM|libMLIR' <<<"$libraries"
}

check "install" cmake --install "$TRACEA_BUILD" --prefix "$scratch/prefix"
check "build against the compiler and the runtime" configure_and_build full embed
check "compile a module and run it" \
  prints "y = 4 8 12" "$scratch/full/compile-and-run" "$scratch/scale.tracea"

no_llvm=(-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON)
check "build against the runtime alone" configure_and_build runtime embed "${no_llvm[@]}"
check "run the program without the compiler" \
  prints "y = 4 8 12" "$scratch/runtime/run-program" "$scratch/scale.tracea"
check "the program runner needs no LLVM" needs_no_llvm "$scratch/runtime/run-program"

check "build a variant from outside" configure_and_build variant variant
check "compile with the variant" \
  prints '"variant":"softmax.held"' "$scratch/prefix/bin/tracea" compile \
  "$TRACEA_ROOT/examples/variant/softmax.mlir" --target x86-64-v4 --emit manifest \
  --plugin "$scratch/variant/libHeldRows.so"

check "build C and C++ programs against tracea.h" configure_and_build c c "${no_llvm[@]}"
check "a product from C" prints "y = 1 1 7 1" "$scratch/c/gemm"
check "a convolution from C++, and an error" prints \
  "w: expected a filter within the padded image's 2 rows" "$scratch/c/conv2d"
check "a graph from C++" prints "3 rows: 0.333333" "$scratch/c/perceptron"
check "programs that use tracea.h need no LLVM" needs_no_llvm "$scratch/c/gemm"
pkg_config_c() {
  local flags
  flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name tracea.pc)") \
    pkg-config --cflags --libs tracea) || return
  # shellcheck disable=SC2086
  cc -std=c99 -Wall -Werror "$TRACEA_ROOT/examples/c/gemm.c" -o "$scratch/gemm" $flags
}
check "build a C program by pkg-config" pkg_config_c
check "run it" prints "y = 1 1 7 1" "$scratch/gemm"
check "the runner, installed" prints "tracea-run" "$scratch/prefix/bin/tracea-run" --version
check "the C interface is the one that was committed" \
  python3 "$TRACEA_ROOT/scripts/abi.py" "$TRACEA_BUILD/lib/libtracea-runtime.so"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
