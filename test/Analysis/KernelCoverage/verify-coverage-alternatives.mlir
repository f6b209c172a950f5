// RUN: tracea-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -o /dev/null

// A window of w elements ends where the row does, if there are windows at all: either there are none, or the last one fits.
func.func @main(%x: memref<?xf32>, %w: memref<?xf32>) -> memref<7xf32> {
  %c0 = arith.constant 0 : index
  %y = memref.alloc() : memref<7xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %taps = memref.dim %w, %c0 : memref<?xf32>
  %none = arith.cmpi eq, %taps, %c0 : index
  %end = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%taps]
  %fits = arith.cmpi slt, %end, %n : index
  %either = arith.ori %none, %fits : i1
  cf.assert %either, "windows fit"
  tracea_pipe.launch @windows ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<7xf32>)
  return %y : memref<7xf32>
}
tracea_pipe.kernel @windows(%x: memref<?xf32>, %w: memref<?xf32>, %y: memref<7xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    linalg.generic {indexing_maps = [affine_map<(p, r) -> (p + r)>, affine_map<(p, r) -> (r)>, affine_map<(p, r) -> (p)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
  }
  tracea_pipe.end
}

// -----

// One element less is not enough.
func.func @main(%x: memref<?xf32>, %w: memref<?xf32>) -> memref<7xf32> {
  %c0 = arith.constant 0 : index
  %y = memref.alloc() : memref<7xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %taps = memref.dim %w, %c0 : memref<?xf32>
  %none = arith.cmpi eq, %taps, %c0 : index
  %end = affine.apply affine_map<()[s0] -> (s0 + 4)>()[%taps]
  %fits = arith.cmpi slt, %end, %n : index
  %either = arith.ori %none, %fits : i1
  cf.assert %either, "windows fit"
  tracea_pipe.launch @windows ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<7xf32>)
  return %y : memref<7xf32>
}
tracea_pipe.kernel @windows(%x: memref<?xf32>, %w: memref<?xf32>, %y: memref<7xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    // expected-error @below {{reads out of bounds of argument #0}}
    linalg.generic {indexing_maps = [affine_map<(p, r) -> (p + r)>, affine_map<(p, r) -> (r)>, affine_map<(p, r) -> (p)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : memref<?xf32>, memref<?xf32>) outs(%y : memref<7xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
  }
  tracea_pipe.end
}
