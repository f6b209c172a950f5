//===- InitTracea.h - Registers the dialects of Tracea ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_INITTRACEA_H
#define TRACEA_INITTRACEA_H

#include "mlir/IR/DialectRegistry.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/BufferizableOpInterfaceImpl.h"

namespace mlir::tracea {

/// Adds Tracea's own dialects; those of MLIR are the caller's choice.
inline void registerTraceaDialects(DialectRegistry &registry) {
  registry.insert<TraceaDialect, tracea_pipe::TraceaPipeDialect>();
  tracea_pipe::registerBufferizableOpInterfaceExternalModels(registry);
}

} // namespace mlir::tracea

#endif // TRACEA_INITTRACEA_H
