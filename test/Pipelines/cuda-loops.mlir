// What has no variant for a GPU is loops over elements there, proved and said.

// RUN: split-file %s %t
// RUN: tracea compile %t/elementwise.mlir --target sm_90a --require-proof --emit asm -o - --dump-remarks 2>&1 | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: tracea compile %t/copy.mlir --target sm_80 --emit asm -o - | FileCheck %s --check-prefix=COPY
// RUN: tracea compile %t/softmax.mlir --target sm_90a --require-proof --emit asm -o - --dump-remarks 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// RUN: tracea compile %t/grouped.mlir --target sm_80 --require-proof --emit asm -o - | FileCheck %s --check-prefix=GROUPED
// RUN: tracea compile %t/nothing.mlir --target sm_70 --require-proof --emit asm -o - | FileCheck %s --check-prefix=NOTHING

// ELEMENTWISE: 'linalg.generic' runs as plain loops: no kernel variant covers it
// ELEMENTWISE: .entry linalg_generic_0(
// ELEMENTWISE: .reqntid 64, 1, 1
// ELEMENTWISE: ld.global.b32
// ELEMENTWISE: neg.f32
// ELEMENTWISE: st.global.b32

// COPY: .entry memref_copy_0(
// COPY: st.global.b32
// COPY: .entry memref_copy_1(

// SOFTMAX: tracea.softmax: falls back to 'linalg'
// SOFTMAX-DAG: .entry linalg_generic_{{[0-9]+}}(
// SOFTMAX-DAG: ex2.approx.f32

// Which matrix a row takes is data, but none that there is not: nothing has to be reported.
// GROUPED: .entry linalg_generic_0(
// GROUPED: mul.rn.f32

// A sum of no terms is what it began with: no kernel is needed.
// NOTHING-NOT: .entry
// NOTHING: .target sm_70
// NOTHING-NOT: .entry

//--- elementwise.mlir
func.func @main(%a: tensor<64xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<64xf32>) outs(%d : tensor<64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

//--- copy.mlir
// Out of a column and into another one, which are no pieces of memory.
func.func @main(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %d = tensor.extract_slice %a[0, 5] [8, 1] [1, 1] : tensor<8x8xf32> to tensor<8xf32>
  %0 = tensor.insert_slice %d into %a[0, 3] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x8xf32>
  return %0, %d : tensor<8x8xf32>, tensor<8xf32>
}

//--- softmax.mlir
func.func @main(%a: tensor<64x64xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tracea.softmax dim 1 ins(%a : tensor<64x64xf32>) outs(%d : tensor<64x64xf32>)
  return %0 : tensor<64x64xf32>
}

//--- grouped.mlir
func.func @main(%a: tensor<64x32xf32>, %b: tensor<4x32x16xf32>, %ends: tensor<4xi32>, %d: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = tracea.grouped_gemm ins(%a, %b, %ends : tensor<64x32xf32>, tensor<4x32x16xf32>, tensor<4xi32>) outs(%d : tensor<64x16xf32>)
  return %0 : tensor<64x16xf32>
}

//--- nothing.mlir
func.func @main(%a: tensor<8x0xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x0xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %n = arith.addf %x, %out : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
