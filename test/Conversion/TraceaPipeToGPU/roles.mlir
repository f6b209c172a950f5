// In a kernel the memory of an exchange is a scratch tile, one part for each team
// of a role; warps count from the team's first, and teams meet on their own.
// RUN: tracea-opt %s --convert-tracea-pipe-to-gpu --canonicalize --cse | FileCheck %s

#left = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]], outer = [1, 1]>
#right = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4]], warp = [[0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  // CHECK-LABEL: tracea_pipe.kernel @teams
  // CHECK:         %[[ALL:.*]] = tracea_pipe.scratch : memref<2048xi8, #tracea_pipe.staged>
  // CHECK:         tracea_pipe.role "consumer" warps [4, 8] copies 2 (%[[TEAM:.*]])
  // CHECK-DAG:       %[[LANE:.*]] = gpu.lane_id
  // CHECK-DAG:       %[[WARP:.*]] = gpu.subgroup_id
  // CHECK-DAG:       memref.memory_space_cast %[[ALL]] : memref<2048xi8, #tracea_pipe.staged> to memref<2048xi8, #gpu.address_space<workgroup>>
  // CHECK-DAG:       %[[PART:.*]] = arith.muli %[[TEAM]], %c1024
  // CHECK:           memref.view %{{.*}}[%[[PART]]][] : memref<2048xi8, #gpu.address_space<workgroup>> to memref<1024xi8, #gpu.address_space<workgroup>>
  // CHECK:           tracea_pipe.sync
  // CHECK:           vector.store
  // CHECK-NEXT:      tracea_pipe.sync
  // CHECK:           vector.load
  // CHECK-NOT:       gpu.barrier
  tracea_pipe.kernel @teams(%x: memref<16x16xf32>, %y: memref<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      tracea_pipe.roles {
        tracea_pipe.role "producer" warps [0, 4] {
        }
        tracea_pipe.role "consumer" warps [4, 8] copies 2 (%team) {
          %a = tracea_pipe.load %x[%c0, %c0] map #id : memref<16x16xf32> -> tensor<16x16xf32, #left>
          %b = tracea_pipe.relayout %a : tensor<16x16xf32, #left> -> tensor<16x16xf32, #right>
          tracea_pipe.store %b, %y[%c0, %c0] map #id : tensor<16x16xf32, #right>, memref<16x16xf32>
        }
      }
    }
    tracea_pipe.end
  }

  // A swizzled buffer is addressed as its swizzle says: bits 7, 8 and 9 of bytes
  // move to 4, 5 and 6, and bytes are elements of two.
  // CHECK-LABEL: tracea_pipe.kernel @swizzled
  // CHECK:         %[[DOWN:.*]] = arith.shrui %[[LINEAR:.*]], %c3
  // CHECK-NEXT:    %[[MOVED:.*]] = arith.andi %[[DOWN]], %c112
  // CHECK-NEXT:    %[[BYTE:.*]] = arith.xori %[[LINEAR]], %[[MOVED]]
  // CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4096], strides: [1]
  // CHECK-NEXT:    %[[PLACE:.*]] = arith.divui %[[BYTE]], %c2
  // CHECK-NEXT:    %[[AT:.*]] = arith.index_cast %[[PLACE]]
  // CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
  tracea_pipe.kernel @swizzled(%y: memref<64x64xbf16>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
      %a = tracea_pipe.load %s[%c0, %c0] map #id
        : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<4x64xbf16, #tracea_pipe.lanes<
          reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], outer = [1, 1]>>
      tracea_pipe.store %a, %y[%c0, %c0] map #id
        : tensor<4x64xbf16, #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
          lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], outer = [1, 1]>>, memref<64x64xbf16>
    }
    tracea_pipe.end
  }
}
