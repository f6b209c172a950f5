// Copies and fills on the host of a GPU are steps that its driver does; threads
// of a CPU share them as kernels.

// RUN: tracea compile %s --target sm_80 --emit program -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea compile %s --target x86-64-v3 --emit manifest -o - | FileCheck %s --check-prefix=CPU

// CHECK:      entry moves
// CHECK:        takes 'arg1'
// CHECK:        %[[BOTH:[0-9]+]] = temporary of
// CHECK:        %[[ONES:[0-9]+]] = temporary of
// CHECK:        copy %0 f32[16, 8] to %[[BOTH]] f32[16, 8]
// CHECK:        copy %1 f32[dim(arg1, 0), 8] to %[[BOTH]] f32[dim(arg1, 0), 8] at 128
// CHECK:        fill %[[ONES]] i32[dim(arg1, 0), 8] with bytes of 255
// CHECK-NOT:    launch
// CHECK:        gives %[[BOTH]]
// CHECK:        gives %[[ONES]]
// CHECK:      0 kernels

// CPU:     "name":"memref_copy_0"
// CPU-NOT: "fill":
func.func @moves(%x: tensor<16x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xi32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  %rows = arith.addi %n, %c16 : index
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %first = tensor.insert_slice %x into %empty[0, 0] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<?x8xf32>
  %both = tensor.insert_slice %y into %first[16, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %ones = tensor.empty(%n) : tensor<?x8xi32>
  %minus = arith.constant -1 : i32
  %fill = linalg.fill ins(%minus : i32) outs(%ones : tensor<?x8xi32>) -> tensor<?x8xi32>
  return %both, %fill : tensor<?x8xf32>, tensor<?x8xi32>
}
