#lanes1 = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [3, 1]>
#map2 = affine_map<(d0, d1) -> (0, 0, 0, d0, d1)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5 - 1, d6)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (0, d4, d5, d6, d3)>
#map5 = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
#map6 = affine_map<(d0, d1) -> (0, 0, d0, d1)>
#map7 = affine_map<(d0, d1) -> (0, d0, d1)>
module {
  func.func @main(%arg0: memref<1x1x6x4xf32>, %arg1: memref<1x1x3x4x8xf32>, %arg2: memref<i32>) -> memref<1x1x6x8xf32> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<1x1x6x8xf32>
    tracea_pipe.launch @conv2d_0 ins(%arg0, %arg1, %arg2 : memref<1x1x6x4xf32>, memref<1x1x3x4x8xf32>, memref<i32>) outs(%alloc : memref<1x1x6x8xf32>)
    return %alloc : memref<1x1x6x8xf32>
  }
  tracea_pipe.kernel @conv2d_0(%arg0: memref<1x1x6x4xf32>, %arg1: memref<1x1x3x4x8xf32>, %arg2: memref<i32>, %arg3: memref<1x1x6x8xf32>) attributes {definitions = [#tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1], maps = [#map3, #map4]>], source_op = "tracea.conv2d", variant = "conv2d.patch"} {
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<3x8xf32, #lanes1>
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %0 = read %arg2[] : memref<i32>
    tiles (%arg4, %arg5, %arg6, %arg7, %arg8) in (%c1, %c1, %c1, %c1, %c1) {
      %1 = tracea_pipe.channel : <1 x(memref<1x8x4xf32, #tracea_pipe.staged>)>
      %2 = tracea_pipe.start : <1>
      %3 = arith.muli %arg6, %c8 : index
      %4 = arith.muli %arg8, %c6 : index
      %5 = arith.subi %c8, %3 : index
      %6 = arith.minsi %5, %c8 : index
      %7 = arith.subi %c1, %arg7 : index
      %8 = arith.minsi %7, %c1 : index
      %9 = arith.subi %c6, %4 : index
      %10 = arith.minsi %9, %c6 : index
      %11 = arith.muli %arg5, %c4 : index
      %12 = arith.subi %4, %c1 : index
      %13 = arith.ceildivsi %10, %c3 : index
      %14 = arith.muli %13, %c3 : index
      %15 = arith.addi %14, %c2 : index
      %16 = tracea_pipe.acquire %1[%2] : <1 x(memref<1x8x4xf32, #tracea_pipe.staged>)>, <1> -> memref<1x8x4xf32, #tracea_pipe.staged>
      tracea_pipe.copy %arg0[%arg4, %arg7, %12, %11] map #map5 limits(%8, %15, %c4) padded [1, 2] to %16 : memref<1x1x6x4xf32>, memref<1x8x4xf32, #tracea_pipe.staged>
      tracea_pipe.commit %1[%2] : <1 x(memref<1x8x4xf32, #tracea_pipe.staged>)>, <1>
      %17 = tracea_pipe.wait %1[%2] : <1 x(memref<1x8x4xf32, #tracea_pipe.staged>)>, <1> -> memref<1x8x4xf32, #tracea_pipe.staged>
      scf.for %arg9 = %c0 to %6 step %c8 {
        %19 = arith.addi %3, %arg9 : index
        %20 = arith.divui %19, %c8 : index
        scf.for %arg10 = %c0 to %8 step %c1 {
          scf.for %arg11 = %c0 to %10 step %c3 {
            %21 = arith.subi %10, %arg11 : index
            %22 = arith.subi %6, %arg9 : index
            %23 = arith.addi %arg7, %arg10 : index
            %24 = arith.addi %4, %arg11 : index
            %25 = arith.muli %arg5, %c8 : index
            %26 = arith.addi %25, %19 : index
            tracea_pipe.prefetch %arg3[%arg4, %23, %24, %26] map #map6 limits(%21, %22) shape [3, 8] write : memref<1x1x6x8xf32>
            %27 = scf.for %arg12 = %c0 to %c3 step %c1 iter_args(%arg13 = %cst) -> (tensor<3x8xf32, #lanes1>) {
              %28 = arith.addi %arg11, %arg12 : index
              %29 = tracea_pipe.view %17[%arg10, %28, %c0] map #map7 : memref<1x8x4xf32, #tracea_pipe.staged> -> memref<3x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>
              %30 = tracea_pipe.view %arg1[%20, %c0, %arg12, %c0, %c0] map #map2 : memref<1x1x3x4x8xf32> -> memref<4x8xf32, strided<[8, 1], offset: ?>>
              %31 = arith.addi %24, %arg12 : index
              %32 = arith.subi %c1, %31 : index
              %33 = arith.minsi %32, %0 : index
              %34 = arith.maxsi %33, %c0 : index
              %35 = arith.subi %c7, %31 : index
              %36 = arith.subi %c3, %21 : index
              %37 = arith.maxsi %36, %c0 : index
              %38 = arith.muli %37, %c3 : index
              %39 = arith.addi %35, %38 : index
              %40 = arith.subi %c3, %0 : index
              %41 = arith.maxsi %39, %40 : index
              %42 = arith.minsi %41, %c3 : index
              %43 = tracea_pipe.mma %29, %30, %arg13 depth(%c4) rows(%34, %42) spans [1, 3, 0, 2] : memref<3x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>, memref<4x8xf32, strided<[8, 1], offset: ?>>, tensor<3x8xf32, #lanes1>
              scf.yield %43 : tensor<3x8xf32, #lanes1>
            }
            tracea_pipe.store %27, %arg3[%arg4, %23, %24, %26] map #map6 limits(%21, %22) : tensor<3x8xf32, #lanes1>, memref<1x1x6x8xf32>
          }
        }
      }
      tracea_pipe.release %1[%2] : <1 x(memref<1x8x4xf32, #tracea_pipe.staged>)>, <1>
      %18 = tracea_pipe.advance %2 : <1>
    }
    end
  }
}
