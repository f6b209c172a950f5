// Sums of which memory says how many terms they have: of group b the first counts[b] blocks of 64 rows.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [8, 0], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]], outer = [1, 1]>
#rows = affine_map<(i, j) -> (0, i, j)>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448, l1 = 262144, l2 = 52428800>} {
  func.func @main(%x: memref<?x512x64xf32>, %counts: memref<?xi32>) -> memref<?x64x64xf32> {
    %c0 = arith.constant 0 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    %y = memref.alloc(%groups) {alignment = 64 : i64} : memref<?x64x64xf32>
    tracea_pipe.launch @sums ins(%x, %counts : memref<?x512x64xf32>, memref<?xi32>) outs(%y : memref<?x64x64xf32>)
    return %y : memref<?x64x64xf32>
  }
  tracea_pipe.kernel @sums(%x: memref<?x512x64xf32> {tracea_pipe.aligned = 16 : i64}, %counts: memref<?xi32>, %y: memref<?x64x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {pipeline = #tracea_pipe.pipeline<>, variant = "sums"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    tiles (%b) in (%groups) {
      %count = tracea_pipe.read %counts[%b] : memref<?xi32>
      %most = arith.minsi %count, %c8 : index
      %sum = scf.for %t = %c0 to %most step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32, #lanes>) {
        %at = arith.muli %t, %c64 : index
        %block = tracea_pipe.stage %x[%b, %at, %c0] map #rows padded [0] slots 4 : memref<?x512x64xf32> -> tensor<64x64xf32, #tracea_pipe.staged>
        %v = tracea_pipe.load %block[%c0, %c0] map #id : tensor<64x64xf32, #tracea_pipe.staged> -> tensor<64x64xf32, #lanes>
        %next = arith.addf %s, %v : tensor<64x64xf32, #lanes>
        scf.yield %next : tensor<64x64xf32, #lanes>
      }
      tracea_pipe.store %sum, %y[%b, %c0, %c0] map #rows : tensor<64x64xf32, #lanes>, memref<?x64x64xf32>
    }
    end
  }
}
