// RUN: tracea-opt %s --tracea-narrow-bf16 | FileCheck %s
// RUN: tracea-opt %s --tracea-narrow-bf16=subnormals=true | FileCheck %s --check-prefix=ALL

// A rounding stays one instruction where nothing is subnormal, or where the instruction
// keeps such numbers.
// CHECK-LABEL: func.func @weights(
// CHECK:         %[[W:.*]] = llvm.fptrunc %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT:    %[[S:.*]] = llvm.fptrunc %{{.*}} : f32 to bf16
// CHECK-NEXT:    return %[[W]], %[[S]]
func.func @weights(%x: vector<16xf32>, %y: f32) -> (vector<16xbf16>, bf16) {
  %w = arith.truncf %x {tracea_pipe.flushes} : vector<16xf32> to vector<16xbf16>
  %s = arith.truncf %y {tracea_pipe.flushes} : f32 to bf16
  return %w, %s : vector<16xbf16>, bf16
}

// CHECK-LABEL: func.func @results(
// CHECK:         arith.truncf
// ALL-LABEL:   func.func @results(
// ALL:           llvm.fptrunc
func.func @results(%x: vector<16xf32>) -> vector<16xbf16> {
  %r = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %r : vector<16xbf16>
}

// Other types, and roundings the other way, stay what they are.
// ALL-LABEL:   func.func @others(
// ALL:           arith.truncf {{.*}}: f64 to bf16
// ALL-NEXT:      arith.truncf {{.*}}: f32 to f16
// ALL-NEXT:      arith.truncf {{.*}} toward_zero {{.*}}: f32 to bf16
func.func @others(%d: f64, %x: f32) -> (bf16, f16, bf16) {
  %a = arith.truncf %d {tracea_pipe.flushes} : f64 to bf16
  %b = arith.truncf %x {tracea_pipe.flushes} : f32 to f16
  %c = arith.truncf %x toward_zero {tracea_pipe.flushes} : f32 to bf16
  return %a, %b, %c : bf16, f16, bf16
}
