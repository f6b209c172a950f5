// A product for each group, whose sum has the first blocks of 8 steps: memory says how many.
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 4]>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (0, i, j)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx,+avx2,+fma", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%x: memref<?x8x?xf32>, %w: memref<?x?x32xf32>, %counts: memref<?xi32>) -> memref<?x8x32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    %d = memref.dim %x, %c2 : memref<?x8x?xf32>
    %e = memref.dim %w, %c1 : memref<?x?x32xf32>
    %gx = memref.dim %x, %c0 : memref<?x8x?xf32>
    %gw = memref.dim %w, %c0 : memref<?x?x32xf32>
    %q = arith.cmpi eq, %d, %e : index
    cf.assert %q, "depth"
    %q1 = arith.cmpi eq, %gx, %groups : index
    cf.assert %q1, "groups"
    %q2 = arith.cmpi eq, %gw, %groups : index
    cf.assert %q2, "groups"
    %y = memref.alloc(%groups) {alignment = 64 : i64} : memref<?x8x32xf32>
    tracea_pipe.launch @sums ins(%x, %w, %counts : memref<?x8x?xf32>, memref<?x?x32xf32>, memref<?xi32>) outs(%y : memref<?x8x32xf32>)
    return %y : memref<?x8x32xf32>
  }
  tracea_pipe.kernel @sums(%x: memref<?x8x?xf32>, %w: memref<?x?x32xf32>, %counts: memref<?xi32>, %y: memref<?x8x32xf32>) attributes {variant = "sums"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<8x32xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %groups = memref.dim %counts, %c0 : memref<?xi32>
    %depth = memref.dim %x, %c2 : memref<?x8x?xf32>
    %blocks = arith.ceildivsi %depth, %c8 : index
    tiles (%b) in (%groups) {
      %count = tracea_pipe.read %counts[%b] : memref<?xi32>
      %most = arith.minsi %count, %blocks : index
      %sum = scf.for %t = %c0 to %most step %c1 iter_args(%s = %zero) -> (tensor<8x32xf32, #lanes>) {
        %at = arith.muli %t, %c8 : index
        %a = tracea_pipe.stage %x[%b, %c0, %at] map #rows padded [0, 2] : memref<?x8x?xf32> -> tensor<8x8xf32, #tracea_pipe.staged>
        %f = tracea_pipe.stage %w[%b, %at, %c0] map #rows padded [0, 1] : memref<?x?x32xf32> -> tensor<8x32xf32, #tracea_pipe.staged>
        %next = tracea_pipe.mma %a, %f, %s : tensor<8x8xf32, #tracea_pipe.staged>, tensor<8x32xf32, #tracea_pipe.staged>, tensor<8x32xf32, #lanes>
        scf.yield %next : tensor<8x32xf32, #lanes>
      }
      tracea_pipe.store %sum, %y[%b, %c0, %c0] map #rows : tensor<8x32xf32, #lanes>, memref<?x8x32xf32>
    }
    end
  }
}
