// Products by tiles of AMX compute what plain loops do: every order of the operands,
// odd extents, several blocks of k, extents that only the run knows, bytes.
// REQUIRES: cpu-amx_bf16, cpu-amx_int8
// RUN: tracea run %s --entry rows --random-inputs --check
// RUN: tracea run %s --entry transposed --random-inputs --check
// RUN: tracea run %s --entry left --random-inputs --check
// RUN: tracea run %s --entry right --random-inputs --check
// RUN: tracea run %s --entry one --random-inputs --check
// RUN: tracea run %s --entry few --random-inputs --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=33x75 --shape 1=75x50 --shape 2=33x50 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=8x1 --shape 1=1x32 --shape 2=8x32 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=3x0 --shape 1=0x5 --shape 2=3x5 --check
// RUN: tracea run %s --entry bytes --random-inputs --check
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx2,+fma,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>} {
func.func @rows(%a: tensor<37x67xbf16>, %b: tensor<67x41xbf16>, %d: tensor<37x41xf32>) -> tensor<37x41xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x67xbf16>, tensor<67x41xbf16>) outs(%d : tensor<37x41xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [64, 64, 32, 32], registers = [32, 32]>
  return %0 : tensor<37x41xf32>
}
func.func @transposed(%a: tensor<67x37xbf16>, %b: tensor<41x67xbf16>, %d: tensor<37x41xf32>) -> tensor<37x41xf32> {
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<67x37xbf16>, tensor<41x67xbf16>) outs(%d : tensor<37x41xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [48, 64, 32, 48], registers = [48, 16]>
  return %0 : tensor<37x41xf32>
}
func.func @left(%a: tensor<131x19xbf16>, %b: tensor<131x70xbf16>, %d: tensor<19x70xf32>) -> tensor<19x70xf32> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<131x19xbf16>, tensor<131x70xbf16>) outs(%d : tensor<19x70xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 96, 160, 16], registers = [16, 48]>
  return %0 : tensor<19x70xf32>
}
func.func @right(%a: tensor<19x131xbf16>, %b: tensor<70x131xbf16>, %d: tensor<19x70xf32>) -> tensor<19x70xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<19x131xbf16>, tensor<70x131xbf16>) outs(%d : tensor<19x70xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 128, 64, 32], registers = [16, 64]>
  return %0 : tensor<19x70xf32>
}
func.func @one(%a: tensor<1x1xbf16>, %b: tensor<1x1xbf16>, %d: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<1x1xbf16>, tensor<1x1xbf16>) outs(%d : tensor<1x1xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [16, 16, 32, 16], registers = [16, 16]>
  return %0 : tensor<1x1xf32>
}
func.func @few(%a: tensor<2x33xbf16>, %b: tensor<33x130xbf16>, %d: tensor<2x130xf32>) -> tensor<2x130xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<2x33xbf16>, tensor<33x130xbf16>) outs(%d : tensor<2x130xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [16, 160, 64, 16], registers = [16, 32]>
  return %0 : tensor<2x130xf32>
}
func.func @open(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 64, 64, 32], registers = [32, 32]>
  return %0 : tensor<?x?xf32>
}
func.func @bytes(%a: tensor<67x129xi8>, %b: tensor<129x41xi8>, %d: tensor<67x41xi32>) -> tensor<67x41xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<67x129xi8>, tensor<129x41xi8>) outs(%d : tensor<67x41xi32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [96, 64, 64, 32], registers = [32, 32]>
  return %0 : tensor<67x41xi32>
}
}
