// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// Data that the program has compared with the extent itself, and that is not negative, needs no check of ours.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-NOT:     cf.assert
// CHECK:         end
func.func @asked(%x: memref<8xf32>, %at: memref<4xi32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<4xi32>) outs(%y : memref<4xf32>) {
  ^bb0(%i: i32, %o: f32):
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %number = arith.index_cast %i : i32 to index
    %j = arith.maxsi %number, %c0 : index
    %inside = arith.cmpi slt, %j, %c8 : index
    %e = scf.if %inside -> f32 {
      %v = memref.load %x[%j] : memref<8xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %e : f32
  }
  return
}

// -----

// One too many, and one that may be negative, are checked.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-COUNT-2: cf.assert
func.func @beyond(%x: memref<8xf32>, %at: memref<4xi32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : memref<4xi32>) outs(%y : memref<4xf32>) {
  ^bb0(%i: i32, %o: f32):
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %zero = arith.constant 0.0 : f32
    %number = arith.index_cast %i : i32 to index
    %j = arith.maxsi %number, %c0 : index
    %inside = arith.cmpi slt, %j, %c9 : index
    %e = scf.if %inside -> f32 {
      %v = memref.load %x[%j] : memref<8xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %below = arith.cmpi slt, %number, %c8 : index
    %f = scf.if %below -> f32 {
      %v = memref.load %x[%number] : memref<8xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %s = arith.addf %e, %f : f32
    linalg.yield %s : f32
  }
  return
}
