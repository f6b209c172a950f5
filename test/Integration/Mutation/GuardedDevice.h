//===- GuardedDevice.h - A CPU whose memory ends at guard pages -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs programs as the CPU's driver does, but each tile by itself, in an order
// drawn at random, in a workspace that is poisoned before it and ends at a page
// that may not be touched; so do buffers.

#ifndef TRACEA_TEST_INTEGRATION_MUTATION_GUARDEDDEVICE_H
#define TRACEA_TEST_INTEGRATION_MUTATION_GUARDEDDEVICE_H

#include "tracea/Runtime/Device.h"

namespace tracea::mutants {

std::shared_ptr<runtime::Device> createGuardedDevice();

} // namespace tracea::mutants

#endif // TRACEA_TEST_INTEGRATION_MUTATION_GUARDEDDEVICE_H
