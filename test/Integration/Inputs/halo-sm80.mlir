// A convolution for tensor cores whose image is staged once for all taps: 64 pixels, 4 rows of an image, read a window
// of 6 x 18 pixels (their halo) nine times.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes1 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]], outer = [1, 1]>
#lanes2 = #tracea_pipe.lanes<reg = [[1, 0], [8, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 32]], outer = [1, 1]>
#lanes3 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes4 = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 16], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#window = affine_map<(h, v, c) -> (0, h, v, c)>
#tap = affine_map<(p, q, c) -> (p * 18 + q, c)>
#filter = affine_map<(k, c) -> (k, 0, 0, c)>
#image_read = affine_map<(m, k, r, s, c) -> (m floordiv 256, m floordiv 16 - (m floordiv 256) * 16 + r - 1, m - (m floordiv 16) * 16 + s - 1, c)>
#filter_read = affine_map<(m, k, r, s, c) -> (k, r, s, c)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", vector_bits = 128, subgroup = 32, cores = 108, shared_memory = 166912, l1 = 196608, l2 = 41943040>} {
  func.func @main(%x: memref<?x16x16x64xf16>, %w: memref<64x3x3x64xf16>) -> memref<?x64xf32> {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %x, %c0 : memref<?x16x16x64xf16>
    %m = arith.muli %n, %c256 : index
    %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
    tracea_pipe.launch @conv ins(%x, %w : memref<?x16x16x64xf16>, memref<64x3x3x64xf16>) outs(%y : memref<?x64xf32>)
    return %y : memref<?x64xf32>
  }
  tracea_pipe.kernel @conv(%arg0: memref<?x16x16x64xf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<64x3x3x64xf16> {tracea_pipe.aligned = 16 : i64}, %arg2: memref<?x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#image_read, #filter_read]>], source_op = "tracea.conv2d", tracea_pipe.lane_copies, variant = "conv2d.halo", warps = 4 : i64} {
    %c48 = arith.constant 48 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %c18 = arith.constant 18 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c3 = arith.constant 3 : index
    %c9 = arith.constant 9 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg2, %c0 : memref<?x64xf32>
    %images = memref.dim %arg0, %c0 : memref<?x16x16x64xf16>
    tiles (%image, %block, %arg4) in (%images, %c4, %c1) {
      %before = arith.muli %image, %c256 : index
      %inside = arith.muli %block, %c64 : index
      %1 = arith.addi %before, %inside : index
      %2 = arith.muli %arg4, %c64 : index
      %p0 = arith.muli %block, %c4 : index
      %top = arith.subi %p0, %c1 : index
      %left = arith.subi %c0, %c1 : index
      %around = tracea_pipe.delinearize %c0 into(%c18) : <2>
      %halo = tracea_pipe.stage %arg0[%image, %top, %left, %c0] map #window along [0](%around : !tracea_pipe.walk<2>)
        padded [0, 1, 2] slots 1 : memref<?x16x16x64xf16> -> tensor<108x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
      %pixels = tracea_pipe.delinearize %c0 into(%c16) : <2>
      %3 = scf.for %arg5 = %c0 to %c9 step %c1 iter_args(%arg6 = %cst) -> (tensor<64x64xf32, #lanes>) {
        %r = arith.divui %arg5, %c3 : index
        %s = arith.remui %arg5, %c3 : index
        %above = arith.muli %r, %c18 : index
        %first = arith.addi %above, %s : index
        %14 = tracea_pipe.stage %arg1[%2, %r, %s, %c0] map #filter padded [0, 1, 2] slots 4 : memref<64x3x3x64xf16> -> tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %15 = tracea_pipe.load %halo[%first, %c0] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : tensor<108x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %16 = tracea_pipe.load %14[%c0, %c0] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %17 = tracea_pipe.load %halo[%first, %c16] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : tensor<108x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %18 = tracea_pipe.load %14[%c0, %c16] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %19 = tracea_pipe.mma %15, %16, %arg6 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %20 = tracea_pipe.load %halo[%first, %c32] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : tensor<108x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %21 = tracea_pipe.load %14[%c0, %c32] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %22 = tracea_pipe.mma %17, %18, %19 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %23 = tracea_pipe.load %halo[%first, %c48] map #tap along [0](%pixels : !tracea_pipe.walk<2>) : tensor<108x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %24 = tracea_pipe.load %14[%c0, %c48] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %25 = tracea_pipe.mma %20, %21, %22 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %26 = tracea_pipe.mma %23, %24, %25 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        scf.yield %26 : tensor<64x64xf32, #lanes>
      }
      %4 = arith.subi %dim, %1 : index
      %5 = arith.subi %c64, %2 : index
      %6 = tracea_pipe.slice %3[0, 0] : tensor<64x64xf32, #lanes> -> tensor<32x64xf32, #lanes3>
      %7 = tracea_pipe.relayout %6 : tensor<32x64xf32, #lanes3> -> tensor<32x64xf32, #lanes4>
      tracea_pipe.store %7, %arg2[%1, %2] map #map2 limits(%4, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
      %8 = arith.addi %1, %c32 : index
      %9 = arith.subi %dim, %8 : index
      %10 = tracea_pipe.slice %3[32, 0] : tensor<64x64xf32, #lanes> -> tensor<32x64xf32, #lanes3>
      %11 = tracea_pipe.relayout %10 : tensor<32x64xf32, #lanes3> -> tensor<32x64xf32, #lanes4>
      tracea_pipe.store %11, %arg2[%8, %2] map #map2 limits(%9, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
    }
    end
  }
}
