// The copy unit clips a tile at the ends of the memory, and nowhere else: limits must
// be what is left of the memory, however they are computed. A tile that others cut is
// for lanes.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=REMARK

#id = affine_map<(i, j) -> (i, j)>
!tile = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>

// No remark but those of the kernels that say so below.
// REMARK-NOT: lane-copy

// A team's share of a tile: its rows begin 64 rows a team later, and so much less is
// left; columns of a known extent.
// CHECK-LABEL: llvm.func @team(
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: llvm.store %{{.*}} : bf16
// CHECK: llvm.return
tracea_pipe.kernel @team(%n: index, %d: memref<?x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c-64 = arith.constant -64 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  %h = memref.dim %d, %c0 : memref<?x4096xbf16>
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        %s = tracea_pipe.scratch : !tile
        %m0 = arith.muli %i, %c128 : index
        %share = arith.muli %team, %c64 : index
        %m = arith.addi %m0, %share : index
        %left = arith.subi %h, %m0 : index
        %less = arith.muli %team, %c-64 : index
        %rows = arith.addi %left, %less : index
        %k = arith.muli %j, %c64 : index
        %columns = arith.subi %c4096, %k : index
        tracea_pipe.copy_out %s to %d[%m, %k] map #id limits(%rows, %columns) : !tile, memref<?x4096xbf16>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}

// A part of the columns: 64 more, and 64 fewer left.
// CHECK-LABEL: llvm.func @part(
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: llvm.store %{{.*}} : bf16
// CHECK: llvm.return
tracea_pipe.kernel @part(%n: index, %d: memref<64x?xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %w = memref.dim %d, %c1 : memref<64x?xbf16>
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    %left = arith.subi %w, %n : index
    %columns = arith.subi %left, %c64 : index
    %k = arith.addi %c64, %n : index
    tracea_pipe.copy_out %s to %d[%c0, %k] map #id limits(%c64, %columns) : !tile, memref<64x?xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// One row short of the end.
// CHECK-LABEL: llvm.func @short(
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: scf.if %[[WHOLE]] {
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: } else {
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.store
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
// REMARK: lane-copy{{.*}}limit #0 is not known to be the end of the memory
// REMARK-NOT: lane-copy
tracea_pipe.kernel @short(%n: index, %d: memref<?x4096xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %h = memref.dim %d, %c0 : memref<?x4096xbf16>
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    %left = arith.subi %h, %n : index
    %rows = arith.subi %left, %c1 : index
    tracea_pipe.copy_out %s to %d[%n, %c0] map #id limits(%rows, %c64) : !tile, memref<?x4096xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// The end of other memory.
// CHECK-LABEL: llvm.func @other(
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: scf.if %[[WHOLE]] {
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: } else {
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.store
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
// REMARK: lane-copy{{.*}}limit #0 is not known to be the end of the memory
// REMARK-NOT: lane-copy
tracea_pipe.kernel @other(%n: index, %e: memref<?x4096xbf16>, %d: memref<?x4096xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %h = memref.dim %e, %c0 : memref<?x4096xbf16>
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    %rows = arith.subi %h, %n : index
    tracea_pipe.copy_out %s to %d[%n, %c0] map #id limits(%rows, %c64) : !tile, memref<?x4096xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// Twice the extent.
// CHECK-LABEL: llvm.func @twice(
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c64
// CHECK: scf.if %[[WHOLE]] {
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: } else {
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.store
// CHECK-NOT: nvvm.cp.async.bulk.tensor
// CHECK: llvm.return
// REMARK: lane-copy{{.*}}limit #1 is not known to be the end of the memory
// REMARK-NOT: lane-copy
tracea_pipe.kernel @twice(%n: index, %d: memref<64x?xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %w = memref.dim %d, %c1 : memref<64x?xbf16>
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    %more = arith.addi %w, %w : index
    %columns = arith.subi %more, %n : index
    tracea_pipe.copy_out %s to %d[%c0, %n] map #id limits(%c64, %columns) : !tile, memref<64x?xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}

// Sums that are shared many times over are not followed for ever.
// CHECK-LABEL: llvm.func @shared(
// CHECK: llvm.return
// REMARK: lane-copy{{.*}}limit #0 is not known to be the end of the memory
tracea_pipe.kernel @shared(%n: index, %d: memref<?x4096xbf16>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : !tile
    %x0 = arith.addi %n, %n : index
    %x1 = arith.addi %x0, %x0 : index
    %x2 = arith.addi %x1, %x1 : index
    %x3 = arith.addi %x2, %x2 : index
    %x4 = arith.addi %x3, %x3 : index
    %x5 = arith.addi %x4, %x4 : index
    %x6 = arith.addi %x5, %x5 : index
    %x7 = arith.addi %x6, %x6 : index
    %x8 = arith.addi %x7, %x7 : index
    %x9 = arith.addi %x8, %x8 : index
    %x10 = arith.addi %x9, %x9 : index
    %x11 = arith.addi %x10, %x10 : index
    %x12 = arith.addi %x11, %x11 : index
    %x13 = arith.addi %x12, %x12 : index
    %x14 = arith.addi %x13, %x13 : index
    %x15 = arith.addi %x14, %x14 : index
    %x16 = arith.addi %x15, %x15 : index
    %x17 = arith.addi %x16, %x16 : index
    %x18 = arith.addi %x17, %x17 : index
    %x19 = arith.addi %x18, %x18 : index
    %x20 = arith.addi %x19, %x19 : index
    %x21 = arith.addi %x20, %x20 : index
    %x22 = arith.addi %x21, %x21 : index
    %x23 = arith.addi %x22, %x22 : index
    %x24 = arith.addi %x23, %x23 : index
    %x25 = arith.addi %x24, %x24 : index
    %x26 = arith.addi %x25, %x25 : index
    %x27 = arith.addi %x26, %x26 : index
    %x28 = arith.addi %x27, %x27 : index
    %x29 = arith.addi %x28, %x28 : index
    %x30 = arith.addi %x29, %x29 : index
    %x31 = arith.addi %x30, %x30 : index
    %x32 = arith.addi %x31, %x31 : index
    %x33 = arith.addi %x32, %x32 : index
    %x34 = arith.addi %x33, %x33 : index
    %x35 = arith.addi %x34, %x34 : index
    %x36 = arith.addi %x35, %x35 : index
    %x37 = arith.addi %x36, %x36 : index
    %x38 = arith.addi %x37, %x37 : index
    %x39 = arith.addi %x38, %x38 : index
    %x40 = arith.addi %x39, %x39 : index
    %x41 = arith.addi %x40, %x40 : index
    %x42 = arith.addi %x41, %x41 : index
    %x43 = arith.addi %x42, %x42 : index
    %x44 = arith.addi %x43, %x43 : index
    %x45 = arith.addi %x44, %x44 : index
    %x46 = arith.addi %x45, %x45 : index
    %x47 = arith.addi %x46, %x46 : index
    tracea_pipe.copy_out %s to %d[%n, %c0] map #id limits(%x47, %c64) : !tile, memref<?x4096xbf16>
    tracea_pipe.commit_group copy
    tracea_pipe.wait_group copy pending 0
  }
  tracea_pipe.end
}
