// RUN: tracea-opt %s --pass-pipeline="builtin.module(func.func(tracea-expand-functions))" | FileCheck %s
// RUN: tracea run %s --entry check --random-inputs --check
// RUN: tracea compile %s --entry check_f16 --target x86-64-v3 -o %t

// CHECK-LABEL: func.func @both(
// CHECK-DAG:     %[[S:.*]] = math.sin %[[X:.*]] : f32
// CHECK-DAG:     %[[C:.*]] = math.cos %[[X]] : f32
// CHECK:         return %[[S]], %[[C]]
func.func @both(%x: f32) -> (f32, f32) {
  %s, %c = math.sincos %x : f32
  return %s, %c : f32, f32
}

// The least normal number is that of the type.
// CHECK-LABEL: func.func @classes(
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 6.103520e-05 : f16
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 6.550400e+04 : f16
// CHECK-DAG:     %[[INF:.*]] = arith.constant 0x7C00 : f16
// CHECK-DAG:     arith.cmpf oeq, %{{.*}}, %[[INF]]
// CHECK-DAG:     %[[A:.*]] = arith.cmpf oge, %{{.*}}, %[[LEAST]]
// CHECK-DAG:     %[[B:.*]] = arith.cmpf ole, %{{.*}}, %[[MOST]]
// CHECK:         arith.andi %[[A]], %[[B]]
func.func @classes(%x: f16) -> (i1, i1) {
  %a = math.isinf %x : f16
  %b = math.isnormal %x : f16
  return %a, %b : i1, i1
}

// Products of twice as many bits, where there is a type of so many.
// CHECK-LABEL: func.func @products(
// CHECK-SAME:    %[[A:[a-z0-9]*]]: i32, %[[B:[a-z0-9]*]]: i32
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : i64
// CHECK-DAG:     %[[AZ:.*]] = arith.extui %[[A]] : i32 to i64
// CHECK-DAG:     %[[BZ:.*]] = arith.extui %[[B]] : i32 to i64
// CHECK-DAG:     %[[U:.*]] = arith.muli %[[AZ]], %[[BZ]] : i64
// CHECK-DAG:     %[[UH:.*]] = arith.shrui %[[U]], %[[C32]] : i64
// CHECK:         %[[LOW:.*]] = arith.trunci %[[U]] : i64 to i32
// CHECK:         %[[HIGH:.*]] = arith.trunci %[[UH]] : i64 to i32
// CHECK:         arith.extsi
// CHECK:         arith.shrsi
// CHECK:         arith.mului_extended
// CHECK:         return %[[LOW]], %[[HIGH]]
func.func @products(%a: i32, %b: i32, %c: tensor<8xi8>, %d: i64) -> (i32, i32, tensor<8xi8>, i64) {
  %low, %high = arith.mului_extended %a, %b : i32
  %l, %h = arith.mulsi_extended %c, %c : tensor<8xi8>
  %m, %n = arith.mului_extended %d, %d : i64
  return %low, %high, %h, %n : i32, i32, tensor<8xi8>, i64
}

func.func @check(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi1>, tensor<64xi1>, tensor<64xf32>) {
  %low = arith.constant dense<-0.5> : tensor<64xf32>
  %high = arith.constant dense<0.25> : tensor<64xf32>
  %s, %c = math.sincos %x : tensor<64xf32>
  %sum = arith.addf %s, %c : tensor<64xf32>
  %a = math.isinf %x : tensor<64xf32>
  %b = math.isnormal %x : tensor<64xf32>
  %d = math.clampf %x to [%low, %high] : tensor<64xf32>
  return %sum, %a, %b, %d : tensor<64xf32>, tensor<64xi1>, tensor<64xi1>, tensor<64xf32>
}

func.func @check_f16(%x: tensor<64xf16>) -> (tensor<64xi1>, tensor<64xi1>) {
  %a = math.isinf %x : tensor<64xf16>
  %b = math.isnormal %x : tensor<64xf16>
  return %a, %b : tensor<64xi1>, tensor<64xi1>
}
