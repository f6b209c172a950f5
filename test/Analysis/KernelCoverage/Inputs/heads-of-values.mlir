// Keys and values each have a number of heads that only the launch knows. The mask of blocks makes it a chain of loops, of which each sees one of them.
func.func @main(%q: tensor<1x?x6x8xf32>, %k: tensor<1x?x6x8xf32>, %v: tensor<1x?x6x8xf32>, %m: tensor<1x1x6x6xi1>, %d: tensor<1x?x6x8xf32>) -> tensor<1x?x6x8xf32> {
  %r = tracea.attention ins(%q, %k, %v : tensor<1x?x6x8xf32>, tensor<1x?x6x8xf32>, tensor<1x?x6x8xf32>) block_mask(%m : tensor<1x1x6x6xi1>) block_size [1, 1] outs(%d : tensor<1x?x6x8xf32>) -> tensor<1x?x6x8xf32>
  return %r : tensor<1x?x6x8xf32>
}
