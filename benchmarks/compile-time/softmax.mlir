// Softmax of rows whose number is known when it runs.
func.func @main(%x: tensor<?x1000xf32>, %d: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %y = tracea.softmax dim 1 ins(%x : tensor<?x1000xf32>) outs(%d : tensor<?x1000xf32>)
  return %y : tensor<?x1000xf32>
}
