// RUN: tracea-opt %s --tracea-promote-to-f64 | FileCheck %s --implicit-check-not=f32 --implicit-check-not=f16

// Signatures and calls change together.
// CHECK-LABEL: func private @callee(%{{.*}}: tensor<?xf64>, %{{.*}}: i32) -> tensor<?xf64>
func.func private @callee(%x: tensor<?xbf16>, %n: i32) -> tensor<?xbf16> {
  return %x : tensor<?xbf16>
}

// CHECK-LABEL: func @casts(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf64>, %[[D:.*]]: tensor<?xf64>, %[[N:.*]]: i32) -> tensor<?xf64>
// CHECK:         %[[Y:.*]] = call @callee(%[[X]], %[[N]]) : (tensor<?xf64>, i32) -> tensor<?xf64>
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] : tensor<?xf64>)
// CHECK:         ^bb0(%[[IN:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[F:.*]] = arith.sitofp %[[N]] : i32 to f64
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[IN]], %[[F]] : f64
// CHECK-NEXT:      linalg.yield %[[S]] : f64
func.func @casts(%x: tensor<?xbf16>, %d: tensor<?xf16>, %n: i32) -> tensor<?xf16> {
  %y = call @callee(%x, %n) : (tensor<?xbf16>, i32) -> tensor<?xbf16>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<?xbf16>) outs(%d : tensor<?xf16>) {
    ^bb0(%in: bf16, %out: f16):
      %w = arith.extf %in : bf16 to f32
      %f = arith.sitofp %n : i32 to f32
      %s = arith.addf %w, %f : f32
      %t = arith.truncf %s : f32 to f16
      linalg.yield %t : f16
  } -> tensor<?xf16>
  return %z : tensor<?xf16>
}

// A number of a narrow type keeps its value, not its decimal text; a double
// that was rounded to one keeps its digits.
// CHECK-LABEL: func @constants(
// CHECK-DAG:     arith.constant 0.100000001490{{[0-9]*}} : f64
// CHECK-DAG:     arith.constant 0xFFF0000000000000 : f64
// CHECK-DAG:     %[[EXACT:.*]] = arith.constant 1.000000e-01 : f64
// CHECK-DAG:     arith.constant dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf64>
// CHECK-DAG:     arith.constant dense<5.000000e-01> : tensor<4x4xf64>
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf64>
// CHECK-DAG:     %[[I:.*]] = arith.constant dense<[1, 2]> : tensor<2xi8>
// CHECK:         return %{{.*}}, %{{.*}}, %[[EXACT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[I]]
func.func @constants() -> (f32, f32, f32, tensor<2xf16>, tensor<4x4xbf16>, tensor<2xf32>, tensor<2xi8>) {
  %a = arith.constant 0.1 : f32
  %b = arith.constant 0xFF800000 : f32
  %c = arith.constant 0.1 : f64
  %d = arith.truncf %c : f64 to f32
  %e = arith.constant dense<[1.5, -2.0]> : tensor<2xf16>
  %f = arith.constant dense<0.5> : tensor<4x4xbf16>
  %g = arith.constant dense_resource<weights> : tensor<2xf32>
  %i = arith.constant dense<[1, 2]> : tensor<2xi8>
  return %a, %b, %d, %e, %f, %g, %i : f32, f32, f32, tensor<2xf16>, tensor<4x4xbf16>, tensor<2xf32>, tensor<2xi8>
}

// Shapes, pads and named operations; integers stay.
// CHECK-LABEL: func @tensors(
// CHECK:         tensor.pad
// CHECK:           tensor.yield %{{.*}} : f64
// CHECK:         tensor.empty() : tensor<4x4xf64>
// CHECK:         linalg.matmul ins({{.*}} : tensor<4x3xf64>, tensor<3x4xf64>) outs({{.*}} : tensor<4x4xf64>)
// CHECK:         arith.fptosi %{{.*}} : tensor<4x4xf64> to tensor<4x4xi32>
// CHECK:         arith.muli
func.func @tensors(%a: tensor<4x2xf32>, %b: tensor<3x4xf32>) -> tensor<4x4xi32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %a low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x2xf32> to tensor<4x3xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%p, %b : tensor<4x3xf32>, tensor<3x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = arith.fptosi %y : tensor<4x4xf32> to tensor<4x4xi32>
  %m = arith.muli %n, %n : tensor<4x4xi32>
  return %m : tensor<4x4xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00002040"
    }
  }
#-}
