// A copy along a walk is done by the copy unit in im2col mode: a box is a column of pixels, which begins at the lower
// corner and is moved by the tap's offsets. Where the walk is made its first pixel is computed.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm -o /dev/null \
// RUN:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=REMARK --allow-empty
// REMARK-NOT: lane-copy

// 28 pixels 2 apart, from -1 to 53: the last one is at 55 - 2.
// CHECK-LABEL: llvm.func @walk(
// CHECK-SAME:  maps = [<argument = 1, element = bf16, dims = [3, 2, 1, 0], box = [64, 64], steps = [1, 2, 2, 1], lower = [-1, -1], upper = [-2, -2], swizzle = 128>]
// CHECK:       arith.divui
// CHECK:       scf.for
// CHECK-NOT:   arith.divui %{{.*}}, %c28
// CHECK:         arith.trunci {{.*}} : i32 to i16
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-SAME:      box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] im2col[%{{.*}}, %{{.*}}] {mode = #nvvm.tma_load_mode<im2col>}

// Rows for columns: the unit walks along the other dimension first.
// RUN: sed 's/(n, p \* 2, q \* 2, c)>/(n, q * 2, p * 4, c)>/; s/into(%%c28, %%c28)/into(%%c14, %%c28)/' %s | tracea-opt --convert-tracea-pipe-to-nvvm | FileCheck %s --check-prefix=TURNED
// TURNED: dims = [3, 1, 2, 0], box = [64, 64], steps = [1, 2, 4, 1], lower = [-1, -1], upper = [-2, -4],

// The tap may be a place in the grid.
// RUN: sed 's/in (%%n)/in (%%three)/; s/%%top = arith.subi %%r/%%top = arith.subi %%i/' %s | tracea-opt --convert-tracea-pipe-to-nvvm \
// RUN:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm 2>&1 | FileCheck %s --check-prefix=GRID
// GRID-NOT: lane-copy
// GRID: lower = [-1, -1], upper = [-2, -2], swizzle = 128>

// What the unit would do in another way lanes do, and say why.
// DEFINE: %{map} =
// DEFINE: %{lanes} = sed -e %{map} %s | tracea-opt --convert-tracea-pipe-to-nvvm -o %t.mlir \
// DEFINE:   --remark-format=emitRemark --remarks-filter=convert-tracea-pipe-to-nvvm > %t.txt 2>&1 && \
// DEFINE:   not grep -q cp.async.bulk %t.mlir && cat %t.txt

// REDEFINE: %{map} = 's/q \* 2, c)>/q * 9, c)>/'
// RUN: %{lanes} | FileCheck %s --check-prefix=STEP
// STEP: lane-copy {{.*}}it walks along dimension 2 by steps of 9

// REDEFINE: %{map} = 's/q \* 2, c)>/q * 2 + c, c)>/'
// RUN: %{lanes} | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: lane-copy {{.*}}dimension 2 of its memory depends on several coordinates

// REDEFINE: %{map} = 's/(n, p \* 2, q \* 2, c)>/(0, p * 2, q * 2, c)>/'
// RUN: %{lanes} | FileCheck %s --check-prefix=IMAGES
// IMAGES: lane-copy {{.*}}its walk leaves out dimension 0 of its memory

// REDEFINE: %{map} = 's/(n, p \* 2, q \* 2, c)>/(n * 2, p * 2, q * 2, c)>/'
// RUN: %{lanes} | FileCheck %s --check-prefix=EVERY
// EVERY: lane-copy {{.*}}its images do not follow each other from the first one on

// REDEFINE: %{map} = 's/into(%%c28, %%c28)/into(%%n, %%c28)/'
// RUN: %{lanes} | FileCheck %s --check-prefix=BASIS
// BASIS: lane-copy {{.*}}how far it walks along dimension 1 is known only when it runs

// REDEFINE: %{map} = 's/memref<?x56x56x64xbf16>/memref<?x56x?x64xbf16>/g'
// RUN: %{lanes} | FileCheck %s --check-prefix=EXTENT
// EXTENT: lane-copy {{.*}}how far it walks along dimension 2 is known only when it runs

// REDEFINE: %{map} = 's/%%one = arith.constant 1 /%%one = arith.constant 129 /'
// RUN: %{lanes} | FileCheck %s --check-prefix=CORNER
// CORNER: lane-copy {{.*}}it walks along dimension {{[12]}} to a corner at -129, which is not from -128 to 127

// REDEFINE: %{map} = 's/%%three = arith.constant 3 /%%three = arith.constant 1 /; s/arith.constant 9 : index/arith.constant 257 : index/'
// RUN: %{lanes} | FileCheck %s --check-prefix=OFFSET
// OFFSET: lane-copy {{.*}}its index along dimension 1 is not known to be one of 256 neighbours

// REDEFINE: %{map} = 's/\[%%c0, %%top, %%left, %%c0\]/[%%c0, %%i, %%left, %%c0]/'
// RUN: %{lanes} | FileCheck %s --check-prefix=INDEX
// INDEX: lane-copy {{.*}}its index along dimension 1 is not known to be one of 256 neighbours

// REDEFINE: %{map} = 's/x64xbf16>/x60xbf16>/g'
// RUN: %{lanes} | FileCheck %s --check-prefix=CHANNELS
// CHANNELS: lane-copy {{.*}}rows of its memory are no multiples of 16 bytes

#image = affine_map<(n, p, q, c) -> (n, p * 2, q * 2, c)>
!tile = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>

tracea_pipe.kernel @walk(%n: index, %x: memref<?x56x56x64xbf16> {tracea_pipe.aligned = 8 : i64}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : index
  %step = arith.constant 1 : index
  %three = arith.constant 3 : index
  %nine = arith.constant 9 : index
  %c14 = arith.constant 14 : index
  %c28 = arith.constant 28 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : <2 x (!tile)>
    %begin = tracea_pipe.start : <2>
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %first = arith.muli %i, %c64 : index
        %pixels = tracea_pipe.delinearize %first into(%c28, %c28) : <3>
        %end = scf.for %tap = %c0 to %nine step %step iter_args(%p = %begin) -> (!tracea_pipe.phase<2>) {
          %r = arith.divui %tap, %three : index
          %s = arith.remui %tap, %three : index
          %top = arith.subi %r, %one : index
          %left = arith.subi %s, %one : index
          %slot = tracea_pipe.acquire %ring[%p] : <2 x (!tile)>, <2> -> !tile
          tracea_pipe.copy %x[%c0, %top, %left, %c0] map #image along [0](%pixels : !tracea_pipe.walk<3>)
            padded [0, 1, 2] to %slot : memref<?x56x56x64xbf16>, !tile
          tracea_pipe.commit %ring[%p] : <2 x (!tile)>, <2>
          %next = tracea_pipe.advance %p : <2>
          scf.yield %next : !tracea_pipe.phase<2>
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %end = scf.for %tap = %c0 to %nine step %step iter_args(%p = %begin) -> (!tracea_pipe.phase<2>) {
          %slot = tracea_pipe.wait %ring[%p] : <2 x (!tile)>, <2> -> !tile
          tracea_pipe.release %ring[%p] : <2 x (!tile)>, <2>
          %next = tracea_pipe.advance %p : <2>
          scf.yield %next : !tracea_pipe.phase<2>
        }
      }
    }
  }
  tracea_pipe.end
}
