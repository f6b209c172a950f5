// Packed products that ask for the next block of k compute what plain loops do, and the
// bits of those that do not ask: rows of B and columns of it, several blocks of rows, a
// last block that is cut, operands that packing converts; register tiles of five to seven
// rows, whose rows are packed by parts of vectors in every order of A.
// REQUIRES: cpu-avx2, cpu-fma
// RUN: tracea run %s --entry rows --random-inputs --check
// RUN: tracea run %s --entry columns --random-inputs --check
// RUN: tracea run %s --entry narrow --random-inputs --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=33x301 --shape 1=301x50 --shape 2=33x50 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=5x1 --shape 1=1x16 --shape 2=5x16 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=3x0 --shape 1=0x16 --shape 2=3x16 --check
// RUN: tracea run %s --entry rows --random-inputs=3 --output %t.asked.npy
// RUN: sed 's/, prefetch = 1//' %s > %t.mlir
// RUN: not diff %s %t.mlir > /dev/null
// RUN: tracea run %t.mlir --entry rows --random-inputs=3 --output %t.plain.npy
// RUN: cmp %t.asked.npy %t.plain.npy
module attributes {tracea.target = #tracea.target<kind = cpu, name = "avx2", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
    features = "+avx2,+fma,+f16c", vector_bits = 256>} {
func.func @rows(%a: tensor<37x205xf32>, %b: tensor<205x131xf32>, %d: tensor<37x131xf32>) -> tensor<37x131xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x205xf32>, tensor<205x131xf32>) outs(%d : tensor<37x131xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [42, 96, 64, 24], registers = [6, 16], prefetch = 1>
  return %0 : tensor<37x131xf32>
}
func.func @columns(%a: tensor<205x37xf32>, %b: tensor<131x205xf32>, %d: tensor<37x131xf32>) -> tensor<37x131xf32> {
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<205x37xf32>, tensor<131x205xf32>) outs(%d : tensor<37x131xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [36, 144, 40, 18], registers = [6, 16], prefetch = 1>
  return %0 : tensor<37x131xf32>
}
func.func @narrow(%a: tensor<3x20x150xbf16>, %b: tensor<150x50xbf16>, %d: tensor<3x20x50xf32>) -> tensor<3x20x50xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<3x20x150xbf16>, tensor<150x50xbf16>) outs(%d : tensor<3x20x50xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [15, 48, 32, 15], registers = [5, 16], prefetch = 1>
  return %0 : tensor<3x20x50xf32>
}
func.func @open(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [14, 64, 64, 14], registers = [7, 8], prefetch = 1>
  return %0 : tensor<?x?xf32>
}
}
