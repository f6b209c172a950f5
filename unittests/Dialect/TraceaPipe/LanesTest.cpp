//===- LanesTest.cpp - Lane maps as attributes ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/MLIRContext.h"
#include "tracea/Algebra/RegisterTile.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {

using Shape = SmallVector<int64_t>;

struct Case {
  Shape shape;
  int64_t lanes;
};

/// Shapes of all machines, powers of two and not, of rank 1 to 4.
const Case kCases[] = {
    {{8, 32}, 16},   {{6, 16}, 8},    {{14, 32}, 16},  {{1, 48}, 16},
    {{4, 24}, 8},    {{12, 24}, 8},   {{8, 8}, 4},     {{8, 16}, 8},
    {{16, 16}, 16},  {{1, 64}, 16},   {{3, 5}, 1},     {{1, 1}, 1},
    {{7, 7}, 1},     {{5, 80}, 16},   {{32}, 16},      {{48}, 8},
    {{1}, 1},        {{2, 3, 16}, 8}, {{3, 6, 40}, 8}, {{2, 2, 2, 8}, 4},
    {{8, 512}, 512},
};

class Lanes : public ::testing::Test {
protected:
  Lanes() { context.loadDialect<TraceaPipeDialect>(); }

  DenseI64ArrayAttr vector(ArrayRef<int64_t> coordinates) {
    return DenseI64ArrayAttr::get(&context, coordinates);
  }
  LanesAttr get(ArrayRef<Shape> reg, ArrayRef<Shape> lane,
                ArrayRef<int64_t> outer, ArrayRef<Shape> warp = {}) {
    auto make = [&](ArrayRef<Shape> basis) {
      SmallVector<DenseI64ArrayAttr> result;
      for (const Shape &coordinates : basis)
        result.push_back(vector(coordinates));
      return result;
    };
    return LanesAttr::get(&context, make(reg), make(lane), make(warp), outer);
  }

  MLIRContext context;
};

/// How often each element of the tile is held.
std::map<std::vector<int64_t>, int> countElements(LanesAttr lanes) {
  std::map<std::vector<int64_t>, int> held;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
    for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane)
      for (int64_t warp = 0; warp < lanes.getNumWarps(); ++warp) {
        Shape at = lanes.getCoordinate(reg, lane, warp);
        ++held[std::vector<int64_t>(at.begin(), at.end())];
      }
  return held;
}

int64_t product(ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t extent : shape)
    result *= extent;
  return result;
}

TEST_F(Lanes, VectorTileHoldsEveryElementOnce) {
  for (const Case &test : kCases) {
    SCOPED_TRACE(testing::PrintToString(test.shape));
    LanesAttr lanes =
        LanesAttr::getVectorTile(&context, test.shape, test.lanes);
    EXPECT_EQ(lanes.getTileShape(), test.shape);
    EXPECT_EQ(lanes.getNumLanes(), test.lanes);
    EXPECT_EQ(lanes.getNumWarps(), 1);
    EXPECT_EQ(lanes.getNumRegisters(), product(test.shape) / test.lanes);
    EXPECT_TRUE(lanes.hasSeparateLanes());
    auto held = countElements(lanes);
    EXPECT_EQ(static_cast<int64_t>(held.size()), product(test.shape));
    for (const auto &[at, count] : held) {
      EXPECT_EQ(count, 1);
      for (auto [coordinate, extent] : llvm::zip(at, test.shape)) {
        EXPECT_GE(coordinate, 0);
        EXPECT_LT(coordinate, extent);
      }
    }
  }
}

/// Register i is the i-th vector in row-major order, also where an inner extent
/// is no power of two (4x24 in vectors of 8).
TEST_F(Lanes, VectorTileIsRowMajor) {
  for (const Case &test : kCases) {
    SCOPED_TRACE(testing::PrintToString(test.shape));
    LanesAttr lanes =
        LanesAttr::getVectorTile(&context, test.shape, test.lanes);
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
      for (int64_t lane = 0; lane < test.lanes; ++lane) {
        int64_t linear = 0;
        for (auto [coordinate, extent] :
             llvm::zip(lanes.getCoordinate(reg, lane), test.shape))
          linear = linear * extent + coordinate;
        ASSERT_EQ(linear, reg * test.lanes + lane);
      }
  }
}

TEST_F(Lanes, VectorTileAgreesWithTheAlgebra) {
  for (const Case &test : kCases) {
    if (test.shape.size() != 2)
      continue;
    SCOPED_TRACE(testing::PrintToString(test.shape));
    LanesAttr lanes =
        LanesAttr::getVectorTile(&context, test.shape, test.lanes);
    auto map =
        ::tracea::algebra::vectorTile(test.shape[0], test.shape[1], test.lanes);
    ASSERT_TRUE(map);
    EXPECT_EQ(map->tileShape(),
              std::vector<int64_t>(test.shape.begin(), test.shape.end()));
    ASSERT_EQ(map->numRegisters(), lanes.getNumRegisters());
    ASSERT_EQ(map->numLanes(), lanes.getNumLanes());
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
      for (int64_t lane = 0; lane < test.lanes; ++lane) {
        Shape at = lanes.getCoordinate(reg, lane);
        ASSERT_EQ(map->coordinate(reg, lane),
                  std::vector<int64_t>(at.begin(), at.end()))
            << "register " << reg << ", lane " << lane;
      }
  }
}

/// A map with all parts: coordinates combine by XOR, repeats add.
TEST_F(Lanes, CoordinatesOfAGeneralMap) {
  // mma.m16n8 f32 accumulator, repeated three times along rows.
  LanesAttr lanes =
      get({{0, 1}, {8, 0}}, {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {3, 1},
          {{0, 8}});
  EXPECT_EQ(lanes.getTileShape(), (Shape{48, 16}));
  EXPECT_EQ(lanes.getNumRegisters(), 12);
  EXPECT_EQ(lanes.getNumWarps(), 2);
  EXPECT_EQ(lanes.getCoordinate(0, 0), (Shape{0, 0}));
  EXPECT_EQ(lanes.getCoordinate(3, 31, 1), (Shape{15, 15}));
  // The first repeat begins at register 4.
  EXPECT_EQ(lanes.getCoordinate(4, 0), (Shape{16, 0}));
  EXPECT_EQ(lanes.getCoordinate(11, 0), (Shape{40, 1}));
  for (const auto &[at, count] : countElements(lanes))
    EXPECT_EQ(count, 1);
  // Registers 1 and lane 1 both move to element 1, which cancels.
  LanesAttr swizzled = get({{0, 1}, {1, 1}}, {{0, 1}}, {1, 1});
  EXPECT_EQ(swizzled.getCoordinate(1, 1), (Shape{0, 0}));
  EXPECT_EQ(swizzled.getCoordinate(3, 1), (Shape{1, 1}));
  EXPECT_FALSE(swizzled.hasSeparateLanes());
}

TEST_F(Lanes, ContiguousLaneDim) {
  EXPECT_EQ(
      LanesAttr::getVectorTile(&context, {8, 32}, 16).getContiguousLaneDim(),
      1u);
  EXPECT_EQ(LanesAttr::getVectorTile(&context, {32}, 4).getContiguousLaneDim(),
            0u);
  EXPECT_EQ(get({{0, 1}}, {{1, 0}, {2, 0}}, {1, 1}).getContiguousLaneDim(), 0u);
  // One lane runs along nothing.
  EXPECT_EQ(
      LanesAttr::getVectorTile(&context, {4, 4}, 1).getContiguousLaneDim(),
      std::nullopt);
  // Steps of two, two directions, exchanged bits, replicas, a diagonal.
  EXPECT_EQ(get({{0, 1}}, {{0, 2}, {0, 4}}, {1, 1}).getContiguousLaneDim(),
            std::nullopt);
  EXPECT_EQ(get({}, {{0, 1}, {1, 0}}, {1, 1}).getContiguousLaneDim(),
            std::nullopt);
  EXPECT_EQ(get({}, {{0, 2}, {0, 1}}, {1, 1}).getContiguousLaneDim(),
            std::nullopt);
  EXPECT_EQ(get({}, {{0, 1}, {0, 0}}, {1, 1}).getContiguousLaneDim(),
            std::nullopt);
  EXPECT_EQ(get({{0, 1}}, {{1, 1}}, {1, 1}).getContiguousLaneDim(),
            std::nullopt);
}

/// The reduced map holds, at the place of any element of a group, the group's
/// representative: coordinate(reg, lane) with the dimension set to zero.
TEST_F(Lanes, ReducedKeepsLanesAndOneRegisterAGroup) {
  for (const Case &test : kCases) {
    SCOPED_TRACE(testing::PrintToString(test.shape));
    LanesAttr lanes =
        LanesAttr::getVectorTile(&context, test.shape, test.lanes);
    for (unsigned dim = 0; dim < test.shape.size(); ++dim) {
      LanesAttr reduced = lanes.getReduced(dim);
      Shape shape = test.shape;
      shape[dim] = 1;
      EXPECT_EQ(reduced.getTileShape(), shape);
      EXPECT_EQ(reduced.getNumLanes(), lanes.getNumLanes());
      bool isLast = dim + 1 == test.shape.size();
      EXPECT_EQ(reduced.getNumRegisters(),
                product(shape) / (isLast ? 1 : test.lanes));
      // Each lane finds the representative of what it holds in one register.
      for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
        for (int64_t lane = 0; lane < lanes.getNumLanes(); ++lane) {
          Shape at = lanes.getCoordinate(reg, lane);
          at[dim] = 0;
          int64_t found = 0;
          for (int64_t r = 0; r < reduced.getNumRegisters(); ++r)
            found += reduced.getCoordinate(r, lane) == at;
          ASSERT_EQ(found, 1);
        }
    }
  }
}

TEST_F(Lanes, ReducedTwiceIsTheOneElement) {
  LanesAttr lanes = LanesAttr::getVectorTile(&context, {6, 16}, 8);
  LanesAttr scalar = lanes.getReduced(0).getReduced(1);
  EXPECT_EQ(scalar.getTileShape(), (Shape{1, 1}));
  EXPECT_EQ(scalar.getNumRegisters(), 1);
  EXPECT_EQ(scalar.getNumLanes(), 8);
  EXPECT_EQ(scalar, lanes.getReduced(1).getReduced(0));
}

/// A wgmma accumulator of two teams: rows of a warp, columns of a panel.
TEST_F(Lanes, ReducedToGroups) {
  LanesAttr lanes = get({{0, 1}, {8, 0}, {0, 8}, {0, 16}},
                        {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, {1, 3},
                        {{16, 0}, {32, 0}, {64, 0}});
  EXPECT_EQ(lanes.getTileShape(), (Shape{128, 96}));
  LanesAttr rows = lanes.getReduced(0, 8);
  EXPECT_EQ(rows.getTileShape(), (Shape{8, 96}));
  EXPECT_EQ(rows.getNumRegisters(), lanes.getNumRegisters() / 2);
  EXPECT_EQ(rows.getCoordinate(0, 31, 7), (Shape{7, 6}));
  LanesAttr columns = lanes.getReduced(1, 3);
  EXPECT_EQ(columns.getTileShape(), (Shape{128, 3}));
  EXPECT_EQ(columns.getNumRegisters(), 6);
  // Groups of other sizes, or beyond the linear map.
  EXPECT_FALSE(lanes.getReduced(0, 3));
  EXPECT_FALSE(lanes.getReduced(1, 2));
  EXPECT_FALSE(lanes.getReduced(1, 32));
  EXPECT_FALSE(lanes.getReduced(0, 256));
  EXPECT_EQ(lanes.getReduced(0, 128), lanes);
}

TEST_F(Lanes, RankZero) {
  LanesAttr lanes = get({}, {}, {});
  EXPECT_EQ(lanes.getTileShape(), Shape{});
  EXPECT_EQ(lanes.getNumRegisters(), 1);
  EXPECT_EQ(lanes.getCoordinate(0, 0), Shape{});
}

/// The encoding accepts the covered shape only.
TEST_F(Lanes, VerifyEncoding) {
  LanesAttr lanes = LanesAttr::getVectorTile(&context, {8, 32}, 16);
  auto accepts = [&](Shape shape, Type type) {
    return succeeded(lanes.verifyEncoding(shape, type, [&] {
      return mlir::emitError(UnknownLoc::get(&context));
    }));
  };
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  Builder b(&context);
  EXPECT_TRUE(accepts({8, 32}, b.getF32Type()));
  EXPECT_TRUE(accepts({8, 32}, b.getI1Type()));
  EXPECT_TRUE(accepts({8, 32}, b.getIndexType()));
  EXPECT_FALSE(accepts({32, 8}, b.getF32Type()));
  EXPECT_FALSE(accepts({8, 32, 1}, b.getF32Type()));
  EXPECT_FALSE(accepts({}, b.getF32Type()));
  EXPECT_FALSE(accepts({8, 32}, b.getNoneType()));
}

} // namespace
