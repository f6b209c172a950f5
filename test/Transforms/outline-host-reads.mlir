// RUN: tracea-opt %s -split-input-file --tracea-outline-host --canonicalize --cse | FileCheck %s

// Windows of three columns, two apart, with a border: a lane's eight maxima read 17 neighbours in a row, of which the first
// lies in front of a multiple of eight and 16 are two vectors. Each asks once whether it is inside.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2048x112xbf16> {tracea_pipe.aligned = 16 : i64}
// CHECK-NOT:     scf.for %
// CHECK:         memref.load %[[X]]
// CHECK:         %[[FIRST:.*]] = scf.if {{.*}} -> (vector<8xbf16>)
// CHECK-NEXT:      vector.load %[[X]][%{{.*}}, %{{.*}}] : memref<2048x112xbf16>, vector<8xbf16>
// CHECK:         } else {
// CHECK:         vector.extract %[[FIRST]][1]
// CHECK:         vector.extract %[[FIRST]][3]
// CHECK:         vector.extract %[[FIRST]][5]
// CHECK:         vector.extract %[[FIRST]][7]
// CHECK:         %[[SECOND:.*]] = scf.if {{.*}} -> (vector<8xbf16>)
// CHECK-NEXT:      vector.load %[[X]]
// CHECK:         vector.extract %[[SECOND]][1]
// CHECK-NOT:     memref.load
// CHECK-NOT:     vector.load
// CHECK:         vector.store
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_1(
// CHECK-NOT:     vector.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @border(%x: memref<2048x112xbf16>, %w: memref<3xbf16>, %y: memref<2048x1024x56xbf16>) {
    %low = arith.constant 0xFF80 : bf16
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c112 = arith.constant 112 : index
    linalg.fill ins(%low : bf16) outs(%y : memref<2048x1024x56xbf16>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (l)>, affine_map<(i, j, k, l) -> (i, j, k)>],
                    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w : memref<3xbf16>) outs(%y : memref<2048x1024x56xbf16>) {
    ^bb0(%b: bf16, %o: bf16):
      %i = linalg.index 0 : index
      %k = linalg.index 2 : index
      %l = linalg.index 3 : index
      %twice = arith.muli %k, %c2 : index
      %there = arith.addi %twice, %l : index
      %h = arith.subi %there, %c1 : index
      %above = arith.cmpi sge, %h, %c0 : index
      %below = arith.cmpi slt, %h, %c112 : index
      %inside = arith.andi %above, %below : i1
      %e = scf.if %inside -> bf16 {
        %f = memref.load %x[%i, %h] : memref<2048x112xbf16>
        scf.yield %f : bf16
      } else {
        scf.yield %low : bf16
      }
      %m = arith.maximumf %o, %e : bf16
      linalg.yield %m : bf16
    }
    return
  }
}

// -----

// Products of windows that overlap: ten neighbours of a row, from a multiple of eight on, are two vectors, of the second of
// which two elements are used.
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         %[[ALL:.*]] = vector.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<2048x64xbf16>, vector<8xbf16>
// CHECK:         vector.extract %[[ALL]][0]
// CHECK:         vector.extract %[[ALL]][7]
// CHECK:         vector.load
// CHECK-NOT:     vector.load
// CHECK:         vector.store
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @inside(%x: memref<2048x64xbf16>, %w: memref<3xbf16>, %y: memref<2048x1024x56xbf16>) {
    %low = arith.constant 0xFF80 : bf16
    linalg.fill ins(%low : bf16) outs(%y : memref<2048x1024x56xbf16>)
    linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k + l)>, affine_map<(i, j, k, l) -> (l)>, affine_map<(i, j, k, l) -> (i, j, k)>],
                    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2048x64xbf16>, memref<3xbf16>) outs(%y : memref<2048x1024x56xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %o: bf16):
      %p = arith.mulf %a, %b : bf16
      %s = arith.maximumf %o, %p : bf16
      linalg.yield %s : bf16
    }
    return
  }
}

// -----

// A border in the middle of a vector, and rows that end in one, are read one by one.
// CHECK-LABEL: func.func @cut(
// CHECK-NOT:     vector.load
// CHECK:         vector.store
// CHECK-NOT:     vector.load
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @cut(%x: memref<2048x112xbf16>, %z: memref<2048x113xbf16>, %y: memref<2048x1024x56xbf16>) {
    %zero = arith.constant 0.0 : bf16
    %c2 = arith.constant 2 : index
    %c110 = arith.constant 110 : index
    linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%y : memref<2048x1024x56xbf16>) {
    ^bb0(%o: bf16):
      %i = linalg.index 0 : index
      %k = linalg.index 2 : index
      %h = arith.muli %k, %c2 : index
      %inside = arith.cmpi slt, %h, %c110 : index
      %e = scf.if %inside -> bf16 {
        %f = memref.load %x[%i, %h] : memref<2048x112xbf16>
        scf.yield %f : bf16
      } else {
        scf.yield %zero : bf16
      }
      %g = memref.load %z[%i, %h] : memref<2048x113xbf16>
      %s = arith.addf %e, %g : bf16
      linalg.yield %s : bf16
    }
    return
  }
}
