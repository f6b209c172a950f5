#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test:
#   ./scripts/test.sh [--sanitize-all]
#
# --sanitize-all   builds the whole compiler, not only what needs no LLVM, with
#                  the address and undefined-behaviour sanitizers as well and
#                  runs its unit and regression tests (adds a second full build).
#
# The last line says "N passed, N failed" (and ", N skipped" where some were).
# The exit status is 0 when nothing failed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

sanitize_all=0
for argument in "$@"; do
  case $argument in
  --sanitize-all) sanitize_all=1 ;;
  *) die "unknown argument '$argument'; see the top of scripts/test.sh" ;;
  esac
done

cd "$TRACEA_ROOT"
results=$TRACEA_ROOT/build/test-results
passed=0 failed=0 skipped=0 finished=0 torch=

# Whatever happens on the way, the last line is the sum.
summary() {
  local status=$?
  trap - EXIT
  if ((!finished)); then
    # What is still fetched; it may have come to its end.
    if [[ -n $torch ]]; then kill -- "-$torch" 2>/dev/null || true; fi
    printf '  FAILED: the tests stopped before their end (exit status %d)\n' "$status"
    failed=$((failed + 1))
  fi
  local line="$passed passed, $failed failed"
  ((skipped == 0)) || line+=", $skipped skipped"
  printf '\n%s\n' "$line"
  ((failed == 0)) || exit 1
  exit 0
}
trap summary EXIT

# add_counts NAME KIND FILE...: reads a suite's results with tally.py.
add_counts() {
  local name=$1 p f s
  shift
  read -r p f s < <(python3 scripts/tally.py "$@")
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  printf '   %s: %d passed, %d failed, %d skipped (%d s)\n' \
    "$name" "$p" "$f" "$s" $((SECONDS - suite_start))
}

start_suite() {
  suite_start=$SECONDS
  say "$1"
}

# A suite's own exit status is not trusted: tally.py counts from its report, and
# takes a report that is missing or empty for a failure.

# unit_tests NAME BUILD_DIR [OPTION OF CTEST]...
unit_tests() {
  local name=$1 build=$2
  shift 2
  local out=$results/$name
  start_suite "Unit tests ($name)"
  mkdir -p "$out/gtest"
  GTEST_OUTPUT=xml:$out/gtest/ ctest --test-dir "$build" --no-tests=error \
    --output-on-failure --parallel "$(nproc)" --timeout 600 \
    --output-junit "$out/ctest.xml" "$@" >"$out/log" 2>&1 || show_log "$out/log"
  add_counts "$name" ctest "$out/ctest.xml" "$out/gtest"
}

# lit_tests NAME DIRECTORY: a folder of a build's test folder, or all of it.
lit_tests() {
  local name=$1 directory=$2
  local out=$results/$name
  start_suite "Regression tests ($name)"
  mkdir -p "$out"
  "$lit" -v --quiet --timeout 300 --xunit-xml-output "$out/lit.xml" \
    "$directory" >"$out/log" 2>&1 || show_log "$out/log"
  add_counts "$name" lit "$out/lit.xml"
}

# line_tests NAME TITLE COMMAND...: a runner that ends with "N passed, N failed".
# Its exit status must agree with what it says.
line_tests() {
  local name=$1 title=$2 status=0
  shift 2
  local out=$results/$name
  start_suite "$title"
  mkdir -p "$out"
  "$@" >"$out/log" 2>&1 || status=$?
  ((status == 0)) || show_log "$out/log"
  local failed_before=$failed
  add_counts "$name" line "$out/log"
  if ((status != 0 && failed == failed_before)); then
    printf '  FAILED: %s ended with exit status %d\n' "$name" "$status"
    failed=$((failed + 1))
  fi
}

show_log() {
  printf '   ... from %s:\n' "$1"
  tail -n 80 "$1"
}

rm -rf "$results"
mkdir -p "$results"

scripts/deps.sh
# torch is 3 GB: where it is to be had, somebody has said so (TRACEA_TORCH_VENV,
# TRACEA_INSTALL_TORCH). It is fetched while the compiler is built.
setsid scripts/test-python.sh --has-torch >"$results/torch-install.log" 2>&1 &
torch=$!
# The reference pages are built along: definitions that do not document fail here.
scripts/build.sh all tracea-doc
lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[^=]*=//p' "$TRACEA_BUILD/CMakeCache.txt")

unit_tests unit "$TRACEA_BUILD"
lit_tests lit "$TRACEA_BUILD/test"
# Once more where the IR itself is the subject: what prints must parse back.
TRACEA_TEST_ROUNDTRIP=1 lit_tests roundtrip "$TRACEA_BUILD/test/Dialect"
line_tests onnx "ONNX backend node tests" \
  python3 test/Integration/ONNX/run_onnx_tests.py --build "$TRACEA_BUILD"
line_tests onnx-gpu "ONNX backend node tests, compiled for a GPU" \
  python3 test/Integration/ONNX/run_onnx_tests.py --build "$TRACEA_BUILD" --compile-for sm_90a
if scripts/test-aarch64.sh --can-run; then
  line_tests aarch64 "Programs for AArch64, emulated" scripts/test-aarch64.sh
else
  skipped=$((skipped + 1))
fi
line_tests embed "Installed package (examples/embed)" scripts/test-embed.sh
line_tests python "Python package" scripts/test-python.sh
# Not to get torch is no failure.
if wait "$torch"; then
  line_tests torch "Python package with PyTorch" timeout 1200 scripts/test-python.sh --torch
else
  cat "$results/torch-install.log"
  say "Python package with PyTorch: skipped, no torch (see scripts/test-python.sh)"
  skipped=$((skipped + 1))
fi

# The sanitizers over what needs no LLVM: the runtime and the algebra, which
# read untrusted files and run threads, and the C interface, which takes whatever
# callers give. The compiler that it loads is the plain one.
sanitized=$TRACEA_ROOT/build/asan-runtime
start_suite "Building with the sanitizers in $sanitized"
cmake --preset asan -B "$sanitized" -DTRACEA_BUILD_COMPILER=OFF \
  -DTRACEA_UNITY_BUILD="${TRACEA_UNITY_BUILD:-ON}" \
  -DTRACEA_TEST_COMPILER="$TRACEA_BUILD/lib/libtracea.so" >"$results/asan-configure.log" 2>&1 ||
  { show_log "$results/asan-configure.log"; exit 1; }
run_ninja "$sanitized"
unit_tests unit-asan "$sanitized"

# Threads meet in the runtime alone.
raced=$TRACEA_ROOT/build/tsan-runtime
start_suite "Building with the thread sanitizer in $raced"
cmake --preset tsan -B "$raced" -DTRACEA_BUILD_COMPILER=OFF \
  -DTRACEA_UNITY_BUILD="${TRACEA_UNITY_BUILD:-ON}" >"$results/tsan-configure.log" 2>&1 ||
  { show_log "$results/tsan-configure.log"; exit 1; }
run_ninja "$raced" TraceaRuntimeTests TraceaRuntimeConformance
unit_tests unit-tsan "$raced" --tests-regex '^TraceaRuntime(Tests|Conformance)$'

if ((sanitize_all)); then
  TRACEA_BUILD=$TRACEA_ROOT/build/asan
  start_suite "Building everything with the sanitizers in $TRACEA_BUILD"
  [[ -f $TRACEA_BUILD/build.ninja ]] || cmake --preset asan
  run_ninja "$TRACEA_BUILD"
  unit_tests unit-asan-all "$TRACEA_BUILD"
  lit_tests lit-asan "$TRACEA_BUILD/test"
fi

finished=1
