// RUN: tracea-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{describes argument -1; expected the number of one}}
#negative = #tracea_pipe.tensor_map<argument = -1, element = f32, dims = [0], box = [8]>

// -----

// expected-error @below {{has elements of type 'i1'; expected integers or floats of whole bytes}}
#bits = #tracea_pipe.tensor_map<argument = 0, element = i1, dims = [0], box = [8]>

// -----

// expected-error @below {{has 2 dimensions and a box of 1; expected as many of both, not none}}
#ranks = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [1, 0], box = [8]>

// -----

// expected-error @below {{has a box of [8, 0] elements; expected extents from 1, and at most 1048576 elements}}
#empty = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [1, 0], box = [8, 0]>

// -----

// expected-error @below {{swizzles rows of 96 bytes; expected 0, 32, 64 or 128}}
#swizzle = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [0], box = [8], swizzle = 96>

// -----

// expected-error @below {{rounds elements of type 'bf16' to TF32; expected f32}}
#rounded = #tracea_pipe.tensor_map<argument = 0, element = bf16, dims = [0], box = [8], tf32 = true>

// -----

// expected-error @below {{has steps [1, 2, 2] along 2 dimensions; expected 1 to 8 for each, and 1 along the contiguous one}}
#steps = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [1, 0], box = [8, 8], steps = [1, 2, 2]>

// -----

// expected-error @below {{has steps [2, 1] along 2 dimensions; expected 1 to 8 for each, and 1 along the contiguous one}}
#contiguous = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [1, 0], box = [8, 8], steps = [2, 1]>

// -----

// expected-error @below {{has steps [1, 9] along 2 dimensions}}
#long = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [1, 0], box = [8, 8], steps = [1, 9]>

// -----

// expected-error @below {{has corners [-1] and [-1] of 4 dimensions; expected one for each of the 1 to 3 between the contiguous and the outermost one}}
#corners = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [3, 2, 1, 0], box = [8, 8], lower = [-1], upper = [-1]>

// -----

// expected-error @below {{has corners [-1, -1] and [] of 4 dimensions}}
#half = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [3, 2, 1, 0], box = [8, 8], lower = [-1, -1]>

// -----

// expected-error @below {{has a corner at 128; expected -128 to 127}}
#corner = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [3, 2, 1, 0], box = [8, 8], lower = [-1, -1], upper = [0, 128]>

// -----

// A single corner has more bits.
#single = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [2, 1, 0], box = [8, 8], lower = [-32768], upper = [128]>
// expected-error @below {{has a corner at -17; expected -16 to 15}}
#three = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [4, 3, 2, 1, 0], box = [8, 8], lower = [-16, -17, 0], upper = [0, 0, 0]>

// -----

// expected-error @below {{has a box of [8, 8, 8, 8] elements; expected, with corners, at most 256 channels of at most 1024 pixels}}
#pixels = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [3, 2, 1, 0], box = [8, 8, 8, 8], lower = [0, 0], upper = [0, 0]>

// -----

// expected-error @below {{has corners and is written; expected copies in}}
#out = #tracea_pipe.tensor_map<argument = 0, element = f32, dims = [3, 2, 1, 0], box = [8, 8], lower = [0, 0], upper = [0, 0], written = true>

// -----

// expected-error @below {{has argument 0 of type 'tensor<4xf32>'; expected a memref, an index, an integer or a float}}
#tensor = #tracea_pipe.interface<(tensor<4xf32>), threads = 32>

// -----

// expected-error @below {{has argument 0 of type 'memref<4xf32>' aligned to 12 bytes; expected a power of two, of a memref}}
#aligned = #tracea_pipe.interface<(memref<4xf32> aligned 12), threads = 32>

// -----

// expected-error @below {{has argument 1 of type 'index' aligned to 8 bytes; expected a power of two, of a memref}}
#scalar = #tracea_pipe.interface<(memref<4xf32>, index aligned 8), threads = 32>

// -----

// expected-error @below {{has 0 threads and clusters of 1 workgroups; expected at least one each}}
#threads = #tracea_pipe.interface<(), threads = 0>

// -----

// expected-error @below {{has 32 threads and clusters of 0 workgroups; expected at least one each}}
#clusters = #tracea_pipe.interface<(), threads = 32, cluster = 0>

// -----

// expected-error @below {{has -1 bytes of shared memory; expected 0 to 2^31 - 1}}
#shared = #tracea_pipe.interface<(), threads = 32, shared = -1>

// -----

// expected-error @below {{has a tensor map of argument 1; expected the number of a memref among its 2 arguments}}
#index = #tracea_pipe.interface<(memref<4xf32>, index), threads = 32,
    maps = [<argument = 1, element = f32, dims = [0], box = [4]>]>

// -----

// expected-error @below {{has a tensor map of argument 2; expected the number of a memref among its 2 arguments}}
#beyond = #tracea_pipe.interface<(memref<4xf32>, index), threads = 32,
    maps = [<argument = 2, element = f32, dims = [0], box = [4]>]>

// -----

// expected-error @below {{has a tensor map of dimensions [0, 0] of argument 0; expected each of the 2 dimensions of 'memref<4x4xf32>' once}}
#dims = #tracea_pipe.interface<(memref<4x4xf32>), threads = 32,
    maps = [<argument = 0, element = f32, dims = [0, 0], box = [4, 4]>]>

// -----

// expected-error @below {{has "text" as 'tracea_pipe.interface'; expected a #tracea_pipe.interface<...> of a function}}
func.func private @text() attributes {tracea_pipe.interface = "text"}

// -----

// expected-error @below {{has #tracea_pipe.interface<(), threads = 32> as 'tracea_pipe.interface'; expected a #tracea_pipe.interface<...> of a function}}
module attributes {tracea_pipe.interface = #tracea_pipe.interface<(), threads = 32>} {}

// -----

// A pointer and an extent, and a tensor map.
// expected-error @below {{has 2 parameters; its 'tracea_pipe.interface' expects 3, of which 1 are tensor maps}}
func.func private @few(!llvm.ptr<1>, i64) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(memref<?xf32>), threads = 32,
      maps = [<argument = 0, element = f32, dims = [0], box = [4]>]>}

// -----

func.func @load(%x: memref<4xi32>, %i: index) -> i32 {
  // expected-error @below {{has 'tracea_pipe.unchanged' = 1 : i64; expected a unit attribute of a load}}
  %0 = memref.load %x[%i] {tracea_pipe.unchanged = 1} : memref<4xi32>
  return %0 : i32
}

// -----

// expected-error @below {{has no text for assertion 1; expected what it is about}}
#silent = #tracea_pipe.interface<(index), threads = 32, assertions = ["index {0}", ""]>

// -----

// expected-error @below {{has 1 parameters; its 'tracea_pipe.interface' expects 2, of which 0 are tensor maps and the last a record}}
func.func private @no_record(i64) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(index), threads = 32, assertions = ["index {0}"]>}

// -----

// expected-error @below {{has divisors affine_map<()[s0, s1] -> (s1, s0)> of parameter 0, which is no index and no size of a buffer}}
#pointer = #tracea_pipe.interface<(memref<?xf32>), threads = 32, divisors = affine_map<()[s0, s1] -> (s1, s0)>>

// -----

// expected-error @below {{has divisors affine_map<(d0)[s0] -> (d0)>; expected some, of symbols alone}}
#dims = #tracea_pipe.interface<(index), threads = 32, divisors = affine_map<(d0)[s0] -> (d0)>>

// -----

// expected-error @below {{has divisors affine_map<()[s0] -> (s0)> of parameter 0, which is no index and no size of a buffer}}
#float = #tracea_pipe.interface<(f32), threads = 32, divisors = affine_map<()[s0] -> (s0)>>

// -----

// expected-error @below {{has 1 parameters; its 'tracea_pipe.interface' expects 3, of which 0 are tensor maps, then two of each divisor}}
func.func private @few(i64) attributes {
  tracea_pipe.interface = #tracea_pipe.interface<(index), threads = 32, divisors = affine_map<()[s0] -> (s0)>>}
