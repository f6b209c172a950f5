//===- DeviceTest.cpp - Memory, streams and launches ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every driver must do with buffers, copies, fills and kernels.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include <cstring>
#include <numeric>
#include <thread>

using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::Each;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Drivers, Conformance,
                         ::testing::ValuesIn(conformanceDrivers()), nameOfCase);

TEST_P(Conformance, DescribesItself) {
  const DeviceInfo &info = device->info();
  EXPECT_FALSE(info.kind.empty());
  EXPECT_FALSE(info.arch.empty());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.parallelism, 1);
  EXPECT_TRUE(std::is_sorted(info.features.begin(), info.features.end()));
  for (const Unsupported &item : device->unsupported()) {
    EXPECT_FALSE(item.what.empty());
    EXPECT_FALSE(item.reason.empty()) << item.what;
  }
}

TEST_P(Conformance, TargetsAreCompared) {
  const DeviceInfo &info = device->info();
  TargetSpec target = {info.kind, info.arch, "", info.features};
  EXPECT_TRUE(device->checkTarget(target).ok());
  target.features.push_back("no-such-feature");
  EXPECT_THAT(device->checkTarget(target).message(),
              HasSubstr("needs no-such-feature"));
  target = {info.kind, "pdp11", "", {}};
  EXPECT_THAT(device->checkTarget(target).message(), HasSubstr("pdp11"));
  target = {"abacus", info.arch, "", {}};
  EXPECT_THAT(device->checkTarget(target).message(), HasSubstr("abacus"));
}

TEST_P(Conformance, AllocatesAlignedMemory) {
  for (int64_t bytes : {0, 1, 63, 64, 65, 1 << 20}) {
    std::shared_ptr<Buffer> buffer = allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_NE(buffer->address(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->address()) % 64, 0u);
  }
  Expected<std::shared_ptr<Buffer>> aligned = device->allocate(100, 4096);
  ASSERT_TRUE(aligned) << aligned.message();
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*aligned)->address()) % 4096, 0u);
}

TEST_P(Conformance, RefusesImpossibleAllocations) {
  EXPECT_FALSE(device->allocate(-1));
  EXPECT_FALSE(device->allocate(64, 48));
  EXPECT_FALSE(device->allocate(64, 0));
  EXPECT_THAT(device->allocate(int64_t(1) << 60).message(),
              HasSubstr("out of memory"));
}

TEST_P(Conformance, CopiesParts) {
  std::vector<uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), uint8_t(0));
  std::shared_ptr<Buffer> a = upload(bytes);
  std::shared_ptr<Buffer> b = upload(std::vector<uint8_t>(1000, 9));
  ASSERT_TRUE(stream->copy(*b, 13, *a, 501, 250).ok());
  std::vector<uint8_t> expected(1000, 9);
  std::copy_n(bytes.begin() + 501, 250, expected.begin() + 13);
  EXPECT_EQ(download<uint8_t>(*b), expected);
  std::vector<uint8_t> part(3);
  ASSERT_TRUE(stream->copyToHost(part.data(), *b, 12, 3).ok());
  ASSERT_TRUE(stream->copyToDevice(*a, 997, bytes.data(), 3).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(part, (std::vector<uint8_t>{9, bytes[501], bytes[502]}));
  std::copy_n(bytes.begin(), 3, bytes.begin() + 997);
  EXPECT_EQ(download<uint8_t>(*a), bytes);
}

TEST_P(Conformance, FillsParts) {
  std::shared_ptr<Buffer> buffer = upload(std::vector<uint8_t>(100, 1));
  ASSERT_TRUE(stream->fill(*buffer, 7, 50, 0xab).ok());
  ASSERT_TRUE(stream->fill(*buffer, 100, 0, 0xff).ok());
  std::vector<uint8_t> expected(100, 1);
  std::fill_n(expected.begin() + 7, 50, uint8_t(0xab));
  EXPECT_EQ(download<uint8_t>(*buffer), expected);
}

TEST_P(Conformance, RefusesRangesOutOfBounds) {
  std::shared_ptr<Buffer> a = allocate(100), b = allocate(50);
  char host[200] = {};
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(stream->copyToDevice(*a, 1, host, 100).ok());
  EXPECT_FALSE(stream->copyToDevice(*a, -1, host, 10).ok());
  EXPECT_FALSE(stream->copyToDevice(*a, 0, host, -1).ok());
  EXPECT_FALSE(stream->copyToDevice(*a, huge, host, huge).ok());
  EXPECT_FALSE(stream->copyToHost(host, *a, 101, 0).ok());
  EXPECT_FALSE(stream->copyToHost(host, *b, 0, 51).ok());
  EXPECT_FALSE(stream->copy(*b, 0, *a, 0, 51).ok());
  EXPECT_FALSE(stream->copy(*a, 0, *b, 0, 51).ok());
  EXPECT_FALSE(stream->fill(*a, 50, 51, 0).ok());
  EXPECT_THAT(stream->fill(*a, 50, 51, 0).message(),
              HasSubstr("a buffer of 100 bytes, found 51 bytes at 50"));
  EXPECT_THAT(stream->copy(*a, 10, *a, 0, 11).message(), HasSubstr("overlap"));
  EXPECT_TRUE(stream->copy(*a, 10, *a, 0, 10).ok());
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(Conformance, EveryTileRunsExactlyOnce) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  for (int64_t tiles : {0, 1, 2, 3, 5, 17, 64, 1001}) {
    std::vector<int64_t> zeros(static_cast<size_t>(tiles) + 2, 0);
    std::shared_ptr<Buffer> out = upload(zeros);
    ArgPacker args;
    args.memref(*out, 0, {tiles + 2}, {1});
    ASSERT_TRUE(stream->launch(count, tiles, args.packed()).ok());
    std::vector<int64_t> expected(static_cast<size_t>(tiles), 1);
    expected.resize(expected.size() + 2, 0);
    EXPECT_EQ(download<int64_t>(*out), expected) << tiles;
  }
}

TEST_P(Conformance, LaunchesRunInOrder) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  std::shared_ptr<Buffer> out = upload(std::vector<int64_t>(37, 0));
  ArgPacker args;
  args.memref(*out, 0, {37}, {1});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(stream->launch(count, 37, args.packed()).ok());
    if (i == 99) {
      ASSERT_TRUE(stream->fill(*out, 0, 8, 0).ok());
    }
  }
  std::vector<int64_t> expected(37, 200);
  expected[0] = 100;
  EXPECT_EQ(download<int64_t>(*out), expected);
}

TEST_P(Conformance, ArgumentsArriveAsPacked) {
  std::shared_ptr<Kernel> slots = kernel("conf_slots");
  std::shared_ptr<Buffer> out = allocate(13 * 8), other = allocate(64);
  ArgPacker args;
  args.memref(*out, 0, {13}, {1});
  args.memref(*other, 0, {3, 5}, {-7, 11});
  args.memref(*other, 24, {}, {});
  args.index(-42);
  args.f32(-1.0f);
  args.f64(-1.0);
  args.index(std::numeric_limits<int64_t>::min());
  args.memref({0}, {1});
  ASSERT_TRUE(stream->launch(slots, 1, args.packed()).ok());
  std::vector<int64_t> values = download<int64_t>(*out);
  EXPECT_EQ(values[0] + 24, values[5]) << "the same buffer, from byte 24 on";
  int64_t place = values[0];
  EXPECT_EQ(values, (std::vector<int64_t>{
                        place, 3, 5, -7, 11, place + 24, -42, 0xbf800000,
                        static_cast<int64_t>(0xbff0000000000000),
                        std::numeric_limits<int64_t>::min(), 0, 0, 1}));
}

TEST_P(Conformance, StridedViewsAndTails) {
  std::shared_ptr<Kernel> scaleAdd = kernel("conf_scale_add");
  for (int64_t n : {1, 7, 64, 65, 1003}) {
    std::vector<float> x(static_cast<size_t>(2 * n)), y(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 0.0f);
    std::iota(y.begin(), y.end(), 100.0f);
    std::shared_ptr<Buffer> dx = upload(x), dy = upload(y),
                            out = upload(std::vector<float>(
                                static_cast<size_t>(n), -1.0f));
    ArgPacker args;
    args.memref(*dx, 0, {n}, {2});
    args.memref(*dy, 4 * (n - 1), {n}, {-1});
    args.memref(*out, 0, {n}, {1});
    args.index(3);
    args.index(16);
    ASSERT_TRUE(stream->launch(scaleAdd, (n + 15) / 16, args.packed()).ok());
    std::vector<float> result = download<float>(*out);
    for (size_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(result[i], 3 * x[2 * i] + y[result.size() - 1 - i]);
  }
}

TEST_P(Conformance, WorkspaceIsPrivateAndAligned) {
  for (int64_t bytes : {1, 100, 65536}) {
    std::shared_ptr<Kernel> scratch = kernel("conf_workspace", bytes);
    std::shared_ptr<Buffer> out = upload(std::vector<int64_t>(101, 0));
    ArgPacker args;
    args.memref(*out, 0, {101}, {1});
    args.index(bytes);
    ASSERT_TRUE(stream->launch(scratch, 101, args.packed()).ok());
    EXPECT_THAT(download<int64_t>(*out), Each(1)) << bytes;
  }
}

TEST_P(Conformance, RepeatedRunsAreBitwiseEqual) {
  std::shared_ptr<Kernel> rowSum = kernel("conf_row_sum");
  int64_t m = 53, k = 301;
  std::vector<float> x(static_cast<size_t>(m * k));
  uint32_t state = 1;
  for (float &value : x) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) * 1e-3f - 5000.0f;
  }
  std::shared_ptr<Buffer> dx = upload(x);
  std::vector<float> first;
  for (int i = 0; i < 50; ++i) {
    std::shared_ptr<Buffer> out = allocate(m * 4);
    ArgPacker args;
    args.memref(*dx, 0, {m, k}, {k, 1});
    args.memref(*out, 0, {m}, {1});
    ASSERT_TRUE(stream->launch(rowSum, m, args.packed()).ok());
    std::vector<float> result = download<float>(*out);
    if (first.empty())
      first = result;
    ASSERT_EQ(std::memcmp(first.data(), result.data(), result.size() * 4), 0);
  }
}

TEST_P(Conformance, SeveralStreamsAtOnce) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  constexpr int numThreads = 4, launches = 50, n = 97;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int t = 0; t < numThreads; ++t)
    buffers.push_back(upload(std::vector<int64_t>(n, 0)));
  std::vector<std::string> errors(numThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      Expected<std::unique_ptr<Stream>> own = device->createStream();
      if (!own) {
        errors[t] = own.message();
        return;
      }
      ArgPacker args;
      args.memref(*buffers[t], 0, {n}, {1});
      for (int i = 0; i < launches; ++i) {
        Status status = (*own)->launch(count, n, args.packed());
        if (!status.ok())
          errors[t] = status.message();
      }
      Status status = (*own)->synchronize();
      if (!status.ok())
        errors[t] = status.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(errors, Each(std::string()));
  for (const std::shared_ptr<Buffer> &buffer : buffers)
    EXPECT_THAT(download<int64_t>(*buffer), Each(launches));
}

TEST_P(Conformance, EventsOrderStreams) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  constexpr int n = 61, launches = 100;
  std::unique_ptr<Stream> other = std::move(*device->createStream());
  std::unique_ptr<Event> event = std::move(*device->createEvent());
  std::unique_ptr<Event> never = std::move(*device->createEvent());
  std::shared_ptr<Buffer> out = upload(std::vector<int64_t>(n, 0));
  std::shared_ptr<Buffer> copy = upload(std::vector<int64_t>(n, -1));
  ArgPacker args;
  args.memref(*out, 0, {n}, {1});
  // There and back: each stream goes on where the other one has been.
  for (int64_t round = 1; round <= 4; ++round) {
    for (int i = 0; i < launches; ++i)
      ASSERT_TRUE(other->launch(count, n, args.packed()).ok());
    ASSERT_TRUE(other->record(*event).ok());
    ASSERT_TRUE(stream->wait(*event).ok());
    ASSERT_TRUE(stream->wait(*never).ok());
    ASSERT_TRUE(stream->copy(*copy, 0, *out, 0, n * 8).ok());
    EXPECT_THAT(download<int64_t>(*copy), Each(round * launches));
    ASSERT_TRUE(stream->fill(*copy, 0, n * 8, 255).ok());
    ASSERT_TRUE(stream->record(*event).ok());
    ASSERT_TRUE(other->wait(*event).ok());
  }
  ASSERT_TRUE(other->copy(*out, 0, *copy, 0, n * 8).ok());
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_THAT(download<int64_t>(*out), Each(-1));
}

TEST_P(Conformance, ImagesAreRefusedByTheirKind) {
  const DeviceInfo &info = device->info();
  ASSERT_FALSE(info.imageKinds.empty());
  std::vector<ImageSpec> images = {{0, 0, ImageKind::Hsaco, "gfx942", 0},
                                   {0, 0, ImageKind::MetalLib, "apple9", 0}};
  Expected<size_t> chosen = device->chooseImage(images);
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.message(),
              HasSubstr("of a kind that the device \"" + info.kind +
                        "\" takes, " + nameOf(info.imageKinds.front())));
  EXPECT_THAT(chosen.message(),
              HasSubstr("found hsaco for gfx942, metallib for apple9"));
  images.push_back({0, 0, info.imageKinds.front(), info.arch, 0});
  chosen = device->chooseImage(images);
  ASSERT_TRUE(chosen) << chosen.message();
  EXPECT_EQ(*chosen, 2u);
}

TEST_P(Conformance, RefusesBadLaunches) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  EXPECT_THAT(stream->launch(count, -1, {}).message(),
              HasSubstr("expected at least 0 tiles, found -1"));
  EXPECT_THAT(stream->launch(count, maxTiles + 1, {}).message(),
              HasSubstr("expected at most 1099511627776 tiles, found "
                        "1099511627777"));
  EXPECT_FALSE(stream->launch(nullptr, 1, {}).ok());
  EXPECT_TRUE(stream->launch(count, 0, LaunchArguments()).ok());
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(Conformance, RefusesBadCode) {
  std::vector<uint8_t> code = GetParam().code();
  EXPECT_FALSE(device->loadModule({}));
  EXPECT_FALSE(device->loadModule(std::vector<uint8_t>(5000, 0x5a)));
  EXPECT_FALSE(device->loadModule(Bytes(code.data(), code.size() / 2)));
  EXPECT_FALSE(device->loadModule(Bytes(code.data(), 100)));
  Expected<std::shared_ptr<Module>> module = device->loadModule(code);
  ASSERT_TRUE(module) << module.message();
  EXPECT_THAT((*module)->kernel("conf_missing").message(),
              HasSubstr("conf_missing"));
  EXPECT_FALSE((*module)->kernel("conf_count", -1));
}

TEST_P(Conformance, ModulesComeAndGo) {
  // Code that is loaded, unloaded and loaded again is the code of that time.
  std::vector<uint8_t> code = GetParam().code();
  for (int i = 0; i < 20; ++i) {
    std::shared_ptr<Kernel> kept;
    {
      Expected<std::shared_ptr<Module>> a = device->loadModule(code);
      Expected<std::shared_ptr<Module>> b = device->loadModule(code);
      ASSERT_TRUE(a && b) << a.message() << b.message();
      kept = *(*b)->kernel("conf_count");
    }
    std::shared_ptr<Buffer> out = upload(std::vector<int64_t>(3, 0));
    ArgPacker args;
    args.memref(*out, 0, {3}, {1});
    ASSERT_TRUE(stream->launch(kept, 3, args.packed()).ok());
    EXPECT_THAT(download<int64_t>(*out), Each(1));
  }
}

TEST_P(Conformance, PartsOutliveTheDevice) {
  std::shared_ptr<Kernel> count = kernel("conf_count");
  std::shared_ptr<Buffer> out = upload(std::vector<int64_t>(100, 0));
  device.reset();
  ArgPacker args;
  args.memref(*out, 0, {100}, {1});
  ASSERT_TRUE(stream->launch(count, 100, args.packed()).ok());
  EXPECT_THAT(download<int64_t>(*out), Each(1));
}
