// RUN: tracea-opt %s --tracea-expand-byte-floats | FileCheck %s --implicit-check-not=extf --implicit-check-not=truncf
// What is computed of constants:
// RUN: tracea-opt %s --tracea-expand-byte-floats --canonicalize | FileCheck %s --check-prefix=FOLDED

// CHECK-LABEL: func @widen(
// CHECK-SAME:    %[[X:.*]]: vector<16xf8E4M3FN>
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : vector<16xf8E4M3FN> to vector<16xi8>
// CHECK:         arith.extui %[[BITS]] : vector<16xi8> to vector<16xi32>
// CHECK:         arith.mulf {{.*}} : vector<16xf32>
// FOLDED-LABEL: func @widen(
func.func @widen(%x: vector<16xf8E4M3FN>) -> vector<16xf32> {
  %0 = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func @narrow(
// CHECK:         arith.addf {{.*}} : f32
// CHECK:         arith.trunci {{.*}} : i32 to i8
// CHECK:         arith.bitcast {{.*}} : i8 to f8E5M2
// FOLDED-LABEL: func @narrow(
func.func @narrow(%x: f32) -> f8E5M2 {
  %0 = arith.truncf %x : f32 to f8E5M2
  return %0 : f8E5M2
}

// Doubles are rounded once, in their own width.
// CHECK-LABEL: func @double(
// CHECK:         arith.trunci {{.*}} : i64 to i8
// FOLDED-LABEL: func @double(
func.func @double(%x: f64) -> f8E4M3FN {
  %0 = arith.truncf %x : f64 to f8E4M3FN
  return %0 : f8E4M3FN
}

// CHECK-LABEL: func @constants(
// FOLDED-LABEL: func @constants(
func.func @constants() -> (f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E5M2, f8E5M2, f8E4M3FN, f32, f32, f64) {
  // Halfway between 18 and 20, and halfway between the largest number and what
  // would be next: to even.
  // FOLDED-DAG: arith.constant 2.000000e+01 : f8E4M3FN
  %a = arith.constant 19.0 : f32
  %0 = arith.truncf %a : f32 to f8E4M3FN
  // FOLDED-DAG: arith.constant 4.480000e+02 : f8E4M3FN
  %b = arith.constant 464.0 : f32
  %1 = arith.truncf %b : f32 to f8E4M3FN
  // FOLDED-DAG: arith.constant 0x7F : f8E4M3FN
  %c = arith.constant 465.0 : f32
  %2 = arith.truncf %c : f32 to f8E4M3FN
  // FOLDED-DAG: arith.constant 0x7C : f8E5M2
  %d = arith.constant 61440.0 : f32
  %3 = arith.truncf %d : f32 to f8E5M2
  // FOLDED-DAG: arith.constant -5.734400e+04 : f8E5M2
  %e = arith.constant -61439.0 : f32
  %4 = arith.truncf %e : f32 to f8E5M2
  // One place above halfway between 16 and 18, which f32 does not have.
  // FOLDED-DAG: arith.constant 1.800000e+01 : f8E4M3FN
  %f = arith.constant 0x4031000000000001 : f64
  %5 = arith.truncf %f : f64 to f8E4M3FN
  // Subnormal.
  // FOLDED-DAG: arith.constant 0.005859375 : f32
  %g = arith.constant 0x03 : f8E4M3FN
  %6 = arith.extf %g : f8E4M3FN to f32
  // FOLDED-DAG: arith.constant 0xFF800000 : f32
  %h = arith.constant 0xFC : f8E5M2
  %7 = arith.extf %h : f8E5M2 to f32
  // FOLDED-DAG: arith.constant -1.52587890625E-5 : f64
  %i = arith.constant 0x81 : f8E5M2
  %8 = arith.extf %i : f8E5M2 to f64
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : f8E4M3FN, f8E4M3FN, f8E4M3FN, f8E5M2, f8E5M2, f8E4M3FN, f32, f32, f64
}
