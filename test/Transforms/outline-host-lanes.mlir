// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// What tiles cannot be of, a window with a stride say, is loops on a GPU. Lanes share the parallel dimensions: neighbours
// in the last one of the result are neighbouring lanes, and what 256 lanes do not fill is left out.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    warps = 8
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 19 : index
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in (%[[ROWS]], %{{.*}}) {
// CHECK:           scf.forall (%[[R:.*]], %[[C:.*]]) in (2, 128) {
// CHECK:             %[[BELOW:.*]] = arith.andi
// CHECK:             scf.if %[[BELOW]] {
// CHECK:               memref.load %{{.*}}[%{{.*}}, %[[COLUMN:.*]]] : memref<74x100xf32>
// CHECK:               memref.load %{{.*}}[%[[COLUMN]]] : memref<100xf32>
// CHECK:               memref.store %{{.*}}[%{{.*}}, %[[COLUMN]]] : memref<37x100xf32>
// CHECK:         } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @add_row(%x: memref<74x100xf32>, %row: memref<100xf32>) -> memref<37x100xf32> {
    %y = memref.alloc() : memref<37x100xf32>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (2 * i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%x, %row : memref<74x100xf32>, memref<100xf32>) outs(%y : memref<37x100xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    return %y : memref<37x100xf32>
  }
}

// -----

// Sums stay in registers: one load and one store of the result around the loop. Where the result's columns are the
// operand's rows, the result decides which lanes are neighbours. (Subtraction is no operation whose order may change.)
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         scf.forall (%[[T:.*]]) in (256) {
// CHECK:           %[[FIRST:.*]] = memref.load %[[OUT:.*]][%[[AT:.*]]] : memref<?xf32>
// CHECK:           %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[CARRIED:.*]] = %[[FIRST]]) -> (f32) {
// CHECK-NEXT:        memref.load %{{.*}}[%[[K]], %[[AT]]] : memref<?x?xf32>
// CHECK-NOT:         memref.store
// CHECK:           }
// CHECK-NEXT:      memref.store %[[SUM]], %[[OUT]][%[[AT]]] : memref<?xf32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @column_sums(%x: memref<?x?xf32>, %y: memref<?xf32>) {
    linalg.generic {indexing_maps = [affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// What has no parallel dimension is one lane's.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    warps = 1
// CHECK:         scf.forall (%{{.*}}) in (1) {
// CHECK:           linalg.generic
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @sum(%x: memref<1000xf32>, %y: memref<f32>) {
    linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
        ins(%x : memref<1000xf32>) outs(%y : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// Lanes are shared out along extents that any operand knows, and the sum ends where the filter does.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         scf.forall {{.*}} in (8, 32)
// CHECK:         scf.for %{{.*}} = %c0{{.*}} to %c5{{.*}} step
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @known_by_one(%x: memref<?x?xf32>, %scale: memref<?xf32>, %taps: memref<?xf32>, %filter: memref<5xf32>, %y: memref<?x32xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %scale, %taps, %filter : memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<5xf32>) outs(%y : memref<?x32xf32>) {
    ^bb0(%a: f32, %b: f32, %t: f32, %f: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.mulf %p, %t : f32
      %r = arith.mulf %q, %f : f32
      %s = arith.addf %r, %o : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// One that knows that there is no element leaves a kernel without tiles to the run: nothing else would write the result.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(%{{.*}}: memref<?xf32>
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         ceildivsi %[[N]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @none(%x: memref<?xf32>, %bias: memref<0xf32>, %y: memref<?xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x, %bias : memref<?xf32>, memref<0xf32>) outs(%y : memref<?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    return
  }
}
