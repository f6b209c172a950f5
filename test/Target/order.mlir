// Steps say which of the earlier ones they come after: those that write what
// they read, and those that use what they write.

// RUN: tracea compile %s --target x86-64-v3 -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea run %s --random-inputs --streams 3 --check

// What is left out is refused when the program is read.
// RUN: not tracea-edit-program %t.tracea %t.bad.tracea '"after":[1,2]' '"after":[2]' 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: $.entries[0].steps[3].after: expected step 1 among those to come after: both use buffer {{[0-9]+}}, and one of them writes it
// RUN: not tracea-edit-program %t.tracea %t.bad.tracea '"after":[1,2]' '"after":[1,2,3]' 2>&1 | FileCheck %s --check-prefix=SELF
// SELF: $.entries[0].steps[3].after[2]: expected the number of an earlier step, one of 3, found 3

// What a launch writes is compared with what was proved of its kernel.
// RUN: tracea-edit-program %t.tracea %t.reads.tracea '"writes":[2],"after":[]' '"writes":[],"after":[]'
// RUN: not tracea explain %t.reads.tracea --recheck | FileCheck %s --check-prefix=READS
// READS: softmax_0: launches: {{.*}} writes argument #1, which its step does not say

// CHECK: 0: launch softmax_0, {{[^)]*}}{{.*}}){{$}}
// CHECK: 1: launch {{.*}} after 0{{$}}
// CHECK: 2: launch {{.*}} after 0{{$}}
// CHECK: 3: launch {{.*}} after 1, 2{{$}}
func.func @main(%x: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %2 = linalg.softmax dimension(0) ins(%0 : tensor<40x40xf32>) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = linalg.matmul ins(%1, %2 : tensor<40x40xf32>, tensor<40x40xf32>) outs(%f : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %3 : tensor<40x40xf32>
}
