// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A row that is cut: a kernel leaves the maximum and the sum of each part, another combines them, a part a lane, and goes
// over the row again, from its end, which the cache has. A part of -inf only has a sum of 0, not NaN; the last part has
// 232 elements.
// CHECK-DAG:   #[[$PARTS:.*]] = #tracea_pipe.lanes<lane = {{\[}}[0, 1], [0, 2], [0, 0], [0, 0], [0, 0]], outer = [1, 1]>
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x1000xf16>, %[[D:[a-z0-9]+]]: tensor<?x1000xf16>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK:         %[[P:.*]]:2 = tracea_pipe.launch @softmax_0 else [@softmax_1] ins(%[[X]] : tensor<?x1000xf16>) outs(%[[E]], %[[E]] : {{.*}})
// CHECK:         tracea_pipe.launch @softmax_2 else [@softmax_3] ins(%[[X]], %[[P]]#0, %[[P]]#1 : {{.*}}) outs(%[[D]] : tensor<?x1000xf16>)
// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x1000xf16> {{{.*}}}, %[[E:[a-z0-9]+]]: memref<?x4xf32> {{{.*}}}, %[[F:[a-z0-9]+]]: memref<?x4xf32>
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in (%{{.*}}, %c4)
// CHECK:           %[[AT:.*]] = arith.muli %[[J]], %c256
// CHECK:           %[[LEFT:.*]] = arith.subi %c1000, %[[AT]]
// CHECK:           tracea_pipe.load %[[X]][%[[I]], %[[AT]]] map #{{.*}} limits(%c1, %[[LEFT]])
// CHECK:           %[[MAX:.*]] = tracea_pipe.reduce max
// CHECK:           %[[NONE:.*]] = arith.cmpf oeq, %[[MAX]], %{{.*}}
// CHECK:           arith.select %[[NONE]], %{{.*}}, %[[MAX]]
// CHECK:           %[[SUM:.*]] = tracea_pipe.reduce add
// CHECK:           tracea_pipe.store %[[MAX]], %[[E]][%[[I]], %[[J]]]
// CHECK:           tracea_pipe.store %[[SUM]], %[[F]][%[[I]], %[[J]]]
// CHECK-LABEL: tracea_pipe.kernel @softmax_2(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x1000xf16> {{{.*}}}, %[[E:[a-z0-9]+]]: memref<?x4xf32> {{{.*}}}, %[[F:[a-z0-9]+]]: memref<?x4xf32>
// CHECK:         tiles (%{{.*}}, %[[J:.*]]) in (%{{.*}}, %c4)
// CHECK:           %[[BACK:.*]] = arith.subi %c3, %[[J]]
// CHECK:           arith.muli %[[BACK]], %c256
// CHECK:           tracea_pipe.load %[[X]]
// CHECK:           %[[M:.*]] = tracea_pipe.load %[[E]]{{.*}} limits(%c1, %c4) padding({{.*}}) : memref<?x4xf32> -> tensor<1x4xf32, #[[$PARTS]]>
// CHECK:           %[[S:.*]] = tracea_pipe.load %[[F]]
// CHECK:           tracea_pipe.reduce max %[[M]]
// CHECK:           %[[W:.*]] = math.exp
// CHECK:           %[[P:.*]] = arith.mulf %[[S]], %[[W]]
// CHECK:           tracea_pipe.reduce add %[[P]]
// CHECK-NOT:       tracea_pipe.reduce
// CHECK:           tracea_pipe.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @softmax(%x: tensor<?x1000xf16>, %d: tensor<?x1000xf16>) -> tensor<?x1000xf16> {
    %0 = tracea.softmax dim 1 ins(%x : tensor<?x1000xf16>) outs(%d : tensor<?x1000xf16>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 256], lanes = 32, vector = 8, split = 4>
    return %0 : tensor<?x1000xf16>
  }
}

// -----

// Of a layer norm parts have means of their own, which the second kernel weighs by their lengths, and what is kept of a
// prologue is stored by the second kernel alone.
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<1000xf32> {{{.*}}}, %[[R:[a-z0-9]+]]: memref<1000xf32> {{{.*}}}, %{{[a-z0-9]+}}: memref<4xf32> {{{.*}}}, %{{[a-z0-9]+}}: memref<4xf32>
// CHECK:           tracea_pipe.load %[[R]]
// CHECK-COUNT-2:   tracea_pipe.reduce add
// CHECK-COUNT-2:   tracea_pipe.store
// CHECK-NOT:       tracea_pipe.store
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_1(
// CHECK-LABEL: tracea_pipe.kernel @layer_norm_2(
// CHECK-SAME:    %[[H:[a-z0-9]+]]: memref<1000xf32> {tracea_pipe.aligned = 16 : i64}) attributes
// CHECK:           tracea_pipe.store %{{.*}}, %[[H]]
// CHECK:           %[[AT:.*]] = tracea_pipe.coordinate dim 1
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[AT]], %{{.*}}
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[BEGIN]]
// CHECK:           %[[MOST:.*]] = arith.minsi %[[LEFT]], %{{.*}}
// CHECK:           arith.maxsi %[[MOST]], %{{.*}}
// CHECK:           arith.sitofp
// CHECK-COUNT-2:   tracea_pipe.reduce add
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @layer_norm(%x: tensor<1000xf32>, %r: tensor<1000xf32>, %d: tensor<1000xf32>, %e: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
    %0:2 = tracea.layer_norm axis 0 epsilon 1.0e-5 ins(%x : tensor<1000xf32>) prologue(%r by affine_map<(i) -> (i)> : tensor<1000xf32>) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tracea.yield %s, %s : f32, f32
    } outs(%d : tensor<1000xf32>) keeps(%e : tensor<1000xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 256], lanes = 32, vector = 4, split = 4>
    return %0#0, %0#1 : tensor<1000xf32>, tensor<1000xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @wrong_number(%x: tensor<5x1000xf32>, %d: tensor<5x1000xf32>) -> tensor<5x1000xf32> {
    // expected-error@+1 {{expects a schedule that cuts single rows of known length along the last dimension into as many parts as tiles cover them, found}}
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x1000xf32>) outs(%d : tensor<5x1000xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 256], lanes = 32, vector = 4, split = 3>
    return %0 : tensor<5x1000xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @unknown_length(%x: tensor<5x?xf32>, %d: tensor<5x?xf32>) -> tensor<5x?xf32> {
    // expected-error@+1 {{expects a schedule that cuts single rows of known length}}
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x?xf32>) outs(%d : tensor<5x?xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 256], lanes = 32, vector = 4, split = 4>
    return %0 : tensor<5x?xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @two_dimensions(%x: tensor<4x5x1000xf32>, %d: tensor<4x5x1000xf32>) -> tensor<4x5x1000xf32> {
    // expected-error@+1 {{expects a schedule that cuts single rows of known length}}
    %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x5x1000xf32>) outs(%d : tensor<4x5x1000xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 256], lanes = 32, vector = 4, split = 4>
    return %0 : tensor<4x5x1000xf32>
  }
}
