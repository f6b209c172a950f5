//===- RecheckLaunches.h - Launches against what was proved -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A certificate of coverage is about launches of a kind: so many arguments,
// sizes that are equal or that the host has checked, a grid of so many tiles.
// Whether the steps of a program are launches of that kind is decided from its
// manifest alone, from the checks that a run makes before its first step.

#ifndef TRACEA_TARGET_PROGRAM_RECHECKLAUNCHES_H
#define TRACEA_TARGET_PROGRAM_RECHECKLAUNCHES_H

#include "tracea/Analysis/Recheck.h"
#include "tracea/Runtime/Manifest.h"

namespace tracea::analysis {

/// The launches of one kernel in one entry.
struct LaunchRecheck {
  std::string kernel, entry;
  RecheckResult result;
};

/// All launches of kernels that have a certificate of coverage with a model:
/// that each brings what the model expects; that what is read was written by an
/// earlier step, and what the entry returns by some step.
std::vector<LaunchRecheck> recheckLaunches(const runtime::Manifest &manifest);

} // namespace tracea::analysis

#endif // TRACEA_TARGET_PROGRAM_RECHECKLAUNCHES_H
