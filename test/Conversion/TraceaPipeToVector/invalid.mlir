// What a CPU has no lowering for is refused with its reason.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics --convert-tracea-pipe-to-vector

tracea_pipe.kernel @roles(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+2 {{'tracea_pipe.roles' op has no meaning on a target without warps; schedule the kernel without roles}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.roles'}}
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
      }
    }
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @swizzled(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @below {{'tracea_pipe.channel' op has a buffer with a swizzle or panels; a CPU has no banks}}
    %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (memref<4x8xf32, #tracea_pipe.staged<swizzle = [4, 7]>>)>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @swizzled_scratch(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @below {{'tracea_pipe.scratch' op has a buffer with a swizzle or panels}}
    %s = tracea_pipe.scratch : memref<4x8xf32, #tracea_pipe.staged<swizzle = [4, 7]>>
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{convert-tracea-pipe-to-vector expects a CPU target, found #tracea.target<kind = cuda}}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "t", triple = "nvptx64", cpu = "sm_90">} {
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found 3}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 3>} {
}

// -----

// expected-error @below {{expected the target's vector_bits to be a power of two from 64 to 8192, found -128}}
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = -128>} {
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @stage(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @below {{failed to legalize operation 'tracea_pipe.stage'}}
    %s = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tracea_pipe.staged>
    %x = tracea_pipe.load %s[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tracea_pipe.staged> -> tensor<2x4xf32, #tile>
  }
  tracea_pipe.end
}

// -----

// A staged tile from elsewhere.
#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @staged_tile(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tensor.empty() : tensor<2x4xf32, #tracea_pipe.staged>
    // expected-error @+2 {{'tracea_pipe.load' op of a staged tile; run tracea-pipeline-kernels first}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.load'}}
    %x = tracea_pipe.load %s[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tracea_pipe.staged> -> tensor<2x4xf32, #tile>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @staged_view(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tensor.empty() : tensor<2x4xf32, #tracea_pipe.staged>
    // expected-error @+2 {{'tracea_pipe.view' op of a staged tile; run tracea-pipeline-kernels first}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.view'}}
    %x = tracea_pipe.view %s[%i, %i] map affine_map<(i) -> (0, i)> : tensor<2x4xf32, #tracea_pipe.staged> -> tensor<4xf32, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#square = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @mma_registers(%a: memref<2x4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %b = arith.constant dense<0.0> : tensor<4x4xf32, #square>
    %c = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    // expected-error @+2 {{'tracea_pipe.mma' op expects its right operand in memory on a CPU, and its left one in memory or registers}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x4xf32>, tensor<4x4xf32, #square>, tensor<2x4xf32, #tile>
  }
  tracea_pipe.end
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @mma_register_depth(%b: memref<4x4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %a = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    // expected-error @+2 {{'tracea_pipe.mma' op expects a constant depth where its left operand is in registers}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %a depth(%n) : tensor<2x4xf32, #tile>, memref<4x4xf32>, tensor<2x4xf32, #tile>
  }
  tracea_pipe.end
}

// -----

#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0]], outer = [1, 1]>
tracea_pipe.kernel @mma_lanes(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<4x4xf32, #rows>
    // expected-error @+2 {{expects an accumulator whose lanes lie along its columns, found #tracea_pipe.lanes<reg}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<4x4xf32>, memref<4x4xf32>, tensor<4x4xf32, #rows>
  }
  tracea_pipe.end
}

// -----

// Register 1 holds columns 1, 0, 3, 2.
#mixed = #tracea_pipe.lanes<reg = [[0, 1], [1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @mma_mixed(%a: memref<2x4xf32>, %b: memref<4x4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<2x4xf32, #mixed>
    // expected-error @+2 {{expects an accumulator whose lanes lie along its columns}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x4xf32>, memref<4x4xf32>, tensor<2x4xf32, #mixed>
  }
  tracea_pipe.end
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
tracea_pipe.kernel @mma_strided(%a: memref<2x4xf32>, %b: memref<4x4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    %t = tracea_pipe.view %b[%i, %i] map affine_map<(i, j) -> (j, i)> : memref<4x4xf32> -> memref<4x4xf32, strided<[1, 4], offset: ?>>
    // expected-error @+2 {{expects contiguous rows in the right operand, found 'memref<4x4xf32, strided<[1, 4], offset: ?>>'}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %t, %c : memref<2x4xf32>, memref<4x4xf32, strided<[1, 4], offset: ?>>, tensor<2x4xf32, #tile>
  }
  tracea_pipe.end
}

// -----

// Operations of math need not have operands of one encoding; the registers of the
// two maps hold other elements.
#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#other = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0]], outer = [1, 1]>
tracea_pipe.kernel @encodings(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    %e = tracea_pipe.coordinate dim 1 : tensor<2x4xi32, #other>
    // expected-error @+2 {{'math.fpowi' op expects tiles of the lane map #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>, found 'tensor<2x4xi32}}
    // expected-error @+1 {{failed to legalize operation 'math.fpowi'}}
    %y = math.fpowi %x, %e : tensor<2x4xf32, #tile>, tensor<2x4xi32, #other>
  }
  tracea_pipe.end
}

// -----

// A vector of more than two others.
#tile = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0]], outer = [1, 1]>
tracea_pipe.kernel @relayout(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x4xf32, #tile>
    // expected-error @+2 {{'tracea_pipe.relayout' op gathers a vector from more than two, which this target has no lowering for}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.relayout'}}
    %y = tracea_pipe.relayout %x : tensor<4x4xf32, #tile> -> tensor<4x4xf32, #columns>
  }
  tracea_pipe.end
}

// -----

// A lane that is one row down and one column on: exchanging it adds what belongs to
// another row.
#diagonal = #tracea_pipe.lanes<reg = [[0, 1]], lane = [[1, 1]], outer = [1, 1]>
#reduced = #tracea_pipe.lanes<lane = [[1, 0]], outer = [1, 1]>
tracea_pipe.kernel @reduce_diagonal(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x2xf32, #diagonal>
    // expected-error @+2 {{'tracea_pipe.reduce' op expects lanes that move along one dimension}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.reduce'}}
    %y = tracea_pipe.reduce add %x dim 1 : tensor<2x2xf32, #diagonal> -> tensor<2x1xf32, #reduced>
  }
  tracea_pipe.end
}

// -----

// Lane 1 holds what register 1 holds: it would be counted twice.
#double = #tracea_pipe.lanes<reg = [[0, 1]], lane = [[0, 1]], outer = [1, 1]>
#reduced = #tracea_pipe.lanes<lane = [[0, 0]], outer = [1, 1]>
tracea_pipe.kernel @reduce_double(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<1x2xf32, #double>
    // expected-error @+2 {{expects a lane map that holds each element of a reduced group once}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.reduce'}}
    %y = tracea_pipe.reduce add %x dim 1 : tensor<1x2xf32, #double> -> tensor<1x1xf32, #reduced>
  }
  tracea_pipe.end
}

// -----

// Each row lies in two warps, which share no registers.
#warps = #tracea_pipe.lanes<lane = [[0, 1]], warp = [[0, 2]], outer = [1, 1]>
#reduced = #tracea_pipe.lanes<lane = [[0, 0]], warp = [[0, 0]], outer = [1, 1]>
tracea_pipe.kernel @reduce_warps(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<1x4xf32, #warps>
    // expected-error @+2 {{expects a lane map that holds each element of a reduced group once}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.reduce'}}
    %y = tracea_pipe.reduce add %x dim 1 : tensor<1x4xf32, #warps> -> tensor<1x1xf32, #reduced>
  }
  tracea_pipe.end
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "alderlake", features = "+avx2,+fma,+avxvnni", vector_bits = 256>} {
tracea_pipe.kernel @words(%a: memref<2x5x4xi8>, %b: memref<5x8x4xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
    // expected-error @+2 {{expects its left operand in offset form (ui8) on this target, found 'memref<2x5x4xi8>'}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x4xi8>, memref<5x8x4xi8>, tensor<2x8xi32, #tile>
  }
  tracea_pipe.end
}
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "alderlake", features = "+avx2,+fma", vector_bits = 256>} {
tracea_pipe.kernel @words(%a: memref<2x5x4xui8>, %b: memref<5x8x4xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
    // expected-error @+2 {{expects a target with dot products of 4 elements of 'i8', found t}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x4xui8>, memref<5x8x4xi8>, tensor<2x8xi32, #tile>
  }
  tracea_pipe.end
}
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "alderlake", features = "+avx2,+fma,+avxvnni", vector_bits = 256>} {
tracea_pipe.kernel @words(%a: memref<2x5x2xui8>, %b: memref<5x8x2xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
    // expected-error @+2 {{expects a target with dot products of 2 elements of 'i8', found t}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x2xui8>, memref<5x8x2xi8>, tensor<2x8xi32, #tile>
  }
  tracea_pipe.end
}
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "alderlake", features = "+avx2,+fma,+avxvnni", vector_bits = 256>} {
tracea_pipe.kernel @words(%a: memref<2x5x4xui8>, %b: memref<5x4x4xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x4xi32, #tile>
    // expected-error @+2 {{expects an accumulator whose 8 lanes lie along its columns}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x4xui8>, memref<5x4x4xi8>, tensor<2x4xi32, #tile>
  }
  tracea_pipe.end
}
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n2", features = "+neon,+i8mm", vector_bits = 128>} {
tracea_pipe.kernel @words(%a: memref<2x5x8xi8>, %b: memref<5x4x8xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x4xi32, #tile>
    // expected-error @+2 {{expects an accumulator whose registers are blocks of 2 x 2}}
    // expected-error @+1 {{failed to legalize operation 'tracea_pipe.mma'}}
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x8xi8>, memref<5x4x8xi8>, tensor<2x4xi32, #tile>
  }
  tracea_pipe.end
}
}
