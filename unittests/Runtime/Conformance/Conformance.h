//===- Conformance.h - One suite for all drivers ----------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite sees a driver through the Device interface alone. A driver takes
// part by an element of `conformanceDrivers()`.
//
// The code that a driver brings defines these kernels, where tile t of the
// grid is what is said of t:
//   conf_count(out: i64[n])                 out[t] += 1
//   conf_scale_add(x, y, out: f32[n], factor: index, perTile: index)
//        out[i] = factor * x[i] + y[i] for the perTile elements of the tile
//   conf_slots(out: i64[n], …)              out[i] = the i-th slot after `out`
//   conf_row_sum(x: f32[m, k], out: f32[m]) out[t] = x[t, 0] + x[t, 1] + …
//   conf_copy(x, out: f32[m, k])            out[t, :] = x[t, :]
//   conf_workspace(out: i64[n], bytes: index)
//        out[t] = 1 where the workspace is aligned to 64 bytes and holds what
//        the tile wrote into its `bytes` bytes, else 0
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_CONFORMANCE_H
#define TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_CONFORMANCE_H

#include "tracea/Runtime/Device.h"
#include "tracea/Runtime/ProgramFile.h"
#include "tracea/Runtime/Tensor.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracea::runtime::test {

struct DriverCase {
  std::string name;
  std::function<Expected<std::shared_ptr<Device>>()> open;
  /// The conformance kernels in the driver's kind of code.
  std::function<std::vector<uint8_t>()> code;
};

/// The drivers of this build that have a device here.
std::vector<DriverCase> conformanceDrivers();

/// A driver over `device` whose memory the host cannot touch and whose streams
/// do nothing before they are synchronized: what a discrete device may do, at
/// its worst.
std::shared_ptr<Device> makeDiscrete(std::shared_ptr<Device> device);

class Conformance : public ::testing::TestWithParam<DriverCase> {
protected:
  void SetUp() override {
    Expected<std::shared_ptr<Device>> opened = GetParam().open();
    ASSERT_TRUE(opened) << opened.message();
    device = *opened;
    Expected<std::unique_ptr<Stream>> created = device->createStream();
    ASSERT_TRUE(created) << created.message();
    stream = std::move(*created);
  }

  std::shared_ptr<Kernel> kernel(const std::string &symbol,
                                 int64_t workspace = 0) {
    Expected<std::shared_ptr<Module>> module =
        device->loadModule(GetParam().code());
    EXPECT_TRUE(module) << module.message();
    Expected<std::shared_ptr<Kernel>> found =
        (*module)->kernel(symbol, workspace);
    EXPECT_TRUE(found) << found.message();
    return *found;
  }
  std::shared_ptr<Buffer> allocate(int64_t bytes) {
    Expected<std::shared_ptr<Buffer>> buffer = device->allocate(bytes);
    EXPECT_TRUE(buffer) << buffer.message();
    return *buffer;
  }
  template <typename T>
  std::shared_ptr<Buffer> upload(const std::vector<T> &values) {
    int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
    std::shared_ptr<Buffer> buffer = allocate(bytes);
    EXPECT_TRUE(stream->copyToDevice(*buffer, 0, values.data(), bytes).ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return buffer;
  }
  template <typename T>
  std::vector<T> download(const Buffer &buffer) {
    std::vector<T> values(static_cast<size_t>(buffer.bytes()) / sizeof(T));
    Status status =
        stream->copyToHost(values.data(), buffer, 0, buffer.bytes());
    EXPECT_TRUE(status.ok()) << status.message();
    status = stream->synchronize();
    EXPECT_TRUE(status.ok()) << status.message();
    return values;
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
};

inline std::string nameOfCase(const ::testing::TestParamInfo<DriverCase> &c) {
  return c.param.name;
}

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_CONFORMANCE_H
