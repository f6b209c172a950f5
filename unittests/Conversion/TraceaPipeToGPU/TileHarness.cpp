//===- TileHarness.cpp - Lowers operations on tiles and runs them ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileHarness.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

TileHarness::TileHarness() {
  context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                      cf::ControlFlowDialect, func::FuncDialect,
                      gpu::GPUDialect, math::MathDialect, memref::MemRefDialect,
                      scf::SCFDialect, tensor::TensorDialect, TraceaPipeDialect,
                      vector::VectorDialect>();
  lowering.banks = *alg::bankModel("nvidia");
}

LanesAttr TileHarness::getLanes(const alg::LaneMap &map) {
  auto bases = [&](alg::LaneDim dim) {
    SmallVector<DenseI64ArrayAttr> result;
    for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
      result.push_back(DenseI64ArrayAttr::get(&context, map.basis(dim, bit)));
    return result;
  };
  return LanesAttr::get(&context, bases(alg::LaneDim::Reg),
                        bases(alg::LaneDim::Lane), bases(alg::LaneDim::Warp),
                        map.outer());
}

std::string TileHarness::getTileText(LanesAttr lanes,
                                     const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : lanes.getTileShape())
    text += std::to_string(extent) + "x";
  text += element + ", ";
  llvm::raw_string_ostream(text) << lanes;
  return text + ">";
}

OwningOpRef<ModuleOp> TileHarness::lower(const std::string &text) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  EXPECT_TRUE(module) << text;
  if (!module)
    return {};
  lowering.exchangeBuffers.clear();
  if (failed(convertRegisterTiles(*module, lowering)) ||
      failed(verify(*module))) {
    ADD_FAILURE() << text;
    return {};
  }
  return module;
}

OwningOpRef<ModuleOp>
TileHarness::lower(LanesAttr from, const std::string &fromElement, LanesAttr to,
                   const std::string &toElement, const std::string &body) {
  std::string in = "vector<" + std::to_string(from.getNumRegisters()) + "x" +
                   fromElement + ">",
              out = "vector<" + std::to_string(to.getNumRegisters()) + "x" +
                    toElement + ">",
              x = getTileText(from, fromElement),
              y = getTileText(to, toElement);
  return lower("gpu.module @m {\n  gpu.func @f(%in: " + in + ") -> " + out +
               " {\n    %x = builtin.unrealized_conversion_cast %in : " + in +
               " to " + x + "\n    " + body +
               "\n    %out = builtin.unrealized_conversion_cast %y : " + y +
               " to " + out + "\n    gpu.return %out : " + out + "\n  }\n}\n");
}

gpu::GPUFuncOp TileHarness::getFunction(ModuleOp module) {
  gpu::GPUFuncOp result;
  module.walk([&](gpu::GPUFuncOp func) { result = func; });
  return result;
}

ThreadValues
TileHarness::distribute(LanesAttr lanes, int64_t threads, int64_t subgroup,
                        function_ref<uint64_t(ArrayRef<int64_t>)> valueAt) {
  ThreadValues values(threads);
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg)
      values[thread].push_back(valueAt(
          lanes.getCoordinate(reg, thread % subgroup % lanes.getNumLanes(),
                              thread / subgroup % lanes.getNumWarps())));
  return values;
}

std::string
TileHarness::compare(LanesAttr lanes, const ThreadValues &found,
                     int64_t subgroup,
                     function_ref<uint64_t(ArrayRef<int64_t>)> valueAt) {
  ThreadValues expected =
      distribute(lanes, int64_t(found.size()), subgroup, valueAt);
  for (size_t thread = 0; thread < found.size(); ++thread) {
    if (found[thread].size() != expected[thread].size())
      return "thread " + std::to_string(thread) + " has " +
             std::to_string(found[thread].size()) + " registers";
    for (size_t reg = 0; reg < found[thread].size(); ++reg)
      if (found[thread][reg] != expected[thread][reg])
        return "thread " + std::to_string(thread) + " register " +
               std::to_string(reg) + ": " + std::to_string(found[thread][reg]) +
               ", expected " + std::to_string(expected[thread][reg]);
  }
  return "";
}

uint64_t mlir::tracea_pipe::getElementId(ArrayRef<int64_t> at,
                                         ArrayRef<int64_t> shape, unsigned bits,
                                         unsigned salt) {
  uint64_t flat = 0;
  for (auto [coordinate, extent] : llvm::zip(at, shape))
    flat = flat * extent + coordinate;
  // Wide types get something in their upper bits too.
  uint64_t id = (flat + 1) * (bits > 16 ? 0x9E3779B1u : 1);
  if (bits > 32)
    id |= (flat + 7) << 40;
  id >>= bits <= 8 ? salt * bits : 0;
  return bits >= 64 ? id : id & ((uint64_t(1) << bits) - 1);
}

alg::LaneMap mlir::tracea_pipe::getRandomMap(std::mt19937_64 &random,
                                             std::vector<int64_t> linearShape,
                                             std::vector<int64_t> outer,
                                             unsigned warpBits) {
  auto below = [&](uint64_t n) { return random() % n; };
  std::vector<alg::TileCoord> vectors;
  for (size_t dim = 0; dim < linearShape.size(); ++dim)
    for (int64_t step = 1; step < linearShape[dim]; step *= 2) {
      alg::TileCoord vector(linearShape.size(), 0);
      vector[dim] = step;
      vectors.push_back(vector);
    }
  std::shuffle(vectors.begin(), vectors.end(), random);
  // Sums of others keep a basis a basis.
  if (below(3) == 0 && vectors.size() > 1)
    for (unsigned n = below(6); n--;) {
      size_t i = below(vectors.size()), k = below(vectors.size());
      for (size_t dim = 0; i != k && dim < linearShape.size(); ++dim)
        vectors[i][dim] ^= vectors[k][dim];
    }
  alg::LaneBases bases;
  alg::TileCoord zero(linearShape.size(), 0);
  // Lanes and warps take theirs, some nothing, and registers hold the rest.
  auto take = [&](std::vector<alg::TileCoord> &part, unsigned count) {
    while (part.size() < count) {
      if (vectors.empty() || below(7) == 0) {
        part.push_back(zero);
        continue;
      }
      part.push_back(vectors.back());
      vectors.pop_back();
    }
  };
  take(bases.lane, below(4) ? 5 : below(6));
  take(bases.warp, warpBits);
  bases.reg = vectors;
  if (below(5) == 0)
    bases.reg.insert(bases.reg.begin() + below(bases.reg.size() + 1), zero);
  alg::Expected<alg::LaneMap> map =
      alg::LaneMap::get(linearShape, bases, outer);
  EXPECT_TRUE(map) << map.message();
  return *map;
}
