// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s
// RUN: tracea-opt %s -split-input-file -tracea-outline-host -o /dev/null --remark-format=emitRemark --remarks-filter=tracea \
// RUN:   2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] host-tiles {{.*}} Function=concat | Reason="'linalg.generic' takes 'linalg.vectors' with vectors of 8 elements: neighbours
// REMARK: [Missed] host-op {{.*}} Function=singles

// Lanes of a GPU take vectors where neighbours in the result are neighbours in all that they read. On which side of a
// constant bound a multiple of the width lies, all neighbours do: one branch and one load. Memory that begins anywhere has
// a kernel without vectors.
// CHECK-LABEL: func.func @concat(
// CHECK:         tracea_pipe.launch @linalg_generic_0 else [@linalg_generic_1]
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    %[[A:[^:]*]]: memref<512x64xbf16> {tracea_pipe.aligned = 16 : i64}
// CHECK-SAME:    variant = "linalg.vectors", warps = 8
// CHECK:         scf.forall (%{{.*}}, %[[V:.*]]) in (16, 16) {
// CHECK:           %[[COLUMN:.*]] = arith.muli %{{.*}}, %c8{{.*}} : index
// CHECK:           %[[HERE:.*]] = arith.cmpi slt, %[[COLUMN]], %c64{{.*}} : index
// CHECK:           %[[BOTH:.*]] = scf.if %[[HERE]] -> (vector<8xbf16>) {
// CHECK:             vector.load %[[A]][%[[ROW:.*]], %[[COLUMN]]] : memref<512x64xbf16>, vector<8xbf16>
// CHECK:           } else {
// CHECK:             %[[BEHIND:.*]] = arith.subi %[[COLUMN]], %c64{{.*}} : index
// CHECK:             vector.load %{{.*}}[%[[ROW]], %[[BEHIND]]] : memref<512x64xbf16>, vector<8xbf16>
// CHECK:           vector.store %[[BOTH]], %{{.*}}[%[[ROW]], %[[COLUMN]]] : memref<512x128xbf16>, vector<8xbf16>
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_1(
// CHECK-NOT:     aligned
// CHECK-SAME:    variant = "linalg"
// CHECK-NOT:     vector
// CHECK:         memref.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @concat(%a: memref<512x64xbf16>, %b: memref<512x64xbf16>) -> memref<512x128xbf16> {
    %c64 = arith.constant 64 : index
    %y = memref.alloc() : memref<512x128xbf16>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<512x128xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %here = arith.cmpi slt, %j, %c64 : index
      %v = scf.if %here -> (bf16) {
        %x = memref.load %a[%i, %j] : memref<512x64xbf16>
        scf.yield %x : bf16
      } else {
        %behind = arith.subi %j, %c64 : index
        %x = memref.load %b[%i, %behind] : memref<512x64xbf16>
        scf.yield %x : bf16
      }
      linalg.yield %v : bf16
    }
    return %y : memref<512x128xbf16>
  }
}

// -----

// A bound that is no multiple of the width parts neighbours: vectors are as wide as all of them lie on one side.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         vector.store %{{.*}} : memref<512x128xbf16>, vector<4xbf16>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @narrow(%a: memref<512x128xbf16>) -> memref<512x128xbf16> {
    %c60 = arith.constant 60 : index
    %zero = arith.constant 0.0 : bf16
    %y = memref.alloc() : memref<512x128xbf16>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<512x128xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %here = arith.cmpi slt, %j, %c60 : index
      %v = scf.if %here -> (bf16) {
        %x = memref.load %a[%i, %j] : memref<512x128xbf16>
        scf.yield %x : bf16
      } else {
        scf.yield %zero : bf16
      }
      linalg.yield %v : bf16
    }
    return %y : memref<512x128xbf16>
  }
}

// -----

// A row that data names is the same for all neighbours: it is looked at once. A lane that waits for its number takes several
// vectors of it, as far apart as all lanes reach, and loads them all before it stores.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    %{{[^:]*}}: memref<64xi32>, %[[TABLE:[^:]*]]: memref<100x768xbf16> {tracea_pipe.aligned = 16 : i64}
// CHECK:         scf.forall (%{{.*}}, %{{.*}}) in (5, 48) {
// CHECK:           %[[NUMBER:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<64xi32>
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[NUMBER]] : i32 to index
// CHECK:           cf.assert %[[HOLDS:.*]], "{{.*}}expected index 0 from 0 to below {1}, found {0}"
// CHECK-NOT:       cf.assert
// CHECK:           scf.if %[[HOLDS]] -> (vector<8xbf16>) {
// CHECK-NEXT:        vector.load %[[TABLE]][%[[ROW]], %[[FIRST:.*]]] : memref<100x768xbf16>, vector<8xbf16>
// CHECK-NOT:       vector.store
// CHECK:           scf.if %[[HOLDS]] -> (vector<8xbf16>) {
// CHECK-NEXT:        vector.load %[[TABLE]][%[[ROW]], %[[SECOND:.*]]] : memref<100x768xbf16>, vector<8xbf16>
// CHECK:           vector.store %{{.*}}[%{{.*}}, %[[FIRST]]] : memref<64x768xbf16>, vector<8xbf16>
// CHECK:           %[[SECOND_PLACE:.*]] = arith.addi %[[FIRST]], %c384{{.*}} : index
// CHECK:           vector.store %{{.*}}[%{{.*}}, %[[SECOND_PLACE]]] : memref<64x768xbf16>, vector<8xbf16>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @embed(%table: memref<100x768xbf16>, %tokens: memref<64xi32>) -> memref<64x768xbf16> {
    %y = memref.alloc() : memref<64x768xbf16>
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%tokens : memref<64xi32>) outs(%y : memref<64x768xbf16>) {
    ^bb0(%token: i32, %o: bf16):
      %j = linalg.index 1 : index
      %row = arith.index_cast %token : i32 to index
      %x = memref.load %table[%row, %j] : memref<100x768xbf16>
      linalg.yield %x : bf16
    }
    return %y : memref<64x768xbf16>
  }
}

// -----

// Of a window, channels last, sums and maxima are vectors that loops carry.
// CHECK-LABEL: tracea_pipe.kernel @linalg_pooling_nhwc_max_0(
// CHECK:         scf.forall (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in (1, 1, 28, 8) {
// CHECK:           %[[FIRST:.*]] = vector.load
// CHECK:           scf.for %{{.*}} iter_args(%{{.*}} = %[[FIRST]]) -> (vector<8xf16>) {
// CHECK:             scf.for
// CHECK:               %[[X:.*]] = vector.load %{{.*}} : memref<2x114x114x64xf16>, vector<8xf16>
// CHECK:               arith.maximumf %{{.*}}, %[[X]] : vector<8xf16>
// CHECK:           vector.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @pool(%x: memref<2x114x114x64xf16>, %w: memref<3x3xf16>, %y: memref<2x56x56x64xf16>) {
    linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
        ins(%x, %w : memref<2x114x114x64xf16>, memref<3x3xf16>) outs(%y : memref<2x56x56x64xf16>)
    return
  }
}

// -----

// Numbers of iterations along the vector are a vector, and what all have alike is repeated.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         %[[STEPS:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xindex>
// CHECK:         %[[NUMBERS:.*]] = arith.addi %{{.*}}, %[[STEPS]] : vector<4xindex>
// CHECK:         %[[SHORT:.*]] = arith.index_cast %[[NUMBERS]] : vector<4xindex> to vector<4xi32>
// CHECK:         %[[ROWS:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// CHECK:         arith.addi %[[SHORT]], %[[ROWS]] : vector<4xi32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @numbers(%x: memref<74x64xi32>, %y: memref<37x64xi32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (2 * i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<74x64xi32>) outs(%y : memref<37x64xi32>) {
    ^bb0(%a: i32, %o: i32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %row = arith.index_cast %i : index to i32
      %column = arith.index_cast %j : index to i32
      %both = arith.addi %column, %row : i32
      %z = arith.addi %a, %both : i32
      linalg.yield %z : i32
    }
    return
  }
}

// -----

// Columns that are as many as no vector has, neighbours that are none in memory, and branches that data decides for each
// element are done one by one.
// CHECK-LABEL: func.func @singles(
// CHECK-NOT:     vector
// CHECK:         tracea_pipe.kernel @linalg_generic_2(
// CHECK-NOT:     vector
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @singles(%odd: memref<74x33xf32>, %wide: memref<37x64xf32>, %x: memref<64x64xf32>, %y: memref<37x33xf32>, %z: memref<37x32xf32>, %u: memref<64x64xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (2 * i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%odd : memref<74x33xf32>) outs(%y : memref<37x33xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 2 * j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%wide : memref<37x64xf32>) outs(%z : memref<37x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<64x64xf32>) outs(%u : memref<64x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf olt, %a, %zero : f32
      %v = scf.if %c -> (f32) {
        scf.yield %zero : f32
      } else {
        scf.yield %a : f32
      }
      linalg.yield %v : f32
    }
    return
  }
}

// -----

// REMARK: [Passed] host-tiles {{.*}} Function=enlarged | Reason="'linalg.generic' takes 'linalg.vectors' with vectors of 8 elements, 4 of them a lane, which share what they read: neighbours

// Where the index of another loop is divided, as many neighbours read the same: a lane takes all of them, along the loops
// beside the vectors, and loads what they read before it stores the first.
// CHECK-LABEL: func.func @enlarged(
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         tiles (%[[N:.*]], %[[TY:.*]], %{{.*}}, %{{.*}}) in (%c64{{.*}}, %c64{{.*}}, %c2{{.*}}, %c1{{.*}})
// CHECK:           scf.forall (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in (1, 1, 32, 8) {
// CHECK:             %[[Y:.*]] = arith.muli %{{.*}}, %c2{{.*}} : index
// CHECK:             %[[X:.*]] = arith.muli %{{.*}}, %c2{{.*}} : index
// CHECK-NOT:         vector.store
// CHECK-COUNT-4:     vector.load
// CHECK-NOT:         vector.load
// CHECK:             vector.store %{{.*}}, %{{.*}}[%{{.*}}, %[[Y]], %[[X]], %[[C:.*]]]
// CHECK:             vector.store %{{.*}}, %{{.*}}[%{{.*}}, %[[Y]], %{{.*}}, %[[C]]]
// CHECK:             vector.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %[[X]], %[[C]]]
// CHECK:             vector.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]]
// CHECK-NOT:         vector.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @enlarged(%a: memref<64x64x64x64xbf16>) -> memref<64x128x128x64xbf16> {
    %c2 = arith.constant 2 : index
    %y = memref.alloc() : memref<64x128x128x64xbf16>
    linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%y : memref<64x128x128x64xbf16>) {
    ^bb0(%o: bf16):
      %n = linalg.index 0 : index
      %h = linalg.index 1 : index
      %w = linalg.index 2 : index
      %c = linalg.index 3 : index
      %i = arith.divui %h, %c2 : index
      %j = arith.divui %w, %c2 : index
      %x = memref.load %a[%n, %i, %j, %c] : memref<64x64x64x64xbf16>
      linalg.yield %x : bf16
    }
    return %y : memref<64x128x128x64xbf16>
  }
}

// -----

// Not where parts would be left over, nor where lanes would be too few to fill a GPU.
// CHECK-LABEL: func.func @left_over(
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-COUNT-1:   vector.store
// CHECK-NOT:       vector.store
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_2(
// CHECK-COUNT-1:   vector.store
// CHECK-NOT:       vector.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @left_over(%a: memref<4096x64x64xbf16>, %b: memref<64x64xbf16>) -> (memref<4096x127x64xbf16>, memref<128x64xbf16>) {
    %c2 = arith.constant 2 : index
    %y = memref.alloc() : memref<4096x127x64xbf16>
    linalg.generic {indexing_maps = [affine_map<(n, h, c) -> (n, h, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<4096x127x64xbf16>) {
    ^bb0(%o: bf16):
      %n = linalg.index 0 : index
      %h = linalg.index 1 : index
      %c = linalg.index 2 : index
      %i = arith.divui %h, %c2 : index
      %x = memref.load %a[%n, %i, %c] : memref<4096x64x64xbf16>
      linalg.yield %x : bf16
    }
    %z = memref.alloc() : memref<128x64xbf16>
    linalg.generic {indexing_maps = [affine_map<(h, c) -> (h, c)>], iterator_types = ["parallel", "parallel"]} outs(%z : memref<128x64xbf16>) {
    ^bb0(%o: bf16):
      %h = linalg.index 0 : index
      %c = linalg.index 1 : index
      %i = arith.divui %h, %c2 : index
      %x = memref.load %b[%i, %c] : memref<64x64xbf16>
      linalg.yield %x : bf16
    }
    return %y, %z : memref<4096x127x64xbf16>, memref<128x64xbf16>
  }
}
