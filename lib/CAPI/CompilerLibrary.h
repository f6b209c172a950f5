//===- CompilerLibrary.h - Loads libtracea ----------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_COMPILERLIBRARY_H
#define TRACEA_LIB_CAPI_COMPILERLIBRARY_H

#include "CompilerInterface.h"
#include "Error.h"

namespace tracea::capi {

/// The compiler, loaded at the first call.
Expected<const TraceaCompilerInterface *> loadCompiler();

/// What tells one build of the compiler from another, without loading it;
/// empty where there is none.
std::string compilerFingerprint();

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_COMPILERLIBRARY_H
