// Sums of which memory says how many terms they have: of group b the first counts[b] blocks of 8 rows.
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 4]>
#rows = affine_map<(i, j) -> (0, i, j)>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+cx16,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%x: memref<?x?x32xf32>, %counts: memref<?xi32>) -> memref<?x8x32xf32> {
    %c0 = arith.constant 0 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    %y = memref.alloc(%groups) {alignment = 64 : i64} : memref<?x8x32xf32>
    tracea_pipe.launch @sums ins(%x, %counts : memref<?x?x32xf32>, memref<?xi32>) outs(%y : memref<?x8x32xf32>)
    return %y : memref<?x8x32xf32>
  }
  tracea_pipe.kernel @sums(%x: memref<?x?x32xf32>, %counts: memref<?xi32>, %y: memref<?x8x32xf32>) attributes {variant = "sums"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<8x32xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    %rows = memref.dim %x, %c1 : memref<?x?x32xf32>
    %blocks = arith.ceildivsi %rows, %c8 : index
    tiles (%b) in (%groups) {
      %count = tracea_pipe.read %counts[%b] : memref<?xi32>
      %most = arith.minsi %count, %blocks : index
      %sum = scf.for %t = %c0 to %most step %c1 iter_args(%s = %zero) -> (tensor<8x32xf32, #lanes>) {
        %at = arith.muli %t, %c8 : index
        %block = tracea_pipe.stage %x[%b, %at, %c0] map #rows padded [0, 1] : memref<?x?x32xf32> -> tensor<8x32xf32, #tracea_pipe.staged>
        %v = tracea_pipe.load %block[%c0, %c0] map #id : tensor<8x32xf32, #tracea_pipe.staged> -> tensor<8x32xf32, #lanes>
        %next = arith.addf %s, %v : tensor<8x32xf32, #lanes>
        scf.yield %next : tensor<8x32xf32, #lanes>
      }
      tracea_pipe.store %sum, %y[%b, %c0, %c0] map #rows : tensor<8x32xf32, #lanes>, memref<?x8x32xf32>
    }
    end
  }
}
