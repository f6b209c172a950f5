// RUN: split-file %s %t
// RUN: tracea-opt %t/resample.mlir -tracea-outline-host | FileCheck %s --check-prefix=RESAMPLE
// RUN: tracea-opt %t/border.mlir -tracea-outline-host | FileCheck %s --check-prefix=BORDER
// RUN: tracea-opt %t/window.mlir -tracea-outline-host | FileCheck %s --check-prefix=WINDOW
// RUN: tracea-opt %t/single.mlir -tracea-outline-host | FileCheck %s --check-prefix=SINGLE

// Twice as many columns, in pairs that read the same: a lane has eight results, read element by element, all of them before
// the first store, and stored as one vector. Where the result begins anywhere a lane has eight rows of it.
// RESAMPLE-LABEL: tracea_pipe.kernel @linalg_generic_0(
// RESAMPLE-SAME:    variant = "linalg.vectors"
// RESAMPLE-COUNT-8: memref.load
// RESAMPLE-NOT:     memref.load
// RESAMPLE:         %[[ALL:.*]] = vector.from_elements
// RESAMPLE:         vector.store %[[ALL]], {{.*}} vector<8xbf16>
// RESAMPLE-LABEL: tracea_pipe.kernel @linalg_generic_1(
// RESAMPLE-SAME:    variant = "linalg"
// RESAMPLE-COUNT-8: memref.load
// RESAMPLE-NOT:     vector.
// RESAMPLE-COUNT-8: memref.store

// Rows of 114 elements are pairs; four rows of pairs are of the outermost loop that divides into four.
// BORDER-LABEL: tracea_pipe.kernel @linalg_generic_0(
// BORDER-COUNT-8: scf.if
// BORDER-COUNT-4: vector.store {{.*}} vector<2xbf16>
// BORDER-NOT:     vector.store

// Maxima of windows are eight maxima of a lane, all iterations of the loop over the window in a row; where the result begins
// anywhere eight others are carried through it.
// WINDOW-LABEL: tracea_pipe.kernel @linalg_generic_0(
// WINDOW-COUNT-24: arith.maximumf
// WINDOW:         vector.from_elements
// WINDOW:         vector.store

// A lane has one element where there are few, where it sums up many terms, and where data says what is read.
// SINGLE-NOT:     vector.
// SINGLE-COUNT-3: memref.store
// SINGLE-NOT:     memref.store

//--- resample.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @resample(%x: memref<2048x56x56xbf16>, %y: memref<2048x56x112xbf16>) {
    %c2 = arith.constant 2 : index
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<2048x56x112xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %h = arith.divui %k, %c2 : index
      %e = memref.load %x[%i, %j, %h] : memref<2048x56x56xbf16>
      linalg.yield %e : bf16
    }
    return
  }
}

//--- border.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @border(%x: memref<2048x114x112xbf16>, %y: memref<2048x114x114xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c112 = arith.constant 112 : index
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<2048x114x114xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %h = arith.subi %k, %c1 : index
      %above = arith.cmpi sge, %h, %c0 : index
      %below = arith.cmpi slt, %h, %c112 : index
      %inside = arith.andi %above, %below : i1
      %e = scf.if %inside -> bf16 {
        %f = memref.load %x[%i, %j, %h] : memref<2048x114x112xbf16>
        scf.yield %f : bf16
      } else {
        scf.yield %zero : bf16
      }
      linalg.yield %e : bf16
    }
    return
  }
}

//--- window.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @window(%x: memref<2048x113xbf16>, %w: memref<3xbf16>, %y: memref<2048x1024x56xbf16>) {
    %low = arith.constant 0xFF80 : bf16
    linalg.fill ins(%low : bf16) outs(%y : memref<2048x1024x56xbf16>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k * 2 + l)>, affine_map<(i, j, k, l) -> (l)>, affine_map<(i, j, k, l) -> (i, j, k)>],
                    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<2048x113xbf16>, memref<3xbf16>) outs(%y : memref<2048x1024x56xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %o: bf16):
      %m = arith.maximumf %o, %a : bf16
      linalg.yield %m : bf16
    }
    return
  }
}

//--- single.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @single(%x: memref<64x127xf32>, %y: memref<64x64xf32>, %u: memref<4096x2175xf32>, %w: memref<128xf32>, %v: memref<4096x1024xf32>,
                    %t: memref<4194304xf32>, %n: memref<4194304xi32>, %r: memref<4194304xf32>) {
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j * 2)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<64x127xf32>) outs(%y : memref<64x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j * 2 + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%u, %w : memref<4096x2175xf32>, memref<128xf32>) outs(%v : memref<4096x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%n : memref<4194304xi32>) outs(%r : memref<4194304xf32>) {
    ^bb0(%a: i32, %o: f32):
      %i = arith.index_cast %a : i32 to index
      %e = memref.load %t[%i] : memref<4194304xf32>
      linalg.yield %e : f32
    }
    return
  }
}
