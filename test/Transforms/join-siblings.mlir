// Small elementwise operations, and reductions of one tensor, are one, where the first of their results is read.
// RUN: tracea-opt %s --tracea-join-siblings --split-input-file | FileCheck %s

// Two stand side by side, and the last one needs both: all are one, without a result for the first, which nobody else reads.
// CHECK-LABEL: func.func @moments(
// CHECK-SAME:    %[[X:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<64xbf16>
// CHECK:         %[[ALL:.*]]:2 = linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]], #[[ID]], #[[ID]]], iterator_types = ["parallel"]}
// CHECK-SAME:      ins(%[[X]], %[[Y]] : tensor<64xf32>, tensor<64xbf16>) outs(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: bf16, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[S:.*]] = math.sqrt %[[A]] : f32
// CHECK-NEXT:      %[[W:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT:      %[[T:.*]] = arith.addf %[[S]], %[[W]] : f32
// CHECK-NEXT:      linalg.yield %[[W]], %[[T]] : f32, f32
// CHECK:         return %[[ALL]]#0, %[[ALL]]#1
#id = affine_map<(c) -> (c)>
func.func @moments(%x: tensor<64xf32>, %y: tensor<64xbf16>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %root = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: bf16, %old: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%root, %wide : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %wide, %sum : tensor<64xf32>, tensor<64xf32>
}

// -----

// Numbers without dimensions too; others of extents of their own, or many, stay as they are.
// CHECK-LABEL: func.func @counters(
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}], iterator_types = []}
// CHECK:         return %{{.*}}, %{{.*}}, %[[BOTH]]#{{[01]}}, %[[BOTH]]#{{[01]}}
#none = affine_map<() -> ()>
#id = affine_map<(c) -> (c)>
func.func @counters(%x: tensor<i64>, %y: tensor<i64>, %z: tensor<32768xf32>, %v: tensor<?xf32>)
    -> (tensor<32768xf32>, tensor<?xf32>, tensor<i64>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<i64>
  %m = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%x : tensor<i64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %old: i64):
    %one = arith.constant 1 : i64
    %s = arith.addi %a, %one : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %n = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%y : tensor<i64>) outs(%e : tensor<i64>) {
  ^bb0(%a: i64, %old: i64):
    %two = arith.constant 2 : i64
    %s = arith.addi %a, %two : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %e1 = tensor.empty() : tensor<32768xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%z : tensor<32768xf32>) outs(%e1 : tensor<32768xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<32768xf32>
  %d = tensor.dim %v, %c0 : tensor<?xf32>
  %e2 = tensor.empty(%d) : tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<?xf32>) outs(%e2 : tensor<?xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %p, %q, %m, %n : tensor<32768xf32>, tensor<?xf32>, tensor<i64>, tensor<i64>
}

// -----

// What one makes for another is a value of the body, and no result where nobody else reads it. The third, of other extents,
// reads the second.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[Y]] : tensor<8xf32>, tensor<8xf32>) outs(
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT:      %[[F:.*]] = arith.addf %[[E]], %[[B]]
// CHECK-NEXT:      %[[G:.*]] = math.sqrt %[[F]]
// CHECK-NEXT:      linalg.yield %[[F]], %[[G]]
// CHECK:         linalg.generic {{.*}} ins(%[[BOTH]]#0 :
#id = affine_map<(c) -> (c)>
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %e4 = tensor.empty() : tensor<4x8xf32>
  %a0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %a1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a0, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %a2 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (c)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<8xf32>) outs(%e4 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %a3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a1 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %a2, %a3 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// What reads a result in another order, or at a place of its own, reads all of it: it is another operation.
// CHECK-LABEL: func.func @other_order(
// CHECK-COUNT-3: linalg.generic {{.*}} outs(%{{[0-9]+}} :
#id = affine_map<(i, j) -> (i, j)>
func.func @other_order(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %a0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %a1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %a2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %t = tensor.extract %a1[%c0, %c0] : tensor<8x8xf32>
    %s = arith.addf %a, %t : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %a0, %a1, %a2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Reductions that go through one tensor alike, of any size, read it once. One over other dimensions, one of another tensor, and
// one that needs what is summed stay as they are.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:    %[[G:.*]]: tensor<?x64xbf16>, %[[X:.*]]: tensor<?x64xf32>
// CHECK:         linalg.generic {{.*}}"parallel", "reduction"]} ins(%[[G]] :
// CHECK:         linalg.generic {{.*}}"reduction", "parallel"]} ins(%[[X]] :
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]], #[[C:.*]], #[[C]]], iterator_types = ["reduction", "parallel"]} ins(%[[G]], %[[X]] : tensor<?x64xbf16>, tensor<?x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: f32, %[[P:.*]]: f32, %[[Q:.*]]: f32):
// CHECK-NEXT:      %[[W:.*]] = arith.extf %[[A]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[W]]
// CHECK-NEXT:      %[[V:.*]] = arith.extf %[[A]]
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[V]], %[[B]]
// CHECK-NEXT:      %[[T:.*]] = arith.addf %[[Q]], %[[M]]
// CHECK-NEXT:      linalg.yield %[[S]], %[[T]]
// CHECK:         %[[LAST:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[BOTH]]#0 :
// CHECK:         return %[[BOTH]]#0, %[[BOTH]]#1, %{{.*}}, %{{.*}}, %[[LAST]]
#id = affine_map<(n, c) -> (n, c)>
#of = affine_map<(n, c) -> (c)>
func.func @sums(%g: tensor<?x64xbf16>, %x: tensor<?x64xf32>, %rows: tensor<?xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<?xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s0 = linalg.generic {indexing_maps = [#id, #of], iterator_types = ["reduction", "parallel"]} ins(%g : tensor<?x64xbf16>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: bf16, %old: f32):
    %w = arith.extf %a : bf16 to f32
    %s = arith.addf %old, %w : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %s1 = linalg.generic {indexing_maps = [#id, #id, #of], iterator_types = ["reduction", "parallel"]} ins(%g, %x : tensor<?x64xbf16>, tensor<?x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: bf16, %b: f32, %old: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.mulf %w, %b : f32
    %s = arith.addf %old, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %s2 = linalg.generic {indexing_maps = [#id, affine_map<(n, c) -> (n)>], iterator_types = ["parallel", "reduction"]} ins(%g : tensor<?x64xbf16>) outs(%rows : tensor<?xf32>) {
  ^bb0(%a: bf16, %old: f32):
    %w = arith.extf %a : bf16 to f32
    %s = arith.addf %old, %w : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %s3 = linalg.generic {indexing_maps = [#id, #of], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %m = arith.mulf %a, %a : f32
    %s = arith.addf %old, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %s4 = linalg.generic {indexing_maps = [#id, #of, #of], iterator_types = ["reduction", "parallel"]} ins(%g, %s0 : tensor<?x64xbf16>, tensor<64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: bf16, %b: f32, %old: f32):
    %w = arith.extf %a : bf16 to f32
    %m = arith.mulf %w, %b : f32
    %s = arith.addf %old, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %s0, %s1, %s2, %s3, %s4 : tensor<64xf32>, tensor<64xf32>, tensor<?xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// What constants alone decide is computed once: it is joined with its like, through what else is made of constants, and not with what each run computes.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>, %[[V:.*]]: tensor<8xf32> {tracea.constant}, %[[W:.*]]: tensor<2x4xf32> {tracea.constant}
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[W]]
// CHECK-DAG:     %[[EACH:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[Y]] : tensor<8xf32>, tensor<8xf32>)
// CHECK-DAG:     %[[ONCE:.*]]:2 = linalg.generic {{.*}} ins(%[[V]], %[[FLAT]] : tensor<8xf32>, tensor<8xf32>)
// CHECK:         return %[[EACH]]#0, %[[ONCE]]#0, %[[EACH]]#1, %[[ONCE]]#1
#id = affine_map<(c) -> (c)>
func.func @constants(%x: tensor<8xf32>, %y: tensor<8xf32>, %v: tensor<8xf32> {tracea.constant}, %w: tensor<2x4xf32> {tracea.constant})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %flat = tensor.collapse_shape %w [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %a0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %a1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %a2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %a3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%flat : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %a0, %a1, %a2, %a3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
