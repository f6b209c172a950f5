#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<reg = [], lane = [[1], [2], [4], [8], [16]], outer = [1]>
tracea_pipe.kernel @local(%rows: index, %y: memref<?xi32>) attributes {warps = 1 : i64} {
  %one = arith.constant dense<1> : tensor<32xi32, #lanes>
  tracea_pipe.tiles (%i) in (%rows) {
    %ends = tracea_pipe.scratch : memref<16xi32, #tracea_pipe.staged>
    %group, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %rows tile 64 : memref<16xi32, #tracea_pipe.staged>
    tracea_pipe.store %one, %y[%first] map #id limits(%end) : tensor<32xi32, #lanes>, memref<?xi32>
  }
  tracea_pipe.end
}
