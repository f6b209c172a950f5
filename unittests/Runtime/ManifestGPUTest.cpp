//===- ManifestGPUTest.cpp - What kernels on a grid add -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Round trips and refusals of launch shapes, images and tensor maps, and the
// cache of the latter.
//
//===----------------------------------------------------------------------===//

#include "TensorMapCache.h"
#include "TestPrograms.h"

#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

using namespace tracea::runtime;
using ::testing::HasSubstr;
using ::testing::Not;

static const std::vector<uint64_t> blobSizes = {5, 32};

static std::string jsonOf(const Manifest &manifest) {
  Expected<std::string> json = toJSON(manifest);
  EXPECT_TRUE(json) << json.message();
  return json ? *json : std::string();
}

TEST(ManifestGPU, RoundTrips) {
  Manifest manifest = test::describedGPUProgram().manifest;
  Status status = validate(manifest, blobSizes);
  EXPECT_TRUE(status.ok()) << status.message();
  std::string json = jsonOf(manifest);
  Expected<Manifest> read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(jsonOf(*read), json);
  EXPECT_EQ(read->kernels[0].gpu->cluster, (std::vector<int64_t>{2, 1, 1}));
  EXPECT_TRUE(read->kernels[0].gpu->overlaps);
  EXPECT_EQ(read->images[1].isa, 80);
  const StepSpec &step = read->entries[0].steps[0];
  EXPECT_EQ(step.grid.size(), 3u);
  EXPECT_EQ(step.args[0].kind, ArgKind::TensorMap);
  EXPECT_EQ(step.args[0].map.swizzle, MapSwizzle::B128);
  EXPECT_EQ(step.args[1].map.im2col->upper, (std::vector<int64_t>{-1, -2}));
  EXPECT_EQ(step.args[2].kind, ArgKind::Pointer);
  for (const char *part :
       {"\"images\":[{\"code\":0,\"blob\":0,\"kind\":\"cubin\"",
        "\"gpu\":{\"block\":[128,2,1]", "\"indexBits\":32",
        "{\"tensorMap\":{\"view\":{", "\"box\":[64,32]",
        "\"im2col\":{\"lower\"", "\"swizzle\":\"128B\"", "\"fill\":\"nan\"",
        "{\"pointer\":{"})
    EXPECT_THAT(json, HasSubstr(part));
}

TEST(ManifestGPU, AssertionsAreLinesAndAParameter) {
  Manifest manifest = test::describedGPUProgram().manifest;
  EXPECT_THAT(jsonOf(manifest), Not(HasSubstr("assertions")));
  manifest.kernels[0].gpu->assertions = {"index {0}", "size {0} of {1}"};
  std::string json = jsonOf(manifest);
  EXPECT_THAT(json,
              HasSubstr("\"assertions\":[\"index {0}\",\"size {0} of {1}\"]"));
  Expected<Manifest> read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(jsonOf(*read), json);
  EXPECT_EQ(read->kernels[0].gpu->recordBytes(), 48);
  auto errorOf = [&](std::vector<std::string> texts) {
    manifest.kernels[0].gpu->assertions = std::move(texts);
    return validate(manifest, blobSizes).message();
  };
  EXPECT_EQ(errorOf({"index {0}"}), "");
  EXPECT_THAT(errorOf({"index", ""}),
              HasSubstr("$.kernels[0].gpu.assertions[1]"));
  EXPECT_THAT(errorOf({"two\nlines"}),
              HasSubstr("$.kernels[0].gpu.assertions[0]"));
  EXPECT_THAT(errorOf({std::string(5000, 'x')}),
              HasSubstr("expected at most 4096 bytes, found 5000"));
  EXPECT_THAT(errorOf(std::vector<std::string>(4097, "x")),
              HasSubstr("expected at most 4096 elements, found 4097"));
  // The address of the record is a parameter: 8 bytes beside the others.
  manifest.kernels[0].gpu->assertions.clear();
  ManifestLimits limits;
  auto fits = [&](int64_t bytes) {
    limits.maxParameterBytes = bytes;
    return validate(manifest, blobSizes, limits).ok();
  };
  int64_t bytes = 1;
  while (!fits(bytes))
    ++bytes;
  manifest.kernels[0].gpu->assertions = {"index {0}"};
  EXPECT_FALSE(fits(bytes));
  EXPECT_TRUE(fits(bytes + 15));
}

TEST(ManifestGPU, WhatCodeTakesIsKeptWhereItIsKnown) {
  Manifest manifest = test::describedGPUProgram().manifest;
  EXPECT_FALSE(manifestFromJSON(jsonOf(manifest))->kernels[0].gpu->use);
  manifest.kernels[0].gpu->use = {168, 16, 8, 24, 32};
  std::string json = jsonOf(manifest);
  EXPECT_THAT(json, HasSubstr("\"use\":{\"registers\":168,\"sharedBytes\":16,"
                              "\"stackBytes\":8,\"spillStoreBytes\":24,"
                              "\"spillLoadBytes\":32}"));
  Expected<Manifest> read = manifestFromJSON(json);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(jsonOf(*read), json);
  EXPECT_EQ(read->kernels[0].gpu->use->registers, 168);
  EXPECT_EQ(read->kernels[0].gpu->use->spillLoadBytes, 32);
  manifest.kernels[0].gpu->use->stackBytes = -1;
  EXPECT_THAT(validate(manifest, blobSizes).message(),
              HasSubstr("$.kernels[0].gpu.use.stackBytes: expected 0 or more, "
                        "found -1"));
}

/// Replaces the first `from` in the JSON and reads the result.
static std::string errorAfter(const std::string &from, const std::string &to) {
  std::string json = jsonOf(test::describedGPUProgram().manifest);
  size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << json;
  if (at == std::string::npos)
    return "";
  json.replace(at, from.size(), to);
  Expected<Manifest> read = manifestFromJSON(json);
  if (!read)
    return read.message();
  Status status = validate(*read, blobSizes);
  return status.ok() ? "accepted" : status.message();
}

TEST(ManifestGPU, RefusesMalformedText) {
  EXPECT_EQ(errorAfter("\"cuda\"", "\"hip\""), "accepted");
  EXPECT_THAT(errorAfter("\"gpu\":{\"block\"", "\"cpu\":{\"block\""),
              HasSubstr("$.kernels[0]: the field \"gpu\" is missing"));
  EXPECT_THAT(errorAfter("\"overlaps\":true", "\"overlaps\":1"),
              HasSubstr("$.kernels[0].gpu.overlaps: expected a boolean"));
  EXPECT_THAT(errorAfter("\"128B\"", "\"129B\""),
              HasSubstr("$.entries[0].steps[0].args[0].tensorMap.swizzle: "
                        "expected one of none, 32B, 64B, 128B, found "
                        "\"129B\""));
  EXPECT_THAT(errorAfter("\"grid\":", "\"gird\":"),
              HasSubstr("the field \"grid\" is missing"));
  EXPECT_THAT(errorAfter("\"box\":[64,32],", ""),
              HasSubstr("the field \"box\" is missing"));
  EXPECT_THAT(errorAfter("\"im2col\":{", "\"box\":[1],\"im2col\":{"),
              HasSubstr("unknown field \"box\""));
  EXPECT_THAT(errorAfter("\"indexBits\":32",
                         "\"indexBits\":32,\"use\":{\"registers\":1}"),
              HasSubstr("$.kernels[0].gpu.use: the field \"sharedBytes\" is "
                        "missing"));
  // For a target without a grid all of it is unknown.
  EXPECT_THAT(errorAfter("\"cuda\"", "\"cpu\""),
              HasSubstr("unknown field \"gpu\""));
}

TEST(ManifestGPU, RefusesWhatNoGPUTakes) {
  EXPECT_THAT(errorAfter("\"block\":[128,2,1]", "\"block\":[128,2]"),
              HasSubstr("gpu.block: expected 3 numbers, found 2"));
  EXPECT_THAT(errorAfter("\"block\":[128,2,1]", "\"block\":[0,2,1]"),
              HasSubstr("expected 1 to 1024, found 0"));
  EXPECT_THAT(errorAfter("\"block\":[128,2,1]", "\"block\":[128,9,1]"),
              HasSubstr("expected a product of at most 1024"));
  EXPECT_THAT(errorAfter("\"cluster\":[2,1,1]", "\"cluster\":[5,4,1]"),
              HasSubstr("gpu.cluster: expected a product of at most 16"));
  EXPECT_THAT(errorAfter("\"persistent\":1", "\"persistent\":-1"),
              HasSubstr("gpu.persistent: expected 0 to 64"));
  EXPECT_THAT(errorAfter("\"indexBits\":32", "\"indexBits\":16"),
              HasSubstr("expected 32 or 64, found 16"));
  EXPECT_THAT(errorAfter("\"images\":[{\"code\":0", "\"images\":[{\"code\":9"),
              HasSubstr("$.images[0].code: expected the number of a blob"));
  EXPECT_THAT(
      errorAfter("\"blob\":0,\"workspace\"", "\"blob\":1,\"workspace\""),
      HasSubstr("$.kernels[0]: expected an image with the code 1"));
  EXPECT_THAT(errorAfter("\"kind\":\"cubin\"", "\"kind\":\"dxil\""),
              HasSubstr("$.images[0].kind: expected one of object, ptx, cubin, "
                        "hsaco, msl, metallib, spirv, found \"dxil\""));
  EXPECT_THAT(errorAfter("\"isa\":80", "\"isa\":-1"),
              HasSubstr("$.images[1].isa"));
  EXPECT_THAT(errorAfter("\"box\":[64,32]", "\"box\":[64,32,1]"),
              HasSubstr("tensorMap.box: expected 2 numbers, found 3"));
  EXPECT_THAT(errorAfter("\"box\":[64,32]", "\"box\":[64,0]"),
              HasSubstr("expected 1 to 256, found 0"));
  EXPECT_THAT(
      errorAfter("\"element\":\"f32\"", "\"element\":\"f16\""),
      HasSubstr("expected an element of the 4 bytes of f32, found f16"));
  EXPECT_THAT(errorAfter("\"lower\":[0,0]", "\"lower\":[0]"),
              HasSubstr("im2col.lower: expected 2 numbers, found 1"));
  EXPECT_THAT(errorAfter("\"lower\":[0,0]", "\"lower\":[0,-129]"),
              HasSubstr("expected -128 to 127, found -129"));
  EXPECT_THAT(errorAfter("\"pixelsPerColumn\":96", "\"pixelsPerColumn\":4096"),
              HasSubstr("expected 1 to 1024, found 4096"));
}

TEST(ManifestGPU, RefusesReferencesThatGoNowhere) {
  auto with = [](const std::function<void(Manifest &)> &change) {
    Manifest manifest = test::describedGPUProgram().manifest;
    change(manifest);
    Status status = validate(manifest, blobSizes);
    return status.ok() ? "accepted" : status.message();
  };
  EXPECT_THAT(with([](Manifest &m) { m.entries[0].steps[0].grid[1] = 99; }),
              HasSubstr("steps[0].grid[1]: expected the number of an "
                        "expression"));
  EXPECT_THAT(with([](Manifest &m) { m.entries[0].steps[0].grid.pop_back(); }),
              HasSubstr("expected the numbers of three expressions, found 2"));
  EXPECT_THAT(with([](Manifest &m) { m.kernels[0].gpu.reset(); }),
              HasSubstr("gpu: expected the launch of a kernel on a grid"));
  EXPECT_THAT(with([](Manifest &m) {
                ArgSpec arg = m.entries[0].steps[0].args[0];
                m.entries[0].steps[0].args.assign(40, arg);
              }),
              HasSubstr("at most 4096 bytes of parameters, found 5120"));
  EXPECT_THAT(with([](Manifest &m) { m.target.kind = "cpu"; }),
              HasSubstr("the target has no grid"));
  // What only a grid has, in a program without one.
  auto onCPU = [](const std::function<void(Manifest &)> &change) {
    Manifest manifest = test::describedProgram().manifest;
    change(manifest);
    return validate(manifest, blobSizes).message();
  };
  EXPECT_EQ(onCPU([](Manifest &) {}), "");
  EXPECT_THAT(
      onCPU([](Manifest &m) { m.entries[0].steps[0].grid = {0, 0, 0}; }),
      HasSubstr("grid: the target has no grid"));
  EXPECT_THAT(onCPU([](Manifest &m) {
                m.entries[0].steps[0].args[0].kind = ArgKind::Pointer;
              }),
              HasSubstr("expected a view, an index or a value"));
}

TEST(ManifestGPU, EveryTruncationIsRefused) {
  std::string json = jsonOf(test::describedGPUProgram().manifest);
  for (size_t i = 0; i < json.size(); ++i)
    EXPECT_FALSE(manifestFromJSON(json.substr(0, i))) << i;
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

namespace {
/// Writes into each map what it is of, and counts.
class MapMaker final : public Device {
public:
  const DeviceInfo &info() const override { return description; }
  std::vector<Unsupported> unsupported() const override { return {}; }
  Status encodeTensorMap(const TensorMapSpec &spec, void *address,
                         Span<const int64_t> sizes, Span<const int64_t>,
                         void *map) const override {
    if (!address)
      return Status::error("no address");
    ++made;
    std::memset(map, 0, tensorMapBytes);
    std::memcpy(map, &address, sizeof address);
    std::memcpy(static_cast<char *>(map) + 8, sizes.data(), 8);
    return Status::success();
  }
  mutable std::atomic<int> made{0};

protected:
  Expected<std::shared_ptr<Buffer>> doAllocate(int64_t, int64_t) override {
    return Status::error("none");
  }
  Expected<std::unique_ptr<Stream>> doCreateStream() override {
    return Status::error("none");
  }
  Expected<std::unique_ptr<Event>> doCreateEvent() override {
    return Status::error("none");
  }
  Expected<std::shared_ptr<Module>> doLoadModule(Bytes) override {
    return Status::error("none");
  }

private:
  DeviceInfo description;
};

void *address(uintptr_t i) { return reinterpret_cast<void *>(4096 * (i + 1)); }

uintptr_t addressIn(const TensorMapBytes &map) {
  uintptr_t value;
  std::memcpy(&value, map.bytes, sizeof value);
  return value;
}
} // namespace

TEST(TensorMapCache, KnowsRecipesAddressesAndShapes) {
  MapMaker device;
  TensorMapCache cache;
  TensorMapSpec a, b;
  TensorMapBytes map;
  auto get = [&](const TensorMapSpec &spec, uintptr_t where, int64_t size,
                 int64_t stride) {
    ASSERT_TRUE(
        cache.get(device, spec, address(where), {size}, {stride}, map).ok());
    EXPECT_EQ(addressIn(map), 4096 * (where + 1));
  };
  for (int round = 0; round < 2; ++round) {
    get(a, 0, 8, 1);
    get(b, 0, 8, 1);
    get(a, 1, 8, 1);
    get(a, 0, 9, 1);
    get(a, 0, 8, 2);
  }
  EXPECT_EQ(device.made, 5);
  EXPECT_EQ(cache.size(), 5u);
  // A failure is not kept.
  EXPECT_FALSE(cache.get(device, a, nullptr, {8}, {1}, map).ok());
  EXPECT_EQ(cache.size(), 5u);
  std::vector<int64_t> six(6, 1);
  EXPECT_FALSE(cache.get(device, a, address(0), six, six, map).ok());
}

TEST(TensorMapCache, ForgetsWhatWasNotAskedForTheLongest) {
  MapMaker device;
  TensorMapCache cache(3);
  TensorMapSpec spec;
  TensorMapBytes map;
  auto get = [&](uintptr_t where) {
    ASSERT_TRUE(cache.get(device, spec, address(where), {8}, {1}, map).ok());
  };
  for (uintptr_t where : {0, 1, 2, 0, 3})
    get(where);
  EXPECT_EQ(device.made, 4);
  EXPECT_EQ(cache.size(), 3u);
  get(0);
  get(2);
  EXPECT_EQ(device.made, 4);
  get(1);
  EXPECT_EQ(device.made, 5);
}

TEST(TensorMapCache, ServesSeveralThreads) {
  MapMaker device;
  TensorMapCache cache(16);
  TensorMapSpec spec;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uintptr_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uintptr_t i = 0; i < 2000; ++i) {
        TensorMapBytes map;
        uintptr_t where = (i * (t + 3)) % 40;
        if (!cache.get(device, spec, address(where), {8}, {1}, map).ok() ||
            addressIn(map) != 4096 * (where + 1))
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(cache.size(), 16u);
}
