// Options that are wrong, and the target of this machine.
// RUN: not tracea-opt %s --tracea-select-schedule=target=sm_9 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tracea-opt %s --tracea-select-schedule=threads=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEGATIVE
// RUN: tracea-opt %s --tracea-select-schedule=threads=3 | FileCheck %s
// RUN: tracea-opt %s --tracea-select-schedule="target=host threads=3" \
// RUN:   | FileCheck %s

// UNKNOWN:    error: unknown target 'sm_9'; the closest are 'sm_89', 'sm_90a'
// NEGATIVE:   error: option 'threads' must not be negative, found -1
// CHECK:      tracea.target = #tracea.target<kind = cpu, name = "{{[^"]+}}"
// CHECK-SAME: cores = 3
module {
}
