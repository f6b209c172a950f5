// RUN: tracea-opt %s --pass-pipeline="builtin.module(func.func(tracea-unroll-loops),canonicalize)" | FileCheck %s
// RUN: tracea run %s --entry greatest --random-inputs --check
// RUN: tracea compile %s --entry greatest --target sm_90a --require-proof --only-ptx -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s --check-prefix=GPU

// The three greatest elements of rows: each round is a search of its own, and their slices are constant. On a GPU lanes share
// each search; what the rounds before found is left out as the rows are read, and what all found is joined.
// CHECK-LABEL: func.func @greatest(
// CHECK-NOT:     scf.for
// CHECK-COUNT-3: cmpf ogt
// CHECK-NOT:     cmpf ogt
// CHECK-DAG:     tensor.concat dim(1) {{.*}} : (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x3xf32>
// CHECK-DAG:     tensor.concat dim(1) {{.*}} -> tensor<64x3xi64>
// CHECK-LABEL: func.func @others(
// GPU: linalg_generic_0 linalg.generic elementwise.lanes
// GPU: 0: launch linalg_generic_0, {{.*}} (%0 f32[64, 100]; %{{.*}} i64[64])
// GPU-NOT: copy
// GPU: launch linalg_generic_{{.*}} (%[[FIRST:.*]] i64[64]; %0 f32[64, 100]; %{{.*}} i64[64])
// GPU-NOT: copy
// GPU: launch linalg_generic_{{.*}} (%[[SECOND:.*]] i64[64]; %[[FIRST]] i64[64]; %0 f32[64, 100]; %{{.*}} i64[64])
// GPU-NOT: copy
// GPU: gives
func.func @greatest(%x: tensor<64x100xf32>) -> (tensor<64x3xf32>, tensor<64x3xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %v = tensor.empty() : tensor<64x3xf32>
  %n = tensor.empty() : tensor<64x3xi64>
  %ev = tensor.empty() : tensor<64xf32>
  %en = tensor.empty() : tensor<64xi64>
  %r:3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %x, %vv = %v, %nn = %n) -> (tensor<64x100xf32>, tensor<64x3xf32>, tensor<64x3xi64>) {
    %fv = linalg.fill ins(%low : f32) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
    %fn = linalg.fill ins(%zero : i64) outs(%en : tensor<64xi64>) -> tensor<64xi64>
    %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<64x100xf32>) outs(%fv, %fn : tensor<64xf32>, tensor<64xi64>) {
    ^bb0(%e: f32, %m: f32, %q: i64):
      %j = linalg.index 1 : index
      %jj = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %e, %m : f32
      %u = arith.select %c, %e, %m : f32
      %w = arith.select %c, %jj, %q : i64
      linalg.yield %u, %w : f32, i64
    } -> (tensor<64xf32>, tensor<64xi64>)
    %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%y#1 : tensor<64xi64>) outs(%a : tensor<64x100xf32>) {
    ^bb0(%q: i64, %old: f32):
      %j = linalg.index 1 : index
      %jj = arith.index_cast %j : index to i64
      %s = arith.cmpi eq, %jj, %q : i64
      %t = arith.select %s, %low, %old : f32
      linalg.yield %t : f32
    } -> tensor<64x100xf32>
    %v2 = tensor.insert_slice %y#0 into %vv[0, %k] [64, 1] [1, 1] : tensor<64xf32> into tensor<64x3xf32>
    %n2 = tensor.insert_slice %y#1 into %nn[0, %k] [64, 1] [1, 1] : tensor<64xi64> into tensor<64x3xi64>
    scf.yield %b, %v2, %n2 : tensor<64x100xf32>, tensor<64x3xf32>, tensor<64x3xi64>
  }
  return %r#1, %r#2 : tensor<64x3xf32>, tensor<64x3xi64>
}

// Loops of many iterations, of a number that only the run knows, and around small tensors or single elements stay.
// CHECK-COUNT-4: scf.for
func.func @others(%x: tensor<64x100xf32>, %y: tensor<8xf32>, %n: index) -> (tensor<64x100xf32>, tensor<64x100xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  %0 = scf.for %k = %c0 to %c17 step %c1 iter_args(%a = %x) -> (tensor<64x100xf32>) {
    %b = linalg.add ins(%a, %a : tensor<64x100xf32>, tensor<64x100xf32>) outs(%a : tensor<64x100xf32>) -> tensor<64x100xf32>
    scf.yield %b : tensor<64x100xf32>
  }
  %1 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64x100xf32>) {
    %b = linalg.add ins(%a, %a : tensor<64x100xf32>, tensor<64x100xf32>) outs(%a : tensor<64x100xf32>) -> tensor<64x100xf32>
    scf.yield %b : tensor<64x100xf32>
  }
  %2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %y) -> (tensor<8xf32>) {
    %b = linalg.add ins(%a, %a : tensor<8xf32>, tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  %3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %y) -> (tensor<8xf32>) {
    %b = tensor.extract %a[%k] : tensor<8xf32>
    %c = arith.addf %b, %b : f32
    %d = tensor.insert %c into %a[%k] : tensor<8xf32>
    scf.yield %d : tensor<8xf32>
  }
  return %0, %1, %2, %3 : tensor<64x100xf32>, tensor<64x100xf32>, tensor<8xf32>, tensor<8xf32>
}
