// What lanes divide by where only the run knows it: the host makes a multiplier and a shift of each divisor, which the
// launch passes behind tensors and their sizes.

// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.tracea
// RUN: tracea explain %t.tracea --recheck | FileCheck %s --check-prefix=PROOF
// RUN: tracea compile %s --target sm_90a --emit manifest | %python -c "import json, sys; print(json.dumps(json.load(sys.stdin)))" | FileCheck %s
// RUN: tracea compile %s --target sm_90a --emit asm | FileCheck %s --check-prefix=ASM

// Extents 1 and 2 of the image are those of the result.
// CHECK: ["dim", 0, 1], {{.*}}["dim", 0, 2]
// CHECK: ["divmultiplier", [[Q:[0-9]+]]], ["divshift", [[Q]]], ["divmultiplier", [[P:[0-9]+]]], ["divshift", [[P]]]
// PROOF-NOT: {{refuted|unreadable|not decided}}
// ASM:     .visible .entry conv2d_0
// ASM-NOT: div.u64
// ASM:     mul.hi.u64
// ASM-NOT: div.u64

// A launch that passes two shifts is none of this kernel's.
// RUN: tracea-edit-program %t.tracea %t.other '"divmultiplier"' '"divshift"'
// RUN: not tracea explain %t.other --recheck 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: expects 3 arguments, and then a multiplier and a shift of each divisor
func.func @main(%x: tensor<?x?x?x64xf16>, %w: tensor<64x3x3x64xf16>) -> tensor<?x?x?x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x?x64xf16>
  %p = tensor.dim %x, %c1 : tensor<?x?x?x64xf16>
  %q = tensor.dim %x, %c2 : tensor<?x?x?x64xf16>
  %d = tensor.empty(%n, %p, %q) : tensor<?x?x?x64xf16>
  %y = tracea.conv2d layout nhwc filter krsc strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]
    ins(%x, %w : tensor<?x?x?x64xf16>, tensor<64x3x3x64xf16>) outs(%d : tensor<?x?x?x64xf16>)
  return %y : tensor<?x?x?x64xf16>
}
