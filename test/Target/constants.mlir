// Arguments that stay the same in many runs: what depends on them alone is
// computed once, by the same kernels, into memory that is kept.

// RUN: tracea compile %s --target x86-64-v3 -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: tracea explain %t.tracea --recheck
// RUN: tracea compile %s --target sm_90a --only-ptx -o %t.90.tracea
// RUN: tracea explain %t.90.tracea | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tracea explain %t.90.tracea --recheck
// RUN: tracea run %s --entry block --random-inputs --shape 0=2x8x8x16 --check
// RUN: tracea run %s --entry later --random-inputs --shape 0=64 --check

// The scale and the shift of a batch normalization, by one kernel on a GPU, and on a CPU the filter in panels,
// and whether it is finite.
// CHECK-LABEL: entry block
// CHECK-NEXT:  takes 'arg0' f32[?, 8, 8, 16]{{$}}
// CHECK-NEXT:  takes 'arg1' f32[16, 3, 3, 16], constant{{$}}
// CHECK-COUNT-4: f32[16], constant
// CHECK:       %[[SHIFT:[0-9]+]] = temporary of 64 bytes, constant
// CHECK-NEXT:  %[[SCALE:[0-9]+]] = temporary of 64 bytes, constant
// CPU:         launch linalg_generic_0, {{.*}}; %[[SCALE]] f32[16]{{.*}}), once
// CPU:         launch linalg_generic_{{[0-9]}}, {{.*}}; %[[SHIFT]] f32[16]{{.*}}) after 0, once
// GPU:         launch linalg_generic_0, {{.*}}; %[[SCALE]] f32[16]; %[[SHIFT]] f32[16]), once
// CPU:         launch conv2d_0, {{.*}} (%1 f32[16, 3, 3, 16]; %[[PANELS:[0-9]+]] f32[{{.*}}]), once
// CPU:         launch linalg_generic_{{[0-9]}}, {{.*}} (%1 f32[16, 3, 3, 16]; %[[FINITE:[0-9]+]] i32[]) after 3, once
// CPU:         launch conv2d_1, {{.*}}; %[[PANELS]] f32[{{.*}}; %[[FINITE]] i32[]; {{.*}} after 0, 1, 2, 4{{$}}
// GPU:         launch conv2d_0, {{.*}} after 0{{$}}
func.func @block(%x: tensor<?x8x8x16xf32>, %w: tensor<16x3x3x16xf32> {tracea.constant},
                 %g: tensor<16xf32> {tracea.constant}, %b: tensor<16xf32> {tracea.constant},
                 %m: tensor<16xf32> {tracea.constant}, %v: tensor<16xf32> {tracea.constant}) -> tensor<?x8x8x16xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8x8x16xf32>
  // A variance is positive.
  %e16 = tensor.empty() : tensor<16xf32>
  %var = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      ins(%v : tensor<16xf32>) outs(%e16 : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %square = arith.mulf %a, %a : f32
    %above = arith.addf %square, %one : f32
    linalg.yield %above : f32
  } -> tensor<16xf32>
  %e = tensor.empty(%n) : tensor<?x8x8x16xf32>
  %c = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<?x8x8x16xf32>, tensor<16x3x3x16xf32>) outs(%e : tensor<?x8x8x16xf32>)
  %r = tracea.batch_norm axis 3 epsilon 1.0e-5 ins(%c, %g, %b, %m, %var : tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<?x8x8x16xf32>)
  return %r : tensor<?x8x8x16xf32>
}

// Without the mark nothing stays; what follows from a size of the run or from
// another argument does not either.
// CHECK-LABEL: entry later
// CHECK-NOT:   once
// CHECK:       gives
func.func @later(%x: tensor<?xf32>, %w: tensor<64xf32> {tracea.constant}, %free: tensor<64xf32>) -> (tensor<?xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %part = tensor.extract_slice %w[0] [%n] [1] : tensor<64xf32> to tensor<?xf32>
  %0 = linalg.exp ins(%part : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %e64 = tensor.empty() : tensor<64xf32>
  %1 = linalg.exp ins(%free : tensor<64xf32>) outs(%e64 : tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<?xf32>, tensor<64xf32>
}

// Weights whose rows do not begin at multiples of 16 bytes are padded once.
// CHECK-LABEL: entry rows
// GPU:         launch {{.*}}, once
// GPU:         launch {{[^,]*gemm[^,]*}}, {{.*}}) after {{[0-9, ]+$}}
func.func @rows(%a: tensor<1024x4096xbf16>, %w: tensor<4096x4093xbf16> {tracea.constant}) -> tensor<1024x4093xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4093xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x4093xf32>) -> tensor<1024x4093xf32>
  %r = linalg.matmul ins(%a, %w : tensor<1024x4096xbf16>, tensor<4096x4093xbf16>) outs(%f : tensor<1024x4093xf32>) -> tensor<1024x4093xf32>
  return %r : tensor<1024x4093xf32>
}
