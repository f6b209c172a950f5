//===- LimitedInput.h - Documents within the limits of all tools -*- C++
//-*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_LSP_SERVER_LIMITEDINPUT_H
#define TRACEA_TOOLS_TRACEA_LSP_SERVER_LIMITEDINPUT_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tracea::lsp {

/// From here on MLIR's server, which reads `stdin`, is given documents that
/// keep to the limits of `SourceLimits.h`. In place of one that does not it is
/// given an empty one, and the editor is told what is wrong with it. False,
/// with a message, where that cannot be done.
bool limitInput(const mlir::DialectRegistry &registry);

} // namespace tracea::lsp

#endif // TRACEA_TOOLS_TRACEA_LSP_SERVER_LIMITEDINPUT_H
