// RUN: tracea-opt %s -split-input-file -tracea-outline-host | FileCheck %s

// The greatest elements of rows and the first of their numbers: the maximum of keys, an element's bits in their order above
// the complement of its number, none for NaN; then what a key says, or what was there before where no element exceeds that.
// CHECK-LABEL: func.func @argmax(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x1024xf32>, %[[V:[^:]*]]: memref<512xf32>, %[[P:[^:]*]]: memref<512xi64>)
// CHECK:         %[[K:.*]] = memref.alloc() : memref<512xi64>
// CHECK:         tracea_pipe.launch @[[KEYS:.*]] else {{.*}} ins(%[[X]] : memref<512x1024xf32>) outs(%[[K]] : memref<512xi64>)
// CHECK:         tracea_pipe.launch @[[RESULTS:.*]] else {{.*}} ins(%[[K]] : memref<512xi64>) outs(%[[V]], %[[P]] : {{.*}})
// CHECK-NOT:     tracea_pipe.launch
// CHECK:       tracea_pipe.kernel @[[KEYS]](
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<-9223372036854775808> : tensor<{{.*}}xi64
// CHECK:         %[[NAN:.*]] = arith.cmpf uno, %[[A:.*]], %[[A]]
// CHECK:         %[[ZERO:.*]] = arith.addf %[[A]], %{{.*}}
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[ZERO]]
// CHECK:         %[[SIGN:.*]] = arith.shrsi %[[BITS]]
// CHECK:         %[[TURN:.*]] = arith.andi %[[SIGN]]
// CHECK:         arith.xori %[[BITS]], %[[TURN]]
// CHECK:         %[[KEY:.*]] = arith.ori
// CHECK:         %[[OWN:.*]] = arith.select %[[NAN]], %{{.*}}, %[[KEY]]
// CHECK:         arith.maxsi %{{.*}}, %[[OWN]]
// CHECK:         tracea_pipe.reduce max
// CHECK:       tracea_pipe.kernel @[[RESULTS]](
// CHECK:         %[[THERE:.*]] = arith.cmpi ne
// CHECK:         %[[MORE:.*]] = arith.cmpf ugt
// CHECK:         %[[TAKEN:.*]] = arith.andi %[[THERE]], %[[MORE]]
// CHECK:         arith.select %[[TAKEN]], %{{.*}}, %{{.*}}
// CHECK:         arith.select %[[TAKEN]], %{{.*}}, %{{.*}}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @argmax(%x: memref<512x1024xf32>, %v: memref<512xf32>, %p: memref<512xi64>) {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 7 : i64
    linalg.fill ins(%low : f32) outs(%v : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%v, %p : memref<512xf32>, memref<512xi64>) {
    ^bb0(%a: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %w = arith.select %c, %k, %n : i64
      linalg.yield %u, %w : f32, i64
    }
    return
  }
}

// -----

// The last of the least integers of columns, numbers of 32 bits. The columns are cut into parts.
// CHECK-LABEL: func.func @last_argmin(
// CHECK-COUNT-3: tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         dense<9223372036854775807> : tensor<{{.*}}xi64
// CHECK:         %[[COUNT:.*]] = arith.constant dense<128> : tensor<{{.*}}xindex
// CHECK:         arith.muli %{{.*}}, %[[COUNT]]
// CHECK:         arith.minsi
// CHECK:         arith.cmpi sle
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @last_argmin(%x: memref<16384x512xi32>, %v: memref<512xi32>, %p: memref<512xi32>) {
    %high = arith.constant 2147483647 : i32
    %zero = arith.constant 0 : i32
    linalg.fill ins(%high : i32) outs(%v : memref<512xi32>)
    linalg.fill ins(%zero : i32) outs(%p : memref<512xi32>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<16384x512xi32>) outs(%v, %p : memref<512xi32>, memref<512xi32>) {
    ^bb0(%a: i32, %m: i32, %n: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %c = arith.cmpi sge, %m, %a : i32
      %u = arith.select %c, %a, %m : i32
      %w = arith.select %c, %k, %n : i32
      linalg.yield %u, %w : i32, i32
    }
    return
  }
}

// -----

// Elements of 64 bits have no keys: a maximum of what is no NaN, the least number of those that are equal to it, and the
// numbers that were there where no element exceeds what the maxima began with. So have rows that only the run knows.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x1024xf64>, %[[V:[^:]*]]: memref<512xf64>, %[[P:[^:]*]]: memref<512xi64>, %[[Y:[^:]*]]: memref<512x?xf32>
// CHECK:         %[[T:.*]] = memref.alloc() : memref<512xi64>
// CHECK:         tracea_pipe.launch @[[MAX:.*]] else {{.*}} ins(%[[X]] : memref<512x1024xf64>) outs(%[[V]] : memref<512xf64>)
// CHECK:         tracea_pipe.launch @[[FIRST:.*]] else {{.*}} ins(%[[X]], %[[V]] : {{.*}}) outs(%[[T]] : memref<512xi64>)
// CHECK:         tracea_pipe.launch @[[CHOICE:.*]] else {{.*}} ins(%[[T]], %[[V]] : {{.*}}) outs(%[[P]] : memref<512xi64>)
// CHECK-COUNT-2: tracea_pipe.launch {{.*}}%[[Y]]
// CHECK:         tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
// CHECK:       tracea_pipe.kernel @[[MAX]](
// CHECK:         %[[NAN:.*]] = arith.cmpf uno, %[[A:.*]], %[[A]]
// CHECK:         %[[OTHER:.*]] = arith.select %[[NAN]], %{{.*}}, %[[A]]
// CHECK:         arith.maximumf %{{.*}}, %[[OTHER]]
// CHECK:         tracea_pipe.reduce max
// CHECK:       tracea_pipe.kernel @[[FIRST]](
// CHECK:         %[[NONE:.*]] = arith.constant dense<9223372036854775807> : tensor<{{.*}}xi64
// CHECK:         %[[HERE:.*]] = arith.cmpf oeq
// CHECK:         %[[NUMBER:.*]] = arith.index_cast
// CHECK:         %[[OWN:.*]] = arith.select %[[HERE]], %[[NUMBER]], %{{.*}}
// CHECK:         arith.minsi %{{.*}}, %[[OWN]]
// CHECK:         tracea_pipe.reduce min
// CHECK:       tracea_pipe.kernel @[[CHOICE]](
// CHECK:         %[[LEFT:.*]] = arith.cmpi eq
// CHECK:         %[[LEAST:.*]] = arith.cmpf oeq
// CHECK:         %[[KEPT:.*]] = arith.ori %[[LEFT]], %[[LEAST]]
// CHECK:         arith.select %[[KEPT]], %{{.*}}, %{{.*}}
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @wide(%x: memref<512x1024xf64>, %v: memref<512xf64>, %p: memref<512xi64>, %y: memref<512x?xf32>, %w: memref<512xf32>, %q: memref<512xi64>) {
    %lowest = arith.constant 0xFFF0000000000000 : f64
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 7 : i64
    linalg.fill ins(%lowest : f64) outs(%v : memref<512xf64>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf64>) outs(%v, %p : memref<512xf64>, memref<512xi64>) {
    ^bb0(%a: f64, %m: f64, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : f64
      %u = arith.select %c, %a, %m : f64
      %t = arith.select %c, %k, %n : i64
      linalg.yield %u, %t : f64, i64
    }
    linalg.fill ins(%low : f32) outs(%w : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%q : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%y : memref<512x?xf32>) outs(%w, %q : memref<512xf32>, memref<512xi64>) {
    ^bb0(%a: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %t = arith.select %c, %k, %n : i64
      linalg.yield %u, %t : f32, i64
    }
    return
  }
}

// -----

// Others stay as they are: numbers that do not grow, a value that is not the one compared, results that nobody filled.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: variant = "linalg"
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @others(%x: memref<512x1024xf32>, %v: memref<512xf32>, %p: memref<512xi64>, %w: memref<512xf32>, %q: memref<512xi64>, %y: memref<512xf32>, %r: memref<512xi64>) {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i64
    %end = arith.constant 1023 : i64
    linalg.fill ins(%low : f32) outs(%v : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%v, %p : memref<512xf32>, memref<512xi64>) {
    ^bb0(%a: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %back = arith.subi %end, %k : i64
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %t = arith.select %c, %back, %n : i64
      linalg.yield %u, %t : f32, i64
    }
    linalg.fill ins(%low : f32) outs(%w : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%q : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%w, %q : memref<512xf32>, memref<512xi64>) {
    ^bb0(%a: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.addf %a, %m : f32
      %t = arith.select %c, %k, %n : i64
      linalg.yield %u, %t : f32, i64
    }
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%y, %r : memref<512xf32>, memref<512xi64>) {
    ^bb0(%a: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %t = arith.select %c, %k, %n : i64
      linalg.yield %u, %t : f32, i64
    }
    return
  }
}

// -----

// Elements of 16 bits, fewer than 65,535 of them: keys of 32 bits, the upper half of a bf16 and the complement of its number.
// CHECK-LABEL: func.func @narrow(
// CHECK:         memref.alloc() : memref<512xi32>
// CHECK:         tracea_pipe.launch @[[KEYS:.*]] else
// CHECK:       tracea_pipe.kernel @[[KEYS]](
// CHECK-DAG:     arith.constant dense<-2147483648> : tensor<{{.*}}xi32
// CHECK:         %[[TURNED:.*]] = arith.xori {{.*}} : tensor<{{.*}}xi32
// CHECK:         %[[MASK:.*]] = arith.constant dense<-65536>
// CHECK:         %[[UPPER:.*]] = arith.andi %[[TURNED]], %[[MASK]]
// CHECK:         %[[NUMBER:.*]] = arith.xori
// CHECK:         arith.ori %[[UPPER]], %[[NUMBER]]
// CHECK:         arith.maxsi {{.*}} : tensor<{{.*}}xi32
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @narrow(%x: memref<512x1024xbf16>, %v: memref<512xbf16>, %p: memref<512xi64>) {
    %low = arith.constant 0xFF80 : bf16
    %zero = arith.constant 0 : i64
    linalg.fill ins(%low : bf16) outs(%v : memref<512xbf16>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xbf16>) outs(%v, %p : memref<512xbf16>, memref<512xi64>) {
    ^bb0(%a: bf16, %m: bf16, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %a, %m : bf16
      %u = arith.select %c, %a, %m : bf16
      %w = arith.select %c, %k, %n : i64
      linalg.yield %u, %w : bf16, i64
    }
    return
  }
}

// -----

// Elements may be computed, of several operands and of numbers: here one of each row is left out. Two passes compute it twice,
// for elements of 64 bits; the greatest of what has been found before is none of the inputs.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x1024xf32>, %[[I:[^:]*]]: memref<512xi64>
// CHECK:         tracea_pipe.launch @[[KEYS:.*]] else {{.*}} ins(%[[I]], %[[X]] : {{.*}}) outs(%{{.*}} : memref<512xi64>)
// CHECK:         tracea_pipe.launch @{{.*}} ins(%{{.*}} : memref<512xi64>)
// CHECK-NOT:     tracea_pipe.launch
// CHECK-LABEL: func.func @computed_twice(
// CHECK-SAME:    %[[X:[^:]*]]: memref<512x1024xf64>, %[[V:[^:]*]]: memref<512xf64>
// CHECK:         tracea_pipe.launch @[[VALUES:.*]] else {{.*}} ins(%[[X]] : {{.*}}) outs(%[[V]] : {{.*}})
// CHECK:         tracea_pipe.launch @[[NUMBERS:.*]] else {{.*}} ins(%[[X]], %[[V]] : {{.*}})
// CHECK:         tracea_pipe.launch
// CHECK-NOT:     tracea_pipe.launch
// CHECK-LABEL: func.func @of_results(
// CHECK:         tracea_pipe.launch @{{[a-z_0-9]*}} ins(%{{.*}} : memref<512x1024xf32>) outs(%{{.*}}, %{{.*}} : memref<512xf32>, memref<512xi64>)
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_0(
// CHECK:         %[[OUT:.*]] = arith.cmpi eq
// CHECK:         %[[A:.*]] = arith.select %[[OUT]], %{{.*}}, %{{.*}} : {{.*}}xf32
// CHECK:         arith.cmpf uno, %[[A]], %[[A]]
// CHECK:         tracea_pipe.reduce max
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_4(
// CHECK:         %[[B:.*]] = arith.negf
// CHECK:         arith.cmpf uno, %[[B]], %[[B]]
// CHECK-LABEL: tracea_pipe.kernel @linalg_generic_6(
// CHECK:         %[[B:.*]] = arith.negf
// CHECK:         arith.cmpf oeq, %[[B]],
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32, cores = 132>} {
  func.func @computed(%x: memref<512x1024xf32>, %i: memref<512xi64>, %v: memref<512xf32>, %p: memref<512xi64>) {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i64
    linalg.fill ins(%low : f32) outs(%v : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%i, %x : memref<512xi64>, memref<512x1024xf32>) outs(%v, %p : memref<512xf32>, memref<512xi64>) {
    ^bb0(%q: i64, %b: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %out = arith.cmpi eq, %k, %q : i64
      %a = arith.select %out, %low, %b : f32
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %w = arith.select %c, %k, %n : i64
      linalg.yield %u, %w : f32, i64
    }
    return
  }
  func.func @computed_twice(%x: memref<512x1024xf64>, %v: memref<512xf64>, %p: memref<512xi64>) {
    %low = arith.constant 0xFFF0000000000000 : f64
    %zero = arith.constant 0 : i64
    linalg.fill ins(%low : f64) outs(%v : memref<512xf64>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf64>) outs(%v, %p : memref<512xf64>, memref<512xi64>) {
    ^bb0(%b: f64, %m: f64, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %a = arith.negf %b : f64
      %c = arith.cmpf olt, %m, %a : f64
      %u = arith.select %c, %a, %m : f64
      %w = arith.select %c, %k, %n : i64
      linalg.yield %u, %w : f64, i64
    }
    return
  }
  func.func @of_results(%x: memref<512x1024xf32>, %v: memref<512xf32>, %p: memref<512xi64>) {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i64
    linalg.fill ins(%low : f32) outs(%v : memref<512xf32>)
    linalg.fill ins(%zero : i64) outs(%p : memref<512xi64>)
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x1024xf32>) outs(%v, %p : memref<512xf32>, memref<512xi64>) {
    ^bb0(%b: f32, %m: f32, %n: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %a = arith.addf %b, %m : f32
      %c = arith.cmpf ogt, %a, %m : f32
      %u = arith.select %c, %a, %m : f32
      %w = arith.select %c, %k, %n : i64
      linalg.yield %u, %w : f32, i64
    }
    return
  }
}
