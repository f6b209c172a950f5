// Random numbers of a counter: Philox4x32 of ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as
// 1, 2, 3", 2011), with the numbers that its authors give for a counter and a key of zeros, and of ones.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/key.npy "<i4" 2 0 0
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/zero.npy "<i4" 2 0 0
// RUN: tracea run %s --input %t/zero.npy --input %t/key.npy --output %t/a.npy --output %t/b.npy --output %t/c.npy --output %t/d.npy
// RUN: %python %S/Inputs/words.py %t/a.npy %t/b.npy %t/c.npy %t/d.npy | FileCheck %s --check-prefix=ZERO
// ZERO: 6627e8d5 e169c58d bc57ac4c 9b00dbd8
// RUN: %python %S/../Tools/tracea/Inputs/make_npy.py %t/ones.npy "<i4" 2 -1 -1
// RUN: tracea run %s --input %t/ones.npy --input %t/ones.npy --output %t/a.npy --output %t/b.npy --output %t/c.npy --output %t/d.npy
// RUN: %python %S/Inputs/words.py %t/a.npy %t/b.npy %t/c.npy %t/d.npy | FileCheck %s --check-prefix=ONES
// ONES: 408f276d 41c83b0e a20bc7c6 6d5451fd

// On a GPU the map is a tile of registers, proved.
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t/gpu.tracea
// RUN: tracea explain %t/gpu.tracea | FileCheck %s --check-prefix=GPU
// GPU: linalg_generic_0 linalg.generic elementwise.lanes
func.func @main(%at: tensor<2xi32>, %key: tensor<2xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %m0 = arith.constant 0xD2511F53 : i32
  %m1 = arith.constant 0xCD9E8D57 : i32
  %w0 = arith.constant 0x9E3779B9 : i32
  %w1 = arith.constant 0xBB67AE85 : i32
  %c0 = tensor.extract %at[%i0] : tensor<2xi32>
  %c1 = tensor.extract %at[%i1] : tensor<2xi32>
  %k0 = tensor.extract %key[%i0] : tensor<2xi32>
  %k1 = tensor.extract %key[%i1] : tensor<2xi32>
  %e = tensor.empty() : tensor<1xi32>
  %y:4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      outs(%e, %e, %e, %e : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) {
  ^bb0(%o0: i32, %o1: i32, %o2: i32, %o3: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %c2 = arith.addi %c0, %n : i32
    %c3 = arith.addi %c1, %n : i32
    %lo0a, %hi0a = arith.mului_extended %c0, %m0 : i32
    %lo0b, %hi0b = arith.mului_extended %c2, %m1 : i32
    %x0 = arith.xori %hi0b, %c1 : i32
    %n00 = arith.xori %x0, %k0 : i32
    %y0 = arith.xori %hi0a, %c3 : i32
    %n02 = arith.xori %y0, %k1 : i32
    %k0a = arith.addi %k0, %w0 : i32
    %k0b = arith.addi %k1, %w1 : i32
    %lo1a, %hi1a = arith.mului_extended %n00, %m0 : i32
    %lo1b, %hi1b = arith.mului_extended %n02, %m1 : i32
    %x1 = arith.xori %hi1b, %lo0b : i32
    %n10 = arith.xori %x1, %k0a : i32
    %y1 = arith.xori %hi1a, %lo0a : i32
    %n12 = arith.xori %y1, %k0b : i32
    %k1a = arith.addi %k0a, %w0 : i32
    %k1b = arith.addi %k0b, %w1 : i32
    %lo2a, %hi2a = arith.mului_extended %n10, %m0 : i32
    %lo2b, %hi2b = arith.mului_extended %n12, %m1 : i32
    %x2 = arith.xori %hi2b, %lo1b : i32
    %n20 = arith.xori %x2, %k1a : i32
    %y2 = arith.xori %hi2a, %lo1a : i32
    %n22 = arith.xori %y2, %k1b : i32
    %k2a = arith.addi %k1a, %w0 : i32
    %k2b = arith.addi %k1b, %w1 : i32
    %lo3a, %hi3a = arith.mului_extended %n20, %m0 : i32
    %lo3b, %hi3b = arith.mului_extended %n22, %m1 : i32
    %x3 = arith.xori %hi3b, %lo2b : i32
    %n30 = arith.xori %x3, %k2a : i32
    %y3 = arith.xori %hi3a, %lo2a : i32
    %n32 = arith.xori %y3, %k2b : i32
    %k3a = arith.addi %k2a, %w0 : i32
    %k3b = arith.addi %k2b, %w1 : i32
    %lo4a, %hi4a = arith.mului_extended %n30, %m0 : i32
    %lo4b, %hi4b = arith.mului_extended %n32, %m1 : i32
    %x4 = arith.xori %hi4b, %lo3b : i32
    %n40 = arith.xori %x4, %k3a : i32
    %y4 = arith.xori %hi4a, %lo3a : i32
    %n42 = arith.xori %y4, %k3b : i32
    %k4a = arith.addi %k3a, %w0 : i32
    %k4b = arith.addi %k3b, %w1 : i32
    %lo5a, %hi5a = arith.mului_extended %n40, %m0 : i32
    %lo5b, %hi5b = arith.mului_extended %n42, %m1 : i32
    %x5 = arith.xori %hi5b, %lo4b : i32
    %n50 = arith.xori %x5, %k4a : i32
    %y5 = arith.xori %hi5a, %lo4a : i32
    %n52 = arith.xori %y5, %k4b : i32
    %k5a = arith.addi %k4a, %w0 : i32
    %k5b = arith.addi %k4b, %w1 : i32
    %lo6a, %hi6a = arith.mului_extended %n50, %m0 : i32
    %lo6b, %hi6b = arith.mului_extended %n52, %m1 : i32
    %x6 = arith.xori %hi6b, %lo5b : i32
    %n60 = arith.xori %x6, %k5a : i32
    %y6 = arith.xori %hi6a, %lo5a : i32
    %n62 = arith.xori %y6, %k5b : i32
    %k6a = arith.addi %k5a, %w0 : i32
    %k6b = arith.addi %k5b, %w1 : i32
    %lo7a, %hi7a = arith.mului_extended %n60, %m0 : i32
    %lo7b, %hi7b = arith.mului_extended %n62, %m1 : i32
    %x7 = arith.xori %hi7b, %lo6b : i32
    %n70 = arith.xori %x7, %k6a : i32
    %y7 = arith.xori %hi7a, %lo6a : i32
    %n72 = arith.xori %y7, %k6b : i32
    %k7a = arith.addi %k6a, %w0 : i32
    %k7b = arith.addi %k6b, %w1 : i32
    %lo8a, %hi8a = arith.mului_extended %n70, %m0 : i32
    %lo8b, %hi8b = arith.mului_extended %n72, %m1 : i32
    %x8 = arith.xori %hi8b, %lo7b : i32
    %n80 = arith.xori %x8, %k7a : i32
    %y8 = arith.xori %hi8a, %lo7a : i32
    %n82 = arith.xori %y8, %k7b : i32
    %k8a = arith.addi %k7a, %w0 : i32
    %k8b = arith.addi %k7b, %w1 : i32
    %lo9a, %hi9a = arith.mului_extended %n80, %m0 : i32
    %lo9b, %hi9b = arith.mului_extended %n82, %m1 : i32
    %x9 = arith.xori %hi9b, %lo8b : i32
    %n90 = arith.xori %x9, %k8a : i32
    %y9 = arith.xori %hi9a, %lo8a : i32
    %n92 = arith.xori %y9, %k8b : i32
    linalg.yield %n90, %lo9b, %n92, %lo9a : i32, i32, i32, i32
  } -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
}
