//===- ManifestValidate.h - Shared by the checks of a manifest --*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a message points to, and the checks of what only GPUs have.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CORE_MANIFESTVALIDATE_H
#define TRACEA_LIB_RUNTIME_CORE_MANIFESTVALIDATE_H

#include "tracea/Runtime/Manifest.h"

namespace tracea::runtime::manifest {

/// A place in the manifest, printed only when something is wrong there.
struct Path {
  const Path *parent;
  const char *name;
  int64_t index;

  Path(const Path *parent, const char *name, int64_t index = -1)
      : parent(parent), name(name), index(index) {}
  std::string str() const {
    std::string text = parent ? parent->str() : "$";
    text += std::string(".") + name;
    if (index >= 0)
      text += "[" + std::to_string(index) + "]";
    return text;
  }
};

inline Status failAt(const Path &path, const std::string &what) {
  return Status::error("manifest: " + path.str() + ": " + what);
}

/// An index into something with `count` elements called `what`.
Status checkIndex(const Path &path, int64_t index, size_t count,
                  const char *what);

/// The shape of launches of a kernel on a grid.
Status validateGPUKernel(const GPUKernelSpec &gpu, const Path &at);
/// Images refer to blobs, and all code that kernels name has one.
Status validateImages(const Manifest &manifest, size_t numBlobs);
/// A recipe fits its view; what depends on sizes is for the run.
Status validateTensorMap(const ArgSpec &arg, const Path &at);
/// The grid of a step and the bytes of its parameters. References to
/// expressions are checked by the caller.
Status validateGridStep(const Manifest &manifest, const EntrySpec &entry,
                        const StepSpec &step, const ManifestLimits &limits,
                        const Path &at);

} // namespace tracea::runtime::manifest

#endif // TRACEA_LIB_RUNTIME_CORE_MANIFESTVALIDATE_H
