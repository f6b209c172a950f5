// RUN: tracea-opt %s -split-input-file -tracea-outline-host -canonicalize -cse | FileCheck %s

// On a GPU elementwise operations are register tiles: a lane has 16 bytes of the result, and of what has no element for
// each of it the same lanes read their part. A second kernel is for memory that begins anywhere.
// CHECK: #[[$LANES:.*]] = #tracea_pipe.lanes<reg = {{\[}}[0, 1], [0, 2]], lane = {{\[}}[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[}}[1, 0], [2, 0], [4, 0]], outer = [1, 1]>
// CHECK: tracea_pipe.launch @linalg_generic_0 else [@linalg_generic_1]
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    tracea_pipe.aligned = 16
// CHECK-SAME:    variant = "elementwise.lanes", warps = 8
// CHECK:         tiles (%[[I:.*]]) in (%c5) {
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %c8
// CHECK:           %[[LEFT:.*]] = arith.subi %c37, %[[ROW]]
// CHECK:           %[[X:.*]] = tracea_pipe.load %{{.*}}[%[[ROW]], %c0] map #{{.*}} limits(%[[LEFT]], %c100) : memref<37x100xf32> -> tensor<8x128xf32, #[[$LANES]]>
// CHECK:           %[[B:.*]] = tracea_pipe.load %{{.*}}[%c0] map #{{.*}} limits(%c8, %c100) : memref<100xf32> -> tensor<8x128xf32, #[[$LANES]]>
// CHECK:           %[[SUM:.*]] = arith.addf %[[X]], %[[B]]
// CHECK:           tracea_pipe.store %[[SUM]], %{{.*}}[%[[ROW]], %c0] map #{{.*}} limits(%[[LEFT]], %c100)
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @add_row(%x: memref<37x100xf32>, %row: memref<100xf32>) -> memref<37x100xf32> {
    %y = memref.alloc() : memref<37x100xf32>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%x, %row : memref<37x100xf32>, memref<100xf32>) outs(%y : memref<37x100xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    return %y : memref<37x100xf32>
  }
}

// -----

// Loops over dimensions that all operands hold as one are one loop.
// CHECK-LABEL: func.func @negate
// CHECK:         %[[X:.*]] = memref.collapse_shape %arg0
// CHECK:         tracea_pipe.launch @linalg_generic_0 else [@linalg_generic_1] ins({{.*}}%[[X]]
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         tracea_pipe.load {{.*}} : memref<?xbf16> -> tensor<1x2048xbf16,
// CHECK:         arith.negf
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @negate(%x: memref<?x7x9xbf16>, %y: memref<?x7x9xbf16>) {
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                    iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : memref<?x7x9xbf16>) outs(%y : memref<?x7x9xbf16>) {
    ^bb0(%a: bf16, %o: bf16):
      %s = arith.negf %a : bf16
      linalg.yield %s : bf16
    }
    return
  }
}

// -----

// An operand that has one element along a loop keeps the loops apart.
// CHECK-LABEL: func.func @broadcast
// CHECK-NOT:     memref.collapse_shape
// CHECK:         tracea_pipe.launch
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         tracea_pipe.load %{{.*}}[%c0, %{{.*}}] {{.*}} : memref<1x?xf32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @broadcast(%x: memref<?x?xf32>, %row: memref<1x?xf32>, %y: memref<?x?xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>],
                    iterator_types = ["parallel", "parallel"]}
        ins(%x, %row : memref<?x?xf32>, memref<1x?xf32>) outs(%y : memref<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// A transpose reads along the operand's rows, stores along the result's, and relays in between.
// CHECK-DAG:   #[[$ACROSS:.*]] = #tracea_pipe.lanes<reg = {{\[}}[1, 0], [2, 0], [4, 0], [0, 32]], lane = {{\[}}[8, 0],
// CHECK-DAG:   #[[$ALONG:.*]] = #tracea_pipe.lanes<reg = {{\[}}[0, 1], [0, 2], [0, 4], [32, 0]], lane = {{\[}}[0, 8],
// CHECK-LABEL: tracea_pipe.kernel @linalg_transpose_0(
// CHECK:         %[[X:.*]] = tracea_pipe.load {{.*}} -> tensor<64x64xf16, #[[$ACROSS]]>
// CHECK:         %[[Y:.*]] = tracea_pipe.relayout %[[X]] : tensor<64x64xf16, #[[$ACROSS]]> -> tensor<64x64xf16, #[[$ALONG]]>
// CHECK:         tracea_pipe.store %[[Y]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @transpose(%x: memref<96x256xf16>, %y: memref<256x96xf16>) {
    linalg.transpose ins(%x : memref<96x256xf16>) outs(%y : memref<256x96xf16>) permutation = [1, 0]
    return
  }
}

// -----

// Of a sum over rows lanes share a row; what the result begins with is read before they meet, and beyond a row's end
// nothing is added.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         %[[BEFORE:.*]] = tracea_pipe.load %{{.*}} : memref<?xf32> -> tensor<{{[0-9]+}}x1xf32,
// CHECK:         %[[SUM:.*]] = scf.for
// CHECK:           tracea_pipe.load
// CHECK:           arith.cmpi slt
// CHECK:           %[[INSIDE:.*]] = arith.select
// CHECK:           arith.addf %[[INSIDE]]
// CHECK:         %[[ALL:.*]] = tracea_pipe.reduce add %[[SUM]] dim 1
// CHECK:         arith.addf %[[BEFORE]], %[[ALL]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @row_sums(%x: memref<?x?xf32>, %y: memref<?xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// A long sum is cut into parts, which a second kernel adds up; the zero that it begins with is not written.
// CHECK-LABEL: func.func @sum
// CHECK-NOT:     linalg.fill
// CHECK:         %[[PARTS:.*]] = memref.expand_shape %arg0 {{\[\[}}0, 1]] output_shape [512, 2048]
// CHECK:         %[[PARTIAL:.*]] = memref.alloc() : memref<512xf32>
// CHECK:         tracea_pipe.launch @linalg_generic_0 else [@linalg_generic_1] ins(%[[PARTS]] {{.*}} outs(%[[PARTIAL]]
// CHECK:         tracea_pipe.launch @linalg_generic_2 else [@linalg_generic_3] ins(%[[PARTIAL]] {{.*}} outs(%arg1
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-NOT:     tracea_pipe.load %arg1
// CHECK:         tracea_pipe.reduce add %{{.*}} dim 1
// CHECK:       tracea_pipe.kernel
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @sum(%x: memref<1048576xf32>, %y: memref<f32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%y : memref<f32>)
    linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
        ins(%x : memref<1048576xf32>) outs(%y : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// What is read between the fill and the sum is what was filled: the fill stays, and the sum begins with it.
// CHECK-LABEL: func.func @read_between
// CHECK:         linalg.fill
// CHECK:         tracea_pipe.launch
// CHECK:         tracea_pipe.launch
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @read_between(%x: memref<64x64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%y : memref<64xf32>)
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%z : memref<64xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %v = memref.load %y[%i] : memref<64xf32>
      linalg.yield %v : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<64x64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// An extent that any operand knows is a constant: here the grid of the tiles is.
// CHECK-LABEL: func.func @known_by_one
// CHECK:         tracea_pipe.launch
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(%{{.*}}: memref<?x?xf32>
// CHECK-NOT:     memref.dim
// CHECK:         tiles (%{{.*}}) in (%c32)
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @known_by_one(%x: memref<?x?xf32>, %rows: memref<128xf32>, %columns: memref<256xf32>, %y: memref<?x?xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %rows, %columns : memref<?x?xf32>, memref<128xf32>, memref<256xf32>) outs(%y : memref<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %t = arith.mulf %s, %c : f32
      linalg.yield %t : f32
    }
    return
  }
}

// -----

// Sums over the pixels and channels of a group: the pixels, which are the longest loop, are cut into parts; few lanes have a workgroup, so that there are more of them.
// CHECK-LABEL: func.func @groups
// CHECK:         %[[CUT:.*]] = memref.expand_shape %{{.*}} into memref<4x512x8x32x10xbf16>
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<512x4x32xf32>
// CHECK:         tracea_pipe.launch @[[FIRST:[a-z_0-9]+]] {{.*}}ins(%[[CUT]] : memref<4x512x8x32x10xbf16>) outs(%[[PARTS]] : memref<512x4x32xf32>)
// CHECK:         tracea_pipe.launch @{{.*}} ins(%[[PARTS]] : memref<512x4x32xf32>) outs(%{{.*}} : memref<4x32xf32>)
// CHECK:       tracea_pipe.kernel @[[FIRST]](
// CHECK-SAME:    variant = "elementwise.lanes", warps = 1
// CHECK:         tiles (%{{.*}}, %{{.*}}) in (%c512, %c4)
// CHECK:         scf.for %{{.*}} = %c0 to %c8 step %c1
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @groups(%x: memref<4x4096x32x10xbf16>, %y: memref<4x32xf32>) {
    linalg.generic {indexing_maps = [affine_map<(n, p, g, c) -> (n, p, g, c)>, affine_map<(n, p, g, c) -> (n, g)>], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
        ins(%x : memref<4x4096x32x10xbf16>) outs(%y : memref<4x32xf32>) {
    ^bb0(%a: bf16, %o: f32):
      %f = arith.extf %a : bf16 to f32
      %s = arith.addf %f, %o : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// Of two loops that are summed over, not beside one another, that is cut which gives more parts: 16 of 32 images, where 49
// pixels would give 7.
// CHECK-LABEL: func.func @channels
// CHECK:         %[[CUT:.*]] = memref.expand_shape %{{.*}} {{\[\[}}0, 1], [2], [3], [4]] output_shape [16, 2, 4, 49, 512]
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<16x4x512xf32>
// CHECK:         tracea_pipe.launch @{{.*}} ins(%[[CUT]] : {{.*}}) outs(%[[PARTS]] : memref<16x4x512xf32>)
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @channels(%x: memref<32x4x49x512xbf16>, %y: memref<4x512xf32>) {
    linalg.generic {indexing_maps = [affine_map<(n, g, p, c) -> (n, g, p, c)>, affine_map<(n, g, p, c) -> (g, c)>], iterator_types = ["reduction", "parallel", "reduction", "parallel"]}
        ins(%x : memref<32x4x49x512xbf16>) outs(%y : memref<4x512xf32>) {
    ^bb0(%a: bf16, %o: f32):
      %w = arith.extf %a : bf16 to f32
      %s = arith.addf %o, %w : f32
      linalg.yield %s : f32
    }
    return
  }
}

// -----

// Two sums over what channels last hold, in the order of images, channels, rows and columns, are one reduction: its loops go through memory in order, so that all that is reduced is one loop, cut into parts of whole tiles. What combines the parts has both sums, too, and neither begins with what was there.
// CHECK-LABEL: func.func @moments
// CHECK:         %[[ALL:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : memref<32x28x28x128xbf16> into memref<25088x128xbf16>
// CHECK:         %[[CUT:.*]] = memref.expand_shape %[[ALL]] {{\[\[}}0, 1], [2]] output_shape [392, 64, 128]
// CHECK:         %[[SUMS:.*]] = memref.alloc() : memref<392x128xf32>
// CHECK:         %[[SQUARES:.*]] = memref.alloc() : memref<392x128xf32>
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         tracea_pipe.launch @[[PARTS:[a-z_0-9]+]] {{.*}}ins(%[[CUT]], %{{.*}} : memref<392x64x128xbf16>, memref<128xf32>) outs(%[[SUMS]], %[[SQUARES]] : memref<392x128xf32>, memref<392x128xf32>)
// CHECK:         tracea_pipe.launch @[[WHOLE:[a-z_0-9]+]] {{.*}}ins(%[[SUMS]], %[[SQUARES]] : memref<392x128xf32>, memref<392x128xf32>) outs(%{{.*}}, %{{.*}} : memref<128xf32>, memref<128xf32>)
// CHECK-NOT:     tracea_pipe.launch
// CHECK:       tracea_pipe.kernel @[[PARTS]](
// CHECK-SAME:    variant = "elementwise.lanes", warps = 8
// CHECK:         tiles (%{{.*}}) in (%c392)
// CHECK-COUNT-2: tracea_pipe.load
// CHECK-NOT:     tracea_pipe.load
// CHECK-COUNT-2: tracea_pipe.reduce add
// Few columns of few terms: 16 of them a workgroup, so that there are eight.
// CHECK:       tracea_pipe.kernel @[[WHOLE]](
// CHECK-SAME:    variant = "elementwise.lanes", warps = 8
// CHECK:         tiles (%{{.*}}) in (%c8)
// CHECK:         scf.for {{.*}} -> (tensor<256x16xf32, #{{.*}}>, tensor<256x16xf32, #{{.*}}>)
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @moments(%x: memref<32x28x28x128xbf16>, %k: memref<128xf32>, %s: memref<128xf32>, %q: memref<128xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%s : memref<128xf32>)
    linalg.fill ins(%zero : f32) outs(%q : memref<128xf32>)
    linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (c)>], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
        ins(%x, %k : memref<32x28x28x128xbf16>, memref<128xf32>) outs(%s, %q : memref<128xf32>, memref<128xf32>) {
    ^bb0(%a: bf16, %b: f32, %p: f32, %r: f32):
      %w = arith.extf %a : bf16 to f32
      %d = arith.subf %w, %b : f32
      %e = arith.mulf %d, %d : f32
      %t = arith.addf %p, %d : f32
      %u = arith.addf %r, %e : f32
      linalg.yield %t, %u : f32, f32
    }
    return
  }
}

// -----

// Of different kinds: each has its own neutral element beyond the ends. One of the results is not a constant before: both are read, and combined at the end.
// CHECK-LABEL: func.func @sum_and_maximum
// CHECK:         tracea_pipe.launch @{{.*}} outs(%[[M:.*]] : memref<8xf32>)
// CHECK:         tracea_pipe.launch @[[BOTH:[a-z_0-9]+]] {{.*}}outs(%{{.*}}, %[[M]] : memref<8xf32>, memref<8xf32>)
// CHECK:       tracea_pipe.kernel @[[BOTH]](
// CHECK-DAG:     arith.constant dense<0xFF800000> : tensor
// CHECK-DAG:     arith.constant dense<{{-?}}0.0{{.*}}> : tensor
// CHECK:         %[[SUM:.*]] = tracea_pipe.reduce add
// CHECK:         arith.addf %{{.*}}, %[[SUM]]
// CHECK:         %[[MOST:.*]] = tracea_pipe.reduce max
// CHECK:         arith.maximumf %{{.*}}, %[[MOST]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @sum_and_maximum(%x: memref<8x77xf32>, %s: memref<8xf32>, %m: memref<8xf32>) {
    %low = arith.constant 0xFF800000 : f32
    linalg.fill ins(%low : f32) outs(%m : memref<8xf32>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<8x77xf32>) outs(%s, %m : memref<8xf32>, memref<8xf32>) {
    ^bb0(%a: f32, %p: f32, %q: f32):
      %t = arith.addf %p, %a : f32
      %u = arith.maximumf %q, %a : f32
      linalg.yield %t, %u : f32, f32
    }
    return
  }
}

// -----

// What one result adds up is what another one has come to: no reductions side by side, but a scan of each row.
// CHECK-LABEL: func.func @depends
// CHECK:         tracea_pipe.launch
// CHECK-NOT:     variant = "elementwise.lanes"
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @depends(%x: memref<8x77xf32>, %s: memref<8xf32>, %m: memref<8xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<8x77xf32>) outs(%s, %m : memref<8xf32>, memref<8xf32>) {
    ^bb0(%a: f32, %p: f32, %q: f32):
      %t = arith.addf %p, %a : f32
      %u = arith.addf %q, %t : f32
      linalg.yield %t, %u : f32, f32
    }
    return
  }
}

// -----

// Elements of rows at given places: an index that is always the same is no loop of the tile.
// CHECK-LABEL: func.func @places
// CHECK:       tracea_pipe.kernel @{{.*}}variant = "elementwise.lanes"
// CHECK-DAG:     %[[FIFTH:.*]] = arith.constant 5 : index
// CHECK-DAG:     tracea_pipe.load %{{.*}}[%{{.*}}, %[[FIFTH]], %{{.*}}] map
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @places(%x: memref<4x9x96xbf16>, %y: memref<96xf32>) {
    linalg.generic {indexing_maps = [affine_map<(c) -> (0, 5, c)>, affine_map<(c) -> (3, 0, c)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]}
        ins(%x, %x : memref<4x9x96xbf16>, memref<4x9x96xbf16>) outs(%y : memref<96xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %v = arith.extf %a : bf16 to f32
      %w = arith.extf %b : bf16 to f32
      %m = arith.maximumf %v, %w : f32
      linalg.yield %m : f32
    }
    return
  }
}
