#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 4]>
#image = affine_map<(n, p, q, c) -> (n, p * 2, q * 2, c)>
#filter = affine_map<(c, k) -> (0, 0, c, k)>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+cx16,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%x: memref<?x?x?x16xf32>, %w: memref<3x3x16x32xf32>) -> memref<?x?x?x32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = memref.dim %x, %c0 : memref<?x?x?x16xf32>
    %h = memref.dim %x, %c1 : memref<?x?x?x16xf32>
    %v = memref.dim %x, %c2 : memref<?x?x?x16xf32>
    %h1 = arith.subi %h, %c1 : index
    %h2 = arith.floordivsi %h1, %c2 : index
    %p = arith.addi %h2, %c1 : index
    %v1 = arith.subi %v, %c1 : index
    %v2 = arith.floordivsi %v1, %c2 : index
    %q = arith.addi %v2, %c1 : index
    %y = memref.alloc(%n, %p, %q) {alignment = 64 : i64} : memref<?x?x?x32xf32>
    tracea_pipe.launch @conv ins(%x, %w : memref<?x?x?x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<?x?x?x32xf32>)
    return %y : memref<?x?x?x32xf32>
  }
  tracea_pipe.kernel @conv(%x: memref<?x?x?x16xf32>, %w: memref<3x3x16x32xf32>, %y: memref<?x?x?x32xf32>) attributes {
      definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1],
        maps = [affine_map<(n, p, q, k, r, s, c) -> (n, p * 2 + r - 1, q * 2 + s * 2 - 2, c)>,
                affine_map<(n, p, q, k, r, s, c) -> (r, s, c, k)>]>],
      source_op = "tracea.conv2d", variant = "conv2d.implicit"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<8x32xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %n = memref.dim %y, %c0 : memref<?x?x?x32xf32>
    %p = memref.dim %y, %c1 : memref<?x?x?x32xf32>
    %q = memref.dim %y, %c2 : memref<?x?x?x32xf32>
    %np = arith.muli %n, %p : index
    %pixels = arith.muli %np, %q : index
    %count = arith.ceildivsi %pixels, %c8 : index
    tiles (%tile) in (%count) {
      %first = arith.muli %tile, %c8 : index
      %left = arith.subi %pixels, %first : index
      %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
      %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%a = %zero) -> (tensor<8x32xf32, #lanes>) {
        %row = arith.subi %r, %c1 : index
        %sums = scf.for %s = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<8x32xf32, #lanes>) {
          %s2 = arith.muli %s, %c2 : index
          %column = arith.subi %s2, %c2 : index
          %image = tracea_pipe.stage %x[%c0, %row, %column, %c0] map #image along [0](%walk : !tracea_pipe.walk<3>)
            limits(%left, %c16) padded [1, 2] : memref<?x?x?x16xf32> -> tensor<8x16xf32, #tracea_pipe.staged>
          %filter = tracea_pipe.stage %w[%r, %s, %c0, %c0] map #filter : memref<3x3x16x32xf32> -> tensor<16x32xf32, #tracea_pipe.staged>
          %next = tracea_pipe.mma %image, %filter, %b limits(%left, %c32) : tensor<8x16xf32, #tracea_pipe.staged>, tensor<16x32xf32, #tracea_pipe.staged>, tensor<8x32xf32, #lanes>
          scf.yield %next : tensor<8x32xf32, #lanes>
        }
        scf.yield %sums : tensor<8x32xf32, #lanes>
      }
      tracea_pipe.store %sum, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>)
        limits(%left, %c32) : tensor<8x32xf32, #lanes>, memref<?x?x?x32xf32>
    }
    end
  }
}
