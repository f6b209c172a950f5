// RUN: tracea-opt %s --tracea-verify-input --split-input-file --verify-diagnostics
// RUN: not tracea-opt %s --split-input-file --tracea-compile="target=x86-64-v3" 2>&1 | FileCheck %s
// CHECK: error: 'scf.for' op expected a step of at least 1, found 0
// CHECK: error: 'scf.forall' op expected a step of at least 1, found -2
// CHECK: error: 'tensor.dim' op takes dimension -1 of 'tensor<?xf32>', which has 1

func.func @zero(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{expected a step of at least 1, found 0}}
  %r = scf.for %i = %c0 to %c8 step %c0 iter_args(%x = %a) -> (tensor<8xf32>) {
    %y = linalg.add ins(%x, %a : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @below(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{expected a step of at least 1, found -2}}
  %r = scf.forall (%i) = (0) to (8) step (-2) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %x = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

func.func @dimension(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c-1 = arith.constant -1 : index
  // expected-error @+1 {{takes dimension -1 of 'tensor<?xf32>', which has 1}}
  %n = tensor.dim %a, %c-1 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @on_the_host(%a: memref<6x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{takes dimension 2 of 'memref<6x?xf32>', which has 2}}
  %n = memref.dim %a, %c2 : memref<6x?xf32>
  return %n : index
}
