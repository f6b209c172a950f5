//===- BufferizableOpInterfaceImpl.h - Bufferization of launches ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tracea_pipe {

/// Lets `tracea_pipe.launch` take part in one-shot bufferization.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// Whether a kernel may read a buffer of this type as if its layout were the
/// identity: row-major without gaps, wherever it begins. A launch passes a
/// pointer to the first element, so that an offset does no harm.
bool isPassableToKernel(MemRefType type);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
