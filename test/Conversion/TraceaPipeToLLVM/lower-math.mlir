// RUN: tracea-opt %s --tracea-lower-math | FileCheck %s

// CHECK-LABEL: func.func @single(
// CHECK-NOT:     math.{{exp|tanh|log|erf}}
// CHECK:         return
func.func @single(%x: f32, %v: vector<8xf32>) -> (f32, f32, f32, f32, vector<8xf32>) {
  %a = math.exp %x : f32
  %b = math.tanh %x : f32
  %c = math.log %x : f32
  %d = math.erf %x : f32
  %e = math.exp %v : vector<8xf32>
  return %a, %b, %c, %d, %e : f32, f32, f32, f32, vector<8xf32>
}

// libm is exact enough for both.
// CHECK-LABEL: func.func @left_to_libm(
// CHECK:         math.exp %{{.*}} : f64
// CHECK:         math.sin %{{.*}} : f32
func.func @left_to_libm(%x: f64, %y: f32) -> (f64, f32) {
  %a = math.exp %x : f64
  %b = math.sin %y : f32
  return %a, %b : f64, f32
}

// libm has no halves.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK:         math.sin %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: bf16) -> bf16 {
  %a = math.sin %x : bf16
  return %a : bf16
}
