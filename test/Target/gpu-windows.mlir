// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline" | FileCheck %s
// RUN: tracea compile %s --target sm_90a --require-proof -o %t.tracea
// RUN: tracea compile %s --target sm_80 --require-proof -o %t.tracea
// RUN: tracea compile %s --target sm_75 --require-proof -o %t.tracea
// RUN: tracea compile %s --target sm_90a --emit asm | FileCheck %s --check-prefix=PTX

// The phases of a gradient with strides leave for every second pixel by
// themselves: kernels know how far rows of their results lie apart, and nothing
// is copied.
// CHECK: %[[ALL:.*]] = memref.alloc() {{.*}} : memref<4x28x29x72xbf16>
// CHECK-NOT: memref.copy
// CHECK: tracea_pipe.launch @conv2d_0
// CHECK-SAME: outs(%{{.*}} : memref<4x14x15x72xbf16, strided<[58464, 4176, 144, 1]>>)
// CHECK: %[[WINDOW:.*]] = memref.subview %[[ALL]][0, 1, 1, 0] [4, 14, 14, 72] [1, 2, 2, 1]
// CHECK: tracea_pipe.launch @conv2d_6
// CHECK-SAME: outs(%[[WINDOW]] : memref<4x14x14x72xbf16, strided<[58464, 4176, 144, 1], offset: 2160>>)
// CHECK-NEXT: return %[[ALL]]
// CHECK: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME: %{{.*}}: memref<4x14x15x72xbf16, strided<[58464, 4176, 144, 1]>> {tracea_pipe.aligned = 16 : i64})
// CHECK-NOT: linalg_generic_8

// Elements of a row are neighbours; from one pixel to the next it is 288 bytes.
// PTX-LABEL: .entry conv2d_0
// PTX: {{mul|mad}}{{.*}} 144
func.func @main(%dy: tensor<4x14x15x64xbf16>, %w: tensor<64x3x3x72xbf16>, %d: tensor<4x28x29x72xbf16>) -> tensor<4x28x29x72xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<4x14x15x64xbf16>, tensor<64x3x3x72xbf16>) outs(%d : tensor<4x28x29x72xbf16>)
  return %0 : tensor<4x28x29x72xbf16>
}
