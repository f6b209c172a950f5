// RUN: tracea-opt %s --tracea-promote-to-f64 --split-input-file --verify-diagnostics

func.func @bits(%x: f32) -> i32 {
  // expected-error @below {{'arith.bitcast' op reads the bits of a float; it has no meaning in float64}}
  %y = arith.bitcast %x : f32 to i32
  return %y : i32
}

// -----

// expected-error @below {{'func.func' op is defined elsewhere; its floats cannot become f64}}
func.func private @external(%x: tensor<4xf32>)

// -----

// An external function of integers and doubles may stay.
func.func private @external(%x: tensor<4xf64>, %n: i32)

// -----

func.func @missing() -> tensor<2xf32> {
  // expected-error @below {{'arith.constant' op expected the elements of resource 'weights' to be present, found none of type 'tensor<2xf32>'}}
  %w = arith.constant dense_resource<weights> : tensor<2xf32>
  return %w : tensor<2xf32>
}
