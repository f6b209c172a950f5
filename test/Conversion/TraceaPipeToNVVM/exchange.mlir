// Values that pass between the warps of a team go through shared memory: what a
// warp stores, the others load once all have met.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#tile = #tracea_pipe.lanes<reg = [[0, 1]],
  lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], outer = [1, 1]>
#columns = #tracea_pipe.lanes<reg = [[0, 1]],
  lane = [[0, 2], [0, 4], [0, 8], [0, 0], [0, 0]], warp = [[0, 0], [0, 0]], outer = [1, 1]>
#turned = #tracea_pipe.lanes<reg = [[1, 0]],
  lane = [[2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], outer = [1, 1]>

// The reduction, which a workgroup runs once, has memory of its own: nobody reads it before.
// CHECK-LABEL: llvm.func @workgroup(
// CHECK-SAME:    shared = 1280
tracea_pipe.kernel @workgroup(%x: memref<?x16xf32>, %y: memref<?xf32>, %z: memref<?x16xf32>, %n: index)
    attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%n) {
    %first = arith.muli %i, %c16 : index
    %t = tracea_pipe.load %x[%first, %c0] map #id : memref<?x16xf32> -> tensor<16x16xf32, #tile>
    // Lanes first, then warps.
    // CHECK-COUNT-4: nvvm.shfl.sync bfly
    // CHECK-NOT:     nvvm.barrier
    // CHECK:         llvm.store %{{.*}} : f32, !llvm.ptr<3>
    // CHECK:         nvvm.barrier
    // CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32
    %s = tracea_pipe.reduce add %t dim 0 : tensor<16x16xf32, #tile> -> tensor<1x16xf32, #columns>
    tracea_pipe.store %s, %y[%first] map #column : tensor<1x16xf32, #columns>, memref<?xf32>
    // CHECK:         nvvm.barrier
    // CHECK:         llvm.store %{{.*}} !llvm.ptr<3>
    // CHECK:         nvvm.barrier
    // CHECK:         llvm.load %{{.*}} : !llvm.ptr<3>
    %u = tracea_pipe.relayout %t : tensor<16x16xf32, #tile> -> tensor<16x16xf32, #turned>
    tracea_pipe.store %u, %z[%first, %c0] map #id : tensor<16x16xf32, #turned>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// In a loop it waits until the last step's values have been read.
// CHECK-LABEL: llvm.func @loop(
// CHECK-SAME:    shared = 256
tracea_pipe.kernel @loop(%x: memref<?x16xf32>, %y: memref<?xf32>, %n: index) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%n) {
    // CHECK: scf.for
    scf.for %j = %c0 to %n step %c16 {
      %t = tracea_pipe.load %x[%j, %c0] map #id : memref<?x16xf32> -> tensor<16x16xf32, #tile>
      // CHECK-COUNT-4: nvvm.shfl.sync bfly
      // CHECK:         nvvm.barrier
      // CHECK:         llvm.store %{{.*}} : f32, !llvm.ptr<3>
      // CHECK:         nvvm.barrier
      %s = tracea_pipe.reduce add %t dim 0 : tensor<16x16xf32, #tile> -> tensor<1x16xf32, #columns>
      tracea_pipe.store %s, %y[%j] map #column : tensor<1x16xf32, #columns>, memref<?xf32>
    }
  }
  tracea_pipe.end
}

// Each team of a role has a part of its own, and meets alone.
// CHECK-LABEL: llvm.func @teams(
tracea_pipe.kernel @teams(%x: memref<?x16xf32>, %z: memref<?x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        %number = arith.addi %i, %team : index
        %first = arith.muli %number, %c16 : index
        %t = tracea_pipe.load %x[%first, %c0] map #id : memref<?x16xf32> -> tensor<16x16xf32, #tile>
        // CHECK:       arith.muli %{{.*}}, %c1024
        // CHECK:       nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
        // CHECK:       llvm.store %{{.*}} !llvm.ptr<3>
        // CHECK:       nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
        // CHECK:       llvm.load %{{.*}} : !llvm.ptr<3>
        %u = tracea_pipe.relayout %t : tensor<16x16xf32, #tile> -> tensor<16x16xf32, #turned>
        tracea_pipe.store %u, %z[%first, %c0] map #id : tensor<16x16xf32, #turned>, memref<?x16xf32>
      }
    }
  }
  tracea_pipe.end
}
