// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @one(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has 'tracea_pipe.unroll_and_jam' = 1 : i64; expected an i64 of at least 2 on a loop without results}}
  scf.for %i = %c0 to %n step %c1 {
  } {tracea_pipe.unroll_and_jam = 1 : i64}
  return
}

// -----

func.func @carries(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op has 'tracea_pipe.unroll_and_jam' = 2 : i64; expected an i64 of at least 2 on a loop without results}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
    scf.yield %s : f32
  } {tracea_pipe.unroll_and_jam = 2 : i64}
  return %r : f32
}

// -----

// expected-error @+1 {{'func.func' op has 'tracea_pipe.unroll_and_jam' = "two"; expected an i64 of at least 2 on a loop without results}}
func.func @function() attributes {tracea_pipe.unroll_and_jam = "two"} {
  return
}
