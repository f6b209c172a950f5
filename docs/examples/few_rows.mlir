// A product with few rows for two teams of a warpgroup each: transposed, its sum in
// four parts.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda",
    cpu = "sm_90a", cores = 132>} {
  func.func @main(%a: tensor<?x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
    %0 = tracea.gemm ins(%a, %b : tensor<?x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<?x4096xbf16>)
      schedule <variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 8,
                producers = 1, consumers = 2, split = 4>
      epilogue {
      ^bb0(%sum: f32):
        %0 = arith.truncf %sum : f32 to bf16
        tracea.yield %0 : bf16
      }
    return %0 : tensor<?x4096xbf16>
  }
}
