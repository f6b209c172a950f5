#!/usr/bin/env bash
# Packs what checks and measures a processor that is not here: programs compiled for
# it, with inputs and right results, and what runs and judges them there without a
# compiler.
#
#   scripts/pack-cpu.sh sapphirerapids FOLDER
#   (there)  FOLDER/run.sh
#
# Builds nothing: TRACEA_BUILD (default build/dev) holds the tools. CASES says how
# many random products and convolutions there are (default 250 and 120).
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:?usage: scripts/pack-cpu.sh TARGET FOLDER}
folder=$(realpath -m "${2:?usage: scripts/pack-cpu.sh TARGET FOLDER}")
bin=${TRACEA_BUILD:-build/dev}/bin
rm -rf "$folder"
mkdir -p "$folder/trials" "$folder/programs"
cp "$bin/tracea-run" "$bin/tracea-numerics-judge" "$folder/"

# In place of judging, each trial is kept whose program multiplies words.
cat > "$folder/keep.sh" <<EOF
#!/bin/sh
trial=\$(mktemp "$folder/trials/XXXXXXXX")
cat > "\$trial"
grep -aq '"variant": *"[a-z0-9]*\.dot"' "\$trial" || rm "\$trial"
printf right
EOF
chmod +x "$folder/keep.sh"
for seed in 1 2; do
  "$bin/tracea-numerics" --target "$target" --no-regressions --family gemm \
    --cases "${CASES:-250}" --seed $seed --judge "$folder/keep.sh" | tail -1
done
"$bin/tracea-numerics" --target "$target" --no-regressions --family conv2d \
  --cases $((${CASES:-240} / 2)) --judge "$folder/keep.sh" | tail -1
rm "$folder/keep.sh"

# Products and convolutions to measure, of each type that has words.
compile() { # NAME OPERATIONS SOURCE
  echo "$3" > "$folder/program.mlir"
  "$bin/tracea" compile "$folder/program.mlir" --target "$target" --require-proof \
    -o "$folder/programs/$1.$2.tracea"
}
for types in f32,f32 bf16,f32 i8,i32; do
  x=${types%,*} y=${types#*,}
  for sizes in 512,512,512 1024,1024,1024 2048,2048,2048 1023,1025,1027 16,4096,4096; do
    IFS=, read -r m n k <<< "$sizes"
    a="tensor<${m}x${k}x$x>" b="tensor<${k}x${n}x$x>" c="tensor<${m}x${n}x$y>"
    compile "gemm-$x-${m}x${n}x$k" $((2 * m * n * k)) "
      func.func @main(%a: $a, %b: $b, %c: $c) -> $c {
        %r = tracea.gemm ins(%a, %b : $a, $b) outs(%c : $c)
        return %r : $c
      }"
  done
  for sizes in 56,64,64 28,128,128 14,256,256; do
    IFS=, read -r size in out <<< "$sizes"
    a="tensor<1x${size}x${size}x${in}x$x>" b="tensor<${out}x3x3x${in}x$x>"
    c="tensor<1x${size}x${size}x${out}x$y>"
    compile "conv-$x-${in}-${out}-$size" $((2 * 9 * size * size * in * out)) "
      func.func @main(%a: $a, %b: $b, %c: $c) -> $c {
        %r = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
               ins(%a, %b : $a, $b) outs(%c : $c)
        return %r : $c
      }"
  done
done
rm "$folder/program.mlir"

cat > "$folder/run.sh" <<'EOF'
#!/usr/bin/env bash
# Judges the trials ("N right, N wrong"; what is wrong is said), then measures the
# programs: operations a nanosecond on one thread.
cd "$(dirname "$0")"
right=0 wrong=0
for trial in trials/*; do
  said=$(./tracea-numerics-judge < "$trial" 2>&1)
  if [ "$said" = right ]; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
    [ $wrong -gt 10 ] || echo "$trial: $said"
  fi
done
echo "$right right, $wrong wrong"
for program in programs/*.tracea; do
  name=$(basename "$program" .tracea)
  ./tracea-run "$program" --trust any --threads 1 --random-inputs --bench "${SECONDS_EACH:-0.3}" --json \
    > run.json 2> run.txt || { echo "${name%.*}: $(tail -1 run.txt)"; continue; }
  python3 - "$name" <<'PYTHON'
import json
import sys

name, operations = sys.argv[1].rsplit(".", 1)
seconds = json.load(open("run.json"))["bench"]["fastestSeconds"]
print(f"{name}: {seconds * 1e6:.1f} us, {int(operations) / seconds / 1e9:.0f} G/s")
PYTHON
done
[ $wrong -eq 0 ]
EOF
chmod +x "$folder/run.sh"
du -sh "$folder" | cut -f1
