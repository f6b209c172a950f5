// How far a sum runs depends on the tile, as where a mask is causal.
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(k, n) -> (n, k)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
!rows = memref<8x16xf32, strided<[?, 1], offset: ?>>
!columns = memref<16x16xf32, strided<[1, ?], offset: ?>>
!sum = tensor<8x16xf32, #lanes>
tracea_pipe.kernel @k(%a: memref<16x?xf32>, %c: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : !sum
  %K = memref.dim %a, %c1 : memref<16x?xf32>
  tracea_pipe.tiles (%t) in (%c4) {
    %bound = arith.muli %t, %c16 : index
    %end = arith.minsi %bound, %K : index
    %sum = scf.for %k = %c0 to %end step %c16 iter_args(%acc = %zero) -> (!sum) {
      %left = arith.subi %K, %k : index
      %depth = arith.minsi %left, %c16 : index
      %x = tracea_pipe.view %a[%c0, %k] map #id : memref<16x?xf32> -> !rows
      %y = tracea_pipe.view %a[%c0, %k] map #transposed : memref<16x?xf32> -> !columns
      %next = tracea_pipe.mma %x, %y, %acc depth(%depth) : !rows, !columns, !sum
      scf.yield %next : !sum
    }
    %row = arith.muli %t, %c8 : index
    tracea_pipe.store %sum, %c[%row, %c0] map #id : !sum, memref<32x16xf32>
  }
  tracea_pipe.end
}
