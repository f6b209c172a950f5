// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// Lanes begin with the constant that the result of a reduction was filled with: it is neither written nor read.
// CHECK-LABEL: func.func @pool(
// CHECK-COUNT-1: tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
// CHECK:       tracea_pipe.kernel @linalg_pooling_nhwc_max_0(
// CHECK:         %[[FIRST:.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
// CHECK:         scf.for %{{.*}} iter_args(%{{.*}} = %[[FIRST]]) -> (vector<4xf32>)
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @pool(%x: memref<2x113x113x64xf32>, %w: memref<3x3xf32>) -> memref<2x56x56x64xf32> {
    %one = arith.constant 1.0 : f32
    %y = memref.alloc() : memref<2x56x56x64xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<2x56x56x64xf32>)
    linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}
        ins(%x, %w : memref<2x113x113x64xf32>, memref<3x3xf32>) outs(%y : memref<2x56x56x64xf32>)
    return %y : memref<2x56x56x64xf32>
  }
}

// -----

// Who reads it in between reads what was written; a number of the run is written, too.
// CHECK-LABEL: func.func @read(
// CHECK-COUNT-3: tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
// CHECK-LABEL: func.func @number(
// CHECK-COUNT-2: tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @read(%x: memref<2x113x8xf32>, %w: memref<3xf32>) -> (memref<2x56x8xf32>, memref<2x56x8xf32>) {
    %one = arith.constant 1.0 : f32
    %y = memref.alloc() : memref<2x56x8xf32>
    %z = memref.alloc() : memref<2x56x8xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<2x56x8xf32>)
    linalg.exp ins(%y : memref<2x56x8xf32>) outs(%z : memref<2x56x8xf32>)
    linalg.pooling_nwc_max {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>}
        ins(%x, %w : memref<2x113x8xf32>, memref<3xf32>) outs(%y : memref<2x56x8xf32>)
    return %y, %z : memref<2x56x8xf32>, memref<2x56x8xf32>
  }
  func.func @number(%x: memref<2x113x8xf32>, %w: memref<3xf32>, %n: f32) -> memref<2x56x8xf32> {
    %y = memref.alloc() : memref<2x56x8xf32>
    linalg.fill ins(%n : f32) outs(%y : memref<2x56x8xf32>)
    linalg.pooling_nwc_max {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>}
        ins(%x, %w : memref<2x113x8xf32>, memref<3xf32>) outs(%y : memref<2x56x8xf32>)
    return %y : memref<2x56x8xf32>
  }
}

// -----

// What nothing is added to keeps its fill: a sum without parallel dimensions, and maxima that lanes combine tile by tile and
// that begin with a constant that counts.
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-2: tracea_pipe.launch
// CHECK-LABEL: func.func @tiles(
// CHECK-COUNT-2: tracea_pipe.launch
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @whole(%x: memref<1000xf32>) -> memref<f32> {
    %one = arith.constant 1.0 : f32
    %y = memref.alloc() : memref<f32>
    linalg.fill ins(%one : f32) outs(%y : memref<f32>)
    linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
        ins(%x : memref<1000xf32>) outs(%y : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
    }
    return %y : memref<f32>
  }
  func.func @tiles(%x: memref<4096x1024xf32>) -> memref<4096xf32> {
    %one = arith.constant 1.0 : f32
    %y = memref.alloc() : memref<4096xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<4096xf32>)
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<4096x1024xf32>) outs(%y : memref<4096xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.maximumf %o, %a : f32
      linalg.yield %s : f32
    }
    return %y : memref<4096xf32>
  }
}

// -----

// Of a result that is a part of what was filled the rest stays filled.
// CHECK-LABEL: func.func @part(
// CHECK-COUNT-2: tracea_pipe.launch
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @part(%x: memref<512x1024xf32>) -> memref<2x512xf32> {
    %one = arith.constant 1.0 : f32
    %y = memref.alloc() : memref<2x512xf32>
    linalg.fill ins(%one : f32) outs(%y : memref<2x512xf32>)
    linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (0, i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%y : memref<2x512xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.subf %o, %a : f32
      linalg.yield %s : f32
    }
    return %y : memref<2x512xf32>
  }
}
