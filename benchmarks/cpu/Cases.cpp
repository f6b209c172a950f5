//===- Cases.cpp - What the graduation test measures ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of layers of networks: residual ones with one image and with several,
// with residuals, depthwise, channels first; of shapes that fit no tile; and of
// plain matrix products.

#include "Cases.h"

using namespace tracea::bench;
using tracea::runtime::ElementType;

double Case::flops() const {
  if (op == Op::Gemm)
    return 2.0 * gemm.batch * gemm.m * gemm.n * gemm.k;
  return 2.0 * conv.n * conv.outputHeight() * conv.outputWidth() * conv.k *
         conv.r * conv.s * (conv.c / conv.groups);
}

namespace {

std::string nameOfConv(const ConvShape &conv, ElementType type) {
  std::string name = "conv ";
  if (type != ElementType::F32)
    name += std::string(tracea::runtime::nameOf(type)) + " ";
  name += std::to_string(conv.r) + "x" + std::to_string(conv.s) + " " +
          std::to_string(conv.c) + "->" + std::to_string(conv.k) + " " +
          std::to_string(conv.h) + "x" + std::to_string(conv.w);
  if (conv.n != 1)
    name += " n" + std::to_string(conv.n);
  if (conv.stride != 1)
    name += " s" + std::to_string(conv.stride);
  if (conv.dilation != 1)
    name += " d" + std::to_string(conv.dilation);
  if (conv.groups == conv.c)
    name += " depthwise";
  else if (conv.groups != 1)
    name += " g" + std::to_string(conv.groups);
  const std::array<int64_t, 4> &pads = conv.pads;
  if (pads[0] != pads[2] || pads[1] != pads[3])
    name += " p" + std::to_string(pads[0]) + std::to_string(pads[1]) +
            std::to_string(pads[2]) + std::to_string(pads[3]);
  if (conv.nchw)
    name += " nchw";
  if (conv.residual)
    name += " +x";
  return name;
}

class Builder {
public:
  Case &conv(const std::string &list, const ConvShape &shape,
             ElementType type = ElementType::F32) {
    Case entry;
    entry.list = list;
    entry.op = Op::Conv;
    entry.type = type;
    entry.conv = shape;
    entry.name = nameOfConv(shape, type);
    cases.push_back(entry);
    return cases.back();
  }

  /// `pad` on all sides.
  static ConvShape layer(int64_t size, int64_t channels, int64_t filters,
                         int64_t extent, int64_t stride, int64_t pad) {
    ConvShape shape;
    shape.h = shape.w = size;
    shape.c = channels;
    shape.k = filters;
    shape.r = shape.s = extent;
    shape.stride = stride;
    shape.pads = {pad, pad, pad, pad};
    return shape;
  }

  /// Layers [size, channels, filters, extent, stride] with pads of half their
  /// extent, each changed by `change`.
  template <typename Change>
  void layers(const std::string &list,
              std::initializer_list<std::array<int64_t, 5>> all, Change change,
              ElementType type = ElementType::F32) {
    for (auto [size, channels, filters, extent, stride] : all) {
      ConvShape shape =
          layer(size, channels, filters, extent, stride, extent / 2);
      change(shape);
      conv(list, shape, type);
    }
  }

  Case &gemm(int64_t m, int64_t n, int64_t k,
             ElementType type = ElementType::F32, bool transposeA = false,
             bool transposeB = false, int64_t batch = 1) {
    Case entry;
    entry.list = "gemm";
    entry.op = Op::Gemm;
    entry.type = type;
    entry.gemm = {m, n, k, transposeA, transposeB, batch};
    entry.name = std::string("gemm ") + tracea::runtime::nameOf(type) + " " +
                 std::to_string(m);
    if (n != m || k != m)
      entry.name += "x" + std::to_string(n) + "x" + std::to_string(k);
    if (transposeA || transposeB)
      entry.name += std::string(" ") + (transposeA ? "t" : "n") +
                    (transposeB ? "t" : "n");
    if (batch != 1)
      entry.name += " b" + std::to_string(batch);
    cases.push_back(entry);
    return cases.back();
  }

  std::vector<Case> cases;
};

std::vector<Case> makeCases() {
  Builder b;

  auto fused = [&](const ConvShape &shape) -> Case & {
    Case &entry = b.conv("fused", shape);
    entry.separate = true;
    return entry;
  };
  Case *entry = &fused(Builder::layer(56, 64, 64, 3, 1, 1));
  entry->quick = entry->quickThreads = true;
  fused(Builder::layer(28, 128, 128, 3, 1, 1));
  fused(Builder::layer(14, 256, 256, 3, 1, 1)).quick = true;
  fused(Builder::layer(7, 512, 512, 3, 1, 1));
  fused(Builder::layer(56, 64, 256, 1, 1, 0)).quick = true;
  fused(Builder::layer(56, 256, 64, 1, 1, 0));
  fused(Builder::layer(56, 128, 128, 3, 2, 1));
  fused(Builder::layer(56, 256, 512, 1, 2, 0));
  fused(Builder::layer(224, 3, 64, 7, 2, 3)).quick = true;
  fused(Builder::layer(224, 64, 128, 3, 1, 1));

  // The other layers of ResNet-50, then its kinds of layers with eight images.
  b.layers("resnet",
           {{56, 64, 64, 1, 1},
            {28, 512, 128, 1, 1},
            {28, 128, 512, 1, 1},
            {14, 1024, 256, 1, 1},
            {14, 256, 1024, 1, 1},
            {7, 2048, 512, 1, 1},
            {7, 512, 2048, 1, 1}},
           [](ConvShape &) {});
  b.layers("resnet",
           {{224, 3, 64, 7, 2},
            {56, 64, 64, 3, 1},
            {28, 128, 128, 3, 1},
            {14, 256, 256, 3, 1},
            {7, 512, 512, 3, 1},
            {56, 64, 256, 1, 1},
            {56, 256, 64, 1, 1},
            {28, 512, 128, 1, 1},
            {14, 1024, 256, 1, 1},
            {7, 2048, 512, 1, 1},
            {7, 512, 2048, 1, 1},
            {56, 256, 512, 1, 2}},
           [](ConvShape &layer) { layer.n = 8; });
  b.layers("residual",
           {{56, 64, 64, 3, 1},
            {56, 64, 256, 1, 1},
            {14, 256, 1024, 1, 1},
            {7, 512, 2048, 1, 1}},
           [](ConvShape &layer) { layer.residual = true; });
  b.layers("depthwise",
           {{112, 32, 32, 3, 1},
            {112, 96, 96, 3, 2},
            {56, 144, 144, 3, 1},
            {28, 192, 192, 3, 1},
            {14, 576, 576, 3, 1},
            {14, 576, 576, 3, 2},
            {7, 960, 960, 3, 1},
            {56, 96, 96, 7, 1},
            {28, 192, 192, 7, 1},
            {14, 384, 384, 7, 1},
            {56, 96, 96, 7, 2}},
           [](ConvShape &layer) { layer.groups = layer.c; });
  b.layers("nchw",
           {{28, 128, 128, 3, 1},
            {14, 256, 256, 3, 1},
            {56, 64, 128, 3, 2},
            {56, 64, 256, 1, 1},
            {224, 3, 64, 7, 2}},
           [](ConvShape &layer) { layer.nchw = true; });

  auto awkward = [&](const ConvShape &shape) -> Case & {
    return b.conv("awkward", shape);
  };
  awkward(Builder::layer(56, 63, 65, 3, 1, 1)).quick = true;
  awkward(Builder::layer(53, 37, 41, 3, 1, 1));
  awkward(Builder::layer(31, 17, 19, 5, 1, 2));
  ConvShape shape = Builder::layer(56, 64, 64, 3, 1, 2);
  shape.dilation = 2;
  awkward(shape);
  shape = Builder::layer(56, 128, 128, 3, 1, 1);
  shape.groups = 4;
  awkward(shape).quick = true;
  shape = Builder::layer(56, 128, 128, 3, 1, 1);
  shape.groups = 128;
  awkward(shape).quick = true;
  shape = Builder::layer(57, 99, 99, 3, 2, 1);
  shape.groups = 99;
  awkward(shape);
  shape = Builder::layer(56, 64, 64, 3, 1, 1);
  shape.nchw = true;
  awkward(shape).quick = true;
  shape = Builder::layer(53, 37, 41, 3, 2, 1);
  shape.nchw = true;
  awkward(shape);
  awkward(Builder::layer(57, 64, 96, 3, 2, 1));
  shape = Builder::layer(56, 64, 64, 3, 1, 0);
  shape.pads = {1, 0, 2, 1};
  awkward(shape);
  shape = Builder::layer(47, 48, 80, 1, 1, 0);
  shape.r = 1, shape.s = 7;
  shape.pads = {0, 3, 0, 3};
  awkward(shape);
  shape = Builder::layer(13, 29, 71, 3, 1, 1);
  shape.n = 7;
  awkward(shape);

  for (ElementType type : {ElementType::BF16, ElementType::I8})
    b.layers(
        std::string("conv-") + tracea::runtime::nameOf(type),
        {{56, 64, 64, 3, 1},
         {28, 128, 128, 3, 1},
         {14, 256, 256, 3, 1},
         {7, 512, 512, 3, 1},
         {56, 128, 128, 3, 2},
         {56, 64, 256, 1, 1},
         {56, 256, 64, 1, 1},
         {14, 1024, 256, 1, 1},
         {224, 3, 64, 7, 2},
         {53, 37, 41, 3, 1}},
        [](ConvShape &) {}, type);

  entry = &b.gemm(512, 512, 512);
  entry->quick = true;
  entry = &b.gemm(1024, 1024, 1024);
  entry->quick = entry->quickThreads = true;
  b.gemm(2048, 2048, 2048);
  b.gemm(4096, 4096, 4096);
  b.gemm(1000, 1000, 1000);
  b.gemm(1023, 1025, 1027).quick = true;
  for (int64_t m : {1, 4, 8, 16, 32})
    b.gemm(m, 4096, 4096);
  b.gemm(1, 1000, 1000);
  b.gemm(8, 1000, 1000);
  b.gemm(4096, 16, 4096);
  b.gemm(64, 64, 16384);
  // Many small products, 2 MB of each operand.
  b.gemm(17, 17, 17, ElementType::F32, false, false, /*batch=*/1800);
  b.gemm(64, 64, 64, ElementType::F32, false, false, /*batch=*/128);
  b.gemm(1024, 1024, 1024, ElementType::F32, true, false);
  b.gemm(1024, 1024, 1024, ElementType::F32, false, true);
  b.gemm(1024, 1024, 1024, ElementType::F32, true, true);
  for (ElementType type : {ElementType::BF16, ElementType::I8}) {
    b.gemm(1024, 1024, 1024, type).quick = true;
    b.gemm(1023, 1025, 1027, type);
    b.gemm(2048, 2048, 2048, type);
    b.gemm(1024, 1024, 1024, type, true, false);
    b.gemm(1024, 1024, 1024, type, false, true);
    b.gemm(1, 4096, 4096, type);
    b.gemm(16, 4096, 4096, type);
    b.gemm(4096, 16, 4096, type);
  }
  return std::move(b.cases);
}

} // namespace

const std::vector<Case> &tracea::bench::allCases() {
  static const std::vector<Case> cases = makeCases();
  return cases;
}

const Case *tracea::bench::findCase(const std::string &name) {
  for (const Case &entry : allCases())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

const std::vector<List> &tracea::bench::allLists() {
  static const std::vector<List> lists = {
      {"fused", "Convolution, batch norm and ReLU"},
      {"resnet", "More layers of ResNet-50, one image and eight"},
      {"residual", "Convolution, batch norm, residual and ReLU"},
      {"depthwise", "Depthwise convolutions"},
      {"nchw", "Channels first"},
      {"awkward", "The same with awkward shapes"},
      {"conv-bf16", "Convolutions of bf16 into f32"},
      {"conv-i8", "Convolutions of i8 into i32"},
      {"gemm", "Matrix products"},
  };
  return lists;
}
