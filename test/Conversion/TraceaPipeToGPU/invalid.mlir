// RUN: tracea-opt %s --convert-tracea-pipe-to-gpu --verify-diagnostics --split-input-file

// expected-error@+1 {{the module needs the attribute 'tracea.target' to know the lanes and banks of its target}}
module {
}

// -----

// The banks of this one are not known.
// expected-error@+1 {{the phases of shared-memory accesses of 'gfx90a' are not known}}
module attributes {tracea.target = #tracea.target<kind = rocm, name = "gfx90a", triple = "amdgcn-amd-amdhsa", cpu = "gfx90a">} {
}

// -----

#wide = #tracea_pipe.lanes<lane = [[1], [2], [4], [8], [16], [32]], outer = [1]>
#turned = #tracea_pipe.lanes<lane = [[2], [1], [4], [8], [16], [32]], outer = [1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  func.func @lanes(%x: tensor<64xf32, #wide>) {
    // expected-error@+1 {{cannot be lowered: expected lane maps of at most 32 lanes, found 64}}
    %y = tracea_pipe.relayout %x : tensor<64xf32, #wide> -> tensor<64xf32, #turned>
    return
  }
}

// -----

#left = #tracea_pipe.lanes<lane = [[1], [2], [4], [8], [16]], warp = [[32]], outer = [1]>
#right = #tracea_pipe.lanes<lane = [[2], [32], [4], [8], [16]], warp = [[1]], outer = [1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  func.func @nowhere(%x: tensor<64xf32, #left>) {
    // expected-error@+1 {{moves values between warps, for which a function without a workgroup has no memory}}
    %y = tracea_pipe.relayout %x : tensor<64xf32, #left> -> tensor<64xf32, #right>
    return
  }
}

// -----

#rows = #tracea_pipe.lanes<lane = [[1], [2], [4], [8], [16]], outer = [1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  gpu.module @m {
    gpu.func @by_lane() {
      // expected-error@+2 {{expects a constant that is the same in every lane}}
      // expected-error@+1 {{failed to legalize}}
      %c = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xi32, #rows>
      gpu.return
    }
  }
}
