//===- Drivers.cpp - The drivers that the suite runs ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU driver in the ways in which it can be opened.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/File.h"

namespace tracea::runtime::test {

static std::vector<uint8_t> cpuCode() {
  Expected<std::vector<uint8_t>> code = readFile(TRACEA_CPU_KERNELS, 1 << 24);
  EXPECT_TRUE(code) << code.message();
  return code ? *code : std::vector<uint8_t>();
}

static DriverCase cpu(const std::string &name, int threads, bool throughFile) {
  CPUDeviceOptions options;
  options.threads = threads;
  options.loadThroughFile = throughFile;
  return {name, [options] { return createCPUDevice(options); }, cpuCode};
}

std::vector<DriverCase> conformanceDrivers() {
  DriverCase discrete = cpu("DiscreteOverCPU", 2, false);
  auto open = discrete.open;
  discrete.open = [open]() -> Expected<std::shared_ptr<Device>> {
    Expected<std::shared_ptr<Device>> device = open();
    if (!device)
      return device.status();
    return makeDiscrete(*device);
  };
  return {cpu("CPU1Thread", 1, false), cpu("CPU2Threads", 2, false),
          cpu("CPU7Threads", 7, false), cpu("CPUThroughFile", 2, true),
          discrete};
}

} // namespace tracea::runtime::test
