// What a loop over tensors carries to its end: sums so far, and the sum itself, which is a result.
// RUN: tracea run %s --entry sums --random-inputs --check
// RUN: tracea run %s --entry total --random-inputs --check
// RUN: tracea compile %s --entry sums --target sm_90a --require-proof --only-ptx -o %t.tracea
// RUN: tracea compile %s --entry total --target sm_90a --require-proof --only-ptx -o %t.tracea
func.func @sums(%x: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%p = %e, %sum = %zero) -> (tensor<100xf32>, f32) {
    %v = tensor.extract %x[%j] : tensor<100xf32>
    %a = arith.addf %sum, %v : f32
    %q = tensor.insert %a into %p[%j] : tensor<100xf32>
    scf.yield %q, %a : tensor<100xf32>, f32
  }
  return %r#0 : tensor<100xf32>
}

func.func @total(%x: tensor<100xf32>) -> (tensor<100xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100xf32>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%p = %e, %sum = %zero) -> (tensor<100xf32>, f32) {
    %v = tensor.extract %x[%j] : tensor<100xf32>
    %a = arith.addf %sum, %v : f32
    %q = tensor.insert %a into %p[%j] : tensor<100xf32>
    scf.yield %q, %a : tensor<100xf32>, f32
  }
  return %r#0, %r#1 : tensor<100xf32>, f32
}
