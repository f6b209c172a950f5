//===- TraceaOps.cpp - Registers the generated operation code ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "Epilogue.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::tracea;

#include "tracea/Dialect/Tracea/IR/TraceaInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "tracea/Dialect/Tracea/IR/TraceaOps.cpp.inc"
