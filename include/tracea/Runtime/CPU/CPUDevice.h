//===- CPUDevice.h - The driver for the host's processors -------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs kernels of the CPU ABI:
//
//   void kernel(const int64_t *args, int64_t tileBegin, int64_t tileEnd,
//               void *workspace);
//
// on a pool of threads. Streams run their work before the call returns. When
// several threads launch at the same time, one of them has the pool and the
// others run their tiles themselves.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_CPU_CPUDEVICE_H
#define TRACEA_RUNTIME_CPU_CPUDEVICE_H

#include "tracea/Runtime/Device.h"

namespace tracea::runtime {

struct CPUDeviceOptions {
  /// As DeviceOptions::threads.
  int threads = 0;
  /// Load code through a private temporary file even where memory files work.
  bool loadThroughFile = false;
};

/// Fails when TRACEA_NUM_THREADS is set to something that is no thread count.
Expected<std::shared_ptr<Device>>
createCPUDevice(const CPUDeviceOptions &options = {});

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_CPU_CPUDEVICE_H
