// One launch of two kernels: that of the schedule, and behind it the one of the schedule that is left with rows that begin
// anywhere. Of the latter's own two kernels the first asks for as much as the former.
// RUN: split-file %s %t
// RUN: tracea-opt %t/product.mlir --tracea-select-schedule --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s
// RUN: not tracea-opt %t/parts.mlir --convert-tracea-to-tracea-pipe 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not tracea-opt %t/parts.mlir --tracea-select-schedule 2>&1 | FileCheck %s --check-prefix=CHECKED
// RUN: not tracea-opt %t/nested.mlir 2>&1 | FileCheck %s --check-prefix=NESTED

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?x?xbf16>, %[[B:[^:]*]]: tensor<?x?xbf16>, %[[D:[^:]*]]: tensor<?x?xbf16>
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         %[[Y:.*]] = tracea_pipe.launch @gemm_0 else [@[[OTHER:gemm_[0-9]+]]] ins(%[[A]], %[[B]] : {{.*}}) outs(%[[D]] :
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         return %[[Y]]
// CHECK:       tracea_pipe.kernel @gemm_0(%{{[^:]*}}: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}, %{{[^:]*}}: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}, %{{[^:]*}}: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64})
// CHECK-SAME:    variant = "gemm.warpgroup"
// CHECK:       tracea_pipe.kernel @[[OTHER]](%{{[^:]*}}: memref<?x?xbf16>, %{{[^:]*}}: memref<?x?xbf16>, %{{[^:]*}}: memref<?x?xbf16>)
// CHECK-SAME:    variant = "gemm.warp"
// CHECK-NOT:   tracea_pipe.kernel

// PARTS: parts.mlir:{{.*}}: error: 'gemm.warpgroup' and 'gemm.warp' expect one launch each, of the same tensors, where one is left what the other cannot do; found 2 and 1 launches
// CHECKED: parts.mlir:{{.*}}: error: 'tracea.gemm' op schedule is not valid: otherwise: another kernel adds up the parts of its sums
// NESTED: nested.mlir:{{.*}}: error: {{.*}}expected 'otherwise' to be a schedule without a further one, found #tracea.schedule<variant = "gemm.warpgroup"

//--- product.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @product(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2,
              otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>
  return %0 : tensor<?x?xbf16>
}
}

//--- parts.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @parts(%a: tensor<512x4096xbf16>, %b: tensor<4096x?xbf16>, %d: tensor<512x?xbf16>) -> tensor<512x?xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<512x4096xbf16>, tensor<4096x?xbf16>) outs(%d : tensor<512x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, split = 2,
              otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>
  return %0 : tensor<512x?xbf16>
}
}

//--- nested.mlir
#s = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2,
        otherwise = <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2,
          otherwise = <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 64], slots = 4>>>
