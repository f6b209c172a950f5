// Columns that a table lists, times a matrix: y[m, :] is the sum of x[m, table[k]] * w[k, :], zero for what x has not.
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 4]>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(r, k) -> (r, k)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+cx16,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%x: memref<?x?xf32>, %w: memref<?x32xf32>, %table: memref<?xi32>) -> memref<?x32xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = memref.dim %table, %c0 : memref<?xi32>
    %kw = memref.dim %w, %c0 : memref<?x32xf32>
    %agree = arith.cmpi eq, %k, %kw : index
    cf.assert %agree, "x has as many columns as w has rows"
    %m = memref.dim %x, %c0 : memref<?x?xf32>
    %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x32xf32>
    tracea_pipe.launch @gathered ins(%x, %w, %table : memref<?x?xf32>, memref<?x32xf32>, memref<?xi32>) outs(%y : memref<?x32xf32>)
    return %y : memref<?x32xf32>
  }
  tracea_pipe.kernel @gathered(%x: memref<?x?xf32>, %w: memref<?x32xf32>, %table: memref<?xi32>, %y: memref<?x32xf32>) attributes {
      definitions = [#tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1],
        maps = [affine_map<(m, n, k)[x0, x1, w0, w1, col] -> (m, col)>, affine_map<(m, n, k) -> (k, n)>],
        tables = [2], places = [affine_map<(m, n, k) -> (k)>]>],
      variant = "gathered"} {
    %zero = arith.constant dense<0.000000e+00> : tensor<8x32xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %m = memref.dim %y, %c0 : memref<?x32xf32>
    %depth = memref.dim %w, %c0 : memref<?x32xf32>
    %count = arith.ceildivsi %m, %c8 : index
    tiles (%tile) in (%count) {
      %first = arith.muli %tile, %c8 : index
      %left = arith.subi %m, %first : index
      %sum = scf.for %k = %c0 to %depth step %c16 iter_args(%a = %zero) -> (tensor<8x32xf32, #lanes>) {
        %walk = tracea_pipe.gather %table[%k] : memref<?xi32> -> <1>
        %rows = tracea_pipe.stage %x[%first, %c0] map #rows along [1](%walk : !tracea_pipe.walk<1>)
          limits(%left, %c16) padded [0, 1] : memref<?x?xf32> -> tensor<8x16xf32, #tracea_pipe.staged>
        %columns = tracea_pipe.stage %w[%k, %c0] map #id padded [0] : memref<?x32xf32> -> tensor<16x32xf32, #tracea_pipe.staged>
        %next = tracea_pipe.mma %rows, %columns, %a limits(%left, %c32) : tensor<8x16xf32, #tracea_pipe.staged>, tensor<16x32xf32, #tracea_pipe.staged>, tensor<8x32xf32, #lanes>
        scf.yield %next : tensor<8x32xf32, #lanes>
      }
      tracea_pipe.store %sum, %y[%first, %c0] map #id limits(%left, %c32) : tensor<8x32xf32, #lanes>, memref<?x32xf32>
    }
    end
  }
}
