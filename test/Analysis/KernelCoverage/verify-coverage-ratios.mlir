// RUN: tracea-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -o /dev/null

// The host compares that the heads of keys divide those of queries, and that values have as many heads as keys. How many queries share a value it
// computes from the values.
func.func @main(%q: memref<?xf32>, %k: memref<?xf32>, %v: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %queries = memref.dim %q, %c0 : memref<?xf32>
  %keys = memref.dim %k, %c0 : memref<?xf32>
  %values = memref.dim %v, %c0 : memref<?xf32>
  %any = arith.minsi %queries, %c1 : index
  %enough = arith.cmpi sle, %any, %keys : index
  cf.assert %enough, "keys"
  %divisor = arith.maxsi %keys, %c1 : index
  %rest = arith.remui %queries, %divisor : index
  %divides = arith.cmpi eq, %rest, %c0 : index
  cf.assert %divides, "the heads of keys divide those of queries"
  %same = arith.cmpi eq, %keys, %values : index
  cf.assert %same, "as many values"
  %shared = arith.maxsi %values, %c1 : index
  %group = arith.divsi %queries, %shared : index
  %y = memref.alloc(%queries) : memref<?xf32>
  tracea_pipe.launch @share ins(%v, %group : memref<?xf32>, index) outs(%y : memref<?xf32>)
  return %y : memref<?xf32>
}
tracea_pipe.kernel @share(%v: memref<?xf32>, %group: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    linalg.generic {indexing_maps = [affine_map<(p) -> (p)>], iterator_types = ["parallel"]} outs(%y : memref<?xf32>) {
    ^bb0(%o: f32):
      %head = linalg.index 0 : index
      %of = arith.divsi %head, %group : index
      %a = memref.load %v[%of] : memref<?xf32>
      linalg.yield %a : f32
    }
  }
  tracea_pipe.end
}

// -----

// Without the last comparison values may have fewer heads.
func.func @main(%q: memref<?xf32>, %k: memref<?xf32>, %v: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %queries = memref.dim %q, %c0 : memref<?xf32>
  %keys = memref.dim %k, %c0 : memref<?xf32>
  %any = arith.minsi %queries, %c1 : index
  %enough = arith.cmpi sle, %any, %keys : index
  cf.assert %enough, "keys"
  %divisor = arith.maxsi %keys, %c1 : index
  %rest = arith.remui %queries, %divisor : index
  %divides = arith.cmpi eq, %rest, %c0 : index
  cf.assert %divides, "the heads of keys divide those of queries"
  %group = arith.divsi %queries, %divisor : index
  %y = memref.alloc(%queries) : memref<?xf32>
  tracea_pipe.launch @share ins(%v, %group : memref<?xf32>, index) outs(%y : memref<?xf32>)
  return %y : memref<?xf32>
}
// expected-note @below {{outside of what the check can decide}}
tracea_pipe.kernel @share(%v: memref<?xf32>, %group: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    linalg.generic {indexing_maps = [affine_map<(p) -> (p)>], iterator_types = ["parallel"]} outs(%y : memref<?xf32>) {
    ^bb0(%o: f32):
      %head = linalg.index 0 : index
      %of = arith.divsi %head, %group : index
      // expected-error @below {{expected 0 to below dim0_0}}
      %a = memref.load %v[%of] : memref<?xf32>
      linalg.yield %a : f32
    }
  }
  tracea_pipe.end
}
