// Powers whose exponent is an integer.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

// Small constant ones are products of squares, of halves in f32; an exponent may have 64 bits.
// CHECK-LABEL: llvm.func @fifth(
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X:.*]], %[[X]] : vector<4xf32>
// CHECK:         %[[FOURTH:.*]] = arith.mulf %[[SQUARE]], %[[SQUARE]]
// CHECK:         arith.mulf %[[X]], %[[FOURTH]]
// CHECK-NOT:     arith.{{mulf|divf}}
// CHECK:         llvm.return
tracea_pipe.kernel @fifth(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %five = arith.constant dense<5> : tensor<4x128xi64, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = math.fpowi %x, %five : tensor<4x128xf32, #row>, tensor<4x128xi64, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @inverse_square(
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : vector<4xf32>
// CHECK:         arith.divf %{{.*}}, %[[SQUARE]]
// CHECK:         llvm.return
tracea_pipe.kernel @inverse_square(%n: index, %a: memref<?x128xf16>, %d: memref<?x128xf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %minus = arith.constant dense<-2> : tensor<4x128xi32, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf16> -> tensor<4x128xf16, #row>
    %y = math.fpowi %x, %minus : tensor<4x128xf16, #row>, tensor<4x128xi32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf16, #row>, memref<?x128xf16>
  }
  tracea_pipe.end
}

// Others are functions of the magnitude, with the sign of an odd one.
// CHECK-LABEL: llvm.func @any(
// CHECK:         math.absf
// CHECK:         arith.sitofp %[[N:.*]] : vector<4xi64> to vector<4xf64>
// CHECK:         %[[ODD:.*]] = arith.trunci %[[N]] : vector<4xi64> to vector<4xi1>
// CHECK:         %[[SIGNED:.*]] = math.copysign
// CHECK:         arith.select %[[ODD]], %[[SIGNED]],
tracea_pipe.kernel @any(%n: index, %a: memref<?x128xf32>, %e: memref<?x128xi64>, %d: memref<?x128xf32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %p = tracea_pipe.load %e[%i, %c0] map #id : memref<?x128xi64> -> tensor<4x128xi64, #row>
    %y = math.fpowi %x, %p : tensor<4x128xf32, #row>, tensor<4x128xi64, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Of integers: a product by the digits of the exponent, and 1 over it of a negative one.
// CHECK-LABEL: llvm.func @integers(
// CHECK-COUNT-7: arith.andi %{{.*}} : vector<4xi8>
// CHECK-NOT:     arith.andi %{{.*}} : vector<4xi8>
// CHECK:         %[[UNIT:.*]] = arith.ori
// CHECK:         %[[FRACTION:.*]] = arith.select %[[UNIT]], %[[POWER:.*]], %{{.*}} : vector<4xi1>, vector<4xi8>
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpi slt
// CHECK:         arith.select %[[NEGATIVE]], %[[FRACTION]], %[[POWER]]
tracea_pipe.kernel @integers(%n: index, %a: memref<?x128xi8>, %e: memref<?x128xi8>, %d: memref<?x128xi8>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xi8> -> tensor<4x128xi8, #row>
    %p = tracea_pipe.load %e[%i, %c0] map #id : memref<?x128xi8> -> tensor<4x128xi8, #row>
    %y = math.ipowi %x, %p : tensor<4x128xi8, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xi8, #row>, memref<?x128xi8>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @cube(
// CHECK:         %[[SQUARE:.*]] = arith.muli %[[X:.*]], %[[X]] : vector<4xi32>
// CHECK:         arith.muli %[[X]], %[[SQUARE]]
// CHECK-NOT:     arith.select
// CHECK:         llvm.return
tracea_pipe.kernel @cube(%n: index, %a: memref<?x128xi32>, %d: memref<?x128xi32>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %three = arith.constant dense<3> : tensor<4x128xi32, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xi32> -> tensor<4x128xi32, #row>
    %y = math.ipowi %x, %three : tensor<4x128xi32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xi32, #row>, memref<?x128xi32>
  }
  tracea_pipe.end
}
