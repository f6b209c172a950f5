// Register tiles in global memory: neighbours of a lane go as one vector where memory,
// lane map and indices say that they are aligned, and without conditions where no
// limit cuts the tile.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#four = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], outer = [1, 1]>
#two = #tracea_pipe.lanes<reg = [[0, 1], [0, 64]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], outer = [1, 1]>
#apart = #tracea_pipe.lanes<reg = [[0, 32], [0, 64]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [1, 0], [2, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], outer = [1, 1]>

// Four neighbours in memory that is aligned to 16 bytes.
// CHECK-LABEL: llvm.func @four(
// CHECK-NOT: scf.if
// CHECK-COUNT-1: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-1: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @four(%n: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Memory that is aligned to 8 bytes.
// CHECK-LABEL: llvm.func @eight_bytes(
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @eight_bytes(%n: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 8 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 8 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Memory of which nothing is known, and less than 16 bytes of neighbours.
// CHECK-LABEL: llvm.func @unknown(
// CHECK-NOT: scf.if
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @unknown(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<1x128xf32, #two>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #two>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Four neighbours of 16 bits.
// CHECK-LABEL: llvm.func @halves(
// CHECK-NOT: scf.if
// CHECK-COUNT-1: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-1: llvm.store %{{.*}} {alignment = 8 : i64} : vector<4xbf16>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @halves(%n: index, %a: memref<?x128xbf16> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xbf16> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xbf16> -> tensor<1x128xbf16, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xbf16, #four>, memref<?x128xbf16>
  }
  tracea_pipe.end
}

// A lane map with two neighbours.
// CHECK-LABEL: llvm.func @two(
// CHECK-NOT: scf.if
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @two(%n: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<1x128xf32, #two>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #two>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// A lane map without neighbours.
// CHECK-LABEL: llvm.func @apart(
// CHECK-NOT: scf.if
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32{{$}}
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @apart(%n: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<1x128xf32, #apart>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #apart>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// An index moves the row by any number of elements: no vectors.
// CHECK-LABEL: llvm.func @moved(
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.load
tracea_pipe.kernel @moved(%n: index, %a: memref<?x512xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %n] map #id : memref<?x512xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// By a multiple of two elements.
// CHECK-LABEL: llvm.func @moved_twice(
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT: llvm.load
tracea_pipe.kernel @moved_twice(%n: index, %a: memref<?x512xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tracea_pipe.tiles (%i) in (%n) {
    %j = arith.muli %n, %c2 : index
    %x = tracea_pipe.load %a[%i, %j] map #id : memref<?x512xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Limits: the team finds out once whether they cut the tile. If not, vectors; if they
// do, each element has its condition, and what lies beyond is the padding.
// CHECK-LABEL: llvm.func @limits(
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[W:.*]], %c128
// CHECK: %[[X:.*]] = scf.if %[[WHOLE]] -> (vector<4xf32>) {
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: } else {
// CHECK-COUNT-4: scf.if %{{.*}} -> (f32) {
// CHECK: }
// CHECK: %[[ALL:.*]] = arith.cmpi sge, %[[W]], %c128
// CHECK: scf.if %[[ALL]] {
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK: } else {
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK: llvm.return
tracea_pipe.kernel @limits(%n: index, %w: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id limits(%c1, %w) : memref<?x128xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id limits(%c1, %w) : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// A limit that is a multiple of the neighbours cuts between them: vectors, each with
// its condition.
// CHECK-LABEL: llvm.func @limits_of_vectors(
// CHECK: scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: } else {
// CHECK: scf.if %{{.*}} -> (vector<4xf32>) {
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : vector<4xf32>
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tracea_pipe.kernel @limits_of_vectors(%n: index, %w: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %w4 = arith.muli %w, %c4 : index
    %x = tracea_pipe.load %a[%i, %c0] map #id limits(%c1, %w4) : memref<?x128xf32> -> tensor<1x128xf32, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id limits(%c1, %w4) : tensor<1x128xf32, #four>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Four rows of two neighbours take the same two elements: one vector is loaded, and
// every row has it. The limit of the rows is the same for all and cuts nothing there.
// CHECK-LABEL: llvm.func @shared(
// CHECK-NOT: scf.if
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tracea_pipe.kernel @shared(%n: index, %a: memref<64xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x64xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%c0] map affine_map<(i, j) -> (j)> limits(%c4, %c64) : memref<64xf32> -> tensor<4x64xf32, #rows>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<4x64xf32, #rows>, memref<?x64xf32>
  }
  tracea_pipe.end
}

// With limits in both dimensions a whole tile shares as well; one that is cut does
// not, as rows beyond the limit are padding.
// CHECK-LABEL: llvm.func @shared_limits(
// CHECK: scf.if %{{.*}} -> (vector<8xf32>) {
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: } else {
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tracea_pipe.kernel @shared_limits(%n: index, %h: index, %w: index, %a: memref<64xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x64xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%c0] map affine_map<(i, j) -> (j)> limits(%h, %w) : memref<64xf32> -> tensor<4x64xf32, #rows>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<4x64xf32, #rows>, memref<?x64xf32>
  }
  tracea_pipe.end
}

// What crosses a branch is packed: two halves a word.
// CHECK-LABEL: llvm.func @packed(
// CHECK: %[[WORDS:.*]] = scf.if %{{.*}} -> (vector<2xi32>) {
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: vector.bitcast %[[WORDS]] : vector<2xi32> to vector<4xf16>
tracea_pipe.kernel @packed(%n: index, %w: index, %a: memref<?x128xf16> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf16>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id limits(%c1, %w) : memref<?x128xf16> -> tensor<1x128xf16, #four>
    tracea_pipe.store %x, %d[%i, %c0] map #id : tensor<1x128xf16, #four>, memref<?x128xf16>
  }
  tracea_pipe.end
}
