// Numbers that a function is given are known to the run: sizes and offsets
// follow from integers, kernels get all of them.

// RUN: tracea compile %s --target x86-64-v3 -o %t.tracea
// RUN: tracea explain %t.tracea | FileCheck %s
// RUN: tracea explain %t.tracea --recheck

// CHECK-LABEL: entry fill
// CHECK-NEXT:    takes 'arg0' f32{{$}}
// CHECK-NEXT:    takes 'n' index{{$}}
// CHECK-NEXT:    requires (0 <= n): {{.*}}a tensor has a negative size
// CHECK:         0: launch {{.*}} tiles (arg0; %0 f32[n]){{$}}
func.func @fill(%s: f32, %n: index {tracea.name = "n"}) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.fill ins(%s : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// What has fewer bits wraps as it does in a kernel.
// CHECK-LABEL: entry prefix
// CHECK:         takes 'from' i64{{$}}
// CHECK:         takes 'k' i32{{$}}
// CHECK:         requires (0 <= (mod(((k * 3) + 2147483648), 4294967296) - 2147483648)): {{.*}}a tensor has a negative size
// CHECK:         requires (0 <= from): {{.*}}the slice begins before dimension 0
// CHECK:         requires {{.*}}: {{.*}}the slice reaches beyond dimension 0
func.func @prefix(%x: tensor<?x8xf32>, %from: i64 {tracea.name = "from"}, %k: i32 {tracea.name = "k"}) -> tensor<?x8xf32> {
  %c3 = arith.constant 3 : i32
  %i = arith.index_cast %from : i64 to index
  %k3 = arith.muli %k, %c3 : i32
  %n = arith.index_cast %k3 : i32 to index
  %part = tensor.extract_slice %x[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%part : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = arith.sitofp %k : i32 to f32
    %m = arith.mulf %a, %f : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// Operations without a sign ask for numbers that have none.
// CHECK-LABEL: entry halves
// CHECK:         requires (0 <= n): {{.*}}an operand of 'arith.divui', which has no sign, is negative
func.func @halves(%n: i64 {tracea.name = "n"}) -> tensor<?xf32> {
  %two = arith.constant 2 : i64
  %one = arith.constant 1.0 : f32
  %half = arith.divui %n, %two : i64
  %size = arith.index_cast %half : i64 to index
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Buffers of nothing but such numbers are tables, and no kernel fills them.
// CHECK-LABEL: entry shape
// CHECK:         %[[SIZES:[0-9]+]] = table of index {dim(arg0, 0), dim(arg0, 1), (dim(arg0, 0) * dim(arg0, 1))}
// CHECK-NEXT:    %[[NUMBERS:[0-9]+]] = table of f32 {s, 1056964608}
// CHECK-NEXT:    gives %[[SIZES]] index[3]
// CHECK-NEXT:    gives %[[NUMBERS]] f32[2]
func.func @shape(%x: tensor<?x?xf32>, %s: f32 {tracea.name = "s"}) -> (tensor<3xindex>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %a = tensor.dim %x, %c0 : tensor<?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?xf32>
  %ab = arith.muli %a, %b : index
  %sizes = tensor.from_elements %a, %b, %ab : tensor<3xindex>
  %numbers = tensor.from_elements %s, %half : tensor<2xf32>
  return %sizes, %numbers : tensor<3xindex>, tensor<2xf32>
}

// Results that are numbers are tables of one element.
// CHECK-LABEL: entry next
// CHECK:         %0 = table of i64 {(n + 1)}
// CHECK-NEXT:    %1 = table of f32 {s}
// CHECK-NEXT:    gives %0 i64[]
// CHECK-NEXT:    gives %1 f32[]
func.func @next(%n: i64 {tracea.name = "n"}, %s: f32 {tracea.name = "s"}) -> (i64, f32) {
  %one = arith.constant 1 : i64
  %r = arith.addi %n, %one : i64
  return %r, %s : i64, f32
}

// A number that is computed, or stored in part, takes a kernel.
// CHECK-LABEL: entry computed
// CHECK:         %0 = temporary of 4 bytes
// CHECK:         0: launch memref_store_{{[0-9]+}}, 1 tiles (s; %0 f32[1])
func.func @computed(%s: f32 {tracea.name = "s"}) -> tensor<1xf32> {
  %square = arith.mulf %s, %s : f32
  %r = tensor.from_elements %square : tensor<1xf32>
  return %r : tensor<1xf32>
}

// So does a number that a kernel computes, and one that is read from a tensor.
// CHECK-LABEL: entry element
// CHECK:         requires (3 < dim(arg0, 0)): {{.*}}an element is read beyond dimension 0
// CHECK:         launch memref_store_{{[0-9]+}}, 1 tiles (%0 f32[dim(arg0, 0)]; s; %[[ELEMENT:[0-9]+]] f32[]; %[[SCALED:[0-9]+]] f32[])
// CHECK-NEXT:    gives %[[ELEMENT]] f32[]
// CHECK-NEXT:    gives %[[SCALED]] f32[]
func.func @element(%x: tensor<?xf32>, %s: f32 {tracea.name = "s"}) -> (f32, f32) {
  %c3 = arith.constant 3 : index
  %element = tensor.extract %x[%c3] : tensor<?xf32>
  %scaled = arith.mulf %element, %s : f32
  return %element, %scaled : f32, f32
}
