// Attention by the lanes of a GPU: all operands are staged, and weights go through
// shared memory on their way to the lanes that multiply them.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" --split-input-file -o /dev/null
// RUN: tracea-opt %s --tracea-compile="target=sm_75 to=pipeline require-proof=true" --split-input-file -o /dev/null

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @causal
// CHECK:       tracea_pipe.kernel @attention_0(
// CHECK-SAME:    variant = "attention.simt", warps = 4 : i64
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %[[T:.*]]) in
// CHECK:           %[[P:.*]] = tracea_pipe.scratch : memref<64x32xf32, #tracea_pipe.staged<swizzle = [6, 9, 5, 10]>>
// Rows are of 64 columns, of which 40 are copied.
// CHECK:           %[[Q:.*]] = tracea_pipe.stage %arg0[{{.*}} -> tensor<64x64xf32, #tracea_pipe.staged<swizzle = [4, 10, 5, 11]>>
// CHECK:           scf.for
// CHECK:             %[[K:.*]] = tracea_pipe.stage %arg1{{.*}} slots 2 : {{.*}} -> tensor<32x64xf32, #tracea_pipe.staged<swizzle = [4, 10, 5, 11, 6, 12]>>
// CHECK:             %[[V:.*]] = tracea_pipe.stage %arg2{{.*}} slots 2 : {{.*}} -> tensor<32x64xf32, #tracea_pipe.staged>
// CHECK-COUNT-8:     tracea_pipe.mma {{.*}} tensor<64x8xf32, #[[LEFT:.*]]>, tensor<8x32xf32, #{{.*}}>, tensor<64x32xf32, #{{.*}}>
// CHECK:             %[[W:.*]] = math.exp2 {{.*}} : tensor<64x32xf32
// CHECK:             tracea_pipe.sync
// CHECK:             tracea_pipe.store %[[W]], %[[P]]
// CHECK:             tracea_pipe.sync
// CHECK:             tracea_pipe.load %[[P]][%c0, %c0] {{.*}} -> tensor<64x8xf32, #[[LEFT]]>
// CHECK:             tracea_pipe.mma {{.*}} tensor<64x64xf32
// CHECK:             tracea_pipe.load %[[P]][%c0, %c24] {{.*}} -> tensor<64x8xf32, #[[LEFT]]>
// CHECK:             tracea_pipe.mma {{.*}} tensor<64x64xf32
func.func @causal(%q: tensor<2x8x?x40xf32>, %k: tensor<2x2x?x40xf32>, %v: tensor<2x2x?x40xf32>, %e: tensor<2x8x?x40xf32>) -> tensor<2x8x?x40xf32> {
  %0 = tracea.attention causal ins(%q, %k, %v : tensor<2x8x?x40xf32>, tensor<2x2x?x40xf32>, tensor<2x2x?x40xf32>) outs(%e : tensor<2x8x?x40xf32>)
    schedule <variant = "attention.simt", unit = vector, tile = [64, 32], registers = [4, 4], slots = 2> -> tensor<2x8x?x40xf32>
  return %0 : tensor<2x8x?x40xf32>
}
}

// -----

// What is narrower than the sums is converted as it is multiplied, weights are not
// rounded.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_75", triple = "nvptx64-nvidia-cuda", cpu = "sm_75", vector_bits = 128, subgroup = 32, cores = 68, shared_memory = 65536>} {
// CHECK-LABEL: func.func @half
// CHECK:       tracea_pipe.kernel @attention_0(
// CHECK-SAME:    tracea_pipe.held_copies
// CHECK:           tracea_pipe.scratch : memref<16x32xf32
// CHECK:             %[[K:.*]] = tracea_pipe.load {{.*}} -> tensor<8x32xf16
// CHECK:             arith.extf {{.*}} : tensor<8x32xf16
// CHECK:             tracea_pipe.mma {{.*}} tensor<16x8xf32
func.func @half(%q: tensor<2x8x3x32xf16>, %k: tensor<2x8x77x32xf16>, %v: tensor<2x8x77x32xf16>, %e: tensor<2x8x3x32xf16>) -> tensor<2x8x3x32xf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x8x3x32xf16>, tensor<2x8x77x32xf16>, tensor<2x8x77x32xf16>) outs(%e : tensor<2x8x3x32xf16>)
    schedule <variant = "attention.simt", unit = vector, tile = [16, 32], registers = [4, 4]> -> tensor<2x8x3x32xf16>
  return %0 : tensor<2x8x3x32xf16>
}
}
