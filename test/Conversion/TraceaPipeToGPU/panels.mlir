// A staged tile in panels: column c is column c mod 64 of panel c / 64, and each
// panel is a whole tile of its own.
// RUN: tracea-opt %s --convert-tracea-pipe-to-gpu --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], outer = [1, 1]>
#plain = #tracea_pipe.staged<panel = 64>
#swizzled = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  // CHECK-LABEL: tracea_pipe.kernel @panels
  // CHECK:         %[[PANEL:.*]] = arith.divsi %{{.*}}, %c64
  // CHECK-NEXT:    %[[BEFORE:.*]] = arith.muli %[[PANEL]], %c2048
  // CHECK-NEXT:    %[[BYTE:.*]] = arith.addi %{{.*}}, %[[BEFORE]]
  // CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4096], strides: [1]
  // CHECK-NEXT:    %[[PLACE:.*]] = arith.divui %[[BYTE]], %c2
  // CHECK-NEXT:    %[[AT:.*]] = arith.index_cast %[[PLACE]]
  // CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
  tracea_pipe.kernel @panels(%y: memref<16x64xbf16>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<16x256xbf16, #plain>
      %c = arith.constant 64 : index
      %k = arith.muli %i, %c : index
      %a = tracea_pipe.load %s[%c0, %k] map #id : memref<16x256xbf16, #plain> -> tensor<4x64xbf16, #rows>
      tracea_pipe.store %a, %y[%c0, %c0] map #id : tensor<4x64xbf16, #rows>, memref<16x64xbf16>
    }
    tracea_pipe.end
  }
  // The swizzle moves places within a panel, whose rows are 128 bytes.
  // CHECK-LABEL: tracea_pipe.kernel @swizzled
  // CHECK:         %[[PANEL:.*]] = arith.divsi %{{.*}}, %c64
  // CHECK-NEXT:    %[[BEFORE:.*]] = arith.muli %[[PANEL]], %c2048
  // CHECK-NEXT:    %[[DOWN:.*]] = arith.shrui %[[LINEAR:.*]], %c3
  // CHECK-NEXT:    %[[MOVED:.*]] = arith.andi %[[DOWN]], %c112
  // CHECK-NEXT:    %[[TO:.*]] = arith.xori %[[LINEAR]], %[[MOVED]]
  // CHECK-NEXT:    %[[BYTE:.*]] = arith.addi %[[BEFORE]], %[[TO]]
  // CHECK:         %[[PLACE:.*]] = arith.divui %[[BYTE]], %c2
  // CHECK-NEXT:    %[[AT:.*]] = arith.index_cast %[[PLACE]]
  // CHECK-NEXT:    vector.load %{{.*}}[%[[AT]]] {alignment = 16 : i64} : {{.*}}, vector<8xbf16>
  tracea_pipe.kernel @swizzled(%y: memref<16x64xbf16>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<16x256xbf16, #swizzled>
      %c = arith.constant 64 : index
      %k = arith.muli %i, %c : index
      %a = tracea_pipe.load %s[%c0, %k] map #id : memref<16x256xbf16, #swizzled> -> tensor<4x64xbf16, #rows>
      tracea_pipe.store %a, %y[%c0, %c0] map #id : tensor<4x64xbf16, #rows>, memref<16x64xbf16>
    }
    tracea_pipe.end
  }

  // Neighbours may lie in two panels: each element is found by itself.
  // CHECK-LABEL:   tracea_pipe.kernel @anywhere
  // CHECK-NOT:     vector.load
  // CHECK-COUNT-8: arith.divui %{{.*}}, %c64
  // CHECK-NOT:     arith.divui %{{.*}}, %c64
  // CHECK-NOT:     vector.load
  tracea_pipe.kernel @anywhere(%y: memref<16x64xbf16>, %n: index) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<16x256xbf16, #plain>
      %a = tracea_pipe.load %s[%c0, %i] map #id : memref<16x256xbf16, #plain> -> tensor<4x64xbf16, #rows>
      tracea_pipe.store %a, %y[%c0, %c0] map #id : tensor<4x64xbf16, #rows>, memref<16x64xbf16>
    }
    tracea_pipe.end
  }
}
