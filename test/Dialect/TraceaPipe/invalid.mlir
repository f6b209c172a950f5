// RUN: tracea-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Lane maps
//===----------------------------------------------------------------------===//

// expected-error @below {{expected a lane map to give 'outer', one repeat per tile dimension}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[1], [2]]>>)

// -----

// expected-error @below {{expected 'reg', 'lane', 'warp' or 'outer' in a lane map, found 'block'}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<block = [[1]], outer = [1]>>)

// -----

// expected-error @below {{expected integer value}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[x]], outer = [1]>>)

// -----

// expected-error @below {{lane map repeats must be positive, found 0}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[1], [2]], outer = [0]>>)

// -----

// expected-error @below {{lane map repeats must be positive, found -9223372036854775808}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<outer = [-9223372036854775808]>>)

// -----

// expected-error @below {{lane map has too many bits: at most 12 of registers, 10 of lanes, 10 of warps}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]], outer = [1]>>)

// -----

// expected-error @below {{lane map has too many bits}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<warp = [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]], outer = [1]>>)

// -----

// expected-error @below {{lane map has too many bits}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<reg = [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0]], outer = [1]>>)

// -----

// expected-error @below {{lane map has more than 4096 registers, repeats included}}
func.func private @f(tensor<8194xf32, #tracea_pipe.lanes<reg = [[1]], outer = [4097]>>)

// -----

// The product of the repeats does not fit any integer.
// expected-error @below {{lane map has more than 4096 registers, repeats included}}
func.func private @f(tensor<4x4xf32, #tracea_pipe.lanes<outer = [4611686018427387904, 4]>>)

// -----

// expected-error @below {{lane map basis vectors must have one coordinate per tile dimension (2), found 1}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[1]], outer = [1, 1]>>)

// -----

// expected-error @below {{lane map basis vectors must have one coordinate per tile dimension (1), found 0}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[]], outer = [1]>>)

// -----

// expected-error @below {{lane map coordinates must lie in [0, 1048576], found -1}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[-1]], outer = [1]>>)

// -----

// expected-error @below {{lane map coordinates must lie in [0, 1048576], found 9223372036854775807}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[9223372036854775807]], outer = [1]>>)

// -----

// Elements 1 and 3 would live nowhere.
// expected-error @below {{lane map must cover its tile: its vectors span 1 of 2 coordinate bits}}
func.func private @f(tensor<4xf32, #tracea_pipe.lanes<lane = [[2]], outer = [1]>>)

// -----

// Two vectors, one of them twice.
// expected-error @below {{lane map must cover its tile: its vectors span 2 of 3 coordinate bits}}
func.func private @f(tensor<2x4xf32, #tracea_pipe.lanes<reg = [[1, 1]], lane = [[0, 2], [1, 3]], outer = [1, 1]>>)

// -----

// expected-error @below {{register tile of shape [8, 16], its lane map covers [8, 32]}}
func.func private @f(tensor<8x16xf32, #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>)

// -----

// expected-error @below {{register tile of shape [4, 1], its lane map covers [4]}}
func.func private @f(tensor<4x1xf32, #tracea_pipe.lanes<lane = [[1], [2]], outer = [1]>>)

// -----

// expected-error @below {{register tile of shape [-9223372036854775808], its lane map covers [4]}}
func.func private @f(tensor<?xf32, #tracea_pipe.lanes<lane = [[1], [2]], outer = [1]>>)

// -----

// expected-error @below {{register tile elements must be floats, signless integers or indices, found 'complex<f32>'}}
func.func private @f(tensor<4xcomplex<f32>, #tracea_pipe.lanes<lane = [[1], [2]], outer = [1]>>)

// -----

// expected-error @below {{register tile elements must be floats, signless integers or indices, found 'ui8'}}
func.func private @f(tensor<4xui8, #tracea_pipe.lanes<lane = [[1], [2]], outer = [1]>>)

// -----

//===----------------------------------------------------------------------===//
// Staged memory, phases, channels
//===----------------------------------------------------------------------===//

// expected-error @below {{a swizzle is a list of pairs (bit, source bit), found an odd number of entries}}
func.func private @f(tensor<4xf32, #tracea_pipe.staged<swizzle = [4]>>)

// -----

// expected-error @below {{a swizzle's source bit must lie above its bit and below 31, found (4, 4)}}
func.func private @f(tensor<4xf32, #tracea_pipe.staged<swizzle = [4, 4]>>)

// -----

// expected-error @below {{a swizzle's source bit must lie above its bit and below 31, found (-1, 4)}}
func.func private @f(tensor<4xf32, #tracea_pipe.staged<swizzle = [0, 1, -1, 4]>>)

// -----

// expected-error @below {{a swizzle's source bit must lie above its bit and below 31, found (4, 9223372036854775807)}}
func.func private @f(tensor<4xf32, #tracea_pipe.staged<swizzle = [4, 9223372036854775807]>>)

// -----

// expected-error @below {{staged memory expects a static shape of at most 2^31 elements}}
func.func private @f(tensor<?xf32, #tracea_pipe.staged>)

// -----

// expected-error @below {{staged memory expects a static shape of at most 2^31 elements, found [4294967296] among its extents}}
func.func private @f(tensor<4294967296x4294967296xf32, #tracea_pipe.staged>)

// -----

// expected-error @below {{staged memory expects floats or signless integers of 1, 8, 16, 32 or 64 bits, or ui8, found 'i12'}}
func.func private @f(tensor<4xi12, #tracea_pipe.staged>)

// -----

// expected-error @below {{staged memory expects floats or signless integers of 1, 8, 16, 32 or 64 bits, or ui8, found 'f128'}}
func.func private @f(tensor<4xf128, #tracea_pipe.staged>)

// -----

// expected-error @below {{staged memory expects floats or signless integers of 1, 8, 16, 32 or 64 bits, or ui8, found 'index'}}
func.func private @f(tensor<4xindex, #tracea_pipe.staged>)

// -----

// expected-error @below {{a ring has 1 to 64 slots, found 0}}
func.func private @f(!tracea_pipe.phase<0>)

// -----

// expected-error @below {{a ring has 1 to 64 slots, found 65}}
func.func private @f(!tracea_pipe.phase<65>)

// -----

// expected-error @below {{a ring has 1 to 64 slots, found -2}}
func.func private @f(!tracea_pipe.channel<-2 x (memref<4xf32, #tracea_pipe.staged>)>)

// -----

// expected-error @below {{a ring has 1 to 64 slots, found 9223372036854775807}}
func.func private @f(!tracea_pipe.channel<9223372036854775807 x (memref<4xf32, #tracea_pipe.staged>)>)

// -----

// expected-error @+2 {{expected non-function type}}
// expected-error @+1 {{failed to parse TraceaPipe_ChannelType parameter 'buffers'}}
func.func private @f(!tracea_pipe.channel<2 x ()>)

// -----

// expected-error @below {{a channel's buffers must be memrefs of identity layout in staged memory, found 'memref<4xf32>'}}
func.func private @f(!tracea_pipe.channel<2 x (memref<4xf32>)>)

// -----

// expected-error @below {{a channel's buffers must be memrefs of identity layout in staged memory, found 'f32'}}
func.func private @f(!tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>, f32)>)

// -----

// expected-error @below {{a channel's buffers must be memrefs of identity layout in staged memory}}
func.func private @f(!tracea_pipe.channel<2 x (memref<4x4xf32, strided<[8, 1]>, #tracea_pipe.staged>)>)

// -----

// expected-error @below {{staged memory expects a static shape of at most 2^31 elements}}
func.func private @f(!tracea_pipe.channel<2 x (memref<?xf32, #tracea_pipe.staged>)>)

// -----

// expected-error @below {{staged memory expects floats or signless integers}}
func.func private @f(!tracea_pipe.channel<2 x (memref<4xcomplex<f32>, #tracea_pipe.staged>)>)

// -----

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// expected-error @below {{'tracea_pipe.kernel' op argument #1 must be a memref of identity layout, or of rows at known distances from its beginning on, found 'memref<4xf32, strided<[2]>>'}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32, strided<[2]>>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// Rows that reach into each other.
// expected-error @below {{argument #1 must be a memref of identity layout, or of rows at known distances from its beginning on, found 'memref<4x8xf32, strided<[7, 1]>>'}}
tracea_pipe.kernel @k(%n: index, %m: memref<4x8xf32, strided<[7, 1]>>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// Where it begins says the pointer.
// expected-error @below {{argument #1 must be a memref of identity layout, or of rows at known distances from its beginning on, found 'memref<4x8xf32, strided<[16, 1], offset: 8>>'}}
tracea_pipe.kernel @k(%n: index, %m: memref<4x8xf32, strided<[16, 1], offset: 8>>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 must be a memref of identity layout, or of rows at known distances from its beginning on, found 'memref<4x8xf32, strided<[?, 1]>>'}}
tracea_pipe.kernel @k(%n: index, %m: memref<4x8xf32, strided<[?, 1]>>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @k(%n: index, %m: memref<4x8xf32, strided<[16, 1]>>) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
func.func @f(%n: index, %m: memref<4x8xf32, strided<[24, 1], offset: 8>>) {
  // expected-error @below {{operand #1 of kernel @k expects 'memref<4x8xf32, strided<[16, 1]>>', found 'memref<4x8xf32, strided<[24, 1], offset: 8>>'}}
  tracea_pipe.launch @k ins(%n : index) outs(%m : memref<4x8xf32, strided<[24, 1], offset: 8>>)
  return
}

// -----

// expected-error @below {{argument #0 must not be in staged memory, which belongs to the kernel}}
tracea_pipe.kernel @k(%m: memref<4xf32, #tracea_pipe.staged>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #0 must be a memref, an index or a scalar, found 'tensor<4xf32>'}}
tracea_pipe.kernel @k(%m: tensor<4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #0 must be a memref, an index or a scalar, found 'memref<*xf32>'}}
tracea_pipe.kernel @k(%m: memref<*xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{has results; a kernel writes its memrefs}}
tracea_pipe.kernel @k(%n: index) -> f32 {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects a workspace of at least 0 bytes, found -64}}
tracea_pipe.kernel @k(%n: index) attributes {workspace_bytes = -64 : i64} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects a body of one block}}
tracea_pipe.kernel private @k(index)

// -----

// expected-error @below {{expects a body of one block}}
tracea_pipe.kernel @k(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  cf.br ^next
^next:
  tracea_pipe.end
}

// -----

// expected-error @below {{expects exactly one 'tracea_pipe.tiles' in its body, found 0}}
tracea_pipe.kernel @k(%n: index) {
  tracea_pipe.end
}

// -----

// expected-error @below {{expects exactly one 'tracea_pipe.tiles' in its body, found 2}}
tracea_pipe.kernel @k(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects its body to end with 'tracea_pipe.end'}}
tracea_pipe.kernel @k(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  ub.unreachable
}

// -----

func.func @outside(%n: index) {
  // expected-error @below {{'tracea_pipe.tiles' op expects parent op 'tracea_pipe.kernel'}}
  tracea_pipe.tiles (%i) in (%n) {
  }
  return
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expected as many bounds as indices (2), found 1}}
  tracea_pipe.tiles (%i, %j) in (%n) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expects at least one bound}}
  tracea_pipe.tiles () in () {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expects one index per bound (1), found 2}}
  "tracea_pipe.tiles"(%n) ({
  ^bb0(%i: index, %j: index):
    "tracea_pipe.end"() : () -> ()
  }) : (index) -> ()
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expects indices of type 'index', found 'f32'}}
  "tracea_pipe.tiles"(%n) ({
  ^bb0(%i: f32):
    "tracea_pipe.end"() : () -> ()
  }) : (index) -> ()
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expects a group of at least 0, found -1}}
  tracea_pipe.tiles (%i, %j) in (%n, %n) group -1 {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @k(%n: index) {
  // expected-error @below {{expects two dimensions or more to group}}
  tracea_pipe.tiles (%i) in (%n) group 2 {
  }
  tracea_pipe.end
}

// -----

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

func.func @main(%m: memref<4xf32>) {
  // expected-error @below {{expects a 'tracea_pipe.kernel' named @main}}
  tracea_pipe.launch @main outs(%m : memref<4xf32>)
  return
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{expects a 'tracea_pipe.kernel' named @other}}
  tracea_pipe.launch @k else [@k, @other] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{expects 2 operands for kernel @other, found 1}}
  tracea_pipe.launch @k else [@other] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @other(%n: index, %d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{operand #0 of kernel @other expects 'memref<4xf16>', found 'memref<4xf32>'}}
  tracea_pipe.launch @k else [@k, @other] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @other(%d: memref<4xf16>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{expects a number of 'most' for each of 2 kernels, found 1}}
  tracea_pipe.launch @k else [@k] most [4] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{expects 'most' to be numbers of elements, found -4}}
  tracea_pipe.launch @k else [@k] most [-4, 0] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{expects the last kernel to be for results of any size, found 'most' 4}}
  tracea_pipe.launch @k else [@k] most [0, 4] outs(%m : memref<4xf32>)
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}

// -----

func.func @f(%m: memref<4xf32>) {
  // expected-error @below {{failed to satisfy constraint: flat symbol ref array attribute}}
  "tracea_pipe.launch"(%m) {kernel = @k, others = [1], operandSegmentSizes = array<i32: 0, 1>} : (memref<4xf32>) -> ()
  return
}
tracea_pipe.kernel @k(%d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 expects 'tracea_pipe.aligned' to be a power of two, found 24 : i64}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32> {tracea_pipe.aligned = 24 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 expects 'tracea_pipe.aligned' to be a power of two, found 0 : i64}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32> {tracea_pipe.aligned = 0 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 expects 'tracea_pipe.aligned' to be a power of two, found -16 : i64}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32> {tracea_pipe.aligned = -16 : i64}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 expects 'tracea_pipe.aligned' to be a power of two, found "16"}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32> {tracea_pipe.aligned = "16"}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #1 expects 'tracea_pipe.aligned' to be a power of two, found 1.600000e+01 : f32}}
tracea_pipe.kernel @k(%n: index, %m: memref<4xf32> {tracea_pipe.aligned = 16.0 : f32}) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{argument #0 has 'tracea_pipe.aligned', which is of memory, found 'index'}}
tracea_pipe.kernel @k(%n: index {tracea_pipe.aligned = 16 : i64}, %m: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @k(%m: memref<4xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
func.func @main(%m: memref<4xf32>) {
  // expected-error @below {{expects 2 operands for kernel @k, found 1}}
  tracea_pipe.launch @k outs(%m : memref<4xf32>)
  return
}

// -----

// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @k(%m: memref<4xf32>, %d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
func.func @main(%m: tensor<4xf64>, %d: tensor<4xf32>) {
  // expected-error @below {{operand #0 of kernel @k expects 'memref<4xf32>', found 'tensor<4xf64>'}}
  tracea_pipe.launch @k ins(%m : tensor<4xf64>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-note @below {{the kernel is here}}
tracea_pipe.kernel @k(%m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
func.func @main(%m: memref<4xf32>) {
  // expected-error @below {{operand #0 of kernel @k expects 'memref<?xf32>', found 'memref<4xf32>'}}
  tracea_pipe.launch @k outs(%m : memref<4xf32>)
  return
}

// -----

func.func @main(%m: f32) {
  // expected-error @below {{expects outs to be tensors or memrefs, found 'f32'}}
  tracea_pipe.launch @k outs(%m : f32)
  return
}

// -----

func.func @main(%m: memref<4xf32>) {
  // expected-error @below {{on memrefs has no results, found 1}}
  %r = tracea_pipe.launch @k outs(%m : memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%m: tensor<4xf32>) {
  // expected-error @below {{on tensors expects one result per out (1), found 0}}
  tracea_pipe.launch @k outs(%m : tensor<4xf32>)
  return
}

// -----

func.func @main(%m: tensor<4xf32>) {
  // expected-error @below {{expects a result of its out's type 'tensor<4xf32>', found 'tensor<?xf32>'}}
  %r = tracea_pipe.launch @k outs(%m : tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// load, store, prefetch
//===----------------------------------------------------------------------===//

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tracea_pipe.load' op result #0 must be register tile, but got 'tensor<2x4xf32>'}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: tensor<2x4xf32>, %i: index) {
  // expected-error @below {{operand #0 must be memref or staged tile, but got 'tensor<2x4xf32>'}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf64>, %i: index) {
  // expected-error @below {{expects the source's element type 'f64' in its result, found 'f32'}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf64> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index, %z: f64) {
  // expected-error @below {{expects padding of type 'f32', found 'f64'}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%i, %i) padding(%z : f64)
       : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects one index per dimension of 'memref<?x?xf32>' (2), found 1}}
  %x = tracea_pipe.load %m[%i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map from the tile's 2 dimensions to the memory's 2, found affine_map<(d0) -> (d0, 0)>}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i) -> (i, 0)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map from the tile's 2 dimensions to the memory's 2, found affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j)[s] -> (i + s, j)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map linear in the tile's coordinates, with coefficients in [-2^30, 2^30], found affine_map<(d0, d1) -> (d0, d1 floordiv 2)>}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j floordiv 2)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map linear in the tile's coordinates}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i mod 2, j)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map linear in the tile's coordinates, with coefficients in [-2^30, 2^30]}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j * 1073741825)> : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

// The sum of the coefficients does not fit any integer.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map linear in the tile's coordinates}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, (i * 9223372036854775807 + 9223372036854775807) + (i * 9223372036854775807 + j + 9223372036854775807))>
       : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects one limit per tile dimension (2), found 1}}
  %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%i) : memref<?x?xf32> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf64>, %x: tensor<2x4xf32, #t>, %i: index) {
  // expected-error @below {{expects a tile of the destination's element type 'f64', found 'f32'}}
  tracea_pipe.store %x, %m[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #t>, memref<?x?xf64>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %x: tensor<2x4xf32, #t>, %i: index) {
  // expected-error @below {{expects one index per dimension of 'memref<?x?xf32>' (2), found 3}}
  tracea_pipe.store %x, %m[%i, %i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #t>, memref<?x?xf32>
  return
}

// -----

// Both rows would go to one place.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %x: tensor<2x4xf32, #t>, %i: index) {
  // expected-error @below {{expects a map known to send no two elements of 'tensor<2x4xf32, #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>>' to one place, found affine_map<(d0, d1) -> (0, d1)>}}
  tracea_pipe.store %x, %m[%i, %i] map affine_map<(i, j) -> (0, j)> : tensor<2x4xf32, #t>, memref<?x?xf32>
  return
}

// -----

// 3 i + j: (0, 3) and (1, 0) meet.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?xf32>, %x: tensor<2x4xf32, #t>, %i: index) {
  // expected-error @below {{expects a map known to send no two elements}}
  tracea_pipe.store %x, %m[%i] map affine_map<(i, j) -> (i * 3 + j)> : tensor<2x4xf32, #t>, memref<?xf32>
  return
}

// -----

// Two dimensions of memory, but one direction.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %x: tensor<2x4xf32, #t>, %i: index) {
  // expected-error @below {{expects a map known to send no two elements}}
  tracea_pipe.store %x, %m[%i, %i] map affine_map<(i, j) -> (i + j, i + j)> : tensor<2x4xf32, #t>, memref<?x?xf32>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a shape of 1 to 65536 elements, found [4, 0]}}
  tracea_pipe.prefetch %m[%i, %i] map affine_map<(i, j) -> (i, j)> shape [4, 0] : memref<?x?xf32>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a shape of 1 to 65536 elements, found [4294967296, 4294967296]}}
  tracea_pipe.prefetch %m[%i, %i] map affine_map<(i, j) -> (i, j)> shape [4294967296, 4294967296] : memref<?x?xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error @below {{attribute 'level' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1 whose maximum value is 3}}
  tracea_pipe.prefetch %m[%i] map affine_map<(i) -> (i)> shape [4] level 4 : memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map from the tile's 1 dimensions to the memory's 2}}
  tracea_pipe.prefetch %m[%i, %i] map affine_map<(i, j) -> (i, j)> shape [4] : memref<?x?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// mma, reduce, broadcast, relayout, coordinate
//===----------------------------------------------------------------------===//

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<1x2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects operands of rank 2, found 3, 2 and 2}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<1x2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3x4xi8>, %b: memref<3x4x2xi8>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{expects words of one length, of two elements or more, in staged operands of rank 3, found 'memref<2x3x4xi8>' and 'memref<3x4x2xi8>'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3x4xi8>, memref<3x4x2xi8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3x1xi8>, %b: memref<3x4x1xi8>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{expects words of one length, of two elements or more, in staged operands of rank 3, found 'memref<2x3x1xi8>' and 'memref<3x4x1xi8>'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3x1xi8>, memref<3x4x1xi8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3x4xi8>, %b: memref<5x4x4xi8>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{expects [m, k], [k, n] and [m, n], found 'memref<2x3x4xi8>', 'memref<5x4x4xi8>'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3x4xi8>, memref<5x4x4xi8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3x4xi8>, %b: memref<3x4x4xui8>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{expects one element type in both operands, found 'i8' and 'ui8'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3x4xi8>, memref<3x4x4xui8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xui8>, %b: memref<3x4xi8>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{expects one element type in both operands, found 'ui8' and 'i8'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xui8>, memref<3x4xi8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3x4xi8>, %b: memref<3x4x4xi8>, %c: tensor<2x4xi32, #t>, %n: index) {
  // expected-error @below {{has no limits where its operands are packed in words, which copies pad with zeros}}
  %0 = tracea_pipe.mma %a, %b, %c limits(%n, %n) : memref<2x3x4xi8>, memref<3x4x4xi8>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<4x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects [m, k], [k, n] and [m, n], found 'memref<2x3xf32>', 'memref<4x4xf32>' and 'tensor<2x4xf32}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xf32>, memref<4x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<3x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects [m, k], [k, n] and [m, n]}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<3x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x8xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects [m, k], [k, n] and [m, n]}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xf32>, memref<3x8xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xbf16>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects one element type in both operands, found 'bf16' and 'f32'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xbf16>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xi8>, %b: memref<3x4xi8>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{cannot accumulate products of 'i8' in 'f32'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xi8>, memref<3x4xi8>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xi1>, %b: memref<3x4xi1>, %c: tensor<2x4xi32, #t>) {
  // expected-error @below {{cannot accumulate products of 'i1' in 'i32'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xi1>, memref<3x4xi1>, tensor<2x4xi32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xindex>, %b: memref<3x4xindex>, %c: tensor<2x4xindex, #t>) {
  // expected-error @below {{cannot accumulate products of 'index' in 'index'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xindex>, memref<3x4xindex>, tensor<2x4xindex, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf64>, %b: memref<3x4xf64>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{cannot accumulate products of 'f64' in 'f32'}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x3xf64>, memref<3x4xf64>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x?xf32>, %b: memref<?x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects a depth, as both operands have a dynamic k}}
  %0 = tracea_pipe.mma %a, %b, %c : memref<2x?xf32>, memref<?x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects a first row and an end of rows, without limits, found 1 and 0 limits}}
  %0 = tracea_pipe.mma %a, %b, %c rows(%n) : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects a first row and an end of rows, without limits, found 2 and 2 limits}}
  %0 = tracea_pipe.mma %a, %b, %c rows(%n, %n) limits(%n, %n) : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects spans, beside rows or limits, to be pairs of a first one, beside limits 0, and a later end of 2 rows, found [1, 3]}}
  %0 = tracea_pipe.mma %a, %b, %c rows(%n, %n) spans [1, 3] : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects spans, beside rows or limits, to be pairs of a first one, beside limits 0, and a later end of 2 rows, found [1, 1]}}
  %0 = tracea_pipe.mma %a, %b, %c rows(%n, %n) spans [1, 1] : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects spans, beside rows or limits, to be pairs of a first one, beside limits 0, and a later end of 2 rows, found [0, 1, 2]}}
  %0 = tracea_pipe.mma %a, %b, %c rows(%n, %n) spans [0, 1, 2] : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects spans, beside rows or limits, to be pairs of a first one, beside limits 0, and a later end of 2 rows, found [1, 2]}}
  %0 = tracea_pipe.mma %a, %b, %c spans [1, 2] limits(%n, %n) : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects spans, beside rows or limits, to be pairs of a first one, beside limits 0, and a later end of 2 rows, found [1, 2]}}
  %0 = tracea_pipe.mma %a, %b, %c spans [1, 2] : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>, %n: index) {
  // expected-error @below {{expects two limits, of rows and columns, found 1}}
  %0 = tracea_pipe.mma %a, %b, %c limits(%n) : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: tensor<2x4xf32, #t>) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{expects a depth of 0 to the extent of k in both operands, found 4 for 'memref<2x3xf32>' and 'memref<3x4xf32>'}}
  %0 = tracea_pipe.mma %a, %b, %c depth(%c4) : memref<2x3xf32>, memref<3x4xf32>, tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects a dimension below 2, found 2}}
  %0 = tracea_pipe.reduce add %x dim 2 : tensor<2x4xf32, #t> -> tensor<2x1xf32, #r>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects a dimension below 2, found -1}}
  %0 = tracea_pipe.reduce add %x dim -1 : tensor<2x4xf32, #t> -> tensor<2x1xf32, #r>
  return
}

// -----

// One lane instead of all of them.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @below {{expects a result of type 'tensor<2x1xf32, #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>>', found 'tensor<2x1xf32, #tracea_pipe.lanes<reg = [[1, 0]], outer = [1, 1]>>'}}
  %0 = tracea_pipe.reduce add %x dim 1 : tensor<2x4xf32, #t> -> tensor<2x1xf32, #r>
  return
}

// -----

// Groups of three elements.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1]], outer = [1, 3]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1]], outer = [1, 1]>
func.func @f(%x: tensor<2x6xf32, #t>) {
  // expected-error @below {{expects groups of a power of two of neighbours that lie within the linear map of 'tensor<2x6xf32, #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1]], outer = [1, 3]>>', found 2 groups}}
  %0 = tracea_pipe.reduce add %x dim 1 : tensor<2x6xf32, #t> -> tensor<2x2xf32, #r>
  return
}

// -----

// Lanes may share registers of the result, each once.
#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#shared = #tracea_pipe.lanes<reg = [], lane = [[1, 0], [0, 0]], outer = [1, 1]>
#twice = #tracea_pipe.lanes<reg = [], lane = [[1, 0], [1, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  %0 = tracea_pipe.reduce add %x dim 1 : tensor<2x4xf32, #t> -> tensor<2x1xf32, #shared>
  // expected-error @below {{expects a result of type 'tensor<2x1xf32, #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>>'}}
  %1 = tracea_pipe.reduce add %x dim 1 : tensor<2x4xf32, #t> -> tensor<2x1xf32, #twice>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @+2 {{expected ::mlir::tracea_pipe::ReduceKind to be one of: add, max, min, mul}}
  // expected-error @+1 {{failed to parse TraceaPipe_ReduceKindAttr parameter 'value'}}
  %0 = tracea_pipe.reduce xor %x dim 1 : tensor<2x4xf32, #t> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x1xf32, #r>) {
  // expected-error @below {{expects operand and result of one rank and element type}}
  %0 = tracea_pipe.broadcast %x : tensor<2x1xf32, #r> -> tensor<2x4xf64, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1]], outer = [1]>
func.func @f(%x: tensor<2xf32, #r>) {
  // expected-error @below {{expects operand and result of one rank and element type}}
  %0 = tracea_pipe.broadcast %x : tensor<2xf32, #r> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1]], outer = [1, 1]>
func.func @f(%x: tensor<2x2xf32, #r>) {
  // expected-error @below {{expects extent 1 or 4 in dimension 1, found 2}}
  %0 = tracea_pipe.broadcast %x : tensor<2x2xf32, #r> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#r = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x1xf32, #r>) {
  // expected-error @below {{expects an operand with the lane map #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0], [0, 0]], outer = [1, 1]>, found #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 0]], outer = [1, 1]>}}
  %0 = tracea_pipe.broadcast %x : tensor<2x1xf32, #r> -> tensor<2x4xf32, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#u = #tracea_pipe.lanes<reg = [[0, 1]], lane = [[1, 0], [2, 0]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @below {{changes the lane map only, found 'tensor<2x4xf32}}
  %0 = tracea_pipe.relayout %x : tensor<2x4xf32, #t> -> tensor<4x2xf32, #u>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%x: tensor<2x4xf32, #t>) {
  // expected-error @below {{changes the lane map only}}
  %0 = tracea_pipe.relayout %x : tensor<2x4xf32, #t> -> tensor<2x4xf64, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f() {
  // expected-error @below {{expects a dimension below 2, found 2}}
  %0 = tracea_pipe.coordinate dim 2 : tensor<2x4xindex, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<outer = []>
func.func @f() {
  // expected-error @below {{expects a dimension below 0, found 0}}
  %0 = tracea_pipe.coordinate dim 0 : tensor<index, #t>
  return
}

// -----

#t = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f() {
  // expected-error @below {{expects an integer or index result, found 'f32'}}
  %0 = tracea_pipe.coordinate dim 0 : tensor<2x4xf32, #t>
  return
}

// -----

// Coordinates up to 199 do not fit eight bits with a sign.
#t = #tracea_pipe.lanes<reg = [[1], [2], [4]], outer = [25]>
func.func @f() {
  // expected-error @below {{expects a type that holds 199, found 'i8'}}
  %0 = tracea_pipe.coordinate dim 0 : tensor<200xi8, #t>
  return
}

// -----

//===----------------------------------------------------------------------===//
// stage, view, scratch, copy
//===----------------------------------------------------------------------===//

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{result #0 must be staged tile, but got 'tensor<4x4xf32>'}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects 1 to 64 slots, found 0}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> slots 0
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects 1 to 64 slots, found 65}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> slots 65
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects 1 to 64 slots, found -1}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> slots -1
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

#tile = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects padded dimensions of the source, which has rank 2, found 2}}
  %0 = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> padded [2]
       : memref<?x?xf32> -> tensor<4x4xf32, #tile>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects padded dimensions of the source, which has rank 2, found 2}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> padded [0, 2]
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects padded dimensions of the source, which has rank 2, found -1}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> padded [-1]
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{repeats the padded dimension 1}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> padded [1, 0, 1]
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xi32>, %i: index) {
  // expected-error @below {{brings integers of i8 into the offset form, found 'i32'}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)>
       : memref<?x?xi32> -> tensor<4x4xui8, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xindex>, %i: index) {
  // expected-error @below {{copies floats and signless integers of up to 64 bits, found 'index' and 'f32'}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)>
       : memref<?x?xindex> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects one limit per tile dimension (2), found 3}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i, j)> limits(%i, %i, %i)
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{expects a map from the tile's 2 dimensions to the memory's 2, found affine_map<(d0, d1) -> (d0)>}}
  %0 = tracea_pipe.stage %m[%i, %i] map affine_map<(i, j) -> (i)>
       : memref<?x?xf32> -> tensor<4x4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: tensor<4x8xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a ranked view of element type 'f32', found 'tensor<4xf16, #tracea_pipe.staged>'}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)>
       : tensor<4x8xf32, #tracea_pipe.staged> -> tensor<4xf16, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: tensor<4x8xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a view in the source's memory, found 'tensor<4x8xf32, #tracea_pipe.staged>' and 'memref<4xf32>'}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)>
       : tensor<4x8xf32, #tracea_pipe.staged> -> memref<4xf32>
  return
}

// -----

func.func @f(%m: tensor<4x8xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a view in the source's memory}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)>
       : tensor<4x8xf32, #tracea_pipe.staged> -> tensor<4xf32, #tracea_pipe.staged<swizzle = [4, 7]>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a view in the source's memory}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)>
       : memref<4x8xf32, #tracea_pipe.staged> -> memref<4xf32, strided<[8], offset: ?>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>, %i: index) {
  // expected-error @below {{expects a view of static shape, found 'memref<?xf32, strided<[8], offset: ?>>'}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)>
       : memref<4x8xf32> -> memref<?xf32, strided<[8], offset: ?>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>, %i: index) {
  // expected-error @below {{expects a map from the tile's 1 dimensions to the memory's 2}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i, j) -> (i, j)>
       : memref<4x8xf32> -> memref<4xf32, strided<[8], offset: ?>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>, %i: index) {
  // expected-error @below {{expects a view of dynamic offset, found 'memref<4xf32, strided<[8]>>'}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i) -> (i, 0)> : memref<4x8xf32> -> memref<4xf32, strided<[8]>>
  return
}

// -----

func.func @f(%m: memref<4x8xf32>, %i: index) {
  // expected-error @below {{expects strides that follow from its map, found 'memref<2x4xf32, strided<[8, 1], offset: ?>>' where the map gives 16 for dimension 0}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i, j) -> (i * 2, j)>
       : memref<4x8xf32> -> memref<2x4xf32, strided<[8, 1], offset: ?>>
  return
}

// -----

func.func @f(%m: memref<4x?xf32>, %i: index) {
  // expected-error @below {{expects strides that follow from its map, found 'memref<2x4xf32, strided<[8, 1], offset: ?>>' where the map gives a dynamic stride of dimension 0}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i, j) -> (i, j)>
       : memref<4x?xf32> -> memref<2x4xf32, strided<[8, 1], offset: ?>>
  return
}

// -----

#skewed = affine_map<(i, j) -> (i, i floordiv 2 + j)>
func.func @f(%m: memref<4x8xf32, #skewed>, %i: index) {
  // expected-error @below {{expects strided layouts}}
  %0 = tracea_pipe.view %m[%i, %i] map affine_map<(i, j) -> (i, j)>
       : memref<4x8xf32, #skewed> -> memref<2x4xf32, strided<[8, 1], offset: ?>>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects a memref of identity layout in staged memory, found 'memref<4xf32>'}}
  %0 = tracea_pipe.scratch : memref<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects a memref of identity layout in staged memory}}
  %0 = tracea_pipe.scratch : memref<4xf32, strided<[2]>, #tracea_pipe.staged>
  return
}

// -----

func.func @f() {
  // expected-error @below {{staged memory expects a static shape of at most 2^31 elements}}
  %0 = tracea_pipe.scratch : memref<?xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %d: memref<4xf32>, %i: index) {
  // expected-error @below {{expects a destination of static shape in staged memory, found 'memref<4xf32>'}}
  tracea_pipe.copy %m[%i] map affine_map<(i) -> (i)> to %d : memref<?xf32>, memref<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %d: memref<?xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a destination of static shape in staged memory}}
  tracea_pipe.copy %m[%i] map affine_map<(i) -> (i)> to %d : memref<?xf32>, memref<?xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %d: memref<4xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects padded dimensions of the source, which has rank 1, found 1}}
  tracea_pipe.copy %m[%i] map affine_map<(i) -> (i)> padded [1] to %d : memref<?xf32>, memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?xcomplex<f32>>, %d: memref<4xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{copies floats and signless integers of up to 64 bits, found 'complex<f32>' and 'f32'}}
  tracea_pipe.copy %m[%i] map affine_map<(i) -> (i)> to %d : memref<?xcomplex<f32>>, memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %d: memref<4xf32, #tracea_pipe.staged>, %i: index) {
  // expected-error @below {{expects a map linear in the tile's coordinates}}
  tracea_pipe.copy %m[%i] map affine_map<(i) -> (i ceildiv 2)> to %d : memref<?xf32>, memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<3>) {
  // expected-error @below {{'tracea_pipe.acquire' op expects a phase of the channel's 2 slots, found one of 3}}
  %0 = tracea_pipe.acquire %c[%p] : !ch, !tracea_pipe.phase<3> -> memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<3>) {
  // expected-error @below {{'tracea_pipe.wait' op expects a phase of the channel's 2 slots, found one of 3}}
  %0 = tracea_pipe.wait %c[%p] : !ch, !tracea_pipe.phase<3> -> memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<1>) {
  // expected-error @below {{'tracea_pipe.commit' op expects a phase of the channel's 2 slots, found one of 1}}
  tracea_pipe.commit %c[%p] : !ch, !tracea_pipe.phase<1>
  return
}

// -----

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<1>) {
  // expected-error @below {{'tracea_pipe.release' op expects a phase of the channel's 2 slots, found one of 1}}
  tracea_pipe.release %c[%p] : !ch, !tracea_pipe.phase<1>
  return
}

// -----

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<2>) {
  // expected-error @below {{expects the buffers of '!tracea_pipe.channel<2 x(memref<4xf32, #tracea_pipe.staged>)>', found 'memref<8xf32, #tracea_pipe.staged>'}}
  %0 = tracea_pipe.acquire %c[%p] : !ch, !tracea_pipe.phase<2> -> memref<8xf32, #tracea_pipe.staged>
  return
}

// -----

!ch = !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
func.func @f(%c: !ch, %p: !tracea_pipe.phase<2>) {
  // expected-error @below {{'tracea_pipe.wait' op expects the buffers of}}
  %0:2 = tracea_pipe.wait %c[%p] : !ch, !tracea_pipe.phase<2>
         -> memref<4xf32, #tracea_pipe.staged>, memref<4xf32, #tracea_pipe.staged>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

func.func @f() {
  tracea_pipe.roles {
    // expected-note @below {{the other role is here}}
    tracea_pipe.role "producer" warps [0, 4] {
    }
    // expected-error @below {{shares warps with the role 'producer'; a warp has one role (Rule B)}}
    tracea_pipe.role "consumer" warps [3, 8] {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-note @below {{first defined here}}
    tracea_pipe.role "consumer" warps [0, 4] {
    }
    // expected-error @below {{repeats the role 'consumer'}}
    tracea_pipe.role "consumer" warps [4, 8] {
    }
  }
  return
}

// -----

func.func @f(%i: index) {
  // expected-error @below {{holds only 'tracea_pipe.role', found 'arith.addi'}}
  tracea_pipe.roles {
    %0 = arith.addi %i, %i : index
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{'tracea_pipe.roles' op region should have no arguments}}
  "tracea_pipe.roles"() ({
  ^bb0(%x: f32):
    tracea_pipe.end
  }) : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error @below {{'tracea_pipe.role' op expects parent op 'tracea_pipe.roles'}}
  tracea_pipe.role "consumer" warps [0, 4] {
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects warps [first, end) with 0 <= first < end <= 1024, found []}}
    tracea_pipe.role "consumer" warps [] {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects warps [first, end) with 0 <= first < end <= 1024, found [4, 4]}}
    tracea_pipe.role "consumer" warps [4, 4] {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects warps [first, end) with 0 <= first < end <= 1024, found [0, 9223372036854775807]}}
    tracea_pipe.role "consumer" warps [0, 9223372036854775807] {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects copies to divide the number of warps (4), found 3}}
    tracea_pipe.role "consumer" warps [0, 4] copies 3 {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects copies to divide the number of warps (4), found 0}}
    tracea_pipe.role "consumer" warps [0, 4] copies 0 {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects copies to divide the number of warps (4), found -4}}
    tracea_pipe.role "consumer" warps [0, 4] copies -4 {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects at most one argument, the team's number}}
    tracea_pipe.role "consumer" warps [0, 4] (%a, %b) {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects the team's number to be an index, found 'f32'}}
    "tracea_pipe.role"() <{name = "consumer", warps = array<i64: 0, 4>}> ({
    ^bb0(%x: f32):
      tracea_pipe.end
    }) : () -> ()
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects a register budget in [0, 256], found 257}}
    tracea_pipe.role "consumer" warps [0, 4] registers 257 {
    }
  }
  return
}

// -----

func.func @f() {
  tracea_pipe.roles {
    // expected-error @below {{expects a register budget in [0, 256], found -1}}
    tracea_pipe.role "consumer" warps [0, 4] registers -1 {
    }
  }
  return
}

// -----

// The encoding is looked at although there is no element type.
// expected-error @below {{expected non-function type}}
func.func private @f() -> tensor<8x8x+, #tracea_pipe.lanes<outer = [8, 8]>>

// -----

// expected-error @below {{expected non-function type}}
func.func private @f() -> tensor<8x8x+, #tracea_pipe.staged>

// -----

// expected-error @below {{a tile in flight is a register tile, found 'tensor<8x8xf32>'}}
func.func private @f(!tracea_pipe.in_flight<tensor<8x8xf32>>)

// -----

// expected-error @below {{2 to 8 teams take turns, found 1}}
func.func private @f(!tracea_pipe.order_barrier<1>)

// -----

// expected-error @below {{a panel has at least one column, found -4}}
func.func private @f(memref<8x8xf32, #tracea_pipe.staged<panel = -4>>)

// -----

// expected-error @below {{expects panels of 3 columns to divide its last dimension}}
func.func private @f(!tracea_pipe.channel<2 x (memref<8x8xf32, #tracea_pipe.staged<panel = 3>>)>)

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects groups of 1 to 2^30 rows, found 0}}
  %i, %j = tracea_pipe.raster %n in (%n, %n) group 0
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects 0 to 7 pending groups, found -1}}
  tracea_pipe.wait_group mma pending -1
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects 0 to 7 pending groups, found 8}}
  tracea_pipe.wait_group copy pending 8
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expected tiles in flight, found 'index'}}
  %x = tracea_pipe.wait_group mma pending 0 (%n : index)
  return
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
func.func @f(%d: !tracea_pipe.in_flight<tensor<64x128xf32, #acc>>) {
  // expected-error @below {{takes tiles in flight, which only the unit 'mma' makes, from the unit 'copy'}}
  %x = tracea_pipe.wait_group copy pending 0 (%d : !tracea_pipe.in_flight<tensor<64x128xf32, #acc>>)
  return
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>) {
  // expected-error @below {{expects [m, k], [k, n] and [m, n]}}
  %d = tracea_pipe.mma_async %a, %a : memref<64x64xbf16, #tracea_pipe.staged>, memref<64x64xbf16, #tracea_pipe.staged>
         -> !tracea_pipe.in_flight<tensor<64x128xf32, #acc>>
  return
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
func.func @f(%a: memref<64x?xbf16>, %b: memref<?x128xbf16>) {
  // expected-error @below {{expects operands of static shape}}
  %d = tracea_pipe.mma_async %a, %b : memref<64x?xbf16>, memref<?x128xbf16> -> !tracea_pipe.in_flight<tensor<64x128xf32, #acc>>
  return
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
func.func @f(%a: memref<64x64xbf16>, %b: memref<64x128xbf16>, %c: tensor<64x128xbf16, #acc>) {
  // expected-error @below {{expects to accumulate onto a tile of its result's type}}
  %d = tracea_pipe.mma_async %a, %b onto %c : memref<64x64xbf16>, memref<64x128xbf16>, tensor<64x128xbf16, #acc>
         -> !tracea_pipe.in_flight<tensor<64x128xf32, #acc>>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects a source in staged memory}}
  tracea_pipe.copy_out %c to %c[%n, %n] map affine_map<(i, j) -> (i, j)> : memref<?x?xbf16>, memref<?x?xbf16>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects a destination outside of staged memory}}
  tracea_pipe.copy_out %a to %a[%n, %n] map affine_map<(i, j) -> (i, j)> : memref<64x64xbf16, #tracea_pipe.staged>, memref<64x64xbf16, #tracea_pipe.staged>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xbf16>, %n: index) {
  // expected-error @below {{expects a map known to send no two elements}}
  tracea_pipe.copy_out %a to %c[%n, %n] map affine_map<(i, j) -> (i, i)> : memref<64x64xbf16, #tracea_pipe.staged>, memref<?x?xbf16>
  return
}

// -----

func.func @f(%a: memref<64x64xbf16, #tracea_pipe.staged>, %c: memref<?x?xf32>, %n: index) {
  // expected-error @below {{expects one element type, found 'bf16' and 'f32'}}
  tracea_pipe.copy_out %a to %c[%n, %n] map affine_map<(i, j) -> (i, j)> : memref<64x64xbf16, #tracea_pipe.staged>, memref<?x?xf32>
  return
}

// -----

#acc = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
func.func @f(%v: tensor<64x128xi8, #acc>) {
  // expected-error @below {{expects a tile of conditions (i1), found 'i8'}}
  %x = tracea_pipe.any %v : tensor<64x128xi8, #acc>
  return
}

// -----

// expected-error @below {{expects 1 to 1024 warps, found 0}}
tracea_pipe.kernel @k(%n: index) attributes {warps = 0} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

#wide = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#narrow = #tracea_pipe.lanes<lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%v: tensor<1x8xf32, #wide>) {
  // expected-error @below {{reaches beyond dimension 1 of 'tensor<1x8xf32}}
  %x = tracea_pipe.slice %v[0, 5] : tensor<1x8xf32, #wide> -> tensor<1x4xf32, #narrow>
  return
}

// -----

#wide = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#narrow = #tracea_pipe.lanes<lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%v: tensor<1x8xf32, #wide>) {
  // expected-error @below {{expects lane maps by which every lane keeps its elements}}
  %x = tracea_pipe.slice %v[0, 2] : tensor<1x8xf32, #wide> -> tensor<1x4xf32, #narrow>
  return
}

// -----

#wide = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#narrow = #tracea_pipe.lanes<lane = [[0, 2], [0, 1]], outer = [1, 1]>
func.func @f(%v: tensor<1x8xf32, #wide>) {
  // expected-error @below {{expects lane maps by which every lane keeps its elements}}
  %x = tracea_pipe.slice %v[0, 4] : tensor<1x8xf32, #wide> -> tensor<1x4xf32, #narrow>
  return
}

// -----

#wide = #tracea_pipe.lanes<reg = [[0, 4]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#narrow = #tracea_pipe.lanes<lane = [[0, 1], [0, 2]], outer = [1, 1]>
func.func @f(%v: tensor<1x8xf32, #wide>) {
  // expected-error @below {{expects operand, result and offsets of one rank and element type}}
  %x = tracea_pipe.slice %v[0] : tensor<1x8xf32, #wide> -> tensor<1x4xf32, #narrow>
  return
}


// -----

tracea_pipe.kernel @reuse(%m: memref<?x?xbf16>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+2 {{to be one of: unknown, once, often}}
    %a = tracea_pipe.stage %m[%i, %i] map affine_map<(i, k) -> (i, k)>
      reuse never
      // expected-error @below {{failed to parse TraceaPipe_ReuseAttr parameter}}
      : memref<?x?xbf16> -> tensor<8x16xbf16, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{a multiprocessor has 1 to 32 workgroups, found 0}}
tracea_pipe.kernel @none() attributes {pipeline = #tracea_pipe.pipeline<residents = 0>} {
}

// -----

// expected-error @below {{1 or 2 teams take tiles in turn, each of them by itself, found 'ping_pong' of 2 with 2 teams}}
tracea_pipe.kernel @shared() attributes {pipeline = #tracea_pipe.pipeline<teams = 2, workgroups = 8, ping_pong = 2>} {
}

// -----

// expected-error @below {{teams take turns where workgroups walk over tiles: expected 'workgroups'}}
tracea_pipe.kernel @one_tile() attributes {pipeline = #tracea_pipe.pipeline<ping_pong = 2>} {
}

// -----

tracea_pipe.kernel @dimension_below_the_first(%a: memref<?x4xf32>) {
  %c = arith.constant -1 : index
  // expected-error @below {{takes dimension -1 of 'memref<?x4xf32>', which has 2}}
  %n = memref.dim %a, %c : memref<?x4xf32>
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @dimension_past_the_last(%a: memref<?x4xf32>) {
  %c = arith.constant 2 : index
  tracea_pipe.tiles (%i) in (%c) {
    // expected-error @below {{takes dimension 2 of 'memref<?x4xf32>', which has 2}}
    %n = memref.dim %a, %c : memref<?x4xf32>
  }
  tracea_pipe.end
}

// -----

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

// expected-error @below {{expects a map for each of at least one operand, found 2 operands and 1 maps}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0, 1], maps = [affine_map<(i) -> (i)>]>}

// -----

// expected-error @below {{expects 1 to 1 factors, found 2}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 2, operands = [0], maps = [affine_map<(i) -> (i)>]>}

// -----

// expected-error @below {{expects affine maps without symbols, or with 1 for the extents of the factors, found}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i)[s, t] -> (i + s + t)>]>}

// -----

// expected-error @below {{expects maps of as many dimensions}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0, 0], maps = [affine_map<(i) -> (i)>, affine_map<(i, j) -> (i)>]>}

// -----

// expected-error @below {{expects a definition of a memref argument of rank 1 or less, found argument 2}}
tracea_pipe.kernel @k(%a: memref<4xf32>, %b: memref<4xf32>) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 1, operands = [0], maps = [affine_map<(i) -> (i)>]>]} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects a definition with a map into memref argument 0, found}}
tracea_pipe.kernel @k(%a: memref<4xf32>, %b: memref<4xf32>) attributes {definitions = [#tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i) -> (i, i)>]>]} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects a definition in which a factor's map has dimension 1, which is summed over, as a result}}
tracea_pipe.kernel @k(%a: memref<4xf32>, %b: memref<4xf32>) attributes {definitions = [#tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i, k) -> (i + k)>]>]} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%t) in (%c1) {
  }
  tracea_pipe.end
}
