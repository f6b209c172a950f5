// What kernels may find that they cannot do stands in the manifest, as texts of those kernels that look.

// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline" -o %t.mlir
// RUN: tracea-translate %t.mlir --emit=program-manifest 2>&1 | FileCheck %s
// RUN: tracea compile %s --target sm_80 --only-ptx -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s --check-prefix=EXPLAIN

// What was proved is known again when the text is read.
// CHECK-NOT:  has changed
// CHECK:      "name":"linalg_generic_0"
// CHECK-SAME: "certificates":[{"check":"protocol"
// CHECK-SAME: "assertions":["'tensor.extract' at {{.*}}gpu-assertions.mlir:26:10: expected index 0 from 0 to below {1}, found {0}","'arith.divsi' at {{.*}}gpu-assertions.mlir:27:10: expected a divisor other than {1}, found {0}"]
// CHECK-SAME: "name":"linalg_generic_1"
// CHECK-NOT:  "assertions"

// EXPLAIN: linalg_generic_0: fails the run: 'tensor.extract' at {{.*}}gpu-assertions.mlir:26:10: expected index 0 from 0 to below {1}, found {0}
// EXPLAIN: linalg_generic_0: fails the run: 'arith.divsi'
// EXPLAIN-NOT: linalg_generic_1: fails

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xi32>, %at: tensor<8xi32>, %d: tensor<8xi32>, %y: tensor<?xi32>) -> (tensor<8xi32>, tensor<?xi32>) {
  %c1 = arith.constant 1 : i32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<8xi32>) outs(%d : tensor<8xi32>) {
  ^bb0(%i: i32, %out: i32):
    %j = arith.index_cast %i : i32 to index
    %e = tensor.extract %x[%j] : tensor<?xi32>
    %q = arith.divsi %i, %e : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%i: i32, %out: i32):
    %n = arith.addi %i, %c1 : i32
    linalg.yield %n : i32
  } -> tensor<?xi32>
  return %0, %1 : tensor<8xi32>, tensor<?xi32>
}
