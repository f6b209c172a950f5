// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A row that the tile holds is read once; lanes of all warps meet for its maximum and its sum. A second kernel is for
// memory that begins anywhere, whose lanes have single elements side by side.
// CHECK-DAG:   #[[$LANES:.*]] = #tracea_pipe.lanes<reg = {{\[}}[0, 1], [0, 2], [0, 4]], lane = {{\[}}[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = {{\[}}[0, 256]], outer = [1, 2]>
// CHECK-DAG:   #[[$SINGLES:.*]] = #tracea_pipe.lanes<lane = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = {{\[}}[0, 32]], outer = [1, 16]>
// CHECK-LABEL: func.func @held
// CHECK:         tracea_pipe.launch @softmax_0 else [@softmax_1]
// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK-SAME:    tracea_pipe.residents = 4
// CHECK-SAME:    warps = 2
// CHECK:         tiles (%[[I:.*]]) in (%c5)
// CHECK:           tracea_pipe.load %{{.*}}[%[[I]], %c0] {{.*}} -> tensor<1x1024xbf16, #[[$LANES]]>
// CHECK-NOT:       tracea_pipe.load
// CHECK:           tracea_pipe.reduce max
// CHECK:           tracea_pipe.reduce add
// CHECK-NOT:       tracea_pipe.load
// CHECK:           tracea_pipe.store
// CHECK-LABEL: tracea_pipe.kernel @softmax_1(
// CHECK:           tracea_pipe.load {{.*}} -> tensor<1x1024xbf16, #[[$SINGLES]]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @held(%x: tensor<5x1000xbf16>, %d: tensor<5x1000xbf16>) -> tensor<5x1000xbf16> {
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x1000xbf16>) outs(%d : tensor<5x1000xbf16>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 1024], lanes = 64, vector = 8, residents = 4>
    return %0 : tensor<5x1000xbf16>
  }
}

// -----

// What is read beside a row that few registers hold is fetched before the row is reduced, whose rows it does not
// depend on; where lanes have single elements it would take too many registers.
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x128xbf16> {{{.*}}}, %[[SCALE:[a-z0-9]+]]: memref<128xbf16> {{{.*}}}, %[[BIAS:[a-z0-9]+]]: memref<128xbf16>
// CHECK-DAG:       tracea_pipe.load %[[SCALE]][%c0] map #{{.*}} limits(%c16, %c128)
// CHECK-DAG:       tracea_pipe.load %[[BIAS]][%c0] map #{{.*}} limits(%c16, %c128)
// CHECK:           tracea_pipe.reduce add
// CHECK-NOT:       tracea_pipe.load
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_1(
// CHECK-COUNT-2:   tracea_pipe.reduce add
// CHECK-COUNT-2:   tracea_pipe.load
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @fetched(%x: tensor<?x128xbf16>, %s: tensor<128xbf16>, %b: tensor<128xbf16>, %d: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
    %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x128xbf16>) scale(%s : tensor<128xbf16>)
        bias(%b : tensor<128xbf16>) outs(%d : tensor<?x128xbf16>)
        schedule <variant = "row.lanes", unit = vector, tile = [16, 128], lanes = 16, vector = 8, residents = 6>
    return %0 : tensor<?x128xbf16>
  }
}

// -----

// Of two tensors beside a row that many warps share one is fetched: what the warps reduce to takes registers too.
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x8192xbf16> {{{.*}}}, %[[SCALE:[a-z0-9]+]]: memref<8192xbf16> {{{.*}}}, %[[BIAS:[a-z0-9]+]]: memref<8192xbf16>
// CHECK:           tracea_pipe.load %[[SCALE]]
// CHECK-NOT:       tracea_pipe.load %[[BIAS]]
// CHECK-COUNT-2:   tracea_pipe.reduce add
// CHECK-NOT:       tracea_pipe.load %[[SCALE]]
// CHECK:           tracea_pipe.load %[[BIAS]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @two(%x: tensor<?x8192xbf16>, %s: tensor<8192xbf16>, %b: tensor<8192xbf16>, %d: tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
    %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x8192xbf16>) scale(%s : tensor<8192xbf16>)
        bias(%b : tensor<8192xbf16>) outs(%d : tensor<?x8192xbf16>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 8192], lanes = 256, vector = 8, residents = 3>
    return %0 : tensor<?x8192xbf16>
  }
}

// -----

// A prologue is computed where the row is read, and what it keeps stored at once; what is past the row's end is no
// part of the maximum, whatever was computed of it. Nothing is fetched beside rows of two tensors.
// CHECK-LABEL: func.func @prologue(
// CHECK:         cf.assert %{{.*}}, "tracea.softmax: expected operands of the prologue to have the input's extents"
// CHECK:         tracea_pipe.launch @softmax_0 else [@softmax_1] ins(%{{[^:]*}} : tensor<?x100xbf16>, tensor<?x100xbf16>) outs(%{{[^:]*}} : tensor<?x100xbf16>, tensor<?x100xbf16>)
// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x100xbf16> {{{.*}}}, %[[R:[a-z0-9]+]]: memref<?x100xbf16> {{{.*}}}, %[[D:[a-z0-9]+]]: memref<?x100xbf16> {{{.*}}}, %[[H:[a-z0-9]+]]: memref<?x100xbf16>
// CHECK:           %[[A:.*]] = tracea_pipe.load %[[X]]
// CHECK:           %[[B:.*]] = tracea_pipe.load %[[R]]
// CHECK:           %[[S:.*]] = arith.addf %[[A]], %[[B]] : tensor<2x128xbf16
// CHECK:           %[[W:.*]] = arith.extf %[[S]]
// CHECK:           %[[IN:.*]] = arith.cmpi slt
// CHECK:           %[[V:.*]] = arith.select %[[IN]], %[[W]], %{{.*}}
// CHECK:           tracea_pipe.store %[[S]], %[[H]]
// CHECK:           tracea_pipe.reduce max %[[V]]
// CHECK-NOT:       tracea_pipe.load
// CHECK:           tracea_pipe.store %{{.*}}, %[[D]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @prologue(%x: tensor<?x100xbf16>, %r: tensor<?x100xbf16>, %d: tensor<?x100xbf16>, %e: tensor<?x100xbf16>) -> (tensor<?x100xbf16>, tensor<?x100xbf16>) {
    %0:2 = tracea.softmax dim 1 ins(%x : tensor<?x100xbf16>) prologue(%r by affine_map<(i, j) -> (i, j)> : tensor<?x100xbf16>) {
      ^bb0(%a: bf16, %b: bf16):
        %s = arith.addf %a, %b : bf16
        tracea.yield %s, %s : bf16, bf16
    } outs(%d : tensor<?x100xbf16>) keeps(%e : tensor<?x100xbf16>)
        schedule <variant = "row.lanes", unit = vector, tile = [2, 128], lanes = 16, vector = 8>
    return %0#0, %0#1 : tensor<?x100xbf16>, tensor<?x100xbf16>
  }
}

// -----

// Of rows whose length only the run knows each pass reads the row again; short ones share a warp.
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0(
// CHECK:         scf.for
// CHECK:           tracea_pipe.load {{.*}} -> tensor<4x64xf32,
// CHECK:         tracea_pipe.reduce add {{.*}} -> tensor<4x1xf32,
// CHECK:         scf.for
// CHECK:           tracea_pipe.load {{.*}} -> tensor<4x64xf32,
// CHECK:           tracea_pipe.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @open(%x: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [4, 64], lanes = 8, vector = 4>
    return %0 : tensor<?x?xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @too_few_lanes(%x: tensor<5x64xf32>, %d: tensor<5x64xf32>) -> tensor<5x64xf32> {
    // expected-error@+1 {{expects a schedule whose 'lanes', times a power of two of rows of the tile, are 32 to 1024}}
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x64xf32>) outs(%d : tensor<5x64xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [2, 64], lanes = 8, vector = 4>
    return %0 : tensor<5x64xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @odd_columns(%x: tensor<5x100xf32>, %d: tensor<5x100xf32>) -> tensor<5x100xf32> {
    // expected-error@+1 {{expects a schedule whose tile has a multiple of 'lanes' times 'vector' columns}}
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x100xf32>) outs(%d : tensor<5x100xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 100], lanes = 32, vector = 4>
    return %0 : tensor<5x100xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @no_others(%x: tensor<64xf32>, %d: tensor<64xf32>) -> tensor<64xf32> {
    // expected-error@+1 {{expects a schedule whose tile has one row where no others lie along the last dimension, found}}
    %0 = tracea.softmax dim 0 ins(%x : tensor<64xf32>) outs(%d : tensor<64xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [4, 64], lanes = 8, vector = 4>
    return %0 : tensor<64xf32>
  }
}
