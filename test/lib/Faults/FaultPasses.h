//===- FaultPasses.h - Passes that inject faults ----------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_LIB_FAULTS_FAULTPASSES_H
#define TRACEA_TEST_LIB_FAULTS_FAULTPASSES_H

namespace tracea::test {

/// `test-tracea-inject-fault` and `test-tracea-fault-suite`.
void registerFaultPasses();

} // namespace tracea::test

#endif // TRACEA_TEST_LIB_FAULTS_FAULTPASSES_H
