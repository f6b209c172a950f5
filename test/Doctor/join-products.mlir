// RUN: tracea-opt %s -split-input-file --tracea-join-products="target=sm_90a" --canonicalize | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-join-products="target=sm_90a" --remarks-filter=tracea-doctor --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Three projections of one matrix, each with a bias: one product of a batch, by stacks that are made once.
// REMARK: [Passed] products-joined {{.*}} Remark="3 products of one operand are one of a batch: the cost model expects {{[0-9]+}} cycles in place of {{[0-9]+}}"
// CHECK-LABEL: func.func @projections(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<128x768xbf16>
// CHECK-DAG:     %[[BIASES:.*]] = tensor.concat dim(0) {{.*}} -> tensor<3x768xbf16>
// CHECK-DAG:     %[[WEIGHTS:.*]] = tensor.concat dim(0) {{.*}} -> tensor<3x768x768xbf16>
// CHECK:         %[[ALL:.*]] = tracea.gemm transpose_rhs ins(%[[X]], %[[WEIGHTS]] : tensor<128x768xbf16>, tensor<3x768x768xbf16>) outs(%{{.*}} : tensor<3x128x768xbf16>) epilogue(%[[BIASES]] by #[[MAP:.*]] : tensor<3x768xbf16>)
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[ALL]][0, 0, 0] [1, 128, 768] [1, 1, 1] : tensor<3x128x768xbf16> to tensor<128x768xbf16>
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[ALL]][1, 0, 0]
// CHECK:         %[[V:.*]] = tensor.extract_slice %[[ALL]][2, 0, 0]
// CHECK:         return %[[Q]], %[[K]], %[[V]]
#bias = affine_map<(m, n) -> (n)>
func.func @projections(%x: tensor<128x768xbf16>,
    %wq: tensor<768x768xbf16> {tracea.constant}, %wk: tensor<768x768xbf16> {tracea.constant}, %wv: tensor<768x768xbf16> {tracea.constant},
    %bq: tensor<768xbf16> {tracea.constant}, %bk: tensor<768xbf16> {tracea.constant}, %bv: tensor<768xbf16> {tracea.constant})
    -> (tensor<128x768xbf16>, tensor<128x768xbf16>, tensor<128x768xbf16>) {
  %e = tensor.empty() : tensor<128x768xbf16>
  %q = tracea.gemm transpose_rhs ins(%x, %wq : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%e : tensor<128x768xbf16>)
         epilogue(%bq by #bias : tensor<768xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %k = tracea.gemm transpose_rhs ins(%x, %wk : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%e : tensor<128x768xbf16>)
         epilogue(%bk by #bias : tensor<768xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  %v = tracea.gemm transpose_rhs ins(%x, %wv : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%e : tensor<128x768xbf16>)
         epilogue(%bv by #bias : tensor<768xbf16>) {
    ^bb0(%acc: f32, %b: bf16):
      %w = arith.extf %b : bf16 to f32
      %s = arith.addf %acc, %w : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  return %q, %k, %v : tensor<128x768xbf16>, tensor<128x768xbf16>, tensor<128x768xbf16>
}

// -----

// Rows that the run knows, as many for both; a third product is of another size.
// CHECK-LABEL: func.func @rows(
// CHECK:         tracea.gemm {{.*}} outs(%{{.*}} : tensor<2x?x512xbf16>)
// CHECK:         tensor.extract_slice %{{.*}}[1, 0, 0] [1, %{{.*}}, 512] [1, 1, 1]
// CHECK:         tracea.gemm {{.*}} outs(%{{.*}} : tensor<?x256xbf16>)
func.func @rows(%x: tensor<?x512xbf16>, %a: tensor<512x512xbf16> {tracea.constant}, %b: tensor<512x512xbf16> {tracea.constant}, %c: tensor<512x256xbf16> {tracea.constant})
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x256xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %e = tensor.empty(%n) : tensor<?x512xbf16>
  %f = tensor.empty(%n) : tensor<?x256xbf16>
  %0 = tracea.gemm ins(%x, %a : tensor<?x512xbf16>, tensor<512x512xbf16>) outs(%e : tensor<?x512xbf16>)
  %1 = tracea.gemm ins(%x, %b : tensor<?x512xbf16>, tensor<512x512xbf16>) outs(%e : tensor<?x512xbf16>)
  %2 = tracea.gemm ins(%x, %c : tensor<?x512xbf16>, tensor<512x256xbf16>) outs(%f : tensor<?x256xbf16>)
  return %0, %1, %2 : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x256xbf16>
}

// -----

// Products that fill the machine each: nothing is gained.
// REMARK: [Missed] products-apart {{.*}} Remark="2 products of one operand stay apart: the cost model expects {{[0-9]+}} cycles in place of {{[0-9]+}}"
// CHECK-LABEL: func.func @large(
// CHECK-NOT:     tensor.concat
// CHECK-COUNT-2: tracea.gemm
func.func @large(%x: tensor<8192x4096xbf16>, %a: tensor<4096x4096xbf16> {tracea.constant}, %b: tensor<4096x4096xbf16> {tracea.constant})
    -> (tensor<8192x4096xbf16>, tensor<8192x4096xbf16>) {
  %e = tensor.empty() : tensor<8192x4096xbf16>
  %0 = tracea.gemm ins(%x, %a : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%e : tensor<8192x4096xbf16>)
  %1 = tracea.gemm ins(%x, %b : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) outs(%e : tensor<8192x4096xbf16>)
  return %0, %1 : tensor<8192x4096xbf16>, tensor<8192x4096xbf16>
}

// -----

// Matrices that change would be stacked by each run; epilogues differ; the second product needs the first.
// CHECK-LABEL: func.func @unlike(
// CHECK-NOT:     tensor.concat
// CHECK-COUNT-6: tracea.gemm
func.func @unlike(%x: tensor<128x128xf32>, %a: tensor<128x128xf32>, %b: tensor<128x128xf32>, %c: tensor<128x128xf32> {tracea.constant}, %d: tensor<128x128xf32> {tracea.constant})
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>) {
  %e = tensor.empty() : tensor<128x128xf32>
  %0 = tracea.gemm ins(%x, %a : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>)
  %1 = tracea.gemm ins(%x, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>)
  %2 = tracea.gemm ins(%x, %c : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>)
  %3 = tracea.gemm ins(%x, %d : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) epilogue {
    ^bb0(%acc: f32):
      %n = arith.negf %acc : f32
      tracea.yield %n : f32
  }
  %4 = tracea.gemm ins(%0, %c : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) epilogue(%1 by affine_map<(m, n) -> (m, n)> : tensor<128x128xf32>) {
    ^bb0(%acc: f32, %y: f32):
      %s = arith.addf %acc, %y : f32
      tracea.yield %s : f32
  }
  %5 = tracea.gemm ins(%0, %d : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) epilogue(%4 by affine_map<(m, n) -> (m, n)> : tensor<128x128xf32>) {
    ^bb0(%acc: f32, %y: f32):
      %s = arith.addf %acc, %y : f32
      tracea.yield %s : f32
  }
  return %1, %2, %3, %4, %5 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>
}
