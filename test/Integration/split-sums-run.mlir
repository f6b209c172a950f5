// Sums in parts on a processor compute what plain loops do, the same bits on any
// number of threads: parts that are alike, shorter, of one block and empty; operands
// across; batches; extents that only the run knows.
// REQUIRES: cpu-avx512f
// RUN: tracea run %s --entry alike --random-inputs --check
// RUN: tracea run %s --entry uneven --random-inputs --check
// RUN: tracea run %s --entry across --random-inputs --check
// RUN: tracea run %s --entry last --random-inputs --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=33x301 --shape 1=301x16 --shape 2=33x16 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=5x1 --shape 1=1x16 --shape 2=5x16 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=3x0 --shape 1=0x16 --shape 2=3x16 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=0x70 --shape 1=70x16 --shape 2=0x16 --check
// RUN: tracea run %s --entry uneven --random-inputs=3 --threads 1 --output %t.one.npy
// RUN: tracea run %s --entry uneven --random-inputs=3 --threads 2 --output %t.two.npy
// RUN: tracea run %s --entry uneven --random-inputs=3 --threads 5 --output %t.five.npy
// RUN: cmp %t.one.npy %t.two.npy
// RUN: cmp %t.one.npy %t.five.npy
module attributes {tracea.target = #tracea.target<kind = cpu, name = "avx512", triple = "x86_64-unknown-linux-gnu", cpu = "skylake-avx512",
    features = "+avx2,+fma,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl", vector_bits = 512>} {
func.func @alike(%a: tensor<64x1024xf32>, %b: tensor<1024x64xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<64x1024xf32>, tensor<1024x64xf32>) outs(%d : tensor<64x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [64, 64, 64], registers = [8, 32], split = 2>
  return %0 : tensor<64x64xf32>
}
func.func @uneven(%a: tensor<3x20x150xbf16>, %b: tensor<150x50xbf16>, %bias: tensor<50xf32>, %d: tensor<3x20x50xf32>) -> tensor<3x20x50xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<3x20x150xbf16>, tensor<150x50xbf16>) outs(%d : tensor<3x20x50xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 64, 32, 8], registers = [8, 32], split = 4>
    epilogue(%bias by affine_map<(z, i, j) -> (j)> : tensor<50xf32>) {
  ^bb0(%acc: f32, %x: f32):
    %s = arith.addf %acc, %x : f32
    tracea.yield %s : f32
  }
  return %0 : tensor<3x20x50xf32>
}
func.func @across(%a: tensor<301x37xf32>, %b: tensor<41x301xf32>, %d: tensor<37x41xf16>) -> tensor<37x41xf16> {
  %0 = tracea.gemm transpose_lhs transpose_rhs acc f32 ins(%a, %b : tensor<301x37xf32>, tensor<41x301xf32>) outs(%d : tensor<37x41xf16>)
    schedule <variant = "gemm.packed", unit = vector, tile = [40, 64, 32, 16], registers = [8, 32], split = 3>
    epilogue {
  ^bb0(%acc: f32):
    %r = arith.truncf %acc : f32 to f16
    tracea.yield %r : f16
  }
  return %0 : tensor<37x41xf16>
}
func.func @last(%a: tensor<7x96xf32>, %b: tensor<96x61xf32>, %d: tensor<7x61xf32>) -> tensor<7x61xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<7x96xf32>, tensor<96x61xf32>) outs(%d : tensor<7x61xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [7, 64, 32], registers = [7, 32], split = 2>
  return %0 : tensor<7x61xf32>
}
func.func @open(%a: tensor<?x?xf32>, %b: tensor<?x16xf32>, %d: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x16xf32>) outs(%d : tensor<?x16xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [32, 16, 64], registers = [8, 16], split = 3>
  return %0 : tensor<?x16xf32>
}
}
