// Products of narrow elements that run as products of wide ones say so, and at which
// rate; what dot products multiply says nothing.
// RUN: tracea-opt %s --tracea-select-schedule=target=haswell --remark-format=emitRemark --remarks-filter=tracea-doctor -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HASWELL
// RUN: tracea-opt %s --tracea-select-schedule=target=sapphirerapids --remark-format=emitRemark --remarks-filter=tracea-doctor -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INTEL
// RUN: tracea-opt %s --tracea-select-schedule=target=cooperlake --remark-format=emitRemark --remarks-filter=tracea-doctor -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SLOW
// RUN: tracea-opt %s --tracea-select-schedule=target=znver5 --remark-format=emitRemark --remarks-filter=tracea-doctor -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AMD
// RUN: tracea-opt %s --tracea-select-schedule=target=neoverse-v1 | FileCheck %s --check-prefix=ARM

// Bytes are multiplied there too, widened to pairs.
// HASWELL:     [[@LINE+40]]:8: remark: [Passed] schedule-selected {{.*}}takes 'gemm.dot'
// HASWELL-NOT: precision-fallback {{.*}}tracea.gemm: products of i8
// HASWELL:     remark: [Missed] precision-fallback {{.*}}products of bf16 into f32 are asked for, and run as f32 multiply-adds, at most 32 operations a cycle a core: the target has no dot products of bf16 ('avx512bf16' or 'amx-bf16')"
// HASWELL:     remark: [Missed] precision-fallback {{.*}}products of f16 into f32 are asked for, and run as f32 multiply-adds, at most 32 operations a cycle a core: no target of this architecture multiplies them otherwise"
// HASWELL:     remark: [Missed] precision-fallback {{.*}}tracea.conv2d: products of i8 into i32 are asked for, and run as i32 multiply-adds, at most 32 operations a cycle a core: 'conv2d.patch' does not multiply by dot products"
// HASWELL:     remark: [Missed] precision-fallback {{.*}}tracea.attention: products of bf16
// HASWELL-NOT: Missed] precision-fallback

// It has tiles.
// INTEL:       schedule-selected {{.*}}takes 'gemm.dot'
// INTEL:       schedule-selected {{.*}}takes 'gemm.dot'
// INTEL-NOT:   precision-fallback {{.*}}products of bf16
// INTEL:       precision-fallback {{.*}}products of f16
// INTEL:       precision-fallback {{.*}}tracea.conv2d: products of i8 into i32 are asked for, and run as i32 multiply-adds, at most 64 operations a cycle a core where dot products do 2048: 'conv2d.patch' does not multiply by dot products"
// INTEL:       schedule-selected {{.*}}takes 'attention.dot' with tile = [512, 512], registers = [32, 32]
// INTEL-NOT:   Missed] precision-fallback

// Dot products of bf16 are slower than multiply-adds there: what would be faster
// is said.
// SLOW:        schedule-selected {{.*}}takes 'gemm.dot'
// SLOW:        schedule-selected {{.*}}takes 'gemm.packed'
// SLOW:        precision-fallback {{.*}}products of bf16 into f32 are asked for, and run as f32 multiply-adds, at most 64 operations a cycle a core where dot products do 32: the target has no products of tiles of bf16 ('amx-bf16')"
// SLOW:        precision-fallback {{.*}}products of f16
// SLOW:        schedule-selected {{.*}}takes 'attention.flash'
// SLOW:        precision-fallback {{.*}}tracea.attention: products of bf16

// AMD:         takes 'gemm.dot'
// AMD:         takes 'gemm.dot'
// AMD:         takes 'attention.dot'
// AMD-NOT:     Missed] precision-fallback {{.*}}bf16

// ARM:         schedule <variant = "gemm.dot", unit = vector, tile = [{{.*}}], registers = [8, 8]>
// ARM:         schedule <variant = "gemm.dot", unit = vector, tile = [{{.*}}], registers = [8, 8]>
// ARM:         schedule <variant = "attention.dot", unit = vector, tile = [{{.*}}], registers = [8, 8]>
func.func @main(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %d: tensor<512x512xi32>,
                %e: tensor<512x512xbf16>, %f: tensor<512x512xbf16>, %g: tensor<512x512xf32>,
                %h: tensor<512x512xf16>, %i: tensor<512x512xf16>,
                %q: tensor<1x8x512x64xbf16>,
                %x: tensor<1x64x28x28xi8>, %w: tensor<64x64x3x3xi8>, %y: tensor<1x64x26x26xi32>)
    -> (tensor<512x512xi32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<1x64x26x26xi32>, tensor<1x8x512x64xbf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%d : tensor<512x512xi32>)
  %1 = tracea.gemm ins(%e, %f : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%g : tensor<512x512xf32>)
  %2 = tracea.gemm ins(%h, %i : tensor<512x512xf16>, tensor<512x512xf16>) outs(%g : tensor<512x512xf32>)
  %3 = tracea.conv2d layout nchw filter kcrs ins(%x, %w : tensor<1x64x28x28xi8>, tensor<64x64x3x3xi8>) outs(%y : tensor<1x64x26x26xi32>)
  %4 = tracea.attention ins(%q, %q, %q : tensor<1x8x512x64xbf16>, tensor<1x8x512x64xbf16>, tensor<1x8x512x64xbf16>) outs(%q : tensor<1x8x512x64xbf16>) -> tensor<1x8x512x64xbf16>
  return %0, %1, %2, %3, %4 : tensor<512x512xi32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<1x64x26x26xi32>, tensor<1x8x512x64xbf16>
}
