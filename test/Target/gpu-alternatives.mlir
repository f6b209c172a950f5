// A launch of several kernels for a GPU: the first that can run on the
// arguments at hand has tiles, the others have none; a run for which there is
// none is refused. On a CPU nothing asks for more than types say: the first
// kernel alone is launched.

// RUN: tracea-translate %s --emit=program -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: sed 's/kind = cuda, name = "sm_90a"/kind = cpu, name = "x86-64-v3"/; s/nvptx64-nvidia-cuda/x86_64-unknown-linux-gnu/; s/cpu = "sm_90a"/cpu = "x86-64-v3"/' %s \
// RUN:   | tracea-translate --emit=program-manifest | FileCheck %s --check-prefix=CPU

// CHECK:     kernels
// CHECK-DAG:   wide
// CHECK-DAG:   narrow
// CHECK:     entry either
// CHECK-NOT:   requires
// CHECK:       launch wide, select({{.*}}(mod((dim(arg0, 1) * 2), 16) == 0){{.*}}, dim(arg0, 0), 0) tiles
// CHECK-NEXT:  launch narrow, select((1 - {{.*}}), dim(arg0, 0), 0) tiles
// CHECK:     entry one
// CHECK:       requires {{.*}}(mod((dim(arg0, 1) * 2), 16) == 0){{.*}}kernel 'wide' expects rows of input 0 ('arg0') to begin at multiples of 8 elements of bf16
// CHECK:       launch wide, dim(arg0, 0) tiles

// CPU:     "steps":[{"kernel":0
// CPU-NOT: {"kernel":1
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
tracea_pipe.kernel @wide(%x: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}, %y: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}) attributes {variant = "v", source_op = "tracea.gemm"} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  tracea_pipe.tiles (%i) in (%rows) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @narrow(%x: memref<?x?xbf16>, %y: memref<?x?xbf16>) attributes {variant = "v", source_op = "tracea.gemm"} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  tracea_pipe.tiles (%i) in (%rows) {
  }
  tracea_pipe.end
}
func.func @either(%x: memref<?x?xbf16>) -> memref<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xbf16>
  %n = memref.dim %x, %c1 : memref<?x?xbf16>
  %y = memref.alloc(%m, %n) : memref<?x?xbf16>
  tracea_pipe.launch @wide else [@narrow] ins(%x : memref<?x?xbf16>) outs(%y : memref<?x?xbf16>)
  return %y : memref<?x?xbf16>
}
func.func @one(%x: memref<?x?xbf16>) -> memref<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xbf16>
  %n = memref.dim %x, %c1 : memref<?x?xbf16>
  %y = memref.alloc(%m, %n) : memref<?x?xbf16>
  tracea_pipe.launch @wide ins(%x : memref<?x?xbf16>) outs(%y : memref<?x?xbf16>)
  return %y : memref<?x?xbf16>
}
}
