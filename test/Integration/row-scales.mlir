// Rows quantised by scales of their own: right on a CPU; one kernel for a GPU, proved.
// RUN: tracea run %s --entry norm --random-inputs --shape 0=5x100 --shape 1=5x100 --check --require-proof | FileCheck %s --check-prefix=RIGHT
// RUN: tracea run %s --entry strips --random-inputs --shape 0=3x7x33 --check --require-proof | FileCheck %s --check-prefix=RIGHT
// RIGHT: output 0: passed
// RIGHT: output 1: passed
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.gpu
// RUN: tracea explain %t.gpu | FileCheck %s --check-prefix=GPU
// GPU: entry norm
// GPU: 0: launch rms_norm_0
// GPU-NOT: launch
// GPU: gives
// GPU: entry strips
// GPU: 0: launch softmax_0
// GPU-NOT: launch
// GPU: gives
#id = affine_map<(i, j) -> (i, j)>
#unit = affine_map<(i, j) -> (i, 0)>
func.func @norm(%x: tensor<?x100xbf16>, %r: tensor<?x100xbf16>) -> (tensor<?x100xbf16>, tensor<?x100xf32>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-12 : f32
  %most = arith.constant 448.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x100xbf16>
  %d = tensor.empty(%n) : tensor<?x100xbf16>
  %w = tensor.empty(%n) : tensor<?x100xf32>
  %e = tensor.empty(%n) : tensor<?x1xf32>
  %h = linalg.add ins(%x, %r : tensor<?x100xbf16>, tensor<?x100xbf16>) outs(%d : tensor<?x100xbf16>) -> tensor<?x100xbf16>
  %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%h : tensor<?x100xbf16>) outs(%w : tensor<?x100xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1xf32>) -> tensor<?x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #unit], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x100xf32>) outs(%f : tensor<?x1xf32>) {
    ^bb0(%v: f32, %o: f32):
      %a = math.absf %v : f32
      %g = arith.maximumf %a, %o : f32
      linalg.yield %g : f32
  } -> tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<?x1xf32>) outs(%e : tensor<?x1xf32>) {
    ^bb0(%v: f32, %o: f32):
      %l = arith.maximumf %v, %least : f32
      %t = arith.divf %l, %most : f32
      linalg.yield %t : f32
  } -> tensor<?x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #unit, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %s : tensor<?x100xf32>, tensor<?x1xf32>) outs(%w : tensor<?x100xf32>) {
    ^bb0(%v: f32, %u: f32, %o: f32):
      %t = arith.divf %v, %u : f32
      linalg.yield %t : f32
  } -> tensor<?x100xf32>
  return %h, %q, %s : tensor<?x100xbf16>, tensor<?x100xf32>, tensor<?x1xf32>
}
// Along the dimension in the middle, and as the operation says it.
func.func @strips(%x: tensor<3x?x33xf32>) -> (tensor<3x?x33xf32>, tensor<3x33xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<3x?x33xf32>
  %d = tensor.empty(%n) : tensor<3x?x33xf32>
  %e = tensor.empty() : tensor<3x33xf32>
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<3x?x33xf32>) outs(%d : tensor<3x?x33xf32>) rows(%e : tensor<3x33xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      %q = arith.divf %v, %m : f32
      tracea.yield %q, %m : f32, f32
  }
  return %y#0, %y#1 : tensor<3x?x33xf32>, tensor<3x33xf32>
}
