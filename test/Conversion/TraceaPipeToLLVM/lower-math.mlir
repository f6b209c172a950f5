// RUN: tracea-opt %s --tracea-lower-math | FileCheck %s
// RUN: tracea-opt %s --tracea-lower-math=fused=false | FileCheck %s --check-prefix=PLAIN
// RUN: tracea-opt %s --tracea-lower-math=scaled=true | FileCheck %s --check-prefix=SCALED
// RUN: tracea-opt %s --tracea-lower-math=route=reference | FileCheck %s --check-prefix=REF
// RUN: tracea-opt %s --tracea-lower-math=route=arithmetic | FileCheck %s --check-prefix=ARITH

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

// Kernels compute exponentials inline, and leave cubic roots to libm. Without a
// fused multiply-add all goes to libm. The reference goes the other way each
// time, so that both cannot be wrong alike.
// CHECK-LABEL: func.func @double(
// CHECK-NOT:     math.exp
// CHECK:         math.fma {{.*}} : vector<8xf64>
// CHECK:         math.cbrt %{{.*}} : f64
// PLAIN-LABEL: func.func @double(
// PLAIN-NOT:     math.fma
// PLAIN:         math.exp %{{.*}} : f64
// PLAIN:         math.cbrt %{{.*}} : f64
// REF-LABEL: func.func @double(
// REF:         math.exp %{{.*}} : f64
// REF-NOT:     math.cbrt
// REF:         return
// ARITH-LABEL: func.func @double(
// ARITH-NOT:     math.{{exp|cbrt}}
// ARITH:         return
func.func @double(%x: f64, %v: vector<8xf64>) -> (f64, vector<8xf64>, f64) {
  %a = math.exp %x : f64
  %b = math.exp %v : vector<8xf64>
  %c = math.cbrt %x : f64
  return %a, %b, %c : f64, vector<8xf64>, f64
}

// What is left to libm must not become exp(x) - 1: that is 0 of 1e-18.
// PLAIN-LABEL: func.func @small_results(
// PLAIN:         call @expm1(%{{.*}}) : (f64) -> f64
// PLAIN:         call @log1p(%{{.*}}) : (f64) -> f64
// PLAIN:         call @expm1(
// PLAIN:         call @expm1(
// REF-LABEL: func.func @small_results(
// REF:         call @expm1(%{{.*}}) : (f64) -> f64
// REF:         call @log1p(%{{.*}}) : (f64) -> f64
func.func @small_results(%x: f64, %v: vector<2xf64>) -> (f64, f64, vector<2xf64>) {
  %a = math.expm1 %x : f64
  %b = math.log1p %x : f64
  %c = math.expm1 %v : vector<2xf64>
  return %a, %b, %c : f64, f64, vector<2xf64>
}

// CHECK-LABEL: func.func @left_to_libm(
// CHECK:         math.tan %{{.*}} : f32
// CHECK:         math.powf %{{.*}} : f64
// CHECK:         math.sin %{{.*}} : f64
// ARITH-LABEL: func.func @left_to_libm(
// ARITH-NOT:     math.{{tan|sin|powf}}
// ARITH:         return
func.func @left_to_libm(%x: f64, %y: f32) -> (f64, f32, f64) {
  %b = math.tan %y : f32
  %a = math.powf %x, %x : f64
  %c = math.sin %x : f64
  return %a, %b, %c : f64, f32, f64
}

// Sine and cosine of f32 are arithmetic for every argument: in f64, with the
// part of 1/pi that the exponent asks for, or without that in integers.
// CHECK-LABEL: func.func @turns(
// CHECK-NOT:     math.{{sin|cos}}
// CHECK:         %[[X:.*]] = arith.extf %{{.*}} : vector<16xf32> to vector<16xf64>
// CHECK:         %[[M:.*]] = math.absf %[[X]]
// CHECK-COUNT-4: arith.cmpf oge, %[[M]]
// CHECK:         math.fma %[[X]], %{{.*}} : vector<16xf64>
// CHECK:         arith.truncf %{{.*}} : vector<16xf64> to vector<16xf32>
// CHECK-NOT:     math.{{sin|cos}}
// CHECK:         return
// PLAIN-LABEL: func.func @turns(
// PLAIN-NOT:     f64
// PLAIN:         arith.mului_extended %{{.*}} : vector<16xi32>
// REF-LABEL: func.func @turns(
// REF-NOT:     f64
// REF:         arith.mului_extended %{{.*}} : vector<16xi32>
// ARITH-LABEL: func.func @turns(
// ARITH-NOT:     f64
// ARITH:         arith.mului_extended %{{.*}} : vector<16xi32>
func.func @turns(%x: f32, %v: vector<16xf32>) -> (f32, vector<16xf32>) {
  %a = math.cos %x : f32
  %b = math.sin %v : vector<16xf32>
  return %a, %b : f32, vector<16xf32>
}

// libm has no halves.
// CHECK-LABEL: func.func @half(
// CHECK:         arith.extf %{{.*}} : bf16 to f32
// CHECK:         math.tan %{{.*}} : f32
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: bf16) -> bf16 {
  %a = math.tan %x : bf16
  return %a : bf16
}

// A target that multiplies by powers of two does so once; the exponent of f64
// is as wide as an index of 32 bits.
// SCALED-LABEL: func.func @scaled(
// SCALED:         %[[X:.*]] = llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// SCALED:         %[[E:.*]] = arith.trunci %{{.*}} : i64 to i32
// SCALED:         %[[Y:.*]] = llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %[[E]]) : (f64, i32) -> f64
// SCALED:         return %[[X]], %[[Y]]
// CHECK-LABEL: func.func @scaled(
// CHECK-NOT:     llvm
// CHECK:         return
func.func @scaled(%v: vector<16xf32>, %x: f64) -> (vector<16xf32>, f64) {
  %a = math.exp %v : vector<16xf32>
  %b = math.exp %x : f64
  return %a, %b : vector<16xf32>, f64
}

// Powers of two that may be zero where they are small, of numbers that are not
// large: no clamp, one product with half of the power.
// CHECK-LABEL: func.func @flushed(
// CHECK-SAME:    %[[X:.*]]: vector
// CHECK-NOT:     arith.cmpf ogt
// CHECK-NOT:     arith.shrsi
// CHECK:         %[[SHIFTED:.*]] = arith.addf %[[X]]
// CHECK:         %[[HALF:.*]] = arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[SHIFTED]]
// CHECK:         %[[POWER:.*]] = arith.mulf %{{.*}}, %[[HALF]]
// CHECK:         arith.select %[[SMALL]], %{{.*}}, %[[POWER]]
func.func @flushed(%v: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp2 %v {tracea_pipe.flushes} : vector<16xf32>
  return %a : vector<16xf32>
}

// A product is not rounded before it is added to.
// CHECK-LABEL: func.func @flushed_product(
// CHECK-SAME:    %[[X:.*]]: vector{{.*}}, %[[Y:.*]]: vector
// CHECK-NOT:     arith.mulf %[[X]]
// CHECK:         math.fma %[[X]], %[[Y]]
// CHECK:         math.fma %[[X]], %[[Y]]
// CHECK:         return
func.func @flushed_product(%v: vector<16xf32>, %w: vector<16xf32>) -> vector<16xf32> {
  %p = arith.mulf %v, %w : vector<16xf32>
  %a = math.exp2 %p {tracea_pipe.flushes} : vector<16xf32>
  return %a : vector<16xf32>
}

// The same of e: log2 of e has two parts.
// CHECK-LABEL: func.func @flushed_exp(
// CHECK-SAME:    %[[X:.*]]: vector
// CHECK-NOT:     arith.cmpf ogt
// CHECK:         %[[SHIFTED:.*]] = math.fma %[[X]]
// CHECK:         %[[FIRST:.*]] = math.fma %[[X]]
// CHECK:         math.fma %[[X]], %{{.*}}, %[[FIRST]]
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[SHIFTED]]
// CHECK:         arith.select %[[SMALL]]
func.func @flushed_exp(%v: vector<16xf32>) -> vector<16xf32> {
  %a = math.exp %v {tracea_pipe.flushes} : vector<16xf32>
  return %a : vector<16xf32>
}
