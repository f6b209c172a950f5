//===- WaveTargetTest.cpp - Kernels of another GPU than NVIDIA's ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The level that all GPUs share takes neither a pointer nor a warp of 32 lanes
// for granted: whole kernels are lowered for a target of 64 lanes whose buffers
// are handles, and run lane by lane.

#include "WaveTarget.h"
#include "TileHarness.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Parses a kernel and lowers it.
struct WaveKernel {
  WaveKernel(TileHarness &harness, const std::string &text) {
    harness.context.allowUnregisteredDialects();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&harness.context));
    if (module)
      function = lowerToWaves(*module->getOps<KernelOp>().begin());
    EXPECT_TRUE(function) << text;
  }

  OwningOpRef<ModuleOp> module;
  gpu::GPUFuncOp function;
};
} // namespace

template <typename T>
static BufferArgument getBuffer(const std::vector<T> &elements) {
  BufferArgument buffer;
  buffer.bytes.resize(elements.size() * sizeof(T));
  std::memcpy(buffer.bytes.data(), elements.data(), buffer.bytes.size());
  buffer.shape = {static_cast<int64_t>(buffer.bytes.size())};
  return buffer;
}

template <typename T>
static std::vector<T> getElements(const BufferArgument &buffer) {
  std::vector<T> elements(buffer.bytes.size() / sizeof(T));
  std::memcpy(elements.data(), buffer.bytes.data(), buffer.bytes.size());
  return elements;
}

// Two waves multiply blocks of a ring that they fill themselves, and reduce
// their sums along rows, which is between lanes, and along columns, which is
// between waves.
static const char kProduct[] = R"mlir(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#a = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 32]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]],
  warp = [[16, 0]], outer = [1, 1]>
#b = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [32, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [16, 0]],
  warp = [[0, 0]], outer = [1, 1]>
#d = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [4, 0], [8, 0]],
  warp = [[16, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]],
  lane = [[0, 0], [0, 0], [0, 0], [0, 0], [4, 0], [8, 0]],
  warp = [[16, 0]], outer = [1, 1]>
#columns = #tracea_pipe.lanes<reg = [],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 0], [0, 0]],
  warp = [[0, 0]], outer = [1, 1]>
!blockA = memref<32x64xi8, #tracea_pipe.staged>
!blockB = memref<64x16xi8, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!blockA, !blockB)>
!phase = !tracea_pipe.phase<2>
tracea_pipe.kernel @product(%A: memref<?x?xi8> {tracea_pipe.aligned = 16 : i64},
                            %B: memref<?x16xi8> {tracea_pipe.aligned = 16 : i64},
                            %D: memref<?x16xi32>, %R: memref<?xi32>,
                            %M: memref<?xi32>, %n: index)
    attributes {warps = 2 : i64, tracea_pipe.held_copies} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %depth = memref.dim %A, %c1 : memref<?x?xi8>
  tracea_pipe.tiles (%i) in (%n) {
    %row = arith.muli %i, %c32 : index
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    %zero = arith.constant dense<0> : tensor<32x16xi32, #d>
    %sum, %end = scf.for %k = %c0 to %depth step %c64
        iter_args(%acc = %zero, %p = %start) -> (tensor<32x16xi32, #d>, !phase) {
      %toA, %toB = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !blockA, !blockB
      tracea_pipe.copy %A[%row, %k] map #id padded [0, 1] to %toA : memref<?x?xi8>, !blockA
      tracea_pipe.copy %B[%k, %c0] map #id padded [0, 1] to %toB : memref<?x16xi8>, !blockB
      tracea_pipe.commit %ring[%p] : !ring, !phase
      %fromA, %fromB = tracea_pipe.wait %ring[%p] : !ring, !phase -> !blockA, !blockB
      %a = tracea_pipe.load %fromA[%c0, %c0] map #id : !blockA -> tensor<32x64xi8, #a>
      %b = tracea_pipe.load %fromB[%c0, %c0] map #id : !blockB -> tensor<64x16xi8, #b>
      %next = tracea_pipe.mma %a, %b, %acc
          : tensor<32x64xi8, #a>, tensor<64x16xi8, #b>, tensor<32x16xi32, #d>
      tracea_pipe.release %ring[%p] : !ring, !phase
      %q = tracea_pipe.advance %p : !phase
      scf.yield %next, %q : tensor<32x16xi32, #d>, !phase
    }
    tracea_pipe.store %sum, %D[%row, %c0] map #id : tensor<32x16xi32, #d>, memref<?x16xi32>
    %rows = tracea_pipe.reduce add %sum dim 1 : tensor<32x16xi32, #d> -> tensor<32x1xi32, #rows>
    tracea_pipe.store %rows, %R[%row] map #row : tensor<32x1xi32, #rows>, memref<?xi32>
    %columns = tracea_pipe.reduce add %sum dim 0 : tensor<32x16xi32, #d> -> tensor<1x16xi32, #columns>
    %first = arith.muli %i, %c16 : index
    tracea_pipe.store %columns, %M[%first] map #column : tensor<1x16xi32, #columns>, memref<?xi32>
  }
  tracea_pipe.end
}
)mlir";

TEST(WaveTarget, Product) {
  TileHarness harness;
  WaveKernel kernel(harness, kProduct);
  ASSERT_TRUE(kernel.function);
  constexpr int64_t kTiles = 2, kRows = 32 * kTiles, kColumns = 16,
                    kDepth = 192;
  std::vector<int8_t> a(kRows * kDepth), b(kDepth * kColumns);
  std::mt19937 random(5);
  for (std::vector<int8_t> *matrix : {&a, &b})
    for (int8_t &element : *matrix)
      element = static_cast<int8_t>(random());
  std::vector<BufferArgument> buffers = {
      getBuffer(a), getBuffer(b),
      getBuffer(std::vector<int32_t>(kRows * kColumns, 77)),
      getBuffer(std::vector<int32_t>(kRows, 77)),
      getBuffer(std::vector<int32_t>(kTiles * kColumns, 77))};
  WaveMachine machine(/*waves=*/2);
  auto everywhere = [&](int64_t value) {
    return ThreadValues(machine.getNumThreads(), {uint64_t(value)});
  };
  std::vector<ThreadValues> numbers;
  for (int64_t number :
       {kRows, kDepth, kDepth, kRows, kRows, kTiles * kColumns, kTiles})
    numbers.push_back(everywhere(number));
  for (machine.workgroup = 0; machine.workgroup < kTiles; ++machine.workgroup)
    ASSERT_EQ(machine.run(kernel.function, numbers, buffers), "");
  // Two instructions for each of the three steps of both tiles.
  EXPECT_EQ(machine.numMultiplies, 2 * 3 * kTiles);
  EXPECT_GT(machine.numShuffles, 0);
  EXPECT_GT(machine.numBarriers, 0);
  EXPECT_EQ(machine.widestAccess, 16);

  std::vector<int32_t> d(kRows * kColumns), rows(kRows),
      columns(kTiles * kColumns);
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kColumns; ++j) {
      int32_t &sum = d[i * kColumns + j];
      for (int64_t k = 0; k < kDepth; ++k)
        sum += a[i * kDepth + k] * b[k * kColumns + j];
      rows[i] += sum;
      columns[i / 32 * kColumns + j] += sum;
    }
  EXPECT_EQ(getElements<int32_t>(buffers[2]), d);
  EXPECT_EQ(getElements<int32_t>(buffers[3]), rows);
  EXPECT_EQ(getElements<int32_t>(buffers[4]), columns);
}

// A wave gathers the pixels that the taps of a filter see around those of a
// result, with channels in pieces of 16 bytes, and sums them: STRIDE, PAD,
// DILATION and TAPS are of both dimensions.
static const char kGather[] = R"mlir(
#window = affine_map<(n, p, q, c) -> (n, p * STRIDE, q * STRIDE, c)>
#id = affine_map<(i, j) -> (i, j)>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16], [32, 0]], outer = [1, 1]>
!block = memref<64x32xi8, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!block)>
!phase = !tracea_pipe.phase<2>
tracea_pipe.kernel @gather(
    %X: memref<?x?x?x32xi8> {tracea_pipe.aligned = 16 : i64},
    %Y: memref<?x32xi8> {tracea_pipe.aligned = 16 : i64},
    %height: index, %width: index, %n: index)
    attributes {warps = 1 : i64, tracea_pipe.held_copies} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %taps = arith.constant TAPS : index
  %all = arith.constant ALL : index
  %dilation = arith.constant DILATION : index
  %pad = arith.constant PAD : index
  tracea_pipe.tiles (%i) in (%n) {
    %first = arith.muli %i, %c64 : index
    %walk = tracea_pipe.delinearize %first into(%height, %width) : <3>
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    %zero = arith.constant dense<0> : tensor<64x32xi8, #rows>
    %sum, %end = scf.for %tap = %c0 to %all step %c1
        iter_args(%acc = %zero, %p = %start) -> (tensor<64x32xi8, #rows>, !phase) {
      %r = arith.divui %tap, %taps : index
      %s = arith.remui %tap, %taps : index
      %down = arith.muli %r, %dilation : index
      %right = arith.muli %s, %dilation : index
      %y = arith.subi %down, %pad : index
      %x = arith.subi %right, %pad : index
      %to = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !block
      tracea_pipe.copy %X[%c0, %y, %x, %c0] map #window
          along [0](%walk : !tracea_pipe.walk<3>) padded [0, 1, 2] to %to
          : memref<?x?x?x32xi8>, !block
      tracea_pipe.commit %ring[%p] : !ring, !phase
      %from = tracea_pipe.wait %ring[%p] : !ring, !phase -> !block
      %seen = tracea_pipe.load %from[%c0, %c0] map #id : !block -> tensor<64x32xi8, #rows>
      // Which tap saw a pixel tells.
      %weighted = arith.addi %acc, %acc : tensor<64x32xi8, #rows>
      %next = arith.addi %weighted, %seen : tensor<64x32xi8, #rows>
      tracea_pipe.release %ring[%p] : !ring, !phase
      %q = tracea_pipe.advance %p : !phase
      scf.yield %next, %q : tensor<64x32xi8, #rows>, !phase
    }
    tracea_pipe.store %sum, %Y[%first, %c0] map #id : tensor<64x32xi8, #rows>, memref<?x32xi8>
  }
  tracea_pipe.end
}
)mlir";

namespace {
struct Gather {
  int64_t images, height, width, taps, stride, pad, dilation;
};
} // namespace

// Both dimensions in one mask, each in one of its own, and steps that are too
// far apart for any: see StepMasks.
TEST(WaveTarget, GathersSeeNothingBeyondBorders) {
  constexpr int64_t kChannels = 32;
  for (const Gather &c : {Gather{2, 9, 11, 3, 1, 1, 1},
                          {1, 5, 40, 3, 2, 1, 1},
                          {3, 7, 6, 5, 1, 4, 3},
                          {2, 8, 30, 2, 3, 0, 5},
                          {1, 12, 10, 3, 1, 15, 15},
                          {1, 34, 40, 3, 1, 17, 17},
                          {1, 1, 1, 3, 1, 9, 9},
                          {2, 4, 4, 1, 1, 2, 1}}) {
    auto results = [&](int64_t extent) {
      return (extent + 2 * c.pad - (c.taps - 1) * c.dilation - 1) / c.stride +
             1;
    };
    int64_t height = results(c.height), width = results(c.width),
            pixels = c.images * height * width, tiles = (pixels + 63) / 64;
    std::string text = kGather;
    for (auto [name, value] :
         {std::pair<const char *, int64_t>("STRIDE", c.stride),
          {"PAD", c.pad},
          {"DILATION", c.dilation},
          {"TAPS", c.taps},
          {"ALL", c.taps * c.taps}})
      for (size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, std::string(name).size(), std::to_string(value));
    TileHarness harness;
    WaveKernel kernel(harness, text);
    ASSERT_TRUE(kernel.function);
    std::vector<int8_t> image(c.images * c.height * c.width * kChannels);
    std::mt19937 random(5);
    for (int8_t &element : image)
      element = static_cast<int8_t>(random());
    std::vector<BufferArgument> buffers = {
        getBuffer(image),
        getBuffer(std::vector<int8_t>(tiles * 64 * kChannels, 77))};
    WaveMachine machine(/*waves=*/1);
    std::vector<ThreadValues> numbers;
    for (int64_t number :
         {c.images, c.height, c.width, tiles * 64, height, width, tiles})
      numbers.push_back(
          ThreadValues(machine.getNumThreads(), {uint64_t(number)}));
    for (machine.workgroup = 0; machine.workgroup < tiles; ++machine.workgroup)
      ASSERT_EQ(machine.run(kernel.function, numbers, buffers), "");
    EXPECT_EQ(machine.widestAccess, 16);
    std::vector<int8_t> expected;
    for (int64_t pixel = 0; pixel < tiles * 64; ++pixel)
      for (int64_t channel = 0; channel < kChannels; ++channel) {
        int64_t n = pixel / (height * width), p = pixel / width % height,
                q = pixel % width;
        uint8_t sum = 0;
        for (int64_t tap = 0; tap < c.taps * c.taps; ++tap) {
          int64_t y = p * c.stride + tap / c.taps * c.dilation - c.pad,
                  x = q * c.stride + tap % c.taps * c.dilation - c.pad;
          sum *= 2;
          if (n < c.images && y >= 0 && y < c.height && x >= 0 && x < c.width)
            sum +=
                image[((n * c.height + y) * c.width + x) * kChannels + channel];
        }
        expected.push_back(static_cast<int8_t>(sum));
      }
    EXPECT_EQ(getElements<int8_t>(buffers[1]), expected)
        << c.images << " " << c.height << "x" << c.width << " taps " << c.taps
        << " dilation " << c.dilation;
  }
}

// Lanes take what data says, and leave in the record of the assertion, the
// second of two, what there is not.
static const char kAsserting[] = R"mlir(
tracea_pipe.kernel @take(%at: memref<100xi32>, %y: memref<100xi32>, %n: index)
    attributes {warps = 2 : i64} {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tracea_pipe.tiles (%t) in (%c1) {
    %some = arith.cmpi sgt, %n, %c1 : index
    cf.assert %some, "expected more than {1}, found {0}"
    scf.forall (%i) in (100) {
      %number = memref.load %at[%i] : memref<100xi32>
      %index = arith.index_cast %number : i32 to index
      %holds = arith.cmpi slt, %index, %c64 : index
      cf.assert %holds, "expected less than {1}, found {0}"
      scf.if %holds {
        memref.store %number, %y[%i] : memref<100xi32>
      }
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  tracea_pipe.end
}
)mlir";

TEST(WaveTarget, AssertionsLeaveTheGreatest) {
  TileHarness harness;
  WaveKernel kernel(harness, kAsserting);
  ASSERT_TRUE(kernel.function);
  std::vector<int32_t> at(100), taken(100, 77);
  for (int32_t i = 0; i < 100; ++i)
    at[i] = (7 * i) % 64;
  std::vector<int32_t> expected = at;
  WaveMachine machine(/*waves=*/2);
  auto run = [&](int64_t number) {
    std::vector<BufferArgument> buffers = {getBuffer(at), getBuffer(taken),
                                           getBuffer(std::vector<int64_t>(6))};
    std::vector<ThreadValues> numbers = {
        ThreadValues(machine.getNumThreads(), {uint64_t(number)})};
    EXPECT_EQ(machine.run(kernel.function, numbers, buffers), "");
    EXPECT_EQ(getElements<int32_t>(buffers[1]), expected);
    return getElements<int64_t>(buffers[2]);
  };
  EXPECT_EQ(run(2), std::vector<int64_t>(6, 0));
  EXPECT_EQ(run(1), (std::vector<int64_t>{1, 1, ~1, 0, 0, 0}));
  for (auto [lane, index] : {std::pair(3, 64), {99, 1000}, {64, 65}}) {
    at[lane] = index;
    expected[lane] = 77;
  }
  EXPECT_EQ(run(2), (std::vector<int64_t>{0, 0, 0, 1, 1000, ~64}));
}

// What the level cannot say with the target's instructions is an error.
TEST(WaveTarget, Refused) {
  TileHarness harness;
  std::string text = kProduct;
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("xi8", "xf16");
  replace("xi32", "xf32");
  replace("dense<0>", "dense<0.0>");
  harness.context.allowUnregisteredDialects();
  auto module =
      parseSourceString<ModuleOp>(text, ParserConfig(&harness.context));
  ASSERT_TRUE(module);
  std::string messages;
  ScopedDiagnosticHandler handler(&harness.context, [&](Diagnostic &diag) {
    messages += diag.str() + "\n";
    return success();
  });
  EXPECT_FALSE(lowerToWaves(*module->getOps<KernelOp>().begin()));
  EXPECT_NE(messages.find("has no instruction of warps: they multiply i8 into "
                          "i32, found 'f16' into 'f32'"),
            std::string::npos)
      << messages;
}
