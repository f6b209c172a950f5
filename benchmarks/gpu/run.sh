#!/usr/bin/env bash
# Runs what needs an NVIDIA GPU: benchmarks/gpu/run.sh [options] [part...]
#
#   --seed N    of the random patterns (default: 1)
#   --out DIR   where tables and logs go (default: a new folder under TMPDIR)
#   --quick     fewer cases
#   --cases N, --targets LIST, --families LIST
#               what the part numerics draws: so many of each family for this GPU
#               (default: 2000), a quarter for each other target
#   --compiled  also against torch.compile, which tunes for minutes
#   --record    also keep the tables in benchmarks/results/gpu-PART-DATE-GPU.txt
#
# Parts, all of them by default:
#   wavefronts  shared-memory accesses against the model of lib/Algebra/Banks
#   tiles       relayouts and reductions of register tiles, lowered, run, and
#               compared; takes the code that tracea-gpu-cases leaves in
#               build/gpu-cases, which may come from another machine
#   latency     what a launch costs on the host: the driver's call alone, and
#               through the runtime; takes build/dev/bin/tracea-launch-latency,
#               which may come from another machine, too
#   gemm        matrix products against cuBLAS and PyTorch in one process; takes
#               the programs that gemm/compile.py leaves in build/gpu-gemm and
#               build/dev/lib/libtracea-gpu-contender.so, from anywhere
#   conv        convolutions against float64, beside PyTorch; takes the programs
#               that conv/compile.py leaves in build/gpu-conv, and the same library
#   layers      convolutions of ResNet-50 and others against cuDNN (with --compiled
#               also torch.compile); takes the programs that `conv/compile.py
#               --layers` leaves in build/gpu-conv, and the same library
#   graduation  three rounds: convolutions with batch norm and ReLU, the same of odd
#               shapes, and products of 4096; takes the programs that `conv/compile.py
#               --graduation` and gemm/compile.py leave, and the same library
#   rows        rows, elementwise operations, movement and reductions against
#               PyTorch; takes the programs that rows/compile.py leaves in
#               build/gpu-rows, and the same library
#   attention   attention against PyTorch's FlashAttention-2 and cuDNN (with
#               --compiled also FlexAttention); takes the programs that
#               attention/compile.py leaves in build/gpu-attention, and the same
#               library
#   models      whole models against float64, beside PyTorch (with --compiled also
#               torch.compile); takes the programs that models/compile.py leaves in
#               build/gpu-models, and the same library
#   numerics    random modules against plain loops in long double, bit for bit
#               the same twice, between guards; also for older GPUs, assembled by
#               the driver. Takes the compiler, which pack.sh brings to a machine
#               without LLVM
#   sanitize    a few random modules of each family under memcheck, racecheck,
#               initcheck and synccheck of compute-sanitizer; takes the same
#
# Every part builds what else it needs with nvcc and the host's compiler, writes
# full tables to DIR, and adds a few lines to DIR/summary.txt, which is printed
# last. The exit status is 1 if a part fails. Clocks and other settings of the
# card stay as they are.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

known=(wavefronts tiles latency gemm conv layers graduation rows attention models numerics sanitize)
cases=2000 targets=''
families='gemm grouped_gemm gather conv2d conv2d_dgrad conv2d_wgrad attention attention_grad softmax layer_norm rms_norm batch_norm graph generic'
out='' seed=1 quick=0 record=0 compiled=0 parts=()
usage() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
while (($#)); do
  case $1 in
    --out)
      [[ $# -ge 2 ]] || usage
      out=$2
      shift
      ;;
    --seed)
      [[ $# -ge 2 ]] || usage
      seed=$2
      shift
      ;;
    --cases | --targets | --families)
      [[ $# -ge 2 ]] || usage
      declare "${1#--}=$2"
      shift
      ;;
    --quick) quick=1 cases=200 ;;
    --compiled) compiled=1 ;;
    --record) record=1 ;;
    -*) usage ;;
    *)
      [[ " ${known[*]} " == *" $1 "* ]] || usage
      parts+=("$1")
      ;;
  esac
  shift
done
((${#parts[@]})) || parts=("${known[@]}")
out=${out:-$(mktemp -d "${TMPDIR:-/tmp}/tracea-gpu.XXXXXX")}
mkdir -p "$out"
: >"$out/summary.txt"

for tool in nvcc nvidia-smi; do
  if ! command -v "$tool" >/dev/null; then
    printf 'error: %s is not on the PATH\n' "$tool" >&2
    exit 1
  fi
done
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
# Hopper's own instructions need the architecture-specific target.
[[ $capability == 90 ]] && capability=90a
arch=(-gencode "arch=compute_$capability,code=sm_$capability")

# What every record begins with.
describe_machine() {
  printf 'Tracea %s, %s\n' \
    "$(git describe --always --dirty 2>/dev/null || echo 'without a repository')" \
    "$(date -u '+%Y-%m-%d %H:%M UTC')"
  printf '%s, driver %s, nvcc %s\n' \
    "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)" \
    "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)" \
    "$(nvcc --version | sed -n 's/.*, V//p')"
  printf 'Rerun: benchmarks/gpu/run.sh %s\n' "$1"
}

summarize() { cat >>"$out/summary.txt"; }

#===----------------------------------------------------------------------===#
# wavefronts
#===----------------------------------------------------------------------===#

part_wavefronts() {
  local dir=$out/wavefronts count=310 every=23
  ((quick)) && count=62 every=17
  mkdir -p "$dir"
  local algebra=lib/Algebra
  nvcc -std=c++17 -O2 "${arch[@]}" -Iinclude benchmarks/gpu/wavefronts/*.cu \
    benchmarks/gpu/wavefronts/*.cpp $algebra/Banks.cpp $algebra/BankSimulator.cpp \
    $algebra/F2Matrix.cpp $algebra/F2Subspace.cpp -o "$dir/wavefronts" || return 1

  # The profiler's counters, where it may read them.
  local counted=()
  if command -v ncu >/dev/null &&
    timeout 200 ncu --csv --page raw --clock-control none --cache-control none \
      --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared.sum \
      --log-file "$dir/counts.csv" \
      "$dir/wavefronts" count --count $count --every $every --seed "$seed"; then
    counted=(--counts "$dir/counts.csv")
  else
    echo 'wavefronts: no hardware counters; cycles only' | summarize
  fi
  describe_machine "--seed $seed wavefronts" >"$dir/table.txt"
  "$dir/wavefronts" measure --count $count --every $every --seed "$seed" \
    "${counted[@]}" --csv "$dir/patterns.csv" >>"$dir/table.txt"
  local status=$?
  # The head, and of each instruction what all families add up to.
  sed -n '1,6p' "$dir/table.txt" | summarize
  grep ' all  ' "$dir/table.txt" | summarize
  return $status
}

#===----------------------------------------------------------------------===#
# tiles
#===----------------------------------------------------------------------===#

part_tiles() {
  local dir=$out/tiles cases=build/gpu-cases compiler=build/dev/bin/tracea-gpu-cases
  mkdir -p "$dir"
  if [[ -x $compiler ]]; then
    "$compiler" "$cases" || return 1
  fi
  if [[ ! -f $cases/cases.txt ]]; then
    echo 'error: no code: run build/dev/bin/tracea-gpu-cases build/gpu-cases where the compiler is built' >&2
    return 1
  fi
  c++ -std=c++17 -O1 benchmarks/gpu/tiles/run-cases.cpp -o "$dir/run-cases" -ldl || return 1
  "$dir/run-cases" "$cases" >"$dir/answers.txt"
  local status=$?
  describe_machine tiles >"$dir/table.txt"
  printf '%-24s %-16s %8s %6s %6s %6s %6s %6s %6s  %s\n' case class threads instr \
    SHFL SEL/PRMT STS LDS BAR answer >>"$dir/table.txt"
  local name threads class shuffles exchanges sass
  while read -r name threads class shuffles exchanges; do
    sass=$dir/$name.sass
    ptxas -arch="sm_$capability" "$cases/$name.ptx" -o "$dir/$name.cubin" &&
      cuobjdump -sass "$dir/$name.cubin" | grep -E '^ +/\*[0-9a-f]{4,}\*/ ' >"$sass"
    printf '%-24s %-16s %8s %6s %6s %8s %6s %6s %6s  %s\n' "$name" "$class" "$threads" \
      "$(grep -cvE 'NOP|BRA' "$sass")" "$(grep -c SHFL "$sass")" "$(grep -cE ' (F?SEL|PRMT)' "$sass")" \
      "$(grep -cE 'STS' "$sass")" "$(grep -cE ' LDS' "$sass")" "$(grep -c BAR "$sass")" \
      "$(sed -n "s/^$name  *//p" "$dir/answers.txt")" >>"$dir/table.txt"
  done <"$cases/cases.txt"
  tail -n 1 "$dir/answers.txt" >>"$dir/table.txt"
  summarize <"$dir/table.txt"
  return $status
}

#===----------------------------------------------------------------------===#
# latency
#===----------------------------------------------------------------------===#

part_latency() {
  local dir=$out/latency tool=build/dev/bin/tracea-launch-latency
  mkdir -p "$dir"
  if [[ ! -x $tool ]]; then
    echo "error: no $tool: build it where there is a compiler" >&2
    return 1
  fi
  describe_machine latency >"$dir/table.txt"
  "$tool" >>"$dir/table.txt" || return 1
  summarize <"$dir/table.txt"
}

#===----------------------------------------------------------------------===#
# gemm
#===----------------------------------------------------------------------===#

part_gemm() {
  local dir=$out/gemm here=benchmarks/gpu/gemm options=()
  mkdir -p "$dir"
  if [[ -x build/dev/bin/tracea ]]; then
    "$here/compile.py" || echo 'gemm: not every product was compiled' | summarize
  fi
  if [[ ! -f build/gpu-gemm/compiled.json ]]; then
    echo "error: no programs: run $here/compile.py where the compiler is built" >&2
    return 1
  fi
  ((quick)) && options=(--rounds 3 --rest 0.02)
  ((compiled)) && options+=(--peers compiled)
  describe_machine gemm >"$dir/table.txt"
  "$here/run.py" "${options[@]}" build/gpu-gemm >>"$dir/table.txt"
  local status=$?
  summarize <"$dir/table.txt"
  return $status
}

# Has the programs of a part compiled where the compiler is: the part, one of its
# programs, and what compile.py is told.
need_programs() {
  if [[ -x build/dev/bin/tracea ]]; then
    "benchmarks/gpu/$1/compile.py" "${@:3}" || echo "$1: not everything was compiled" | summarize
  fi
  [[ -f build/gpu-$1/$2.tracea ]] && return
  echo "error: no programs: run benchmarks/gpu/$1/compile.py where the compiler is built" >&2
  return 1
}

#===----------------------------------------------------------------------===#
# conv
#===----------------------------------------------------------------------===#

part_conv() {
  local dir=$out/conv here=benchmarks/gpu/conv
  mkdir -p "$dir"
  need_programs conv block || return 1
  describe_machine conv >"$dir/table.txt"
  "$here/run.py" --times build/gpu-conv >>"$dir/table.txt"
  local status=$?
  tail -n 1 "$dir/table.txt" | summarize
  return $status
}

part_layers() {
  local dir=$out/layers options=()
  mkdir -p "$dir"
  need_programs conv first_n32 --layers || return 1
  ((quick)) && options+=(--rounds 2)
  ((compiled)) && options+=(--peers compiled)
  describe_machine layers >"$dir/table.txt"
  benchmarks/gpu/conv/layers.py "${options[@]}" build/gpu-conv >>"$dir/table.txt"
  local status=$?
  tail -n 4 "$dir/table.txt" | summarize
  return $status
}

part_graduation() {
  local dir=$out/graduation options=() products=() status=0
  mkdir -p "$dir"
  need_programs conv odd_single --graduation || return 1
  ((quick)) && options+=(--rounds 2) && products+=(--rounds 3 --rest 0.02)
  ((compiled)) && options+=(--peers compiled)
  describe_machine graduation >"$dir/table.txt"
  benchmarks/gpu/conv/layers.py --graduation "${options[@]}" build/gpu-conv >>"$dir/table.txt" || status=1
  tail -n 4 "$dir/table.txt" | summarize
  if [[ ! -f build/gpu-gemm/compiled.json ]]; then
    echo 'error: no products: run benchmarks/gpu/gemm/compile.py where the compiler is built' >&2
    return 1
  fi
  benchmarks/gpu/gemm/run.py --only '^(plain|types)_4096x4096x4096_[^_]+_nt$' "${products[@]}" build/gpu-gemm >>"$dir/table.txt" || status=1
  tail -n 2 "$dir/table.txt" | summarize
  return $status
}

#===----------------------------------------------------------------------===#
# rows, attention, models
#===----------------------------------------------------------------------===#

# Runs the programs of a part beside their peers: the part, one of its programs,
# and what run.py is told with --compiled, and in any case.
measure_part() {
  local part=$1 program=$2 with_compiled=$3 dir=$out/$1 options=("${@:4}")
  mkdir -p "$dir"
  need_programs "$part" "$program" || return 1
  ((quick)) && options+=(--rounds 2)
  ((compiled)) && read -ra peers <<<"$with_compiled" && options+=("${peers[@]}")
  describe_machine "$part" >"$dir/table.txt"
  "benchmarks/gpu/$part/run.py" "${options[@]}" "build/gpu-$part" >>"$dir/table.txt"
  local status=$?
  summarize <"$dir/table.txt"
  return $status
}

part_rows() { measure_part rows sum_all '--peers compiled'; }
part_attention() { measure_part attention bf16_d64_full_1024 --flex; }
part_models() { measure_part models mlp_i8 --compiled --seed "$seed"; }

#===----------------------------------------------------------------------===#
# numerics
#===----------------------------------------------------------------------===#

# What a tool runs under.
under=()

# Where tools are that run here: those of the build, or those that pack.sh left.
find_tools() {
  [[ -z ${tools:-} ]] || return 0
  tools=build/dev/bin
  if ! "$tools/tracea" --version >/dev/null 2>&1; then
    if [[ ! -f build/gpu-pack/tools.tar.xz ]]; then
      echo 'error: no compiler that runs here: build it, or run pack.sh where it is built' >&2
      return 1
    fi
    local unpacked=${TMPDIR:-/tmp}/tracea-pack
    mkdir -p "$unpacked"
    for part_of_pack in libraries tools; do
      tar -C "$unpacked" -xf "build/gpu-pack/$part_of_pack.tar.xz" || return 1
    done
    tools=$unpacked/bin
    libraries=$unpacked/lib
  fi
}

# A tool, with the libraries that were packed with it; no other program sees them.
run_tool() {
  LD_LIBRARY_PATH=${libraries:-}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "${under[@]}" "$tools/$1" "${@:2}"
}

part_numerics() {
  local dir=$out/numerics status=0
  mkdir -p "$dir"
  find_tools || return 1
  describe_machine numerics >"$dir/table.txt"
  for target in ${targets:-"sm_$capability" sm_89 sm_86 sm_80 sm_75 sm_70}; do
    # What is not for this GPU needs fewer cases.
    local drawn=$cases
    [[ $target == "sm_$capability" ]] || drawn=$(((cases + 3) / 4))
    for family in $families; do
      local log=$dir/$target-$family.txt
      run_tool tracea-numerics --target "$target" --family "$family" --no-regressions \
        --seed "$seed" --cases "$drawn" >"$log" 2>&1 || status=1
      printf '%-8s %-14s seed %s: %s\n' "$target" "$family" "$seed" \
        "$(grep -E 'no variant|refuse|passed' "$log" | paste -sd ';' | sed 's/;/; /g')" >>"$dir/table.txt"
    done
  done
  summarize <"$dir/table.txt"
  return $status
}

#===----------------------------------------------------------------------===#
# sanitize
#===----------------------------------------------------------------------===#

part_sanitize() {
  local dir=$out/sanitize drawn=24 status=0
  mkdir -p "$dir"
  if ! command -v compute-sanitizer >/dev/null; then
    echo 'error: compute-sanitizer is not on the PATH' >&2
    return 1
  fi
  find_tools || return 1
  ((quick)) && drawn=6
  describe_machine sanitize >"$dir/table.txt"
  for tool in memcheck racecheck initcheck synccheck; do
    for family in $families; do
      local log=$dir/$tool-$family.txt
      # A process that runs cases has a report of its own.
      # What the driver answers to questions of the runtime is no fault of a kernel.
      local under=(compute-sanitizer --report-api-errors no --target-processes all --tool "$tool")
      run_tool tracea-numerics --target "sm_$capability" --family "$family" --no-regressions \
        --seed "$seed" --cases "$drawn" >"$log" 2>&1
      local reports faults
      reports=$(grep -cE '(ERROR|RACECHECK) SUMMARY' "$log")
      faults=$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | grep -cvE 'SUMMARY: 0 ')
      ((reports && !faults)) && grep -q ' 0 failed' "$log" || status=1
      printf '%-10s %-14s %s reports, %s with faults; %s\n' "$tool" "$family" "$reports" "$faults" \
        "$(grep 'passed' "$log" | tail -n 1)" >>"$dir/table.txt"
    done
  done
  summarize <"$dir/table.txt"
  return $status
}

status=0
for part in "${parts[@]}"; do
  if ! "part_$part"; then
    echo "$part: FAILED" | summarize
    status=1
  elif ((record)); then
    gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-' | sed 's/-*$//')
    cp "$out/$part/table.txt" "benchmarks/results/gpu-$part-$(date -u +%Y-%m-%d)-$gpu.txt"
  fi
done
echo
cat "$out/summary.txt"
echo "full tables: $out"
exit $status
