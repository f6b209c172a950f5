// What decides about attention on GPUs: how many queries there are, and whether a
// unit multiplies what it has without rounding it.
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_90a" | FileCheck %s
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_75" | FileCheck %s --check-prefix=LANES
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_90a" -o /dev/null --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s --check-prefix=WHY

// One query: heads that share keys are the rows, and keys are split.
// CHECK-LABEL: func.func @decode
// CHECK:         variant = "attention.warp", unit = mma_sync, tile = [16, 32], {{.*}}pack = 1, split = 4>
// LANES-LABEL: func.func @decode
// LANES:         variant = "attention.simt"
func.func @decode(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x8192x128xbf16>, %e: tensor<16x32x1x128xbf16>) -> tensor<16x32x1x128xbf16> {
  %0 = tracea.attention causal ins(%q, %k, %k : tensor<16x32x1x128xbf16>, tensor<16x8x8192x128xbf16>, tensor<16x8x8192x128xbf16>) outs(%e : tensor<16x32x1x128xbf16>) -> tensor<16x32x1x128xbf16>
  return %0 : tensor<16x32x1x128xbf16>
}

// Under a window few keys are seen: they are not split.
// CHECK-LABEL: func.func @window
// CHECK:         variant = "attention.warp"
// CHECK-NOT:     split
// CHECK:         return
func.func @window(%q: tensor<16x32x1x128xbf16>, %k: tensor<16x8x8192x128xbf16>, %e: tensor<16x32x1x128xbf16>) -> tensor<16x32x1x128xbf16> {
  %0 = tracea.attention window [100, -1] ins(%q, %k, %k : tensor<16x32x1x128xbf16>, tensor<16x8x8192x128xbf16>, tensor<16x8x8192x128xbf16>) outs(%e : tensor<16x32x1x128xbf16>) -> tensor<16x32x1x128xbf16>
  return %0 : tensor<16x32x1x128xbf16>
}

// Many queries have tiles of their own.
// CHECK-LABEL: func.func @many
// CHECK:         variant = "attention.warp", unit = mma_sync, tile = [128, 64]
// CHECK-NOT:     pack
// CHECK:         return
func.func @many(%q: tensor<4x32x4096x64xf16>, %e: tensor<4x32x4096x64xf16>) -> tensor<4x32x4096x64xf16> {
  %0 = tracea.attention ins(%q, %q, %q : tensor<4x32x4096x64xf16>, tensor<4x32x4096x64xf16>, tensor<4x32x4096x64xf16>) outs(%e : tensor<4x32x4096x64xf16>) -> tensor<4x32x4096x64xf16>
  return %0 : tensor<4x32x4096x64xf16>
}

// The unit would round f32; lanes do not, and the permission decides.
// CHECK-LABEL: func.func @exact
// CHECK:         variant = "attention.simt", unit = vector
// CHECK-LABEL: func.func @rounded
// CHECK:         variant = "attention.warp", unit = mma_sync
func.func @exact(%q: tensor<4x32x512x64xf32>, %e: tensor<4x32x512x64xf32>) -> tensor<4x32x512x64xf32> {
  %0 = tracea.attention ins(%q, %q, %q : tensor<4x32x512x64xf32>, tensor<4x32x512x64xf32>, tensor<4x32x512x64xf32>) outs(%e : tensor<4x32x512x64xf32>) -> tensor<4x32x512x64xf32>
  return %0 : tensor<4x32x512x64xf32>
}
func.func @rounded(%q: tensor<4x32x512x64xf32>, %e: tensor<4x32x512x64xf32>) -> tensor<4x32x512x64xf32> attributes {tracea.allow_tf32} {
  %0 = tracea.attention ins(%q, %q, %q : tensor<4x32x512x64xf32>, tensor<4x32x512x64xf32>, tensor<4x32x512x64xf32>) outs(%e : tensor<4x32x512x64xf32>) -> tensor<4x32x512x64xf32>
  return %0 : tensor<4x32x512x64xf32>
}

// Lanes have registers for heads of 128 elements.
// CHECK-LABEL: func.func @wide
// CHECK:         variant = "linalg"
// WHY: 'attention.simt' is not taken: the extent of a query is 256, above 128
func.func @wide(%q: tensor<4x8x512x256xf32>, %e: tensor<4x8x512x256xf32>) -> tensor<4x8x512x256xf32> {
  %0 = tracea.attention ins(%q, %q, %q : tensor<4x8x512x256xf32>, tensor<4x8x512x256xf32>, tensor<4x8x512x256xf32>) outs(%e : tensor<4x8x512x256xf32>) -> tensor<4x8x512x256xf32>
  return %0 : tensor<4x8x512x256xf32>
}

// Gradients in half precision are kernels of warps, and plain loops where no unit multiplies by fragments that are copied ahead.
// CHECK-LABEL: func.func @gradients
// CHECK:         tracea.attention_qgrad
// CHECK-SAME:    variant = "attention_qgrad.warp", unit = mma_sync, tile = [128, 32], registers = [32, 32]
// CHECK:         tracea.attention_kvgrad
// CHECK-SAME:    variant = "attention_kvgrad.warp", unit = mma_sync, tile = [128, 32], registers = [32, 32]
// LANES-LABEL: func.func @gradients
// LANES-COUNT-2: variant = "linalg"
func.func @gradients(%q: tensor<8x12x1024x64xbf16>, %l: tensor<8x12x1024xf32>) -> (tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>) {
  %0 = tracea.attention_qgrad causal ins(%q, %q, %q, %q, %l, %l : tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024xf32>, tensor<8x12x1024xf32>)
    outs(%q : tensor<8x12x1024x64xbf16>) -> tensor<8x12x1024x64xbf16>
  %1:2 = tracea.attention_kvgrad causal ins(%q, %q, %q, %q, %l, %l : tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024xf32>, tensor<8x12x1024xf32>)
    outs(%q, %q : tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>) -> tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>
  return %0, %1#0, %1#1 : tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>, tensor<8x12x1024x64xbf16>
}
