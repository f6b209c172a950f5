// Attention by tiles of AMX computes what plain loops do: odd extents, one query, causal
// masks and windows, keys that end where memory says, log-sum-exps.
// REQUIRES: cpu-amx_bf16
// RUN: tracea run %s --entry odd --random-inputs --check
// RUN: tracea run %s --entry blocks --random-inputs --check
// RUN: tracea run %s --entry one --random-inputs --check
// RUN: tracea run %s --entry causal --random-inputs --check
// RUN: tracea run %s --entry window --random-inputs --shape 0=2x4x70x16 --shape 1=2x2x91x16 --shape 2=2x2x91x48 --shape 3=2x4x70x48 --check
// RUN: tracea run %s --entry window --random-inputs --shape 0=1x4x1x16 --shape 1=1x2x300x16 --shape 2=1x2x300x48 --shape 3=1x4x1x48 --check
// RUN: tracea run %s --entry window --random-inputs --shape 0=1x4x0x16 --shape 1=1x2x3x16 --shape 2=1x2x3x48 --shape 3=1x4x0x48 --check
// RUN: tracea run %s --entry negative --random-inputs --check
// RUN: tracea run %s --entry hidden --random-inputs --check
// RUN: tracea run %s --entry equal --random-inputs --check
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx2,+fma,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>} {
func.func @odd(%q: tensor<1x2x17x7xbf16>, %k: tensor<1x2x33x7xbf16>, %v: tensor<1x2x33x5xbf16>, %d: tensor<1x2x17x5xf32>, %l: tensor<1x2x17xf32>) -> (tensor<1x2x17x5xf32>, tensor<1x2x17xf32>) {
  %0:2 = tracea.attention ins(%q, %k, %v : tensor<1x2x17x7xbf16>, tensor<1x2x33x7xbf16>, tensor<1x2x33x5xbf16>) outs(%d : tensor<1x2x17x5xf32>) lse(%l : tensor<1x2x17xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [32, 64], registers = [32, 32]> -> tensor<1x2x17x5xf32>, tensor<1x2x17xf32>
  return %0#0, %0#1 : tensor<1x2x17x5xf32>, tensor<1x2x17xf32>
}
func.func @blocks(%q: tensor<2x3x100x40xbf16>, %k: tensor<2x3x197x40xbf16>, %v: tensor<2x3x197x72xbf16>, %d: tensor<2x3x100x72xbf16>) -> tensor<2x3x100x72xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x3x100x40xbf16>, tensor<2x3x197x40xbf16>, tensor<2x3x197x72xbf16>) outs(%d : tensor<2x3x100x72xbf16>)
    schedule <variant = "attention.dot", unit = amx, tile = [48, 64], registers = [16, 64]> -> tensor<2x3x100x72xbf16>
  return %0 : tensor<2x3x100x72xbf16>
}
func.func @one(%q: tensor<1x4x1x64xbf16>, %k: tensor<1x1x500x64xbf16>, %v: tensor<1x1x500x64xbf16>, %d: tensor<1x4x1x64xbf16>) -> tensor<1x4x1x64xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<1x4x1x64xbf16>, tensor<1x1x500x64xbf16>, tensor<1x1x500x64xbf16>) outs(%d : tensor<1x4x1x64xbf16>)
    schedule <variant = "attention.dot", unit = amx, tile = [16, 256], registers = [16, 32]> -> tensor<1x4x1x64xbf16>
  return %0 : tensor<1x4x1x64xbf16>
}
func.func @causal(%q: tensor<1x2x130x32xbf16>, %k: tensor<1x2x130x32xbf16>, %v: tensor<1x2x130x32xbf16>, %d: tensor<1x2x130x32xf32>) -> tensor<1x2x130x32xf32> {
  %0 = tracea.attention causal ins(%q, %k, %v : tensor<1x2x130x32xbf16>, tensor<1x2x130x32xbf16>, tensor<1x2x130x32xbf16>) outs(%d : tensor<1x2x130x32xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [64, 96], registers = [32, 32]> -> tensor<1x2x130x32xf32>
  return %0 : tensor<1x2x130x32xf32>
}
func.func @window(%q: tensor<?x4x?x16xbf16>, %k: tensor<?x2x?x16xbf16>, %v: tensor<?x2x?x48xbf16>, %d: tensor<?x4x?x48xf32>) -> tensor<?x4x?x48xf32> {
  %0 = tracea.attention window [20, 3] ins(%q, %k, %v : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>, tensor<?x2x?x48xbf16>) outs(%d : tensor<?x4x?x48xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [32, 32], registers = [16, 32]> -> tensor<?x4x?x48xf32>
  return %0 : tensor<?x4x?x48xf32>
}
func.func @negative(%q: tensor<1x1x20x24xbf16>, %k: tensor<1x1x60x24xbf16>, %v: tensor<1x1x60x8xbf16>, %d: tensor<1x1x20x8xf32>) -> tensor<1x1x20x8xf32> {
  %0 = tracea.attention scale -0.3 ins(%q, %k, %v : tensor<1x1x20x24xbf16>, tensor<1x1x60x24xbf16>, tensor<1x1x60x8xbf16>) outs(%d : tensor<1x1x20x8xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [32, 32], registers = [32, 32]> -> tensor<1x1x20x8xf32>
  return %0 : tensor<1x1x20x8xf32>
}
// Blocks that a mask hides stay hidden where scores change their sign, or are all alike.
func.func @hidden(%q: tensor<1x1x40x24xbf16>, %k: tensor<1x1x150x24xbf16>, %v: tensor<1x1x150x8xbf16>, %d: tensor<1x1x40x8xf32>) -> tensor<1x1x40x8xf32> {
  %m = arith.constant dense<[[[[true, false, true], [false, true, false], [false, false, false]]]]> : tensor<1x1x3x3xi1>
  %0 = tracea.attention scale -0.3 ins(%q, %k, %v : tensor<1x1x40x24xbf16>, tensor<1x1x150x24xbf16>, tensor<1x1x150x8xbf16>)
    block_mask(%m : tensor<1x1x3x3xi1>) block_size [16, 64] outs(%d : tensor<1x1x40x8xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [32, 64], registers = [16, 32]> -> tensor<1x1x40x8xf32>
  return %0 : tensor<1x1x40x8xf32>
}
func.func @equal(%q: tensor<1x1x40x24xbf16>, %k: tensor<1x1x150x24xbf16>, %v: tensor<1x1x150x8xbf16>, %d: tensor<1x1x40x8xf32>) -> tensor<1x1x40x8xf32> {
  %m = arith.constant dense<[[[[true, false, true], [false, true, false], [false, false, false]]]]> : tensor<1x1x3x3xi1>
  %0 = tracea.attention scale 0.0 ins(%q, %k, %v : tensor<1x1x40x24xbf16>, tensor<1x1x150x24xbf16>, tensor<1x1x150x8xbf16>)
    block_mask(%m : tensor<1x1x3x3xi1>) block_size [16, 64] outs(%d : tensor<1x1x40x8xf32>)
    schedule <variant = "attention.dot", unit = amx, tile = [32, 64], registers = [16, 32]> -> tensor<1x1x40x8xf32>
  return %0 : tensor<1x1x40x8xf32>
}
}
