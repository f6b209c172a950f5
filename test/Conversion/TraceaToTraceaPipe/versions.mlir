// One launch of the kernels of all versions, with the size of the result that each is for. Of the first ones there is the
// kernel for memory that begins at multiples of 16 bytes alone: the last one takes what that cannot.
// RUN: split-file %s %t
// RUN: tracea-opt %t/product.mlir --tracea-select-schedule --convert-tracea-to-tracea-pipe | FileCheck %s
// RUN: not tracea-opt %t/parts.mlir --tracea-select-schedule 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not tracea-opt %t/alone.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tracea-opt %t/order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not tracea-opt %t/negative.mlir 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// CHECK-LABEL: func.func @product(
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         tracea_pipe.launch @[[A:gemm_[0-9]+]] else [@[[B:gemm_[0-9]+]], @[[C:gemm_[0-9]+]], @[[D:gemm_[0-9]+]]] most [1000, 20000, 0, 0] ins(
// CHECK-NOT:     tracea_pipe.launch
// CHECK-DAG:   tracea_pipe.kernel @[[A]](%{{[^:]*}}: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}{{.*}}variant = "gemm.warp"
// CHECK-DAG:   tracea_pipe.kernel @[[B]](%{{[^:]*}}: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}{{.*}}variant = "gemm.skinny"
// CHECK-DAG:   tracea_pipe.kernel @[[C]](%{{[^:]*}}: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}{{.*}}variant = "gemm.warp"
// CHECK-DAG:   tracea_pipe.kernel @[[D]](%{{[^:]*}}: memref<?x64xbf16>, {{.*}}variant = "gemm.warp"

// PARTS: parts.mlir:{{.*}}: error: 'tracea.gemm' op schedule is not valid: most: another kernel adds up the parts of its sums
// ALONE: alone.mlir:{{.*}}: error: expected a schedule with 'most' to leave larger results to 'otherwise'
// ORDER: order.mlir:{{.*}}: error: expected 'otherwise' to be for results of more than 2000 elements, found 1000
// NEGATIVE: negative.mlir:{{.*}}: error: expected 'most' to be a number of elements, found -1

//--- product.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @product(%a: tensor<?x64xbf16>, %b: tensor<96x64xbf16>, %d: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x64xbf16>, tensor<96x64xbf16>) outs(%d : tensor<?x96xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 4, most = 1000,
              otherwise = <variant = "gemm.skinny", unit = wgmma, tile = [32, 64, 64], slots = 4, producers = 1, consumers = 1, most = 20000,
              otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>>
  return %0 : tensor<?x96xbf16>
}
}

//--- parts.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @parts(%a: tensor<512x4096xbf16>, %b: tensor<4096x?xbf16>, %d: tensor<512x?xbf16>) -> tensor<512x?xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<512x4096xbf16>, tensor<4096x?xbf16>) outs(%d : tensor<512x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, split = 2, most = 100000,
              otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>
  return %0 : tensor<512x?xbf16>
}
}

//--- alone.mlir
#s = #tracea.schedule<variant = "gemm.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 4, most = 1000>

//--- order.mlir
#s = #tracea.schedule<variant = "gemm.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 4, most = 2000,
        otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [64, 32, 32], registers = [16, 16], slots = 4, most = 1000,
        otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>>

//--- negative.mlir
#s = #tracea.schedule<variant = "gemm.warp", unit = mma_sync, tile = [32, 32, 32], registers = [16, 16], slots = 4, most = -1,
        otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>
