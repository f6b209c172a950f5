// One operation of each class: what it becomes, and how many of it.
// RUN: tracea-opt %s --convert-tracea-pipe-to-gpu --canonicalize --cse --split-input-file | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-gpu --split-input-file -o /dev/null \
// RUN:   --remarks-filter=convert-tracea-pipe-to-gpu 2>&1 | FileCheck %s --check-prefix=REMARK

#a = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
#b = #tracea_pipe.lanes<reg = [[0, 2], [0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
#skewed = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 1], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  gpu.module @m {
    // Registers are renamed.
    // REMARK: TileMoved {{.*}}Bytes=0, Class="register move", MemoryCycles=0, {{.*}}Shuffles=0
    // REMARK: TileMoved {{.*}}Bytes=0, Class="register select", MemoryCycles=0, {{.*}}Shuffles=0
    // CHECK-LABEL: gpu.func @move
    // CHECK-NEXT:    %[[X:.*]]:4 = vector.to_elements %{{.*}} : vector<4xf32>
    // CHECK-NEXT:    %[[Y:.*]] = vector.from_elements %[[X]]#0, %[[X]]#2, %[[X]]#1, %[[X]]#3 : vector<4xf32>
    // CHECK-NEXT:    gpu.return %[[Y]]
    gpu.func @move(%v: vector<4xf32>) -> vector<4xf32> {
      %x = builtin.unrealized_conversion_cast %v : vector<4xf32> to tensor<32x4xf32, #a>
      %y = tracea_pipe.relayout %x : tensor<32x4xf32, #a> -> tensor<32x4xf32, #b>
      %w = builtin.unrealized_conversion_cast %y : tensor<32x4xf32, #b> to vector<4xf32>
      gpu.return %w : vector<4xf32>
    }
    // Odd lanes have their neighbours in pairs: one select a register.
    // CHECK-LABEL: gpu.func @select
    // CHECK-NOT:     gpu.shuffle
    // CHECK:         %[[BIT:.*]] = arith.andi
    // CHECK:         %[[ODD:.*]] = arith.cmpi ne, %[[BIT]]
    // CHECK-COUNT-4: arith.select %[[ODD]]
    // CHECK-NOT:     arith.select
    // CHECK:         gpu.return
    gpu.func @select(%v: vector<4xf32>) -> vector<4xf32> {
      %x = builtin.unrealized_conversion_cast %v : vector<4xf32> to tensor<32x4xf32, #a>
      %y = tracea_pipe.relayout %x : tensor<32x4xf32, #a> -> tensor<32x4xf32, #skewed>
      %w = builtin.unrealized_conversion_cast %y : tensor<32x4xf32, #skewed> to vector<4xf32>
      gpu.return %w : vector<4xf32>
    }
  }
}

// -----

#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], outer = [1, 1]>
#columns = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  gpu.module @m {
    // A transpose of eight lanes: seven rounds, each at one distance; the diagonal
    // stays at home.
    // REMARK: TileMoved {{.*}}Bytes=0, Class=shuffle, MemoryCycles=0, {{.*}}Shuffles=7
    // CHECK-LABEL:   gpu.func @transpose
    // CHECK-COUNT-7: gpu.shuffle xor
    // CHECK-NOT:     gpu.shuffle
    // CHECK-NOT:     gpu.barrier
    // CHECK:         gpu.return
    gpu.func @transpose(%v: vector<8xf32>) -> vector<8xf32> {
      %x = builtin.unrealized_conversion_cast %v : vector<8xf32> to tensor<32x8xf32, #rows>
      %y = tracea_pipe.relayout %x : tensor<32x8xf32, #rows> -> tensor<32x8xf32, #columns>
      %w = builtin.unrealized_conversion_cast %y : tensor<32x8xf32, #columns> to vector<8xf32>
      gpu.return %w : vector<8xf32>
    }
  }
}

// -----

#d = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#a8 = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  gpu.module @m {
    // Four bytes travel in a word.
    // REMARK: TileMoved {{.*}}Bytes=0, Class=shuffle, MemoryCycles=0, {{.*}}Shuffles=4
    // CHECK-LABEL:   gpu.func @packed
    // CHECK-COUNT-4: gpu.shuffle {{.*}} : i32
    // CHECK-NOT:     gpu.shuffle
    // CHECK:         gpu.return
    gpu.func @packed(%v: vector<16xi8>) -> vector<16xi8> {
      %x = builtin.unrealized_conversion_cast %v : vector<16xi8> to tensor<16x32xi8, #d>
      %y = tracea_pipe.relayout %x : tensor<16x32xi8, #d> -> tensor<16x32xi8, #a8>
      %w = builtin.unrealized_conversion_cast %y : tensor<16x32xi8, #a8> to vector<16xi8>
      gpu.return %w : vector<16xi8>
    }
  }
}

// -----

#left = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0]], outer = [1, 1]>
#right = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4]], warp = [[0, 8]], outer = [1, 1]>
#sum = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 0], [0, 0], [0, 0]], warp = [[0, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  gpu.module @m {
    // Warps exchange 16 bytes a lane, each side at four wavefronts.
    // REMARK: TileMoved {{.*}}Bytes=1024, Class="shared memory", MemoryCycles=8, {{.*}}Shuffles=0
    // CHECK-LABEL: gpu.func @memory
    // CHECK-SAME:    workgroup(%[[BYTES:.*]] : memref<1024xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
    // CHECK:         %[[MEMORY:.*]] = memref.view %[[BYTES]]
    // CHECK:         gpu.barrier
    // CHECK:         vector.store %{{.*}}, %[[MEMORY]][%{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
    // CHECK-NEXT:    gpu.barrier
    // CHECK:         vector.load %[[MEMORY]][%{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
    // CHECK-NOT:     gpu.barrier
    // CHECK:         gpu.return
    gpu.func @memory(%v: vector<4xf32>) -> vector<4xf32> {
      %x = builtin.unrealized_conversion_cast %v : vector<4xf32> to tensor<16x16xf32, #left>
      %y = tracea_pipe.relayout %x : tensor<16x16xf32, #left> -> tensor<16x16xf32, #right>
      %w = builtin.unrealized_conversion_cast %y : tensor<16x16xf32, #right> to vector<4xf32>
      gpu.return %w : vector<4xf32>
    }
    // Eight rows of a warp by three exchanges of four registers, then two warps.
    // CHECK-LABEL:    gpu.func @columns
    // CHECK-COUNT-12: gpu.shuffle xor
    // CHECK-NOT:      gpu.shuffle
    // CHECK:          gpu.barrier
    // CHECK-COUNT-4:  memref.store
    // CHECK:          gpu.barrier
    // CHECK-COUNT-4:  memref.load
    // CHECK-NOT:      memref.load
    // CHECK:          gpu.return
    gpu.func @columns(%v: vector<4xf32>) -> vector<4xf32> {
      %x = builtin.unrealized_conversion_cast %v : vector<4xf32> to tensor<16x16xf32, #left>
      %y = tracea_pipe.reduce add %x dim 0 : tensor<16x16xf32, #left> -> tensor<1x16xf32, #sum>
      %w = builtin.unrealized_conversion_cast %y : tensor<1x16xf32, #sum> to vector<4xf32>
      gpu.return %w : vector<4xf32>
    }
  }
}
