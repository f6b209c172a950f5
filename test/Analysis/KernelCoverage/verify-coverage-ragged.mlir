// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics | FileCheck %s

// Rows of groups whose ends memory holds. The first two kernels are proved, for
// all sizes and all that memory may hold; of the others nothing is claimed.

// CHECK: tracea_pipe.kernel @all(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, 1 access in bounds, 1 condition, for all sizes, no index beyond 64 bits"
// CHECK: tracea_pipe.kernel @of_group(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, 2 accesses in bounds, 1 condition, for all sizes with dim1_0 = dim0_0, no index beyond 64 bits"
// CHECK-NOT: certificate

// Tiles of all groups, and of what is behind the last one.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @all(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%left, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Tiles in front of the rest are those of a group: without groups there are none.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (0, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
func.func @main(%ends: memref<?xi32>, %b: memref<?x16xf32>, %a: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %groups = memref.dim %ends, %c0 : memref<?xi32>
  %vectors = memref.dim %b, %c0 : memref<?x16xf32>
  %same = arith.cmpi eq, %groups, %vectors : index
  cf.assert %same, "a vector for each group"
  tracea_pipe.launch @of_group ins(%ends, %b : memref<?xi32>, memref<?x16xf32>) outs(%a : memref<?x16xf32>)
  return
}
tracea_pipe.kernel @of_group(%ends: memref<?xi32>, %b: memref<?x16xf32>, %a: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x16xf32>
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i) in (%all) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %has = arith.cmpi slt, %i, %full : index
    %count = arith.select %has, %c1, %c0 : index
    %sum = scf.for %s = %c0 to %count step %c1 iter_args(%acc = %zero) -> tensor<8x16xf32, #lanes> {
      %v = tracea_pipe.load %b[%g, %c0] map #row : memref<?x16xf32> -> tensor<8x16xf32, #lanes>
      %next = arith.addf %acc, %v : tensor<8x16xf32, #lanes>
      scf.yield %next : tensor<8x16xf32, #lanes>
    }
    tracea_pipe.store %sum, %a[%first, %c0] map #id limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// Rows behind the last group are left out.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @behind(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%full, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    // expected-remark@+1 {{coverage not decided: which elements it writes depends on tiles that are not all of the groups'}}
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%left, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Nothing keeps a tile from writing rows of the next group.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @next_group(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    // expected-remark-re@+2 {{coverage not decided: 'access {{.*}}: index 0 is {{.*}} may not happen, since it depends on which rows the groups in memory have}}
    // expected-remark@+1 {{coverage not decided: which elements it writes is not known: it is not limited by the end of its group}}
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%c8, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// It stops at the last row alone.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @all_rows(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    %below = arith.subi %M, %first : index
    // expected-remark@+1 {{coverage not decided: which elements it writes is not known: it is not limited by the end of its group}}
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%below, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Tiles of 16 rows, of which 8 are written.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @taller(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 16 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 16 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    // expected-remark-re@+1 {{coverage not decided: 'stage {{.*}}: no writer writes this element {{.*}} may not happen, since it depends on how many tiles the groups in memory have}}
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%left, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// As many tiles as if they were smaller.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @other_count(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 16 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    // expected-remark@+1 {{coverage not decided: which elements it writes depends on tiles that are not all of the groups'}}
    tracea_pipe.store %zero, %a[%first, %n] map #id limits(%left, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// A row too far.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @shifted(%ends: memref<?xi32>, %a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %columns = arith.ceildivsi %N, %c16 : index
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i, %j) in (%all, %columns) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %n = arith.muli %j, %c16 : index
    %w = arith.subi %N, %n : index
    %next = arith.addi %first, %c1 : index
    // expected-remark-re@+2 {{coverage not decided: 'access {{.*}}: index 0 is {{.*}} may not happen, since it depends on which rows the groups in memory have}}
    // expected-remark@+1 {{coverage not decided: which elements it writes is not known: it is not limited by the end of its group}}
    tracea_pipe.store %zero, %a[%next, %n] map #id limits(%left, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Those of the rest are of no group.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (0, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
func.func @main(%ends: memref<?xi32>, %b: memref<?x16xf32>, %a: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %groups = memref.dim %ends, %c0 : memref<?xi32>
  %vectors = memref.dim %b, %c0 : memref<?x16xf32>
  %same = arith.cmpi eq, %groups, %vectors : index
  cf.assert %same, "a vector for each group"
  tracea_pipe.launch @of_rest ins(%ends, %b : memref<?xi32>, memref<?x16xf32>) outs(%a : memref<?x16xf32>)
  return
}
tracea_pipe.kernel @of_rest(%ends: memref<?xi32>, %b: memref<?x16xf32>, %a: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x16xf32>
  %all, %full = tracea_pipe.ragged_count %ends rows %M tile 8 : memref<?xi32>
  tracea_pipe.tiles (%i) in (%all) {
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %M tile 8 : memref<?xi32>
    %left = arith.subi %end, %first : index
    %has = arith.cmpi slt, %i, %all : index
    %count = arith.select %has, %c1, %c0 : index
    %sum = scf.for %s = %c0 to %count step %c1 iter_args(%acc = %zero) -> tensor<8x16xf32, #lanes> {
      // expected-remark-re@+1 {{coverage not decided: 'access {{.*}}: index 0 is {{.*}} may not happen, since it depends on how many tiles the groups in memory have}}
      %v = tracea_pipe.load %b[%g, %c0] map #row : memref<?x16xf32> -> tensor<8x16xf32, #lanes>
      %next = arith.addf %acc, %v : tensor<8x16xf32, #lanes>
      scf.yield %next : tensor<8x16xf32, #lanes>
    }
    tracea_pipe.store %sum, %a[%first, %c0] map #id limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}
