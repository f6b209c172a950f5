// Floats of 8 bits: two are converted by one instruction, and are bytes to LLVM.
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm -o %t.mlir
// RUN: tracea-translate %t.mlir --emit=ptx | FileCheck %s --check-prefix=PTX

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {

// The instruction saturates: one is added where the format has NaN instead.
// CHECK-LABEL: llvm.func @narrow(
// CHECK-DAG:     %[[LIMIT:.*]] = arith.constant 464.000031 : f32
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : i16
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 256 : i16
// CHECK:         %[[BOTH:.*]] = nvvm.convert.f32x2.to.f8x2 %[[Y:.*]], %[[X:.*]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
// CHECK-NEXT:    %[[ABS:.*]] = math.absf %[[X]] : f32
// CHECK-NEXT:    %[[LARGE:.*]] = arith.cmpf oge, %[[ABS]], %[[LIMIT]] : f32
// CHECK-NEXT:    %[[ONE:.*]] = arith.extui %[[LARGE]] : i1 to i16
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[BOTH]], %[[ONE]] : i16
// CHECK-NEXT:    %[[ABS:.*]] = math.absf %[[Y]] : f32
// CHECK-NEXT:    %[[LARGE:.*]] = arith.cmpf oge, %[[ABS]], %[[LIMIT]] : f32
// CHECK-NEXT:    %[[ONE:.*]] = arith.select %[[LARGE]], %[[HIGH]], %[[NONE]] : i16
// CHECK-NEXT:    arith.addi %[[SUM]], %[[ONE]] : i16
// CHECK-COUNT-1: nvvm.convert.f32x2.to.f8x2
// CHECK-NOT:     nvvm.convert
// CHECK:         llvm.store %{{.*}} : vector<4xi8>, !llvm.ptr<1>
// PTX-LABEL: .entry narrow(
// PTX-COUNT-2: cvt.rn.satfinite.e4m3x2.f32
tracea_pipe.kernel @narrow(%n: index, %a: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf8E4M3FN> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %y = arith.truncf %x : tensor<4x128xf32, #row> to tensor<4x128xf8E4M3FN, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf8E4M3FN, #row>, memref<?x128xf8E4M3FN>
  }
  tracea_pipe.end
}

// What is clamped is never too large.
// CHECK-LABEL: llvm.func @clamped(
// CHECK:         nvvm.convert.f32x2.to.f8x2 {{.*}}(f8E5M2)
// CHECK-NOT:     math.absf
// CHECK:         llvm.return
// PTX-LABEL: .entry clamped(
// PTX-COUNT-2: cvt.rn.satfinite.e5m2x2.f32
tracea_pipe.kernel @clamped(%n: index, %a: memref<?x128xf32>, %d: memref<?x128xf8E5M2>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  %low = arith.constant dense<-57344.0> : tensor<4x128xf32, #row>
  %high = arith.constant dense<57344.0> : tensor<4x128xf32, #row>
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf32> -> tensor<4x128xf32, #row>
    %above = arith.maximumf %x, %low : tensor<4x128xf32, #row>
    %in = arith.minimumf %high, %above : tensor<4x128xf32, #row>
    %y = arith.truncf %in : tensor<4x128xf32, #row> to tensor<4x128xf8E5M2, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf8E5M2, #row>, memref<?x128xf8E5M2>
  }
  tracea_pipe.end
}

// CHECK-LABEL: llvm.func @widen(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xi8>
// CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// CHECK:         arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// PTX-LABEL: .entry widen(
// PTX-COUNT-2: cvt.rn.f16x2.e4m3x2
tracea_pipe.kernel @widen(%n: index, %a: memref<?x128xf8E4M3FN> {tracea_pipe.aligned = 16 : i64}, %d: memref<?x128xf32> {tracea_pipe.aligned = 16 : i64}) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf8E4M3FN> -> tensor<4x128xf8E4M3FN, #row>
    %y = arith.extf %x : tensor<4x128xf8E4M3FN, #row> to tensor<4x128xf32, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf32, #row>, memref<?x128xf32>
  }
  tracea_pipe.end
}

// Arithmetic is of single precision.
// CHECK-LABEL: llvm.func @add(
// CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2
// CHECK:         arith.addf %{{.*}} : vector<4xf32>
// CHECK-COUNT-2: nvvm.convert.f32x2.to.f8x2
// PTX-LABEL: .entry add(
tracea_pipe.kernel @add(%n: index, %a: memref<?x128xf8E5M2>, %d: memref<?x128xf8E5M2>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf8E5M2> -> tensor<4x128xf8E5M2, #row>
    %y = arith.addf %x, %x : tensor<4x128xf8E5M2, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf8E5M2, #row>, memref<?x128xf8E5M2>
  }
  tracea_pipe.end
}

// Doubles would be rounded twice: their bits are rounded once.
// CHECK-LABEL: llvm.func @double(
// CHECK-NOT:     nvvm.convert
// CHECK:         arith.trunci %{{.*}} : vector<4xi64> to vector<4xi8>
// PTX-LABEL: .entry double(
tracea_pipe.kernel @double(%n: index, %a: memref<?x128xf64>, %d: memref<?x128xf8E4M3FN>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf64> -> tensor<4x128xf64, #row>
    %y = arith.truncf %x : tensor<4x128xf64, #row> to tensor<4x128xf8E4M3FN, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf8E4M3FN, #row>, memref<?x128xf8E4M3FN>
  }
  tracea_pipe.end
}

}
