#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [3, 1]>
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4 - 1, d2 * 2 + d5, d3 * 2 + d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1, d2)>
#map4 = affine_map<(d0, d1) -> (0, d0 * 2, d1)>
#map5 = affine_map<(d0, d1) -> (0, 0, d0, d1)>
module {
  func.func @main(%arg0: memref<1x6x7x6xf32>, %arg1: memref<3x3x3x2xf32>) -> memref<1x3x3x3xf32> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<1x3x3x3xf32>
    tracea_pipe.launch @conv2d_0 ins(%arg0, %arg1 : memref<1x6x7x6xf32>, memref<3x3x3x2xf32>) outs(%alloc : memref<1x3x3x3xf32>)
    return %alloc : memref<1x3x3x3xf32>
  }
  tracea_pipe.kernel @conv2d_0(%arg0: memref<1x6x7x6xf32>, %arg1: memref<3x3x3x2xf32>, %arg2: memref<1x3x3x3xf32>) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#map, #map1]>], source_op = "tracea.conv2d", variant = "conv2d.patch"} {
    %c6 = arith.constant 6 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<3x8xf32, #lanes>
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    tiles (%arg3, %arg4, %arg5, %arg6, %arg7) in (%c1, %c3, %c1, %c1, %c1) {
      %0 = tracea_pipe.channel : <1 x(memref<3x3x2x8xf32, #tracea_pipe.staged>)>
      %1 = tracea_pipe.start : <1>
      %2 = tracea_pipe.channel : <1 x(memref<7x7x2xf32, #tracea_pipe.staged>)>
      %3 = tracea_pipe.start : <1>
      %4 = arith.muli %arg5, %c8 : index
      %5 = arith.muli %arg6, %c3 : index
      %6 = arith.muli %arg7, %c3 : index
      %7 = arith.subi %c1, %4 : index
      %8 = arith.minsi %7, %c8 : index
      %9 = arith.subi %c3, %5 : index
      %10 = arith.minsi %9, %c3 : index
      %11 = arith.subi %c3, %6 : index
      %12 = arith.minsi %11, %c3 : index
      %13 = arith.muli %arg4, %c2 : index
      %14 = arith.muli %arg6, %c6 : index
      %15 = arith.subi %14, %c1 : index
      %16 = arith.muli %arg7, %c6 : index
      %17 = arith.subi %10, %c1 : index
      %18 = arith.muli %17, %c2 : index
      %19 = arith.addi %18, %c3 : index
      %20 = arith.ceildivsi %12, %c3 : index
      %21 = arith.muli %20, %c3 : index
      %22 = arith.subi %21, %c1 : index
      %23 = arith.muli %22, %c2 : index
      %24 = arith.addi %23, %c3 : index
      %25 = tracea_pipe.acquire %2[%3] : <1 x(memref<7x7x2xf32, #tracea_pipe.staged>)>, <1> -> memref<7x7x2xf32, #tracea_pipe.staged>
      tracea_pipe.copy %arg0[%arg3, %15, %16, %13] map #map2 limits(%19, %24, %c2) padded [1, 2] to %25 : memref<1x6x7x6xf32>, memref<7x7x2xf32, #tracea_pipe.staged>
      tracea_pipe.commit %2[%3] : <1 x(memref<7x7x2xf32, #tracea_pipe.staged>)>, <1>
      %26 = tracea_pipe.wait %2[%3] : <1 x(memref<7x7x2xf32, #tracea_pipe.staged>)>, <1> -> memref<7x7x2xf32, #tracea_pipe.staged>
      %27 = scf.for %arg8 = %c0 to %8 step %c8 iter_args(%arg9 = %1) -> (!tracea_pipe.phase<1>) {
        %29 = arith.addi %4, %arg8 : index
        %30 = arith.addi %arg4, %29 : index
        %31 = tracea_pipe.acquire %0[%arg9] : <1 x(memref<3x3x2x8xf32, #tracea_pipe.staged>)>, <1> -> memref<3x3x2x8xf32, #tracea_pipe.staged>
        tracea_pipe.copy %arg1[%30, %c0, %c0, %c0] map #map3 limits(%c3, %c3, %c2, %c8) padded [0] to %31 : memref<3x3x3x2xf32>, memref<3x3x2x8xf32, #tracea_pipe.staged>
        tracea_pipe.commit %0[%arg9] : <1 x(memref<3x3x2x8xf32, #tracea_pipe.staged>)>, <1>
        %32 = tracea_pipe.wait %0[%arg9] : <1 x(memref<3x3x2x8xf32, #tracea_pipe.staged>)>, <1> -> memref<3x3x2x8xf32, #tracea_pipe.staged>
        scf.for %arg10 = %c0 to %10 step %c1 {
          scf.for %arg11 = %c0 to %12 step %c3 {
            %34 = arith.subi %12, %arg11 : index
            %35 = arith.subi %8, %arg8 : index
            %36 = arith.addi %5, %arg10 : index
            %37 = arith.addi %6, %arg11 : index
            %38 = scf.for %arg12 = %c0 to %c3 step %c1 iter_args(%arg13 = %cst) -> (tensor<3x8xf32, #lanes>) {
              %39 = scf.for %arg14 = %c0 to %c3 step %c1 iter_args(%arg15 = %arg13) -> (tensor<3x8xf32, #lanes>) {
                %40 = arith.muli %arg10, %c2 : index
                %41 = arith.addi %40, %arg12 : index
                %42 = arith.muli %arg11, %c2 : index
                %43 = arith.addi %42, %arg14 : index
                %44 = tracea_pipe.view %26[%41, %43, %c0] map #map4 : memref<7x7x2xf32, #tracea_pipe.staged> -> memref<3x2xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>
                %45 = tracea_pipe.view %32[%arg12, %arg14, %c0, %c0] map #map5 : memref<3x3x2x8xf32, #tracea_pipe.staged> -> memref<2x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>
                %46 = tracea_pipe.mma %44, %45, %arg15 depth(%c2) : memref<3x2xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>, memref<2x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>, tensor<3x8xf32, #lanes>
                scf.yield %46 : tensor<3x8xf32, #lanes>
              }
              scf.yield %39 : tensor<3x8xf32, #lanes>
            }
            tracea_pipe.store %38, %arg2[%arg3, %36, %37, %30] map #map5 limits(%34, %35) : tensor<3x8xf32, #lanes>, memref<1x3x3x3xf32>
          }
        }
        tracea_pipe.release %0[%arg9] : <1 x(memref<3x3x2x8xf32, #tracea_pipe.staged>)>, <1>
        %33 = tracea_pipe.advance %arg9 : <1>
        scf.yield %33 : !tracea_pipe.phase<1>
      }
      tracea_pipe.release %2[%3] : <1 x(memref<7x7x2xf32, #tracea_pipe.staged>)>, <1>
      %28 = tracea_pipe.advance %3 : <1>
    }
    end
  }
}

