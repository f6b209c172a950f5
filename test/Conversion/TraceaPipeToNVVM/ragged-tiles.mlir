// The group and the rows of a tile, from the ends of the groups in memory. Few
// groups are written out, others are a loop; nothing branches.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: not tracea-opt %S/Inputs/ragged-local.mlir --convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=LOCAL

// LOCAL: error: {{.*}}expects ends that are an argument of the kernel

#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<reg = [], lane = [[1], [2], [4], [8], [16]], outer = [1]>

// Two groups of rows in tiles of 64.
// CHECK-LABEL: llvm.func @count(
// CHECK-SAME: %[[ENDS:.*]]: !llvm.ptr<1>, %[[ROWS64:.*]]: i64, %{{.*}}: !llvm.ptr<1>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C63:.*]] = arith.constant 63 : i32
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
// CHECK: %[[E0:.*]] = llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i32
// An end is at least the one before it, and at most the number of rows.
// CHECK: %[[LOW:.*]] = arith.maxsi %[[E0]], %[[C0]]
// CHECK: %[[END0:.*]] = arith.minsi %[[LOW]], %[[ROWS:.*]] : i32
// CHECK: %[[UP0:.*]] = arith.addi %[[END0]], %[[C63]]
// CHECK: %[[TILES0:.*]] = arith.divui %[[UP0]], %[[C64]]
// CHECK: %[[E1:.*]] = llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i32
// CHECK: %[[NEXT:.*]] = arith.maxsi %[[END0]], %[[E1]]
// CHECK: %[[END1:.*]] = arith.minsi %[[NEXT]], %[[ROWS]]
// CHECK: %[[SIZE1:.*]] = arith.subi %[[END1]], %[[END0]]
// CHECK: %[[UP1:.*]] = arith.addi %[[SIZE1]], %[[C63]]
// CHECK: %[[TILES1:.*]] = arith.divui %[[UP1]], %[[C64]]
// CHECK: %[[FULL:.*]] = arith.addi %[[TILES0]], %[[TILES1]]
// What is behind the last group.
// CHECK: %[[REST:.*]] = arith.subi %[[ROWS]], %[[END1]]
// CHECK: %[[UP2:.*]] = arith.addi %[[REST]], %[[C63]]
// CHECK: %[[TILES2:.*]] = arith.divui %[[UP2]], %[[C64]]
// CHECK: arith.addi %[[FULL]], %[[TILES2]]
// CHECK-NOT: llvm.load
// CHECK: llvm.return
tracea_pipe.kernel @count(%ends: memref<2xi32>, %rows: index, %y: memref<?xi32>) attributes {warps = 1 : i64} {
  %one = arith.constant dense<1> : tensor<32xi32, #lanes>
  %all, %full = tracea_pipe.ragged_count %ends rows %rows tile 64 : memref<2xi32>
  tracea_pipe.tiles (%i) in (%rows) {
    tracea_pipe.store %one, %y[%all] map #id limits(%full) : tensor<32xi32, #lanes>, memref<?xi32>
  }
  tracea_pipe.end
}

// Any number of groups, four in a round, and ends of 64 bits: these are cut to
// numbers of rows. The last group once more is an empty one.
// CHECK-LABEL: llvm.func @find(
// CHECK: %[[FOUND:.*]]:5 = scf.for %[[G:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[BEGIN:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}, %[[GROUP:.*]] = %{{.*}}, %[[FIRST:.*]] = %{{.*}}, %[[STOP:.*]] = %{{.*}}) -> (i32, i32, i32, i32, i32)
// CHECK: %[[NOW:.*]] = arith.minsi %[[G]], %[[LAST:.*]] : i32
// CHECK: %[[E:.*]] = llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i64
// CHECK: arith.maxsi %[[E]], %{{.*}} : i64
// CHECK: arith.minsi {{.*}} : i64
// CHECK: %[[E32:.*]] = arith.trunci {{.*}} : i64 to i32
// CHECK: arith.maxsi %[[BEGIN]], %[[E32]]
// CHECK: %[[NUMBER:.*]] = arith.subi %{{.*}}, %[[BEFORE]]
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %[[NUMBER]],
// CHECK: arith.select %[[HERE]], %[[NOW]], %[[GROUP]]
// CHECK: arith.select %[[HERE]], %{{.*}}, %[[FIRST]]
// CHECK: arith.select %[[HERE]], %{{.*}}, %[[STOP]]
// CHECK: arith.minsi %{{.*}}, %[[LAST]] : i32
// CHECK-COUNT-3: llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i64
// CHECK-NOT: llvm.load
// CHECK: scf.yield
// CHECK-NOT: scf.if
// CHECK: arith.cmpi ult
// CHECK-COUNT-3: arith.select
tracea_pipe.kernel @find(%ends: memref<?xi64>, %rows: index, %y: memref<?xi32>) attributes {warps = 1 : i64} {
  %one = arith.constant dense<1> : tensor<32xi32, #lanes>
  %c32 = arith.constant 32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %group, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %rows tile 64 : memref<?xi64>
    %at = arith.addi %group, %first : index
    %to = arith.addi %at, %end : index
    tracea_pipe.store %one, %y[%to] map #id limits(%c32) : tensor<32xi32, #lanes>, memref<?xi32>
  }
  tracea_pipe.end
}
