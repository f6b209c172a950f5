// Numbers in memory are loaded by whoever wants to know, as memory that nobody changes. Where a bulk copy begins at one
// it may be far beyond 32 bits; there is nothing, as there is at the end of them.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
!rows = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>

// CHECK-LABEL: llvm.func @listed(
// CHECK-DAG:   %[[LEAST:.*]] = arith.constant -2147483648 : index
// CHECK-DAG:   %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK:       %[[ITEM:.*]] = llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i32
// CHECK:       %[[ROW:.*]] = arith.index_cast %[[ITEM]] : i32 to index
// CHECK:       %[[FROM:.*]] = arith.maxsi %[[ROW]], %[[LEAST]] : index
// CHECK:       %[[TO:.*]] = arith.minsi %[[FROM]], %[[MOST]] : index
// CHECK:       %[[AT:.*]] = arith.index_cast %[[TO]] : index to i32
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, box[%{{.*}}, %[[AT]]] : !llvm.ptr<7>
tracea_pipe.kernel @listed(%n: index, %x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %list: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <1 x (!rows)>
    %p = tracea_pipe.start : <1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %row = tracea_pipe.read %list[%i] : memref<?xi32>
        %slot = tracea_pipe.acquire %ring[%p] : <1 x (!rows)>, <1> -> !rows
        tracea_pipe.copy %x[%row, %c0] map #id padded [0] to %slot : memref<?x64xbf16>, !rows
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

// How far a loop comes may be read as well; what is not is not asked for.
// CHECK-LABEL: llvm.func @counted(
// CHECK:       llvm.load %{{.*}} {{{.*}}tracea_pipe.unchanged} : !llvm.ptr<1> -> i64
// CHECK:       scf.for
// CHECK:       arith.maxsi %{{.*}} : index
// CHECK:       arith.minsi %{{.*}} : index
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK:       scf.for
tracea_pipe.kernel @counted(%n: index, %x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %lens: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <1 x (!rows)>
    %p = tracea_pipe.start : <1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %len = tracea_pipe.read %lens[%i] : memref<?xi64>
        %e = scf.for %k = %c0 to %len step %c64 iter_args(%q = %p) -> (!tracea_pipe.phase<1>) {
          %slot = tracea_pipe.acquire %ring[%q] : <1 x (!rows)>, <1> -> !rows
          tracea_pipe.copy %x[%k, %c0] map #id padded [0] to %slot : memref<?x64xbf16>, !rows
          tracea_pipe.commit %ring[%q] : <1 x (!rows)>, <1>
          %next = tracea_pipe.advance %q : <1>
          scf.yield %next : !tracea_pipe.phase<1>
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %len = tracea_pipe.read %lens[%i] : memref<?xi64>
        %e = scf.for %k = %c0 to %len step %c64 iter_args(%q = %p) -> (!tracea_pipe.phase<1>) {
          %slot = tracea_pipe.wait %ring[%q] : <1 x (!rows)>, <1> -> !rows
          tracea_pipe.release %ring[%q] : <1 x (!rows)>, <1>
          %next = tracea_pipe.advance %q : <1>
          scf.yield %next : !tracea_pipe.phase<1>
        }
      }
    }
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @plain(
// CHECK-NOT:   arith.maxsi
// CHECK:       nvvm.cp.async.bulk.tensor.shared.cluster.global
tracea_pipe.kernel @plain(%n: index, %x: memref<?x64xbf16> {tracea_pipe.aligned = 16 : i64}, %list: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <1 x (!rows)>
    %p = tracea_pipe.start : <1>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %slot = tracea_pipe.acquire %ring[%p] : <1 x (!rows)>, <1> -> !rows
        tracea_pipe.copy %x[%i, %c0] map #id padded [0] to %slot : memref<?x64xbf16>, !rows
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
