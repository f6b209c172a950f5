// Every second row, every third column of a picture: the copy engine's boxes leave out elements of the memory. A box
// counts them, so that 256 hold 128 rows.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse -o %t.mlir \
// RUN:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir

// REMARK-NOT: lane-copy

// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME:  maps = [<argument = 1, element = bf16, dims = [1, 0], box = [64, 128], steps = [1, 2], swizzle = 128>]
// CHECK:       %[[second:.*]] = arith.constant 256 : i32
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%{{.*}}, %[[row:.*]]] : !llvm.ptr<7>
// CHECK:       %[[next:.*]] = arith.addi %[[row]], %[[second]] : i32
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%{{.*}}, %[[next]]] : !llvm.ptr<7>
#rows = affine_map<(i, j) -> (i * 2, j)>
!rows = memref<256x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
tracea_pipe.kernel @rows(%n: index, %x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <1 x (!rows)>
    %p = tracea_pipe.start : <1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %slot = tracea_pipe.acquire %ring[%p] : <1 x (!rows)>, <1> -> !rows
        tracea_pipe.copy %x[%i, %c0] map #rows padded [0] to %slot : memref<?x64xbf16>, !rows
        tracea_pipe.commit %ring[%p] : <1 x (!rows)>, <1>
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %slot = tracea_pipe.wait %ring[%p] : <1 x (!rows)>, <1> -> !rows
        tracea_pipe.release %ring[%p] : <1 x (!rows)>, <1>
      }
    }
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @picture(
// CHECK-SAME:  maps = [<argument = 1, element = bf16, dims = [2, 1, 0], box = [64, 8, 8], steps = [1, 3, 2], swizzle = 128>]
#picture = affine_map<(p, q, c) -> (p * 2, q * 3, c)>
!picture = memref<8x8x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
tracea_pipe.kernel @picture(%n: index, %x: memref<?x48x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <1 x (!picture)>
    %p = tracea_pipe.start : <1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %slot = tracea_pipe.acquire %ring[%p] : <1 x (!picture)>, <1> -> !picture
        tracea_pipe.copy %x[%i, %c0, %c0] map #picture padded [0, 1] to %slot : memref<?x48x64xbf16>, !picture
        tracea_pipe.commit %ring[%p] : <1 x (!picture)>, <1>
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %slot = tracea_pipe.wait %ring[%p] : <1 x (!picture)>, <1> -> !picture
        tracea_pipe.release %ring[%p] : <1 x (!picture)>, <1>
      }
    }
  }
  tracea_pipe.end
}

// What is written out of a tile lies side by side.
// REMARK: lane-copy {{.*}}it leaves out elements of its memory
// CHECK-LABEL: llvm.func @out(
// CHECK-NOT:   cp.async.bulk.tensor
tracea_pipe.kernel @out(%n: index, %y: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 4] {
        %s = tracea_pipe.scratch : !rows
        tracea_pipe.copy_out %s to %y[%i, %c0] map #rows : !rows, memref<?x64xbf16>
        tracea_pipe.commit_group copy
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}
