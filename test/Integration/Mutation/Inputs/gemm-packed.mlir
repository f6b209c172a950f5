// A product through panels, with bias and ReLU; all extents are dynamic.
// target: x86-64-v3
// sizes: 21x17 17x37 37 21x37 | 16x8 8x32 32 16x32 | 5x25 25x3 3 5x3 | 33x9 9x16 16 33x16
// wrong: 21x17 16x37 37 21x37 | 21x17 17x36 37 21x37 | 21x17 17x37 36 21x37 | 21x17 17x37 37 20x37
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 32, 8, 8], registers = [4, 16]>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%x: f32, %s: f32):
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %x, %s : f32
      %1 = arith.maximumf %0, %zero : f32
      tracea.yield %1 : f32
    }
  return %y : tensor<?x?xf32>
}
