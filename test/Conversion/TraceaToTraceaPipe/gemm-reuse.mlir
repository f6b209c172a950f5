// An operand that one tile of the other one's reads is read once by all of the
// kernel, and says so; where only the run knows how many tiles there are, or
// matrices of a batch share it, nothing is said.
// RUN: tracea-opt %s --split-input-file --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<16x4096xbf16>
// CHECK: tracea_pipe.stage %[[A]][{{.*}} slots 6 :
// CHECK: tracea_pipe.stage %{{.*}} slots 6 reuse once :
#schedule = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 6, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @weights(%a: tensor<16x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<16x4096xbf16>) -> tensor<16x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<16x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<16x4096xbf16>) schedule #schedule
  return %0 : tensor<16x4096xbf16>
}
}

// -----

// One column more than a tile.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-NOT: reuse
// CHECK: tracea_pipe.store
#schedule = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 6, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @two_tiles(%a: tensor<17x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<17x4096xbf16>) -> tensor<17x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<17x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<17x4096xbf16>) schedule #schedule
  return %0 : tensor<17x4096xbf16>
}
}

// -----

// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-NOT: reuse
// CHECK: tracea_pipe.store
#schedule = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 6, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @dynamic(%a: tensor<?x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<?x4096xbf16>) schedule #schedule
  return %0 : tensor<?x4096xbf16>
}
}

// -----

// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-NOT: reuse
// CHECK: tracea_pipe.store
#schedule = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 6, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @shared(%a: tensor<4x16x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<4x16x4096xbf16>) -> tensor<4x16x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4x16x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<4x16x4096xbf16>) schedule #schedule
  return %0 : tensor<4x16x4096xbf16>
}
}
