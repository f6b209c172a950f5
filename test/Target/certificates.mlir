// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" -o %t.mlir
// RUN: tracea-translate %t.mlir --emit=program-manifest 2>&1 | FileCheck %s

// What was proved of a kernel travels with it.
// CHECK-NOT:  warning
// CHECK:      "certificates":[{"check":"protocol","claim":"1 roles, 1 channels, every trip count","model":"
// CHECK-SAME: "remarks":[]

// Text may be edited: what it was proved to be it is no longer.
// RUN: sed "s/constant 16/constant 8/" %t.mlir > %t.changed.mlir
// RUN: tracea-translate %t.changed.mlir --emit=program-manifest -o %t.json 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: FileCheck %s --check-prefix=CHANGED --input-file=%t.json
// WARNING:      warning: kernel 'k' has changed since it was proved; its certificates are left out
// CHANGED:      "certificates":[],"remarks":[{"check":"protocol","reason":"the kernel has changed since it was proved"}]

// So may lines and names.
// RUN: sed "s/@k/@other/; s/^/  /" %t.mlir | tracea-translate --emit=program-manifest 2>&1 | FileCheck %s

// A claim without a fingerprint is about nothing.
// RUN: sed "s/tracea_pipe.certified = [^}]*}/variant = \"v\"}/" %t.mlir | tracea-translate --emit=program-manifest -o %t.json 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: FileCheck %s --check-prefix=CHANGED --input-file=%t.json

// Certificates are about one target.
// RUN: sed "s/x86-64-v3/x86-64-v2/; s/+avx2,//" %t.mlir | tracea-translate --emit=program-manifest -o %t.json 2>&1 | FileCheck %s --check-prefix=WARNING

#row = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,-avx512f,+fma", vector_bits = 256>} {
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %ch = tracea_pipe.channel : !tracea_pipe.channel<1 x (!slot)>
    %p0 = tracea_pipe.start : !tracea_pipe.phase<1>
    %pn = scf.for %k = %c0 to %c16 step %c1 iter_args(%p = %p0) -> (!tracea_pipe.phase<1>) {
      %s = tracea_pipe.acquire %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1> -> !slot
      tracea_pipe.copy %a[%i, %k] map #row to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1>
      %f = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1> -> !slot
      tracea_pipe.release %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1>
      %q = tracea_pipe.advance %p : !tracea_pipe.phase<1>
      scf.yield %q : !tracea_pipe.phase<1>
    }
  }
  tracea_pipe.end
}
func.func @main(%a: memref<8x16xf32>) -> memref<8x16xf32> {
  %d = memref.cast %a : memref<8x16xf32> to memref<?x?xf32>
  tracea_pipe.launch @k ins(%d : memref<?x?xf32>)
  return %a : memref<8x16xf32>
}
}
