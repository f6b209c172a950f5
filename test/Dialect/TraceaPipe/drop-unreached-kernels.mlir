// RUN: tracea-opt %s --split-input-file --tracea-drop-unreached-kernels | FileCheck %s

// Rows of 64 elements of bf16 begin at multiples of 16 bytes for any number of them: the kernel behind is gone.
// CHECK-LABEL: func.func @rows(
// CHECK:         tracea_pipe.launch @wide ins(
// CHECK-LABEL: func.func @window(
// CHECK:         tracea_pipe.launch @wide ins(
// CHECK-NOT:   tracea_pipe.kernel @narrow
func.func @rows(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  tracea_pipe.launch @wide else [@narrow] ins(%x : memref<?x64xbf16>) outs(%y : memref<?x64xbf16>)
  return
}
func.func @window(%x: memref<?x64xbf16, strided<[192, 1], offset: 128>>, %y: memref<?x64xbf16>) {
  tracea_pipe.launch @wide else [@narrow] ins(%x : memref<?x64xbf16, strided<[192, 1], offset: 128>>) outs(%y : memref<?x64xbf16>)
  return
}
tracea_pipe.kernel @wide(%x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @narrow(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// A kernel for small results leaves the others to the one behind it, and that one leaves nothing.
// CHECK-LABEL: func.func @sized(
// CHECK:         tracea_pipe.launch @small else [@wide] most [4096, 0] ins(
// CHECK-NOT:   tracea_pipe.kernel @narrow
func.func @sized(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  tracea_pipe.launch @small else [@wide, @narrow] most [4096, 0, 0] ins(%x : memref<?x64xbf16>) outs(%y : memref<?x64xbf16>)
  return
}
tracea_pipe.kernel @small(%x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @wide(%x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @narrow(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Windows whose offset, or whose rows, begin elsewhere or anywhere keep it, and one launch of it is enough.
// CHECK-LABEL: func.func @offset(
// CHECK:         tracea_pipe.launch @wide else [@narrow] ins(
// CHECK:         tracea_pipe.launch @wide else [@narrow] ins(
// CHECK:         tracea_pipe.launch @wide else [@narrow] ins(
// CHECK:         tracea_pipe.launch @wide ins(
// CHECK:       tracea_pipe.kernel @narrow
func.func @offset(%a: memref<?x64xbf16, strided<[192, 1], offset: 4>>, %b: memref<?x64xbf16, strided<[196, 1]>>,
                  %c: memref<?x64xbf16, strided<[192, 1], offset: ?>>, %d: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  tracea_pipe.launch @wide else [@narrow] ins(%a : memref<?x64xbf16, strided<[192, 1], offset: 4>>) outs(%y : memref<?x64xbf16>)
  tracea_pipe.launch @wide else [@narrow] ins(%b : memref<?x64xbf16, strided<[196, 1]>>) outs(%y : memref<?x64xbf16>)
  tracea_pipe.launch @wide else [@narrow] ins(%c : memref<?x64xbf16, strided<[192, 1], offset: ?>>) outs(%y : memref<?x64xbf16>)
  tracea_pipe.launch @wide else [@narrow] ins(%d : memref<?x64xbf16>) outs(%y : memref<?x64xbf16>)
  return
}
tracea_pipe.kernel @wide(%x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @narrow(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Rows that only the run knows keep it, a vector has none, and of three kernels the middle one may be the last.
// CHECK-LABEL: func.func @unknown(
// CHECK:         tracea_pipe.launch @wide else [@any] ins(
// CHECK:         tracea_pipe.launch @vector ins(
// CHECK-NOT:   tracea_pipe.kernel @last
func.func @unknown(%x: memref<8x?xbf16>, %v: memref<?xbf16>) {
  tracea_pipe.launch @wide else [@any, @last] ins(%x : memref<8x?xbf16>) outs(%x : memref<8x?xbf16>)
  tracea_pipe.launch @vector else [@scalar] ins(%v : memref<?xbf16>) outs(%v : memref<?xbf16>)
  return
}
tracea_pipe.kernel @wide(%x: memref<8x?xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<8x?xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @any(%x: memref<8x?xbf16>, %y: memref<8x?xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @last(%x: memref<8x?xbf16>, %y: memref<8x?xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @vector(%x: memref<?xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @scalar(%x: memref<?xbf16>, %y: memref<?xbf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
