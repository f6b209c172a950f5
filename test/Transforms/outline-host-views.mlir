// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s
// RUN: tracea-opt %s -split-input-file -tracea-outline-host -o /dev/null --remark-format=emitRemark --remarks-filter=tracea \
// RUN:   2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] host-tiles {{.*}} Function=gate | Reason="'linalg.mul' takes 'elementwise.lanes' with tile = [16, 64], 256 lanes: neighbours in the result are neighbouring lanes"
// REMARK: [Passed] host-tiles {{.*}} Function=heads | Reason="'linalg.transpose' takes 'elementwise.lanes' with tile = [32, 64], 256 lanes: an operand's neighbours
// REMARK: [Missed] host-op {{.*}} Function=sums

// Tiles of a window are tiles of the buffer that it is cut from: half of each row, by the other half.
// CHECK-LABEL: tracea_pipe.kernel @linalg_mul_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x128xf32> {tracea_pipe.aligned = 16 : i64}
// CHECK-SAME:    variant = "elementwise.lanes"
// CHECK-NOT:     memref.subview
// CHECK:         tracea_pipe.load %[[X]][%[[ROW:.*]], %c0{{.*}}] map
// CHECK:         tracea_pipe.load %[[X]][%[[ROW]], %c64{{.*}}] map
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @gate(%x: memref<512x128xf32>) -> memref<512x64xf32> {
    %y = memref.alloc() : memref<512x64xf32>
    %a = memref.subview %x[0, 0] [512, 64] [1, 1] : memref<512x128xf32> to memref<512x64xf32, strided<[128, 1]>>
    %b = memref.subview %x[0, 64] [512, 64] [1, 1] : memref<512x128xf32> to memref<512x64xf32, strided<[128, 1], offset: 64>>
    linalg.mul ins(%a, %b : memref<512x64xf32, strided<[128, 1]>>, memref<512x64xf32, strided<[128, 1], offset: 64>>) outs(%y : memref<512x64xf32>)
    return %y : memref<512x64xf32>
  }
}

// -----

// Every other row of one part of it, its columns split and turned: the tile's columns are the buffer's rows.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (0, d1 * 2, d0)>
// CHECK-LABEL: tracea_pipe.kernel @linalg_transpose_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x512x192xbf16>
// CHECK-SAME:    variant = "elementwise.lanes"
// CHECK:         %[[HEAD:.*]] = arith.muli %{{.*}}, %c32{{.*}} : index
// CHECK:         %[[TWICE:.*]] = arith.muli %{{.*}}, %c2{{.*}} : index
// CHECK:         %[[ROW:.*]] = arith.addi %[[TWICE]], %c10{{.*}} : index
// CHECK:         %[[COLUMN:.*]] = arith.addi %[[HEAD]], %c64{{.*}} : index
// CHECK:         tracea_pipe.load %[[X]][%c1{{.*}}, %[[ROW]], %[[COLUMN]]] map #[[MAP]]
// CHECK:         tracea_pipe.relayout
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @heads(%x: memref<2x512x192xbf16>) -> memref<2x32x128xbf16> {
    %y = memref.alloc() : memref<2x32x128xbf16>
    %part = memref.subview %x[1, 10, 64] [1, 128, 64] [1, 2, 1] : memref<2x512x192xbf16> to memref<128x64xbf16, strided<[384, 1], offset: 100288>>
    %split = memref.expand_shape %part [[0], [1, 2]] output_shape [128, 2, 32] : memref<128x64xbf16, strided<[384, 1], offset: 100288>> into memref<128x2x32xbf16, strided<[384, 32, 1], offset: 100288>>
    linalg.transpose ins(%split : memref<128x2x32xbf16, strided<[384, 32, 1], offset: 100288>>) outs(%y : memref<2x32x128xbf16>) permutation = [1, 2, 0]
    return %y : memref<2x32x128xbf16>
  }
}

// -----

// A sum over a window, which is not all of its buffer, is loops.
// CHECK-LABEL: tracea_pipe.kernel @linalg_reduce_0(
// CHECK-SAME:    variant = "linalg"
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @sums(%x: memref<512x128xf32>, %y: memref<512xf32>) {
    %a = memref.subview %x[0, 0] [512, 64] [1, 1] : memref<512x128xf32> to memref<512x64xf32, strided<[128, 1]>>
    linalg.reduce { arith.addf } ins(%a : memref<512x64xf32, strided<[128, 1]>>) outs(%y : memref<512xf32>) dimensions = [1]
    return
  }
}
