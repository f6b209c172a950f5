// A logarithm behind a softmax is computed of one vector of each lane at a time: what a function needs of registers is
// several times its elements, which the row has taken.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK:         math.exp {{.*}} : tensor<1x2048xf32,
// CHECK:         %[[ROW:.*]] = arith.mulf {{.*}} : tensor<1x2048xf32,
// CHECK:         %[[FIRST:.*]] = tracea_pipe.slice %[[ROW]][0, 0] : {{.*}} -> tensor<1x1024xf32, #[[PIECE:.*]]>
// CHECK:         math.log %[[FIRST]] : tensor<1x1024xf32, #[[PIECE]]>
// CHECK:         tracea_pipe.store
// CHECK:         %[[SECOND:.*]] = tracea_pipe.slice %[[ROW]][0, 1024]
// CHECK:         math.log %[[SECOND]]
// CHECK:         tracea_pipe.store
// CHECK-NOT:     tracea_pipe.slice
// CHECK:       tracea_pipe.kernel @softmax_1(
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @main(%x: tensor<?x2048xbf16>, %d: tensor<?x2048xbf16>) -> tensor<?x2048xbf16> {
    %y = tracea.softmax dim 1 ins(%x : tensor<?x2048xbf16>) outs(%d : tensor<?x2048xbf16>)
      schedule <variant = "row.lanes", unit = vector, tile = [1, 2048], lanes = 128, vector = 8> epilogue {
      ^bb0(%acc: f32):
        %l = math.log %acc : f32
        %t = arith.truncf %l : f32 to bf16
        tracea.yield %t : bf16
    }
    return %y : tensor<?x2048xbf16>
  }
}
