#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1, d2)>
#map4 = affine_map<(d0, d1) -> (0, d0, d1)>
#map5 = affine_map<(d0, d1) -> (0, 0, d0, d1)>
module {
  func.func @main(%arg0: memref<1x5x1x4xf32>, %arg1: memref<8x3x3x4xf32>) -> memref<1x5x1x8xf32> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<1x5x1x8xf32>
    tracea_pipe.launch @conv2d_0 ins(%arg0, %arg1 : memref<1x5x1x4xf32>, memref<8x3x3x4xf32>) outs(%alloc : memref<1x5x1x8xf32>)
    return %alloc : memref<1x5x1x8xf32>
  }
  tracea_pipe.kernel @conv2d_0(%arg0: memref<1x5x1x4xf32>, %arg1: memref<8x3x3x4xf32>, %arg2: memref<1x5x1x8xf32>) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#map, #map1]>], source_op = "tracea.conv2d", variant = "conv2d.patch"} {
    %c2 = arith.constant 2 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<1x8xf32, #lanes>
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    tiles (%arg3, %arg4, %arg5, %arg6, %arg7) in (%c1, %c1, %c1, %c1, %c1) {
      %0 = tracea_pipe.channel : <1 x(memref<3x3x4x8xf32, #tracea_pipe.staged>)>
      %1 = tracea_pipe.start : <1>
      %2 = tracea_pipe.channel : <1 x(memref<7x3x4xf32, #tracea_pipe.staged>)>
      %3 = tracea_pipe.start : <1>
      %4 = arith.muli %arg5, %c8 : index
      %5 = arith.muli %arg6, %c5 : index
      %6 = arith.subi %c8, %4 : index
      %7 = arith.minsi %6, %c8 : index
      %8 = arith.subi %c5, %5 : index
      %9 = arith.minsi %8, %c5 : index
      %10 = arith.subi %c1, %arg7 : index
      %11 = arith.minsi %10, %c1 : index
      %12 = arith.muli %arg4, %c4 : index
      %13 = arith.subi %5, %c1 : index
      %14 = arith.subi %arg7, %c1 : index
      %15 = arith.addi %9, %c2 : index
      %16 = arith.addi %11, %c2 : index
      %17 = tracea_pipe.acquire %2[%3] : <1 x(memref<7x3x4xf32, #tracea_pipe.staged>)>, <1> -> memref<7x3x4xf32, #tracea_pipe.staged>
      tracea_pipe.copy %arg0[%arg3, %13, %14, %12] map #map2 limits(%15, %16, %c4) padded [1, 2] to %17 : memref<1x5x1x4xf32>, memref<7x3x4xf32, #tracea_pipe.staged>
      tracea_pipe.commit %2[%3] : <1 x(memref<7x3x4xf32, #tracea_pipe.staged>)>, <1>
      %18 = tracea_pipe.wait %2[%3] : <1 x(memref<7x3x4xf32, #tracea_pipe.staged>)>, <1> -> memref<7x3x4xf32, #tracea_pipe.staged>
      %19 = scf.for %arg8 = %c0 to %7 step %c8 iter_args(%arg9 = %1) -> (!tracea_pipe.phase<1>) {
        %21 = arith.muli %arg4, %c8 : index
        %22 = arith.addi %4, %arg8 : index
        %23 = arith.addi %21, %22 : index
        %24 = tracea_pipe.acquire %0[%arg9] : <1 x(memref<3x3x4x8xf32, #tracea_pipe.staged>)>, <1> -> memref<3x3x4x8xf32, #tracea_pipe.staged>
        tracea_pipe.copy %arg1[%23, %c0, %c0, %c0] map #map3 limits(%c3, %c3, %c4, %c8) padded [0] to %24 : memref<8x3x3x4xf32>, memref<3x3x4x8xf32, #tracea_pipe.staged>
        tracea_pipe.commit %0[%arg9] : <1 x(memref<3x3x4x8xf32, #tracea_pipe.staged>)>, <1>
        %25 = tracea_pipe.wait %0[%arg9] : <1 x(memref<3x3x4x8xf32, #tracea_pipe.staged>)>, <1> -> memref<3x3x4x8xf32, #tracea_pipe.staged>
        scf.for %arg10 = %c0 to %9 step %c1 {
          scf.for %arg11 = %c0 to %11 step %c1 {
            %27 = arith.subi %11, %arg11 : index
            %28 = arith.subi %7, %arg8 : index
            %29 = arith.addi %5, %arg10 : index
            %30 = arith.addi %arg7, %arg11 : index
            %31 = scf.for %arg12 = %c0 to %c3 step %c1 iter_args(%arg13 = %cst) -> (tensor<1x8xf32, #lanes>) {
              %32 = scf.for %arg14 = %c0 to %c3 step %c1 iter_args(%arg15 = %arg13) -> (tensor<1x8xf32, #lanes>) {
                %33 = arith.addi %arg10, %arg12 : index
                %34 = arith.addi %arg11, %arg14 : index
                %35 = tracea_pipe.view %18[%33, %34, %c0] map #map4 : memref<7x3x4xf32, #tracea_pipe.staged> -> memref<1x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>
                %36 = tracea_pipe.view %25[%arg12, %arg14, %c0, %c0] map #map5 : memref<3x3x4x8xf32, #tracea_pipe.staged> -> memref<4x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>
                %37 = tracea_pipe.mma %35, %36, %arg15 depth(%c4) : memref<1x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>, memref<4x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>, tensor<1x8xf32, #lanes>
                scf.yield %37 : tensor<1x8xf32, #lanes>
              }
              scf.yield %32 : tensor<1x8xf32, #lanes>
            }
            tracea_pipe.store %31, %arg2[%arg3, %29, %30, %23] map #map5 limits(%27, %28) : tensor<1x8xf32, #lanes>, memref<1x5x1x8xf32>
          }
        }
        tracea_pipe.release %0[%arg9] : <1 x(memref<3x3x4x8xf32, #tracea_pipe.staged>)>, <1>
        %26 = tracea_pipe.advance %arg9 : <1>
        scf.yield %26 : !tracea_pipe.phase<1>
      }
      tracea_pipe.release %2[%3] : <1 x(memref<7x3x4xf32, #tracea_pipe.staged>)>, <1>
      %20 = tracea_pipe.advance %3 : <1>
    }
    end
  }
}

