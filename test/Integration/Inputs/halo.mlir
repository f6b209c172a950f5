// A convolution whose image is staged once for all taps: a tile of 2 x 4 pixels reads a window of 4 x 6 (its halo),
// and each tap multiplies 8 rows of it, which cross rows of the window.
#sums = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 4]>
#left = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
#block = #tracea_pipe.lanes<lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4]], outer = [2, 4, 4]>
#id = affine_map<(p, q, k) -> (p, q, k)>
#window = affine_map<(h, v, c) -> (0, h, v, c)>
#tap = affine_map<(p, q, c) -> (p * 6 + q, c)>
#filter = affine_map<(c, k) -> (0, 0, c, k)>
#result = affine_map<(p, q, k) -> (0, p, q, k)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+cx16,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%x: memref<?x?x?x16xf32>, %w: memref<3x3x16x32xf32>) -> memref<?x?x?x32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = memref.dim %x, %c0 : memref<?x?x?x16xf32>
    %p = memref.dim %x, %c1 : memref<?x?x?x16xf32>
    %q = memref.dim %x, %c2 : memref<?x?x?x16xf32>
    %y = memref.alloc(%n, %p, %q) {alignment = 64 : i64} : memref<?x?x?x32xf32>
    tracea_pipe.launch @conv ins(%x, %w : memref<?x?x?x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<?x?x?x32xf32>)
    return %y : memref<?x?x?x32xf32>
  }
  tracea_pipe.kernel @conv(%x: memref<?x?x?x16xf32>, %w: memref<3x3x16x32xf32>, %y: memref<?x?x?x32xf32>) attributes {
      definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1],
        maps = [affine_map<(n, p, q, k, r, s, c) -> (n, p + r - 1, q + s - 1, c)>,
                affine_map<(n, p, q, k, r, s, c) -> (r, s, c, k)>]>],
      source_op = "tracea.conv2d", variant = "conv2d.halo"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<8x32xf32, #sums>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c32 = arith.constant 32 : index
    %n = memref.dim %y, %c0 : memref<?x?x?x32xf32>
    %p = memref.dim %y, %c1 : memref<?x?x?x32xf32>
    %q = memref.dim %y, %c2 : memref<?x?x?x32xf32>
    %rows = arith.ceildivsi %p, %c2 : index
    %columns = arith.ceildivsi %q, %c4 : index
    tiles (%image, %row, %column) in (%n, %rows, %columns) {
      %p0 = arith.muli %row, %c2 : index
      %q0 = arith.muli %column, %c4 : index
      %top = arith.subi %p0, %c1 : index
      %left = arith.subi %q0, %c1 : index
      %around = tracea_pipe.delinearize %c0 into(%c6) : <2>
      %halo = tracea_pipe.stage %x[%image, %top, %left, %c0] map #window along [0](%around : !tracea_pipe.walk<2>)
        padded [1, 2] : memref<?x?x?x16xf32> -> tensor<24x16xf32, #tracea_pipe.staged>
      %pixels = tracea_pipe.delinearize %c0 into(%c4) : <2>
      %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%a = %zero) -> (tensor<8x32xf32, #sums>) {
        %above = arith.muli %r, %c6 : index
        %sums = scf.for %s = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<8x32xf32, #sums>) {
          %first = arith.addi %above, %s : index
          %seen = tracea_pipe.load %halo[%first, %c0] map #tap along [0](%pixels : !tracea_pipe.walk<2>)
            : tensor<24x16xf32, #tracea_pipe.staged> -> tensor<8x16xf32, #left>
          %filter = tracea_pipe.stage %w[%r, %s, %c0, %c0] map #filter : memref<3x3x16x32xf32> -> tensor<16x32xf32, #tracea_pipe.staged>
          %next = tracea_pipe.mma %seen, %filter, %b : tensor<8x16xf32, #left>, tensor<16x32xf32, #tracea_pipe.staged>, tensor<8x32xf32, #sums>
          scf.yield %next : tensor<8x32xf32, #sums>
        }
        scf.yield %sums : tensor<8x32xf32, #sums>
      }
      %tile = tracea_pipe.scratch : memref<2x4x32xf32, #tracea_pipe.staged>
      tracea_pipe.store %sum, %tile[%c0, %c0, %c0] map #id along [0](%pixels : !tracea_pipe.walk<2>) : tensor<8x32xf32, #sums>, memref<2x4x32xf32, #tracea_pipe.staged>
      %blocks = tracea_pipe.load %tile[%c0, %c0, %c0] map #id : memref<2x4x32xf32, #tracea_pipe.staged> -> tensor<2x4x32xf32, #block>
      %below = arith.subi %p, %p0 : index
      %right = arith.subi %q, %q0 : index
      tracea_pipe.store %blocks, %y[%image, %p0, %q0, %c0] map #result limits(%below, %right, %c32) : tensor<2x4x32xf32, #block>, memref<?x?x?x32xf32>
    }
    end
  }
}
