// An operand without elements, whose type tells, and a result whose type does
// not: the loop is kept, since the run has to compare their extents.
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 require-proof=true to=pipeline" | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK:         %[[result:[a-z0-9_]+]] = memref.alloc(%{{.*}}) {{.*}}: memref<1x?x257xf64>
// CHECK:         cf.assert %{{.*}} expects dimension
// CHECK:         tracea_pipe.launch @{{.*}} outs(%[[result]] : memref<1x?x257xf64>)
// CHECK:         return %[[result]]
func.func @main(%x: tensor<?x?x?xf64>, %scale: tensor<0xf64>, %bias: tensor<?xf64>, %mean: tensor<?xf64>,
                %variance: tensor<?xf64>, %e0: tensor<0x1xf64>) -> tensor<1x?x257xf64> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<?x?x?xf64>
  %e = tensor.empty(%n) : tensor<1x?x257xf64>
  %r = tracea.batch_norm axis 1 epsilon 1.0e-01
         ins(%x, %scale, %bias, %mean, %variance : tensor<?x?x?xf64>, tensor<0xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
         outs(%e : tensor<1x?x257xf64>)
         epilogue(%e0 by affine_map<(d0, d1, d2) -> (d1, 0)> : tensor<0x1xf64>) {
    ^bb0(%acc: f64, %a: f64):
      %s = arith.addf %acc, %a : f64
      tracea.yield %s : f64
  }
  return %r : tensor<1x?x257xf64>
}
