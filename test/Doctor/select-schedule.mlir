// The schedule and the reasons are properties of the table entry, not of this
// machine.
// RUN: tracea-opt %s --tracea-select-schedule="target=znver4 threads=2" \
// RUN:   | FileCheck %s
// RUN: tracea-opt %s --tracea-select-schedule="target=znver4 threads=2" \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s --tracea-select-schedule="target=haswell threads=1" \
// RUN:   | FileCheck %s --check-prefix=AVX2
// A second run finds the target and all schedules there, valid, and changes
// nothing.
// RUN: tracea-opt %s --tracea-select-schedule="target=znver4 threads=2" -o %t.1
// RUN: tracea-opt %t.1 --tracea-select-schedule="target=haswell threads=7" -o %t.2
// RUN: diff %t.1 %t.2

// CHECK:      module attributes {tracea.target = #tracea.target<
// CHECK-SAME:   kind = cpu, name = "znver4"
// CHECK-SAME:   features = "{{.*}}+avx512f
// CHECK-SAME:   vector_bits = 512, vector_registers = 32
// CHECK-SAME:   cores = 2
// AVX2:       module attributes {tracea.target = #tracea.target<
// AVX2-SAME:    name = "haswell"
// AVX2-SAME:    vector_bits = 256, vector_registers = 16

// CHECK-LABEL: @gemm
// CHECK:       tracea.gemm
// CHECK-SAME:  variant = "gemm.packed", unit = vector, tile = [256, 512, 256, 256], registers = [8, 32]
// AVX2-LABEL:  @gemm
// AVX2:        variant = "gemm.packed"
// AVX2-SAME:   registers = [6, 16]
// REMARK:      remark: {{.*}}schedule-selected{{.*}}tracea-doctor
// REMARK-SAME: tracea.gemm: takes 'gemm.packed' with tile = [256, 512, 256, 256], registers = [8, 32]
func.func @gemm(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>,
                %d: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                   outs(%d : tensor<512x512xf32>)
  return %0 : tensor<512x512xf32>
}

// Nothing about the extents is known: fixed tiles.
// CHECK-LABEL: @gemm_dynamic
// CHECK:       variant = "gemm.packed", unit = vector, tile = [512, 1024, 256, 256], registers = [8, 32]
func.func @gemm_dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>,
                        %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                   outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @gemm_f64
// CHECK:       registers = [8, 16]
func.func @gemm_f64(%a: tensor<512x512xf64>, %b: tensor<512x512xf64>,
                    %d: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %0 = tracea.gemm ins(%a, %b : tensor<512x512xf64>, tensor<512x512xf64>)
                   outs(%d : tensor<512x512xf64>)
  return %0 : tensor<512x512xf64>
}

// CHECK-LABEL: @conv
// CHECK:       tracea.conv2d
// CHECK-SAME:  variant = "conv2d.patch"
// CHECK-SAME:  64], registers = [14, 32]
// REMARK:      tracea.conv2d: takes 'conv2d.patch'
// REMARK:      variant-refused
// REMARK-SAME: tracea.conv2d: 'conv2d.depthwise' is not taken: the convolution is not depthwise
func.func @conv(%x: tensor<1x58x58x64xf32>, %w: tensor<64x3x3x64xf32>,
                %d: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<1x58x58x64xf32>, tensor<64x3x3x64xf32>)
         outs(%d : tensor<1x56x56x64xf32>)
  return %0 : tensor<1x56x56x64xf32>
}

// CHECK-LABEL: @depthwise
// CHECK:       variant = "conv2d.depthwise"
// REMARK:      tracea.conv2d: takes 'conv2d.depthwise'
// REMARK:      tracea.conv2d: 'conv2d.patch' is not taken: the cost model expects {{[0-9.]+}} times the cycles
func.func @depthwise(%x: tensor<1x62x62x96xf32>, %w: tensor<96x7x7x1xf32>,
                     %d: tensor<1x56x56x96xf32>) -> tensor<1x56x56x96xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 96
         ins(%x, %w : tensor<1x62x62x96xf32>, tensor<96x7x7x1xf32>)
         outs(%d : tensor<1x56x56x96xf32>)
  return %0 : tensor<1x56x56x96xf32>
}

// CHECK-LABEL: @rows
// CHECK:       tracea.softmax
// CHECK-SAME:  variant = "row", unit = vector, tile = [1, 64], registers = [1, 64]
// CHECK:       tracea.layer_norm
// CHECK-SAME:  variant = "row"
// CHECK:       tracea.rms_norm
// CHECK-SAME:  variant = "row"
func.func @rows(%x: tensor<?x4096xf32>, %d: tensor<?x4096xf32>)
    -> tensor<?x4096xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x4096xf32>)
                            outs(%d : tensor<?x4096xf32>)
  %1 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%0 : tensor<?x4096xf32>)
                         outs(%d : tensor<?x4096xf32>)
  %2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%1 : tensor<?x4096xf32>)
                       outs(%d : tensor<?x4096xf32>)
  return %2 : tensor<?x4096xf32>
}

// CHECK-LABEL: @batch_norm
// CHECK:       variant = "elementwise", unit = vector>
func.func @batch_norm(%x: tensor<4x8xf32>, %c: tensor<8xf32>,
                      %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tracea.batch_norm axis 1 epsilon 1.0e-5
         ins(%x, %c, %c, %c, %c : tensor<4x8xf32>, tensor<8xf32>,
             tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
         outs(%d : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: @attention
// CHECK:       variant = "attention.flash", unit = vector, tile = [128, 128], registers = [8, 32]
func.func @attention(%q: tensor<2x8x512x64xf32>, %d: tensor<2x8x512x64xf32>)
    -> tensor<2x8x512x64xf32> {
  %0 = tracea.attention causal
         ins(%q, %q, %q : tensor<2x8x512x64xf32>, tensor<2x8x512x64xf32>,
             tensor<2x8x512x64xf32>)
         outs(%d : tensor<2x8x512x64xf32>) -> tensor<2x8x512x64xf32>
  return %0 : tensor<2x8x512x64xf32>
}

// A head of unknown extent: the reference loops, and the reason why.
// CHECK-LABEL: @attention_dynamic
// CHECK:       variant = "linalg", unit = vector>
// REMARK:      schedule-fallback
// REMARK-SAME: tracea.attention: falls back to 'linalg'
// REMARK:      variant-refused
// REMARK-SAME: tracea.attention: 'attention.flash' is not taken: the extent of a query is not static
func.func @attention_dynamic(%q: tensor<2x8x512x?xf32>,
                             %d: tensor<2x8x512x?xf32>)
    -> tensor<2x8x512x?xf32> {
  %0 = tracea.attention scale 1.0
         ins(%q, %q, %q : tensor<2x8x512x?xf32>, tensor<2x8x512x?xf32>,
             tensor<2x8x512x?xf32>)
         outs(%d : tensor<2x8x512x?xf32>) -> tensor<2x8x512x?xf32>
  return %0 : tensor<2x8x512x?xf32>
}

// A schedule by hand stays as it is.
// CHECK-LABEL: @by_hand
// CHECK:       tile = [64, 64, 32, 64], registers = [4, 16]
// REMARK:      schedule-verified
// REMARK-SAME: tracea.gemm: keeps the given schedule 'gemm.packed'
func.func @by_hand(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>,
                   %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                   outs(%d : tensor<64x64xf32>)
         schedule <variant = "gemm.packed", unit = vector,
                   tile = [64, 64, 32, 64], registers = [4, 16]>
  return %0 : tensor<64x64xf32>
}
