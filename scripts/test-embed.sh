#!/usr/bin/env bash
# Installs the build in build/dev to a scratch folder and uses it as another
# project would: examples/embed, once with the compiler and once where CMake may
# find no LLVM at all, and examples/variant, which the compiler loads. Ends with
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

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
