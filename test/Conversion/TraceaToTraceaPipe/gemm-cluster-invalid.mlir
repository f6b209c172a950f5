// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-to-tracea-pipe

// Columns that are no power of two would leave panels of other extents.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @columns(%a: tensor<512x4096xbf16>, %b: tensor<512x4096xbf16>, %d: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  // expected-error @below {{expects a tile of 32, 64, 128 or 256 columns for a sum that a cluster shares, and at least one row for each warp of its workgroups}}
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<512x4096xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<512x512xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 96, 64], slots = 4, producers = 1, consumers = 1, split = 2, cluster = 2>
  return %0 : tensor<512x512xbf16>
}
}

// -----

func.func @size(%a: tensor<512x4096xbf16>, %b: tensor<512x4096xbf16>, %d: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<512x4096xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<512x512xbf16>)
    // expected-error @below {{expected a 'cluster' of 1, 2, 4, 8 or 16, found 3}}
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, split = 3, cluster = 3>
  return %0 : tensor<512x512xbf16>
}

// -----

func.func @parts(%a: tensor<512x4096xbf16>, %b: tensor<512x4096xbf16>, %d: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<512x4096xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<512x512xbf16>)
    // expected-error @below {{expected a 'cluster' of one workgroup for each of the 8 parts of 'split', found 4}}
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 4, producers = 1, consumers = 1, split = 8, cluster = 4>
  return %0 : tensor<512x512xbf16>
}
