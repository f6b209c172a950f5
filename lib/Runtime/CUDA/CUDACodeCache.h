//===- CUDACodeCache.h - Compiled PTX on disk -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code that the driver has made of PTX, by the text, the driver's
// version and the device's capability. A file is the code and a checksum;
// whatever is not well formed is made anew. Files have the rights of the code
// in them: the folder is the user's own.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDACODECACHE_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDACODECACHE_H

#include "CUDAContext.h"

namespace tracea::runtime::cuda {

/// The folder that TRACEA_CACHE_DIR names; empty without a cache.
std::string codeCacheFolder();

/// Machine code of `ptx`, from the folder or from the driver, which is then
/// kept there. Nothing where there is no cache, or the driver does not hand out
/// what it makes: then the driver is given the text. The context is current.
std::vector<uint8_t> findCompiled(const Context &context, Bytes ptx);

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDACODECACHE_H
