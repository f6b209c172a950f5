// Operands whose rows are no multiples of 16 bytes: a kernel copies each to
// rows that are, with zeros beyond the end, and the product reads the copies.
// RUN: tracea-opt %s --split-input-file --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// Both operands along k: rows of 2002 bytes become 16 lines of 128, by one kernel whose grid is that of the larger
// one. The steps are those of k as it was.
// CHECK-LABEL: func.func @along_k
// CHECK-SAME: (%[[A:[^ :]*]]: tensor<300x1001xbf16>, %[[B:[^ :]*]]: tensor<515x1001xbf16>
// CHECK-DAG: %[[PA:.*]] = tensor.empty() : tensor<300x1024xbf16>
// CHECK-DAG: %[[PB:.*]] = tensor.empty() : tensor<515x1024xbf16>
// CHECK: %[[C:.*]]:2 = tracea_pipe.launch @gemm_0 ins(%[[A]], %[[B]] : {{.*}}) outs(%[[PA]], %[[PB]] :
// CHECK: tracea_pipe.launch @gemm_1 ins(%[[C]]#0, %[[C]]#1 :

// CHECK: tracea_pipe.kernel @gemm_0(%[[FROM:.*]]: memref<300x1001xbf16>, %[[FROM2:.*]]: memref<515x1001xbf16>, %[[TO:.*]]: memref<300x1024xbf16> {tracea_pipe.aligned = 16 : i64}, %[[TO2:.*]]: memref<515x1024xbf16> {tracea_pipe.aligned = 16 : i64})
// CHECK-SAME: warps = 4
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK: tiles (%[[I:.*]], %[[J:.*]]) in (%c129, %c1)
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[I]], %c4
// CHECK-DAG: %[[COLUMN:.*]] = arith.muli %[[J]], %c1024
// CHECK-DAG: %[[ROWS:.*]] = arith.subi %c300, %[[ROW]]
// CHECK-DAG: %[[HAS:.*]] = arith.subi %c1001, %[[COLUMN]]
// CHECK: %[[TILE:.*]] = tracea_pipe.load %[[FROM]][%[[ROW]], %[[COLUMN]]] {{.*}} limits(%[[ROWS]], %[[HAS]]) padding(%[[ZERO]] : bf16) :
// CHECK: %[[GETS:.*]] = arith.subi %c1024, %[[COLUMN]]
// CHECK: tracea_pipe.store %[[TILE]], %[[TO]][%[[ROW]], %[[COLUMN]]] {{.*}} limits(%[[ROWS]], %[[GETS]])
// CHECK: %[[ROWS2:.*]] = arith.subi %c515, %[[ROW]]
// CHECK: %[[TILE2:.*]] = tracea_pipe.load %[[FROM2]][%[[ROW]], %[[COLUMN]]] {{.*}} limits(%[[ROWS2]], %[[HAS]])
// CHECK: tracea_pipe.store %[[TILE2]], %[[TO2]][%[[ROW]], %[[COLUMN]]] {{.*}} limits(%[[ROWS2]], %[[GETS]])

// CHECK: tracea_pipe.kernel @gemm_1(%{{.*}}: memref<300x1024xbf16> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: memref<515x1024xbf16> {tracea_pipe.aligned = 16 : i64}, %{{[^{]*}}: memref<300x515xbf16>)
// CHECK: scf.for {{.*}} to %c16 step
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @along_k(%a: tensor<300x1001xbf16>, %b: tensor<515x1001xbf16>, %d: tensor<300x515xbf16>) -> tensor<300x515xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<300x1001xbf16>, tensor<515x1001xbf16>) outs(%d : tensor<300x515xbf16>) schedule #schedule
  return %0 : tensor<300x515xbf16>
}
}

// -----

// One operand: the other one has whole pieces, and zeros past the end of k.
// CHECK-LABEL: func.func @one
// CHECK-SAME: (%[[A:[^ :]*]]: tensor<300x1001xbf16>, %[[B:[^ :]*]]: tensor<1001x512xbf16>
// CHECK: %[[CA:.*]] = tracea_pipe.launch @gemm_0 ins(%[[A]] :
// CHECK: tracea_pipe.launch @gemm_1 ins(%[[CA]], %[[B]] :
// CHECK: tracea_pipe.kernel @gemm_1(
// CHECK: tracea_pipe.stage {{.*}} padded [0, 1]
// CHECK: tracea_pipe.stage {{.*}} padded [0, 1]
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @one(%a: tensor<300x1001xbf16>, %b: tensor<1001x512xbf16>, %d: tensor<300x512xbf16>) -> tensor<300x512xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<300x1001xbf16>, tensor<1001x512xbf16>) outs(%d : tensor<300x512xbf16>) schedule #schedule
  return %0 : tensor<300x512xbf16>
}
}

// -----

// Rows along m and n, of a batch whose extents only the run knows; the operand
// that is not padded keeps its dynamic k. Rows of 602 bytes end at a sector of 32.
// CHECK-LABEL: func.func @batched
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?x304xf16>
// CHECK: tracea_pipe.launch @gemm_0
// CHECK: tracea_pipe.launch @gemm_1 ins(%{{.*}}, %{{.*}} : tensor<?x?x304xf16>, tensor<?x512xf16>)
// CHECK: tracea_pipe.kernel @gemm_0(
// CHECK: tiles (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}, %c2)
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @batched(%a: tensor<?x?x301xf16>, %b: tensor<?x512xf16>, %d: tensor<?x301x512xf16>) -> tensor<?x301x512xf16> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<?x?x301xf16>, tensor<?x512xf16>) outs(%d : tensor<?x301x512xf16>) schedule #schedule
  return %0 : tensor<?x301x512xf16>
}
}

// -----

// Grids that have little in common are two: one has many rows, the other one has long ones.
// CHECK-LABEL: func.func @unlike
// CHECK: %[[CA:.*]] = tracea_pipe.launch @gemm_0 ins(%{{.*}} : tensor<70001x101xbf16>)
// CHECK: %[[CB:.*]] = tracea_pipe.launch @gemm_1 ins(%{{.*}} : tensor<101x70003xbf16>)
// CHECK: tracea_pipe.launch @gemm_2 ins(%[[CA]], %[[CB]] :
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @unlike(%a: tensor<70001x101xbf16>, %b: tensor<101x70003xbf16>, %d: tensor<70001x70003xbf16>) -> tensor<70001x70003xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<70001x101xbf16>, tensor<101x70003xbf16>) outs(%d : tensor<70001x70003xbf16>) schedule #schedule
  return %0 : tensor<70001x70003xbf16>
}
}

// -----

// A matrix times itself is padded once; the epilogue reads it as it was.
// CHECK-LABEL: func.func @same
// CHECK-SAME: (%[[A:[^ :]*]]: tensor<999x999xbf16>
// CHECK: %[[C:.*]] = tracea_pipe.launch @gemm_0 ins(%[[A]] :
// CHECK: tracea_pipe.launch @gemm_1 ins(%[[C]], %[[C]], %[[A]] :
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @same(%a: tensor<999x999xbf16>, %d: tensor<999x999xbf16>) -> tensor<999x999xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %a : tensor<999x999xbf16>, tensor<999x999xbf16>) outs(%d : tensor<999x999xbf16>) schedule #schedule
    epilogue(%a by affine_map<(i, j) -> (i, j)> : tensor<999x999xbf16>) {
    ^bb0(%acc: f32, %x: bf16):
      %y = arith.extf %x : bf16 to f32
      %s = arith.addf %acc, %y : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<999x999xbf16>
}
}

// -----

// Parts of a sum read padded copies too, rows of 260 bytes 272. Rows that only the run knows stay.
// CHECK-LABEL: func.func @parts
// CHECK: tracea_pipe.launch @gemm_0 {{.*}} outs(%{{.*}} : tensor<70000x136xf16>)
// CHECK: tracea_pipe.launch @gemm_1 ins(%{{.*}}, %{{.*}} : tensor<70000x136xf16>, tensor<70000x?xf16>)
// CHECK-COUNT-1: tracea_pipe.launch @gemm_2
// CHECK-NOT: tracea_pipe.launch
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, split = 4>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @parts(%a: tensor<70000x130xf16>, %b: tensor<70000x?xf16>, %d: tensor<130x?xf16>) -> tensor<130x?xf16> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<70000x130xf16>, tensor<70000x?xf16>) outs(%d : tensor<130x?xf16>) schedule #schedule
  return %0 : tensor<130x?xf16>
}
}

// -----

// Where one operand's type leaves k to the run, the other one's tells: both are
// padded, to the same extent. So does the result of m and n.
// CHECK-LABEL: func.func @told
// CHECK: cf.assert
// CHECK: tracea_pipe.launch @gemm_0 ins(%{{.*}}, %{{.*}} : tensor<300x1001xbf16>, tensor<515x?xbf16>) outs(%{{.*}}, %{{.*}} : tensor<300x1024xbf16>, tensor<515x1024xbf16>)
// CHECK: tracea_pipe.launch @gemm_1 ins(%{{.*}}, %{{.*}} : tensor<300x1024xbf16>, tensor<515x1024xbf16>)
// CHECK: tracea_pipe.kernel @gemm_0(%{{.*}}: memref<300x1001xbf16>, %[[FROM:.*]]: memref<515x?xbf16>,
// CHECK: %[[HAS:.*]] = memref.dim %[[FROM]], %c1
// CHECK: arith.subi %[[HAS]]
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @told(%a: tensor<300x1001xbf16>, %b: tensor<515x?xbf16>, %d: tensor<300x515xbf16>) -> tensor<300x515xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<300x1001xbf16>, tensor<515x?xbf16>) outs(%d : tensor<300x515xbf16>) schedule #schedule
  return %0 : tensor<300x515xbf16>
}
}

// -----

// CHECK-LABEL: func.func @told_by_result
// CHECK: tracea_pipe.launch @gemm_0 ins(%{{.*}}, %{{.*}} : tensor<512x?xbf16>, tensor<512x?xbf16>) outs(%{{.*}}, %{{.*}} : tensor<512x304xbf16>, tensor<512x544xbf16>)
// CHECK: tracea_pipe.launch @gemm_1
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @told_by_result(%a: tensor<512x?xbf16>, %b: tensor<512x?xbf16>, %d: tensor<301x515xbf16>) -> tensor<301x515xbf16> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<512x?xbf16>, tensor<512x?xbf16>) outs(%d : tensor<301x515xbf16>) schedule #schedule
  return %0 : tensor<301x515xbf16>
}
}

// -----

// Rows of 8208 bytes can be copied in bulk, but lie in one line more than they need: the
// schedule says which operands are padded to lines. Tiles of 8 rows and 512 elements leave
// less than an eighth of them empty; wider ones would not.
// CHECK-LABEL: func.func @lines
// CHECK-SAME: (%[[A:[^ :]*]]: tensor<4104x4104xbf16>, %[[B:[^ :]*]]: tensor<4104x4104xbf16>
// CHECK: %[[CB:.*]] = tracea_pipe.launch @gemm_0 ins(%[[B]] : {{.*}}) outs(%{{.*}} : tensor<4104x4160xbf16>)
// CHECK: tracea_pipe.launch @gemm_1 ins(%[[A]], %[[CB]] :
// CHECK-NOT: tracea_pipe.launch
// CHECK: tracea_pipe.kernel @gemm_0(
// CHECK: tiles (%{{.*}}, %{{.*}}) in (%c513, %c9)
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, lines = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @lines(%a: tensor<4104x4104xbf16>, %b: tensor<4104x4104xbf16>, %d: tensor<4104x4104xbf16>) -> tensor<4104x4104xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4104x4104xbf16>, tensor<4104x4104xbf16>) outs(%d : tensor<4104x4104xbf16>) schedule #schedule
  return %0 : tensor<4104x4104xbf16>
}
}

// -----

// CHECK-LABEL: func.func @other_of_lines
// CHECK-SAME: (%[[A:[^ :]*]]: tensor<4104x4104xbf16>, %[[B:[^ :]*]]: tensor<4104x4104xbf16>
// CHECK: %[[CA:.*]] = tracea_pipe.launch @gemm_0 ins(%[[A]] : {{.*}}) outs(%{{.*}} : tensor<4104x4160xbf16>)
// CHECK: tracea_pipe.launch @gemm_1 ins(%[[CA]], %[[B]] :
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, lines = 1>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @other_of_lines(%a: tensor<4104x4104xbf16>, %b: tensor<4104x4104xbf16>, %d: tensor<4104x4104xbf16>) -> tensor<4104x4104xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4104x4104xbf16>, tensor<4104x4104xbf16>) outs(%d : tensor<4104x4104xbf16>) schedule #schedule
  return %0 : tensor<4104x4104xbf16>
}
}

// -----

// A schedule that says nothing leaves them where they are.
// CHECK-LABEL: func.func @where_they_are
// CHECK: tracea_pipe.launch @gemm_0 ins(%{{.*}}, %{{.*}} : tensor<1000x1000xbf16>, tensor<1000x1000xbf16>)
// CHECK-NOT: tracea_pipe.launch
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 112, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @where_they_are(%a: tensor<1000x1000xbf16>, %b: tensor<1000x1000xbf16>, %d: tensor<1000x1000xbf16>) -> tensor<1000x1000xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<1000x1000xbf16>, tensor<1000x1000xbf16>) outs(%d : tensor<1000x1000xbf16>) schedule #schedule
  return %0 : tensor<1000x1000xbf16>
}
}

// -----

// One element a row, of 8 bits: rows of 16.
// CHECK-LABEL: func.func @narrow
// CHECK: tracea_pipe.launch @gemm_0 {{.*}} outs(%{{.*}}, %{{.*}} : tensor<64x16xi8>, tensor<64x16xi8>)
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [64, 64, 128], slots = 4, producers = 1, consumers = 1>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @narrow(%a: tensor<64x1xi8>, %b: tensor<64x1xi8>, %d: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<64x1xi8>, tensor<64x1xi8>) outs(%d : tensor<64x64xi32>) schedule #schedule
  return %0 : tensor<64x64xi32>
}
}

// -----

// Rows whose bytes no number counts stay as they are: lanes would copy them.
// CHECK-LABEL: func.func @huge
// CHECK-NOT: tensor.empty
// CHECK: tracea_pipe.launch @gemm_0
// CHECK-NOT: tracea_pipe.launch
#schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @huge(%a: tensor<8x9223372036854775807xbf16>, %b: tensor<8x9223372036854775807xbf16>, %d: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<8x9223372036854775807xbf16>, tensor<8x9223372036854775807xbf16>) outs(%d : tensor<8x8xbf16>) schedule #schedule
  return %0 : tensor<8x8xbf16>
}
}
