#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 5 + d4 - 1, d2 * 5 + d5 - 1, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1, d2)>
#map4 = affine_map<(d0, d1) -> (0, d0 * 5, d1)>
#map5 = affine_map<(d0, d1) -> (0, 0, d0, d1)>
module {
  func.func @main(%arg0: memref<1x1x1x4xf32>, %arg1: memref<8x1x1x4xf32>) -> memref<1x1x1x8xf32> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<1x1x1x8xf32>
    tracea_pipe.launch @conv2d_0 ins(%arg0, %arg1 : memref<1x1x1x4xf32>, memref<8x1x1x4xf32>) outs(%alloc : memref<1x1x1x8xf32>)
    return %alloc : memref<1x1x1x8xf32>
  }
  tracea_pipe.kernel @conv2d_0(%arg0: memref<1x1x1x4xf32>, %arg1: memref<8x1x1x4xf32>, %arg2: memref<1x1x1x8xf32>) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#map, #map1]>], source_op = "tracea.conv2d", variant = "conv2d.patch"} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x8xf32, #lanes>
    %c5 = arith.constant 5 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    tiles (%arg3, %arg4, %arg5, %arg6, %arg7) in (%c1, %c1, %c1, %c1, %c1) {
      %0 = tracea_pipe.channel : <1 x(memref<1x1x4x8xf32, #tracea_pipe.staged>)>
      %1 = tracea_pipe.start : <1>
      %2 = tracea_pipe.channel : <1 x(memref<1x1x4xf32, #tracea_pipe.staged>)>
      %3 = tracea_pipe.start : <1>
      %4 = arith.muli %arg5, %c8 : index
      %5 = arith.subi %c8, %4 : index
      %6 = arith.minsi %5, %c8 : index
      %7 = arith.subi %c1, %arg6 : index
      %8 = arith.minsi %7, %c1 : index
      %9 = arith.subi %c1, %arg7 : index
      %10 = arith.minsi %9, %c1 : index
      %11 = arith.muli %arg4, %c4 : index
      %12 = arith.muli %arg6, %c5 : index
      %13 = arith.subi %12, %c1 : index
      %14 = arith.muli %arg7, %c5 : index
      %15 = arith.subi %14, %c1 : index
      %16 = arith.subi %8, %c1 : index
      %17 = arith.muli %16, %c5 : index
      %18 = arith.addi %17, %c1 : index
      %19 = arith.subi %10, %c1 : index
      %20 = arith.muli %19, %c5 : index
      %21 = arith.addi %20, %c1 : index
      %22 = tracea_pipe.acquire %2[%3] : <1 x(memref<1x1x4xf32, #tracea_pipe.staged>)>, <1> -> memref<1x1x4xf32, #tracea_pipe.staged>
      tracea_pipe.copy %arg0[%arg3, %13, %15, %11] map #map2 limits(%18, %21, %c4) padded [1, 2] to %22 : memref<1x1x1x4xf32>, memref<1x1x4xf32, #tracea_pipe.staged>
      tracea_pipe.commit %2[%3] : <1 x(memref<1x1x4xf32, #tracea_pipe.staged>)>, <1>
      %23 = tracea_pipe.wait %2[%3] : <1 x(memref<1x1x4xf32, #tracea_pipe.staged>)>, <1> -> memref<1x1x4xf32, #tracea_pipe.staged>
      %24 = scf.for %arg8 = %c0 to %6 step %c8 iter_args(%arg9 = %1) -> (!tracea_pipe.phase<1>) {
        %26 = arith.muli %arg4, %c8 : index
        %27 = arith.addi %4, %arg8 : index
        %28 = arith.addi %26, %27 : index
        %29 = tracea_pipe.acquire %0[%arg9] : <1 x(memref<1x1x4x8xf32, #tracea_pipe.staged>)>, <1> -> memref<1x1x4x8xf32, #tracea_pipe.staged>
        tracea_pipe.copy %arg1[%28, %c0, %c0, %c0] map #map3 limits(%c1, %c1, %c4, %c8) padded [0] to %29 : memref<8x1x1x4xf32>, memref<1x1x4x8xf32, #tracea_pipe.staged>
        tracea_pipe.commit %0[%arg9] : <1 x(memref<1x1x4x8xf32, #tracea_pipe.staged>)>, <1>
        %30 = tracea_pipe.wait %0[%arg9] : <1 x(memref<1x1x4x8xf32, #tracea_pipe.staged>)>, <1> -> memref<1x1x4x8xf32, #tracea_pipe.staged>
        scf.for %arg10 = %c0 to %8 step %c1 {
          scf.for %arg11 = %c0 to %10 step %c1 {
            %32 = arith.subi %10, %arg11 : index
            %33 = arith.subi %6, %arg8 : index
            %34 = arith.addi %arg6, %arg10 : index
            %35 = arith.addi %arg7, %arg11 : index
            %36 = arith.muli %arg10, %c5 : index
            %37 = arith.muli %arg11, %c5 : index
            %38 = tracea_pipe.view %23[%36, %37, %c0] map #map4 : memref<1x1x4xf32, #tracea_pipe.staged> -> memref<1x4xf32, strided<[20, 1], offset: ?>, #tracea_pipe.staged>
            %39 = tracea_pipe.view %30[%c0, %c0, %c0, %c0] map #map5 : memref<1x1x4x8xf32, #tracea_pipe.staged> -> memref<4x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>
            %40 = tracea_pipe.mma %38, %39, %cst depth(%c4) : memref<1x4xf32, strided<[20, 1], offset: ?>, #tracea_pipe.staged>, memref<4x8xf32, strided<[8, 1], offset: ?>, #tracea_pipe.staged>, tensor<1x8xf32, #lanes>
            tracea_pipe.store %40, %arg2[%arg3, %34, %35, %28] map #map5 limits(%32, %33) : tensor<1x8xf32, #lanes>, memref<1x1x1x8xf32>
          }
        }
        tracea_pipe.release %0[%arg9] : <1 x(memref<1x1x4x8xf32, #tracea_pipe.staged>)>, <1>
        %31 = tracea_pipe.advance %arg9 : <1>
        scf.yield %31 : !tracea_pipe.phase<1>
      }
      tracea_pipe.release %2[%3] : <1 x(memref<1x1x4xf32, #tracea_pipe.staged>)>, <1>
      %25 = tracea_pipe.advance %3 : <1>
    }
    end
  }
}

