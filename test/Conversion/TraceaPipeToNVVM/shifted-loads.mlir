// Lanes that have 16 bytes of neighbours in memory that begins anywhere read the
// two words that these lie in. A tile whose words are not all the buffer's, or
// whose rows a limit cuts, is read by elements, without a branch for each.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#halves = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], outer = [1, 1]>
#words = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], outer = [1, 1]>
#bytes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [0, 64], [0, 128], [0, 256]], outer = [1, 1]>
#four = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], outer = [1, 1]>
#apart = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 8]], lane = [[0, 4], [0, 16], [0, 32], [0, 64], [0, 128]], outer = [1, 1]>

// Columns may be cut: what lies beyond them becomes zeros. By 2 bytes in the
// end, after whole words and half ones.
// CHECK-LABEL: llvm.func @cut(
// CHECK-SAME: %[[N:.*]]: {{i64|index}}, %[[A:[^ ]*]]: !llvm.ptr<1>
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: scf.if %{{.*}} -> (vector<4xi32>) {
// CHECK-DAG: %[[OFF:.*]] = arith.andi %{{.*}}, %c15_i32
// CHECK-DAG: %[[BACK:.*]] = arith.subi %c0_i32, %[[OFF]]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-6: arith.select %{{.*}} : i32
// CHECK-COUNT-5: arith.select %{{.*}} : i32
// CHECK-COUNT-4: llvm.intr.fshr
// CHECK: scf.if %{{.*}} -> (vector<4xi32>) {
// CHECK: } else {
// CHECK-COUNT-4: arith.shli %{{.*}} : i64
// CHECK: } else {
// CHECK: scf.if %{{.*}} -> (vector<4xi32>) {
// CHECK-NOT: scf.if
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK: } else {
// CHECK: llvm.return
tracea_pipe.kernel @cut(%n: index, %a: memref<?x1001xbf16>, %d: memref<?x1024xbf16> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %c1001 = arith.constant 1001 : index
  tracea_pipe.tiles (%i, %j) in (%n, %c256) {
    %column = arith.muli %j, %c256 : index
    %left = arith.subi %c1001, %column : index
    %rows = arith.subi %n, %i : index
    %x = tracea_pipe.load %a[%i, %column] map #id limits(%rows, %left) : memref<?x1001xbf16> -> tensor<1x256xbf16, #halves>
    tracea_pipe.store %x, %d[%i, %column] map #id : tensor<1x256xbf16, #halves>, memref<?x1024xbf16>
  }
  tracea_pipe.end
}

// Nothing is cut: one condition, of the buffer's ends.
// CHECK-LABEL: llvm.func @whole(
// CHECK: scf.if %{{.*}} -> (vector<4xi32>) {
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: scf.if
// CHECK: llvm.return
tracea_pipe.kernel @whole(%n: index, %a: memref<?x1001xbf16>, %d: memref<?x1024xbf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x1001xbf16> -> tensor<1x256xbf16, #halves>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x256xbf16, #halves>, memref<?x1024xbf16>
  }
  tracea_pipe.end
}

// Elements of four bytes are shifted by whole parts; those of one, like halves.
// CHECK-LABEL: llvm.func @singles(
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: llvm.intr.fshr
// CHECK: llvm.return
tracea_pipe.kernel @singles(%n: index, %a: memref<?x1001xf32>, %d: memref<?x1024xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x1001xf32> -> tensor<1x128xf32, #words>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #words>, memref<?x1024xf32>
  }
  tracea_pipe.end
}
// CHECK-LABEL: llvm.func @bytes(
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64}
// CHECK-COUNT-4: llvm.intr.fshr
// CHECK: llvm.return
tracea_pipe.kernel @bytes(%n: index, %a: memref<?x1001xi8>, %d: memref<?x1024xi8>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x1001xi8> -> tensor<1x512xi8, #bytes>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x512xi8, #bytes>, memref<?x1024xi8>
  }
  tracea_pipe.end
}

// Not so: eight bytes of neighbours; neighbours apart; another padding than
// zero; memory across the lanes; rows that are known to be aligned.
// CHECK-LABEL: llvm.func @none(
// CHECK-NOT: llvm.load {{.*}} vector<4xi32>
// CHECK: llvm.return
tracea_pipe.kernel @none(%n: index, %a: memref<?x1001xbf16>, %b: memref<?x1024xbf16> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x1024xbf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : bf16
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x1001xbf16> -> tensor<1x128xbf16, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xbf16, #four>, memref<?x1024xbf16>
    %y = tracea_pipe.load %a[%i, %c0] map #id : memref<?x1001xbf16> -> tensor<1x256xbf16, #apart>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<1x256xbf16, #apart>, memref<?x1024xbf16>
    %z = tracea_pipe.load %a[%i, %c0] map #id limits(%n, %n) padding(%one : bf16) : memref<?x1001xbf16> -> tensor<1x256xbf16, #halves>
    tracea_pipe.store %z, %d[%i, %c0] map #id : tensor<1x256xbf16, #halves>, memref<?x1024xbf16>
    %t = tracea_pipe.load %a[%i, %c0] map #turned : memref<?x1001xbf16> -> tensor<1x256xbf16, #halves>
    tracea_pipe.store %t, %d[%i, %c0] map #id : tensor<1x256xbf16, #halves>, memref<?x1024xbf16>
    %u = tracea_pipe.load %b[%i, %c0] map #id : memref<?x1024xbf16> -> tensor<1x256xbf16, #halves>
    tracea_pipe.store %u, %d[%i, %c0] map #id : tensor<1x256xbf16, #halves>, memref<?x1024xbf16>
  }
  tracea_pipe.end
}
