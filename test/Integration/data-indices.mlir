// Indices, steps and divisors that data decides: what does not exist is an
// error of the run that says what was expected and found, and never a wild
// access, an endless loop or a trap. What exists is right, and proved.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/a.npy "<f4" 4 1 2 3 4
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/good.npy "<i8" 3 3 0 1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/far.npy "<i8" 3 1 1099511627776 2
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/below.npy "<i8" 3 1 2 -1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/end.npy "<i8" 3 1 2 4
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/small.npy "<i8" 3 2 0 1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/five.npy "<i8" 3 5 0 1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/matrix.npy "<f4" 2x2 1 2 3 4
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/column.npy "<i8" 3x1 1 0 1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/far_column.npy "<i8" 3x1 1 2 1
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/none.npy "<f4" 0
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/ints.npy "<i4" 3 7 -2147483648 5
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/divisors.npy "<i4" 3 2 -1 3
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/zero.npy "<i4" 3 2 0 3

// RUN: tracea compile %s --entry gather --require-proof -o %t/gather.tracea
// RUN: tracea run %s --entry gather --input %t/a.npy --input %t/good.npy --check
// RUN: not tracea run %s --entry gather --input %t/a.npy --input %t/far.npy 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: 'tensor.extract' at {{.*}}data-indices.mlir:[[#]]:12: expected index 0 from 0 to below 4, found 1099511627776
// RUN: not tracea run %s --entry gather --input %t/a.npy --input %t/below.npy 2>&1 | FileCheck %s --check-prefix=BELOW
// BELOW: expected index 0 from 0 to below 4, found -1
// RUN: not tracea run %s --entry gather --input %t/a.npy --input %t/end.npy --threads 1 2>&1 | FileCheck %s --check-prefix=END
// END: expected index 0 from 0 to below 4, found 4
// RUN: not tracea run %s --entry gather --input %t/none.npy --input %t/good.npy 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected index 0 from 0 to below 0, found
func.func @gather(%a: tensor<?xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3xf32>) {
    ^bb0(%x: i64, %o: f32):
      %k = arith.index_cast %x : i64 to index
      %v = tensor.extract %a[%k] : tensor<?xf32>
      linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// RUN: tracea run %s --entry scatter --input %t/a.npy --input %t/good.npy --check
// RUN: not tracea run %s --entry scatter --input %t/a.npy --input %t/far.npy 2>&1 | FileCheck %s --check-prefix=SCATTER
// SCATTER: 'tensor.insert' at {{.*}}: expected index 0 from 0 to below 4, found 1099511627776
func.func @scatter(%a: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %x = tensor.extract %i[%n] : tensor<3xi64>
    %k = arith.index_cast %x : i64 to index
    %next = tensor.insert %one into %t[%k] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Chained: the index of the second read is what the first one found.
// RUN: tracea run %s --entry chained --input %t/good.npy --check
// RUN: not tracea run %s --entry chained --input %t/end.npy 2>&1 | FileCheck %s --check-prefix=CHAINED
// CHAINED: expected index 0 from 0 to below 3, found 4
func.func @chained(%i: tensor<3xi64>) -> tensor<3xi64> {
  %e = tensor.empty() : tensor<3xi64>
  %c2 = arith.constant 2 : i64
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3xi64>) {
    ^bb0(%x: i64, %o: i64):
      %small = arith.minsi %x, %c2 : i64
      %k = arith.index_cast %small : i64 to index
      %v = tensor.extract %i[%k] : tensor<3xi64>
      %below = arith.subi %v, %c2 : i64
      %most = arith.maxsi %v, %below : i64
      %k2 = arith.index_cast %most : i64 to index
      %c3 = arith.constant 3 : i64
      %w = arith.remsi %most, %c3 : i64
      %isLarge = arith.cmpi sgt, %v, %c3 : i64
      %pick = arith.select %isLarge, %v, %w : i64
      %k3 = arith.index_cast %pick : i64 to index
      %u = tensor.extract %i[%k3] : tensor<3xi64>
      linalg.yield %u : i64
  } -> tensor<3xi64>
  return %r : tensor<3xi64>
}

// RUN: tracea run %s --entry step --random-inputs --shape 0=8 --shape 1=6 --check
// RUN: not tracea run %s --entry step --random-inputs --shape 0=8 --shape 1=3 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: 'scf.for' at {{.*}}: expected a step of at least 1, found 0
func.func @step(%a: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %s = arith.subi %d, %c3 : index
  %e = tensor.dim %a, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %e step %s iter_args(%x = %a) -> (tensor<?xf32>) {
    %y = linalg.add ins(%x, %a : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// The least number by -1 wraps around.
// RUN: tracea run %s --entry divide --input %t/ints.npy --input %t/divisors.npy | FileCheck %s --check-prefix=WRAP
// WRAP: output 0: i32[3] from -2.14748e+09 to 3
// WRAP: output 1: i32[3] from 0 to 2
// RUN: not tracea run %s --entry divide --input %t/ints.npy --input %t/zero.npy 2>&1 | FileCheck %s --check-prefix=DIVIDE
// DIVIDE: expected a divisor other than 0, found 0
func.func @divide(%a: tensor<3xi32>, %b: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %q = arith.divsi %a, %b : tensor<3xi32>
  %r = arith.remsi %a, %b : tensor<3xi32>
  return %q, %r : tensor<3xi32>, tensor<3xi32>
}

// A slice that data places, and a loop that data ends.
// RUN: tracea compile %s --entry slice --require-proof -o %t/slice.tracea
// RUN: tracea run %s --entry slice --input %t/a.npy --input %t/small.npy --check
// RUN: not tracea run %s --entry slice --input %t/a.npy --input %t/good.npy 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: 'tensor.extract_slice' at {{.*}}: expected offset 0 from 0 to below 3, found 3
func.func @slice(%a: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<3x2xf32>
  %r = scf.for %n = %c0 to %c3 step %c1 iter_args(%t = %e) -> (tensor<3x2xf32>) {
    %x = tensor.extract %i[%n] : tensor<3xi64>
    %k = arith.index_cast %x : i64 to index
    %s = tensor.extract_slice %a[%k] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %next = tensor.insert_slice %s into %t[%n, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<3x2xf32>
    scf.yield %next : tensor<3x2xf32>
  }
  return %r : tensor<3x2xf32>
}

// RUN: tracea run %s --entry end --input %t/a.npy --input %t/good.npy --check
// RUN: not tracea run %s --entry end --input %t/a.npy --input %t/five.npy 2>&1 | FileCheck %s --check-prefix=LOOPEND
// LOOPEND: expected index 0 from 0 to below 4, found 4
func.func @end(%a: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tensor.extract %i[%c0] : tensor<3xi64>
  %n = arith.index_cast %x : i64 to index
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %v = tensor.extract %t[%j] : tensor<4xf32>
    %w = arith.addf %v, %v : f32
    %u = tensor.insert %w into %t[%j] : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// RUN: tracea compile %s --entry rows --require-proof -o %t/rows.tracea
// RUN: tracea run %s --entry rows --input %t/matrix.npy --input %t/column.npy --check
// RUN: not tracea run %s --entry rows --input %t/matrix.npy --input %t/far_column.npy 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: expected index 0 from 0 to below 2, found 2
func.func @rows(%a: tensor<2x2xf32>, %i: tensor<3x1xi64>) -> (tensor<3x2xf32>, tensor<3x1x2xf32>) {
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<2x2xf32>, tensor<3x1xi64>) -> tensor<3x2xf32>
  %s = tensor.gather %a[%i] gather_dims([0]) : (tensor<2x2xf32>, tensor<3x1xi64>) -> tensor<3x1x2xf32>
  return %r, %s : tensor<3x2xf32>, tensor<3x1x2xf32>
}

// Assertions of the author's own, as importers write them, read and write nothing that the kernel is given.
// RUN: tracea compile %s --entry asserted --require-proof -o %t/asserted.tracea
// RUN: tracea compile %s --entry asserted --target sm_90a --only-ptx --require-proof -o %t/asserted.gpu.tracea
// RUN: tracea run %s --entry asserted --input %t/a.npy --input %t/good.npy --check
// RUN: not tracea run %s --entry asserted --input %t/a.npy --input %t/end.npy 2>&1 | FileCheck %s --check-prefix=ASSERTED
// ASSERTED: {{expected index 0 from 0 to below 4, found 4|index must be smaller than dim size}}
// RUN: not tracea run %s --entry asserted --input %t/a.npy --input %t/below.npy 2>&1 | FileCheck %s --check-prefix=LARGER
// LARGER: {{expected index 0 from 0 to below 4, found -1|index must be larger or equal to 0}}
func.func @asserted(%a: tensor<4xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3xf32>) {
    ^bb0(%x: i64, %o: f32):
      %k = arith.index_cast %x : i64 to index
      %below = arith.cmpi slt, %k, %c4 : index
      cf.assert %below, "index must be smaller than dim size"
      %above = arith.cmpi sge, %x, %zero : i64
      cf.assert %above, "index must be larger or equal to 0"
      %v = tensor.extract %a[%k] : tensor<4xf32>
      linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
