//===- Drivers.cpp - The drivers that the suite runs ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU driver in the ways in which it can be opened; the CUDA driver over
// the tests' own driver library, and over NVIDIA's where there is a device.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/File.h"

#ifdef TRACEA_FAKE_CUDA
#include "../CUDA/EmbeddedPTX.h"
#include "../CUDA/Ptxas.h"
#endif

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

#ifdef TRACEA_FAKE_CUDA
static DriverCase cuda(const std::string &name, const std::string &library,
                       bool memoryPool) {
  CUDADeviceOptions options;
  options.driverLibrary = library;
  options.memoryPool = memoryPool;
  return {name, [options] { return createCUDADevice(options); },
          conformancePTX};
}

static void addCUDADrivers(std::vector<DriverCase> &drivers) {
  // On a machine with a GPU the test may be there without the library.
  if (readFile(TRACEA_FAKE_CUDA, 1 << 26)) {
    drivers.push_back(cuda("FakeCUDA", TRACEA_FAKE_CUDA, true));
    drivers.push_back(cuda("FakeCUDANoPool", TRACEA_FAKE_CUDA, false));
  }
  Expected<std::vector<CUDADeviceProperties>> devices = listCUDADevices();
  if (!devices)
    return;
  drivers.push_back(cuda("CUDA", "", true));
  drivers.push_back(cuda("CUDANoPool", "", false));
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    return;
  DriverCase machineCode = cuda("CUDACubin", "", true);
  std::string arch = (*devices)[0].arch();
  machineCode.code = [ptxas, arch] {
    return assemble(ptxas, conformancePTX(), arch);
  };
  drivers.push_back(machineCode);
}
#endif

std::vector<DriverCase> conformanceDrivers() {
  DriverCase discrete = cpu("DiscreteOverCPU", 2, false);
  auto open = discrete.open;
  discrete.open = [open]() -> Expected<std::shared_ptr<Device>> {
    Expected<std::shared_ptr<Device>> device = open();
    if (!device)
      return device.status();
    return makeDiscrete(*device);
  };
  std::vector<DriverCase> drivers = {
      cpu("CPU1Thread", 1, false), cpu("CPU2Threads", 2, false),
      cpu("CPU7Threads", 7, false), cpu("CPUThroughFile", 2, true), discrete};
#ifdef TRACEA_FAKE_CUDA
  addCUDADrivers(drivers);
#endif
  return drivers;
}

} // namespace tracea::runtime::test
