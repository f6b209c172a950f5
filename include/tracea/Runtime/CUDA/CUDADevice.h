//===- CUDADevice.h - The driver for NVIDIA's GPUs --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works through the CUDA driver's library, which is opened when a device is:
// nothing of CUDA is needed to build, and without a driver the functions here
// say what is missing. Devices share their primary context with the other
// libraries of the process, so that pointers and streams may be exchanged.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CUDA_CUDADEVICE_H
#define TRACEA_RUNTIME_CUDA_CUDADEVICE_H

#include "tracea/Runtime/Device.h"

namespace tracea::runtime {

struct CUDADeviceOptions {
  /// Which of the devices that the process may use (CUDA_VISIBLE_DEVICES).
  int ordinal = 0;
  /// The driver's library; empty is TRACEA_CUDA_DRIVER where that is set, else
  /// libcuda.so.1.
  std::string driverLibrary;
  /// Allocate from a memory pool where the device has them.
  bool memoryPool = true;
  /// How much memory the pool keeps for later when it is free.
  int64_t poolKeepBytes = int64_t(64) << 20;
};

/// What a device says of itself.
struct CUDADeviceProperties {
  int ordinal = 0;
  std::string name;
  /// Of the driver: 1000 * major + 10 * minor.
  int driverVersion = 0;
  /// The library that the driver was opened from.
  std::string driverLibrary;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  int maxThreadsPerBlock = 0;
  int maxBlock[3] = {0, 0, 0};
  int maxGrid[3] = {0, 0, 0};
  /// Shared memory in bytes: of a block without and with asking for more.
  int sharedBytes = 0;
  int sharedBytesOptin = 0;
  int sharedBytesPerMultiprocessor = 0;
  int l2Bytes = 0;
  int clockKHz = 0;
  int memoryClockKHz = 0;
  int memoryBusBits = 0;
  int64_t memoryBytes = 0;
  bool ecc = false;
  bool memoryPools = false;
  bool clusters = false;
  bool tensorMaps = false;

  /// "sm_90".
  std::string arch() const {
    return "sm_" + std::to_string(10 * major + minor);
  }
};

/// The oldest device that programs run on: compute capability 7.0.
inline constexpr int minCUDACapability = 70;

/// Whether there is a driver's library at all, whatever becomes of it.
bool hasCUDADriver(const std::string &driverLibrary = "");

/// The devices of this process, supported or not. Fails where there is no
/// usable driver or no device.
Expected<std::vector<CUDADeviceProperties>>
listCUDADevices(const std::string &driverLibrary = "");

Expected<std::shared_ptr<Device>>
createCUDADevice(const CUDADeviceOptions &options = {});

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CUDA_CUDADEVICE_H
