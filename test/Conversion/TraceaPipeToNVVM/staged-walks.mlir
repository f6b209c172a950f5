// Tiles that walk through staged memory. Where digits are bits of the tile, matrices of 8 rows are loaded whole; where
// they are not, each lane divides for each of its elements. Extents that only the run knows are refused.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: sed 's/^\/\/ RUN-TIME: //' %s | not tracea-opt --convert-tracea-pipe-to-nvvm -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

#fragment = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#tap = affine_map<(p, q, c) -> (p * 10 + q, c)>
!halo = memref<40x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>

// CHECK-LABEL: llvm.func @bits(
// CHECK-NOT:   {{divui|remui}}
// CHECK:       nvvm.ldmatrix
// CHECK-NOT:   {{divui|remui}}
// CHECK-LABEL: llvm.func @threes(
// CHECK-NOT:   nvvm.ldmatrix
// CHECK:       %[[ROW:.+]] = arith.divui %{{.+}}, %c3_i32 : i32
// CHECK:       %[[COLUMN:.+]] = arith.remui %{{.+}}, %c3_i32 : i32
// CHECK:       arith.muli %[[ROW]], %c10_i32
// CHECK:       llvm.load %{{.+}} : !llvm.ptr<3> -> bf16
tracea_pipe.kernel @bits(%n: index, %y: memref<16x16xbf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %pixels = tracea_pipe.delinearize %c0 into(%c4) : <2>
    %halo = tracea_pipe.scratch : !halo
    %a = tracea_pipe.load %halo[%c0, %c0] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : !halo -> tensor<16x16xbf16, #fragment>
    tracea_pipe.store %a, %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<16x16xbf16, #fragment>, memref<16x16xbf16>
  }
  tracea_pipe.end
}

tracea_pipe.kernel @threes(%n: index, %y: memref<16x16xbf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  tracea_pipe.tiles (%i) in (%n) {
    %pixels = tracea_pipe.delinearize %c0 into(%c3) : <2>
    %halo = tracea_pipe.scratch : memref<56x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
    %a = tracea_pipe.load %halo[%c0, %c0] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : memref<56x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x16xbf16, #fragment>
    tracea_pipe.store %a, %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<16x16xbf16, #fragment>, memref<16x16xbf16>
  }
  tracea_pipe.end
}

// ERROR: 'tracea_pipe.load' op goes along a walk through staged memory, expects one of constant numbers and extents
// ERROR: note: the walk begins here
// RUN-TIME: tracea_pipe.kernel @run(%n: index, %q: index) attributes {warps = 1 : i64} {
// RUN-TIME:   %c0 = arith.constant 0 : index
// RUN-TIME:   tracea_pipe.tiles (%i) in (%n) {
// RUN-TIME:     %pixels = tracea_pipe.delinearize %c0 into(%q) : <2>
// RUN-TIME:     %halo = tracea_pipe.scratch : !halo
// RUN-TIME:     %a = tracea_pipe.load %halo[%c0, %c0] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : !halo -> tensor<16x16xbf16, #fragment>
// RUN-TIME:   }
// RUN-TIME:   tracea_pipe.end
// RUN-TIME: }
