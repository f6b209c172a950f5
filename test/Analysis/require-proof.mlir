// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-require-proof{checks=banks}))" -verify-diagnostics
// RUN: not tracea-opt %s --split-input-file --tracea-compile="from=pipeline to=pipeline require-proof=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: not tracea-opt %s --split-input-file --tracea-compile="from=target require-proof=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not tracea-opt %s --tracea-compile="to=tile require-proof=true" 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not tracea-opt %s --tracea-compile="reference=true require-proof=true" 2>&1 | FileCheck %s --check-prefix=EARLY

// EARLY: kernels are proved in the phase 'pipeline', and those of a reference never are; 'require-proof' cannot be kept

// What a kernel lacks is named, with the reason.

// Checks that the pipeline runs say so themselves.
// COMPILE: error: {{.*}} resources not decided: the module has no attribute 'tracea.target'
// LATE: error: kernel 'missing' lacks the certificate 'protocol': nothing was proved of it; proofs are made at the pipeline level, and this kernel may have entered the compiler after it
// expected-error @below {{kernel 'missing' lacks the certificate 'banks': nothing was proved of it}}
tracea_pipe.kernel @missing(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// LATE: error: kernel 'changed' is not proved: it has changed since it was
// expected-error @below {{kernel 'changed' is not proved: it has changed since it was}}
tracea_pipe.kernel @changed(%n: index) attributes {
    tracea_pipe.certificates = [#tracea_pipe.certificate<check = "banks", claim = "none">],
    tracea_pipe.certified = "0123456789abcdef"} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// The reasons of a check are given; the check that did not run is told apart.
// expected-error @below {{kernel 'undecided' lacks the certificate 'banks': not decided: one; two}}
tracea_pipe.kernel @undecided(%n: index) attributes {
    tracea_pipe.certified = "0123456789abcdef",
    tracea_pipe.remarks = [{check = "banks", reason = "one"}, {check = "banks", reason = "two"}]} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{kernel 'other' lacks the certificate 'banks': the check did not run on it}}
tracea_pipe.kernel @other(%n: index) attributes {
    tracea_pipe.certified = "0123456789abcdef",
    tracea_pipe.remarks = [{check = "coverage", reason = "one"}]} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
