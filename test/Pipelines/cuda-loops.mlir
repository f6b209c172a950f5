// What has no variant for a GPU is loops over elements there, proved and said.

// RUN: split-file %s %t
// RUN: tracea compile %t/strided.mlir --target sm_90a --require-proof --emit asm -o - --dump-remarks 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: tracea compile %t/copy.mlir --target sm_80 --require-proof --emit asm -o - | FileCheck %s --check-prefix=COPY
// RUN: tracea compile %t/grouped.mlir --target sm_80 --require-proof --emit asm -o - | FileCheck %s --check-prefix=GROUPED
// RUN: tracea compile %t/gather.mlir --target sm_90a --require-proof --emit asm -o - | FileCheck %s --check-prefix=GATHER
// RUN: tracea compile %t/gather.mlir --target sm_80 --require-proof --emit asm -o - | FileCheck %s --check-prefix=GATHER
// RUN: tracea compile %t/gather.mlir --target sm_70 --require-proof --emit asm -o - | FileCheck %s --check-prefix=GATHER
// RUN: tracea compile %t/scatter.mlir --target sm_90a --emit asm -o - | FileCheck %s --check-prefix=SCATTER
// RUN: tracea compile %t/slices.mlir --target sm_90a --emit asm -o - | FileCheck %s --check-prefix=SLICES
// RUN: tracea compile %t/groups.mlir --target sm_70 --require-proof --emit asm -o - | FileCheck %s --check-prefix=GROUPS
// RUN: tracea compile %t/nothing.mlir --target sm_70 --require-proof --emit asm -o - | FileCheck %s --check-prefix=NOTHING

// STRIDED: 'linalg.generic' runs as plain loops: no kernel variant covers it
// STRIDED: .entry linalg_generic_0(
// STRIDED: .reqntid 64, 1, 1
// STRIDED: ld.global.b32
// STRIDED: neg.f32
// STRIDED: st.global.b32

// COPY-DAG: .entry memref_copy_0(
// COPY-DAG: .entry linalg_generic_0(

// Which matrix a row takes is data, but none that there is not: nothing has to be reported.
// GROUPED: .entry linalg_generic_0(
// GROUPED: mul.rn.f32

// Data says which elements are taken. The index is compared; where there is no such element nothing is read, and the
// kernel's last parameter leads to what the run then says.
// GATHER: .entry linalg_generic_0(
// GATHER: .param {{.*}} linalg_generic_0_param_4
// GATHER-NOT: .param
// GATHER: {{^}})
// GATHER: or.pred %[[FAILS:p[0-9]+]], %{{.*}}
// GATHER: @%[[FAILS]] bra [[REST:.*]];
// GATHER: ld.global.b32
// GATHER: [[REST]]:
// GATHER: ld.param.b64 %[[RECORD:.*]], [linalg_generic_0_param_4];
// GATHER: atom{{.*}}.max.u64 %{{.*}}, [%[[RECORD]]], 1;
// GATHER: atom{{.*}}.max.u64 %{{.*}}, [%[[RECORD]]+8], %{{.*}};
// GATHER: atom{{.*}}.max.u64 %{{.*}}, [%[[RECORD]]+16], %{{.*}};
// GATHER: st.global.b32

// What is stored where data says is done by one lane, in the order of the program.
// SCATTER: atom{{.*}}.max.u64
// SCATTER: st.global.b32

// So are copies between slices that data places; what would lie outside is moved inside.
// SLICES: .entry scf_for_0(
// SLICES: max.s64
// SLICES: ld.global.b32
// SLICES: st.global.b32

// Of a number of groups that only the run knows there may be none that a row asks for.
// GROUPS: .entry linalg_generic_0(
// GROUPS: atom{{.*}}.max.u64

// A sum of no terms is what it began with: no kernel is needed.
// NOTHING-NOT: .entry
// NOTHING: .target sm_70
// NOTHING-NOT: .entry

//--- strided.mlir
func.func @main(%a: tensor<127xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<127xf32>) outs(%d : tensor<64xf32>) {
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

//--- grouped.mlir
func.func @main(%a: tensor<64x32xf32>, %b: tensor<4x32x16xf32>, %ends: tensor<4xi32>, %d: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = tracea.grouped_gemm ins(%a, %b, %ends : tensor<64x32xf32>, tensor<4x32x16xf32>, tensor<4xi32>) outs(%d : tensor<64x16xf32>)
  return %0 : tensor<64x16xf32>
}

//--- gather.mlir
func.func @main(%x: tensor<?xf32>, %at: tensor<8xi32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at : tensor<8xi32>) outs(%d : tensor<8xf32>) {
  ^bb0(%i: i32, %out: f32):
    %j = arith.index_cast %i : i32 to index
    %e = tensor.extract %x[%j] : tensor<?xf32>
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//--- scatter.mlir
func.func @main(%x: tensor<8xf32>, %at: tensor<8xi32>, %d: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%y = %d) -> tensor<?xf32> {
    %n = tensor.extract %at[%i] : tensor<8xi32>
    %j = arith.index_cast %n : i32 to index
    %e = tensor.extract %x[%i] : tensor<8xf32>
    %old = tensor.extract %y[%j] : tensor<?xf32>
    %sum = arith.addf %old, %e : f32
    %next = tensor.insert %sum into %y[%j] : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

//--- slices.mlir
func.func @main(%x: tensor<?x?xf32>, %k: tensor<8xi64>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%y = %z) -> tensor<8x4xf32> {
    %n = tensor.extract %k[%i] : tensor<8xi64>
    %j = arith.index_cast %n : i64 to index
    %s = tensor.extract_slice %x[%i, %j] [1, 4] [1, 1] : tensor<?x?xf32> to tensor<1x4xf32>
    %r = tensor.insert_slice %s into %y[%j, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    scf.yield %r : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}

//--- groups.mlir
func.func @main(%a: tensor<64x32xf32>, %b: tensor<?x32x16xf32>, %ends: tensor<?xi32>, %d: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = tracea.grouped_gemm ins(%a, %b, %ends : tensor<64x32xf32>, tensor<?x32x16xf32>, tensor<?xi32>) outs(%d : tensor<64x16xf32>)
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
