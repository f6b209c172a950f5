// A launch of several kernels of which the first are for small results: the program counts the elements of the first
// result. On a CPU there is no such choice.

// RUN: tracea-translate %s --emit=program -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: sed 's/kind = cuda, name = "sm_90a"/kind = cpu, name = "x86-64-v3"/; s/nvptx64-nvidia-cuda/x86_64-unknown-linux-gnu/; s/cpu = "sm_90a"/cpu = "x86-64-v3"/' %s \
// RUN:   | not tracea-translate --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=CPU

// CHECK:     entry sized
// CHECK-NOT:   requires
// CHECK:       launch small, select(((dim(arg0, 0) * 8) <= 4096), dim(arg0, 0), 0) tiles
// CHECK-NEXT:  launch large, select((1 - ((dim(arg0, 0) * 8) <= 4096)), ceildiv(dim(arg0, 0), 64), 0) tiles
// CPU: error: 'tracea_pipe.launch' op has kernels for results of several sizes, of which only programs for GPUs choose
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
tracea_pipe.kernel @small(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {variant = "v", source_op = "tracea.gemm"} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xbf16>
  tracea_pipe.tiles (%i) in (%rows) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @large(%x: memref<?x8xbf16>, %y: memref<?x8xbf16>) attributes {variant = "v", source_op = "tracea.gemm"} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x8xbf16>
  %tiles = arith.ceildivui %rows, %c64 : index
  tracea_pipe.tiles (%i) in (%tiles) {
  }
  tracea_pipe.end
}
func.func @sized(%x: memref<?x8xbf16>) -> memref<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x8xbf16>
  %y = memref.alloc(%m) : memref<?x8xbf16>
  tracea_pipe.launch @small else [@large] most [4096, 0] ins(%x : memref<?x8xbf16>) outs(%y : memref<?x8xbf16>)
  return %y : memref<?x8xbf16>
}
}
