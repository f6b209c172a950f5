// Rows whose results are reduced again.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A row that lanes hold is read once, and its epilogue computed once; what the row alone gives is computed of a tile of
// the row, what elements give of theirs. Past the row's end nothing is a maximum.
// CHECK-LABEL: func.func @held
// CHECK:         cf.assert %{{.*}}, "tracea.rms_norm: expected results of rows to have the input's extents"
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x1000xbf16> {{{.*}}}, %[[Q:[a-z0-9]+]]: memref<?x1000xf8E4M3FN> {{{.*}}}, %[[S:[a-z0-9]+]]: memref<?xf32>
// CHECK:         tiles (%[[I:.*]]) in
// CHECK:           tracea_pipe.load %[[X]]
// CHECK:           tracea_pipe.reduce add
// CHECK:           %[[A:.*]] = math.absf
// CHECK:           %[[V:.*]] = arith.select %{{.*}}, %[[A]], %{{.*}}
// CHECK:           %[[M:.*]] = tracea_pipe.reduce max %[[V]] dim 1 : tensor<1x1024xf32, #{{.*}}> -> tensor<1x1xf32, #{{.*}}>
// CHECK:           %[[SCALE:.*]] = arith.divf %[[M]], %{{.*}} : tensor<1x1xf32
// CHECK:           tracea_pipe.store %[[SCALE]], %[[S]][%[[I]]] {{.*}} limits(%c1, %c1)
// CHECK:           %[[B:.*]] = tracea_pipe.broadcast %[[SCALE]]
// CHECK:           arith.divf %{{.*}}, %[[B]] : tensor<1x1024xf32
// CHECK-NOT:       tracea_pipe.load
// CHECK:           tracea_pipe.store %{{.*}}, %[[Q]]
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @held(%x: tensor<?x1000xbf16>, %d: tensor<?x1000xf8E4M3FN>, %e: tensor<?xf32>) -> (tensor<?x1000xf8E4M3FN>, tensor<?xf32>) {
    %0:2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x1000xbf16>) outs(%d : tensor<?x1000xf8E4M3FN>) rows(%e : tensor<?xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 1024], lanes = 64, vector = 8, residents = 4> epilogue {
      ^bb0(%acc: f32):
        %m = math.absf %acc : f32
        tracea.yield %acc, %m : f32, f32
    } finish [max] {
      ^bb0(%v: f32, %m: f32):
        %most = arith.constant 448.0 : f32
        %s = arith.divf %m, %most : f32
        %w = arith.divf %v, %s : f32
        %q = arith.truncf %w : f32 to f8E4M3FN
        tracea.yield %q, %s : f8E4M3FN, f32
    }
    return %0#0, %0#1 : tensor<?x1000xf8E4M3FN>, tensor<?xf32>
  }
}

// -----

// A longer row goes through its epilogue again: once for each reduction, once for the results. Strips of rows, one a
// lane, have values of rows like those of elements.
// CHECK-LABEL: tracea_pipe.kernel @rms_norm_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<5x37xf32>, %[[D:[a-z0-9]+]]: memref<5x37xf32>, %[[S:[a-z0-9]+]]: memref<5xf32>, %[[T:[a-z0-9]+]]: memref<5xf32>
// CHECK:         tiles (%[[I:.*]]) in (%c5)
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             arith.maximumf
// CHECK:           tracea_pipe.reduce max
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             arith.addf
// CHECK:           tracea_pipe.reduce add
// CHECK:           tracea_pipe.store %{{.*}}, %[[S]][%[[I]]]
// CHECK:           tracea_pipe.store %{{.*}}, %[[T]][%[[I]]]
// CHECK:           scf.for
// CHECK:             tracea_pipe.load %[[X]]
// CHECK:             tracea_pipe.store %{{.*}}, %[[D]]
// CHECK-LABEL: tracea_pipe.kernel @softmax_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4x5x?xf32>, %[[D:[a-z0-9]+]]: memref<4x5x?xf32>, %[[S:[a-z0-9]+]]: memref<4x?xf32>
// CHECK:         tiles (%[[I:.*]], %{{.*}}) in
// CHECK:           %[[J:.*]] = arith.muli
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK-NOT:       tracea_pipe.reduce
// CHECK:           tracea_pipe.store %{{.*}}, %[[S]][%[[I]], %[[J]]] {{.*}} limits(%c1, %[[LEFT]])
// CHECK:           tracea_pipe.store %{{.*}}, %[[D]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
  func.func @again(%x: tensor<5x37xf32>, %d: tensor<5x37xf32>, %e: tensor<5xf32>) -> (tensor<5x37xf32>, tensor<5xf32>, tensor<5xf32>) {
    %0:3 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<5x37xf32>) outs(%d : tensor<5x37xf32>) rows(%e, %e : tensor<5xf32>, tensor<5xf32>)
        schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]> epilogue {
      ^bb0(%acc: f32):
        %m = math.absf %acc : f32
        tracea.yield %acc, %m, %acc : f32, f32, f32
    } finish [max, add] {
      ^bb0(%v: f32, %m: f32, %s: f32):
        %w = arith.divf %v, %m : f32
        tracea.yield %w, %m, %s : f32, f32, f32
    }
    return %0#0, %0#1, %0#2 : tensor<5x37xf32>, tensor<5xf32>, tensor<5xf32>
  }
  func.func @strips(%x: tensor<4x5x?xf32>, %d: tensor<4x5x?xf32>, %e: tensor<4x?xf32>) -> (tensor<4x5x?xf32>, tensor<4x?xf32>) {
    %0:2 = tracea.softmax dim 1 ins(%x : tensor<4x5x?xf32>) outs(%d : tensor<4x5x?xf32>) rows(%e : tensor<4x?xf32>)
        schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]> epilogue {
      ^bb0(%acc: f32):
        tracea.yield %acc, %acc : f32, f32
    } finish [max] {
      ^bb0(%v: f32, %m: f32):
        %w = arith.divf %v, %m : f32
        tracea.yield %w, %m : f32, f32
    }
    return %0#0, %0#1 : tensor<4x5x?xf32>, tensor<4x?xf32>
  }
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32>} {
  func.func @cut(%x: tensor<5x2048xf32>, %d: tensor<5x2048xf32>) -> tensor<5x2048xf32> {
    // expected-error@+1 {{expects a schedule that does not cut rows whose results are reduced again, found}}
    %0 = tracea.softmax dim 1 ins(%x : tensor<5x2048xf32>) outs(%d : tensor<5x2048xf32>)
        schedule <variant = "row.lanes", unit = vector, tile = [1, 1024], lanes = 64, vector = 4, split = 2> epilogue {
      ^bb0(%acc: f32):
        tracea.yield %acc, %acc : f32, f32
    } finish [max] {
      ^bb0(%v: f32, %m: f32):
        %w = arith.divf %v, %m : f32
        tracea.yield %w : f32
    }
    return %0 : tensor<5x2048xf32>
  }
}
