// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --emit-bytecode | tracea-opt | FileCheck %s

// CHECK:      tracea_pipe.certificates = [#tracea_pipe.certificate<check = "protocol", claim = "2 roles, \22every\22 trip count", model = "a \\ b">, #tracea_pipe.certificate<check = "banks", claim = "c">]
// CHECK-SAME: tracea_pipe.certified = "0123456789abcdef"
// CHECK-SAME: tracea_pipe.remarks = [{check = "coverage", reason = "no rows"}]
tracea_pipe.kernel @k(%n: index) attributes {
    tracea_pipe.certificates = [
      #tracea_pipe.certificate<check = "protocol", claim = "2 roles, \"every\" trip count", model = "a \\ b">,
      #tracea_pipe.certificate<check = "banks", claim = "c">],
    tracea_pipe.certified = "0123456789abcdef",
    tracea_pipe.remarks = [{check = "coverage", reason = "no rows"}]} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
