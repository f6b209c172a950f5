//===- MemoryTest.cpp - Loads and stores of register tiles ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileHarness.h"
#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {
/// A tile copied from one matrix to another one.
struct Copy {
  alg::LaneMap map;
  std::vector<int64_t> shape; // Of the matrices.
  std::string element;
  int64_t row = 0, column = 0; // Of the window.
  std::string limits = "";     // Of load and store.
  int64_t rows = -1, columns = -1;
  int64_t alignment = 16;
  bool transposed = false;
};
} // namespace

/// Runs the copy; returns what is wrong, and the widest access.
static std::pair<std::string, int64_t> run(TileHarness &harness,
                                           const Copy &copy) {
  LanesAttr lanes = harness.getLanes(copy.map);
  std::string tile = harness.getTileText(lanes, copy.element),
              memref = "memref<";
  for (int64_t extent : copy.shape)
    memref += std::to_string(extent) + "x";
  memref += copy.element + ">";
  std::string align =
      " {llvm.align = " + std::to_string(copy.alignment) + " : i64}";
  std::string access = "[%row, %column] map affine_map<(i, j) -> " +
                       std::string(copy.transposed ? "(j, i)" : "(i, j)") +
                       "> " + copy.limits;
  auto constant = [](const char *name, int64_t value) {
    return std::string("%") + name + " = arith.constant " +
           std::to_string(value) + " : index\n";
  };
  std::string text =
      "gpu.module @m {\ngpu.func @f(%in: " + memref + align +
      ", %out: " + memref + align + ", %h: index, %w: index) {\n" +
      constant("row", copy.row) + constant("column", copy.column) +
      "%pad = arith.constant 7 : " + copy.element +
      "\n%x = tracea_pipe.load %in" + access +
      (copy.limits.empty() ? "" : " padding(%pad : " + copy.element + ")") +
      " : " + memref + " -> " + tile + "\ntracea_pipe.store %x, %out" + access +
      " : " + tile + ", " + memref + "\ngpu.return\n}\n}\n";
  OwningOpRef<ModuleOp> module = harness.lower(text);
  if (!module)
    return {"does not lower", 0};
  unsigned bytes = unsigned(std::stoul(copy.element.substr(1))) / 8;
  BufferArgument in{copy.shape, {}}, out{copy.shape, {}};
  int64_t elements = copy.shape[0] * copy.shape[1];
  for (int64_t i = 0; i < elements; ++i)
    for (unsigned k = 0; k < bytes; ++k)
      in.bytes.push_back(uint8_t((i + 1) * 0x9E3779B1u >> (k * 8)));
  out.bytes.assign(in.bytes.size(), 0xEE);
  Interpreter machine(lanes.getNumWarps(), harness.lowering.banks);
  auto everywhere = [&](int64_t value) {
    return ThreadValues(machine.getNumThreads(), {uint64_t(value)});
  };
  std::vector<BufferArgument> buffers{in, out};
  std::string problem =
      machine.run(TileHarness::getFunction(*module),
                  {everywhere(copy.rows), everywhere(copy.columns)}, buffers);
  if (!problem.empty())
    return {problem, 0};
  // The window, as far as limits go, and nothing else.
  std::vector<uint8_t> expected(in.bytes.size(), 0xEE);
  SmallVector<int64_t> extents = lanes.getTileShape();
  for (int64_t i = 0; i < extents[0]; ++i)
    for (int64_t j = 0; j < extents[1]; ++j) {
      if (!copy.limits.empty() && (i >= copy.rows || j >= copy.columns))
        continue;
      int64_t at = (copy.row + (copy.transposed ? j : i)) * copy.shape[1] +
                   copy.column + (copy.transposed ? i : j);
      std::memcpy(&expected[at * bytes], &in.bytes[at * bytes], bytes);
    }
  return {buffers[1].bytes == expected ? "" : "the matrix differs",
          machine.widestAccess};
}

TEST(Memory, RandomTiles) {
  TileHarness harness;
  std::mt19937_64 random(3);
  const std::string elements[] = {"i32", "i16", "i8", "i64"};
  for (int round = 0; round < 300; ++round) {
    Copy copy{
        getRandomMap(random, {8, 16},
                     {1 + int64_t(random() % 3), 1 + int64_t(random() % 2)},
                     random() % 3),
        {},
        elements[random() % 4]};
    SmallVector<int64_t> extents = harness.getLanes(copy.map).getTileShape();
    copy.transposed = random() % 4 == 0;
    copy.row = random() % 3;
    copy.column = random() % 3 * (1 << random() % 4);
    copy.shape = {64, int64_t(64 + random() % 2 * random() % 5)};
    copy.alignment = 1 << (3 + random() % 2);
    if (copy.map.numRegisters() > 128)
      continue;
    if (random() % 2) {
      copy.limits = "limits(%h, %w)";
      copy.rows = random() % (extents[0] + 3);
      copy.columns = random() % (extents[1] + 3);
    }
    ASSERT_EQ(run(harness, copy).first, "")
        << "round " << round << " " << copy.element << "\n"
        << copy.map;
  }
}

// As wide as registers and alignment allow, and no wider.
TEST(Memory, Widths) {
  TileHarness harness;
  // Eight neighbours a thread.
  alg::LaneMap map =
      *alg::LaneMap::get({32, 8}, {{{0, 1}, {0, 2}, {0, 4}},
                                   {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                                   {},
                                   {}});
  auto width = [&](Copy copy) {
    std::pair<std::string, int64_t> ran = run(harness, copy);
    EXPECT_EQ(ran.first, "");
    return ran.second;
  };
  EXPECT_EQ(width({map, {40, 32}, "i16"}), 16);
  EXPECT_EQ(width({map, {40, 32}, "i8"}), 8);
  EXPECT_EQ(width({map, {40, 32}, "i64"}), 16);
  EXPECT_EQ(width({map, {40, 32}, "i16", 1, 4}), 8); // The window's start.
  EXPECT_EQ(width({map, {40, 34}, "i16"}), 4);       // Rows of 34.
  EXPECT_EQ(width({map, {40, 33}, "i16"}), 2);       // Rows of 33.
  EXPECT_EQ(width({map, {40, 32}, "i16", 0, 0, "", -1, -1, 4}), 4);
  EXPECT_EQ(width({map, {40, 32}, "i16", 0, 0, "", -1, -1, 1}), 2);
  // Whole tiles are wide where limits allow; cut ones go by elements.
  EXPECT_EQ(width({map, {40, 32}, "i16", 0, 0, "limits(%h, %w)", 32, 8}), 16);
  EXPECT_EQ(width({map, {40, 32}, "i16", 0, 0, "limits(%h, %w)", 32, 7}), 2);
  // By columns: no neighbours.
  EXPECT_EQ(width({map, {40, 32}, "i16", 0, 0, "", -1, -1, 16, true}), 2);
  // Lanes that move inside of a would-be vector.
  alg::LaneMap skewed =
      *alg::LaneMap::get({32, 8}, {{{0, 1}, {0, 2}, {0, 4}},
                                   {{1, 2}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                                   {},
                                   {}});
  EXPECT_EQ(width({skewed, {40, 32}, "i16"}), 4);
}
