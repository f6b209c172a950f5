//===- ManifestValidateGPU.cpp - Checks what GPUs add to a manifest -------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds that hold on every GPU; what a device allows it says itself.
//
//===----------------------------------------------------------------------===//

#include "ManifestValidate.h"

#include <algorithm>

namespace tracea::runtime::manifest {

/// `count` numbers of `low` to `high`, and their product at most `high`.
static Status checkNumbers(const Path &at, const std::vector<int64_t> &numbers,
                           size_t count, int64_t low, int64_t high,
                           bool boundProduct = false) {
  if (numbers.size() != count)
    return failAt(at, "expected " + std::to_string(count) + " numbers, found " +
                          std::to_string(numbers.size()));
  int64_t product = 1;
  for (size_t i = 0; i < count; ++i) {
    if (numbers[i] < low || numbers[i] > high)
      return failAt(Path(&at, "", static_cast<int64_t>(i)),
                    "expected " + std::to_string(low) + " to " +
                        std::to_string(high) + ", found " +
                        std::to_string(numbers[i]));
    product = std::min(product * numbers[i], high + 1);
    if (boundProduct && product > high)
      return failAt(at, "expected a product of at most " +
                            std::to_string(high) + ", found more");
  }
  return Status::success();
}

Status validateGPUKernel(const GPUKernelSpec &gpu, const Path &at) {
  TRACEA_RETURN_IF_ERROR(
      checkNumbers(Path(&at, "block"), gpu.block, 3, 1, 1024, true));
  TRACEA_RETURN_IF_ERROR(
      checkNumbers(Path(&at, "cluster"), gpu.cluster, 3, 1, 16, true));
  if (gpu.persistent < 0 || gpu.persistent > 64)
    return failAt(Path(&at, "persistent"),
                  "expected 0 to 64 blocks for each multiprocessor, found " +
                      std::to_string(gpu.persistent));
  if (gpu.indexBits != 32 && gpu.indexBits != 64)
    return failAt(Path(&at, "indexBits"),
                  "expected 32 or 64, found " + std::to_string(gpu.indexBits));
  if (gpu.use) {
    Path use(&at, "use");
    for (auto [name, value] :
         {std::pair("registers", gpu.use->registers),
          std::pair("sharedBytes", gpu.use->sharedBytes),
          std::pair("stackBytes", gpu.use->stackBytes),
          std::pair("spillStoreBytes", gpu.use->spillStoreBytes),
          std::pair("spillLoadBytes", gpu.use->spillLoadBytes)})
      if (value < 0)
        return failAt(Path(&use, name),
                      "expected 0 or more, found " + std::to_string(value));
  }
  return Status::success();
}

Status validateImages(const Manifest &manifest, size_t numBlobs) {
  std::vector<bool> hasImage(numBlobs, false);
  for (size_t i = 0; i < manifest.images.size(); ++i) {
    const ImageSpec &image = manifest.images[i];
    Path at(nullptr, "images", static_cast<int64_t>(i));
    TRACEA_RETURN_IF_ERROR(
        checkIndex(Path(&at, "code"), image.code, numBlobs, "a blob"));
    TRACEA_RETURN_IF_ERROR(
        checkIndex(Path(&at, "blob"), image.blob, numBlobs, "a blob"));
    hasImage[static_cast<size_t>(image.code)] = true;
    if (image.isa < 0 || image.isa > 1000)
      return failAt(Path(&at, "isa"),
                    "expected 0 to 1000, found " + std::to_string(image.isa));
  }
  for (size_t i = 0; i < manifest.kernels.size(); ++i)
    if (!hasImage[static_cast<size_t>(manifest.kernels[i].blob)])
      return failAt(Path(nullptr, "kernels", static_cast<int64_t>(i)),
                    "expected an image with the code " +
                        std::to_string(manifest.kernels[i].blob) +
                        ", found none");
  return Status::success();
}

Status validateTensorMap(const ArgSpec &arg, const Path &at) {
  constexpr size_t maxRank = 5;
  const TensorMapSpec &map = arg.map;
  size_t rank = arg.view.sizes.size();
  size_t least = map.im2col ? 3 : 1;
  if (rank < least || rank > maxRank)
    return failAt(Path(&at, "view"), "expected a rank of " +
                                         std::to_string(least) + " to " +
                                         std::to_string(maxRank) + ", found " +
                                         std::to_string(rank));
  if (sizeOf(map.element) != sizeOf(arg.view.type))
    return failAt(Path(&at, "element"),
                  "expected an element of the " +
                      std::to_string(sizeOf(arg.view.type)) + " bytes of " +
                      nameOf(arg.view.type) + ", found " + nameOf(map.element));
  TRACEA_RETURN_IF_ERROR(checkNumbers(Path(&at, "elementStrides"),
                                      map.elementStrides, rank, 1, 8));
  if (!map.im2col)
    return checkNumbers(Path(&at, "box"), map.box, rank, 1, 256);
  Path window(&at, "im2col");
  int64_t reach = Im2colSpec::reach(rank - 2);
  TRACEA_RETURN_IF_ERROR(checkNumbers(Path(&window, "lower"), map.im2col->lower,
                                      rank - 2, -reach, reach - 1));
  TRACEA_RETURN_IF_ERROR(checkNumbers(Path(&window, "upper"), map.im2col->upper,
                                      rank - 2, -reach, reach - 1));
  TRACEA_RETURN_IF_ERROR(checkNumbers(Path(&window, "channelsPerPixel"),
                                      {map.im2col->channelsPerPixel}, 1, 1,
                                      256));
  return checkNumbers(Path(&window, "pixelsPerColumn"),
                      {map.im2col->pixelsPerColumn}, 1, 1, 1024);
}

Status validateGridStep(const Manifest &manifest, const EntrySpec &entry,
                        const StepSpec &step, const ManifestLimits &limits,
                        const Path &at) {
  if (step.grid.size() != 3)
    return failAt(Path(&at, "grid"), "expected the numbers of three "
                                     "expressions, found " +
                                         std::to_string(step.grid.size()));
  const KernelSpec &kernel = manifest.kernels[static_cast<size_t>(step.kernel)];
  int64_t word = kernel.gpu ? kernel.gpu->indexBits / 8 : 8;
  int64_t bytes = 0;
  auto add = [&](int64_t size, int64_t align) {
    bytes = (bytes + align - 1) / align * align + size;
  };
  for (const ArgSpec &arg : step.args) {
    // As many as fit before the sum is compared: bounded by the text.
    for (int64_t size : parameterBytes(entry, arg, word))
      add(size, std::min(size, tensorMapAlign));
  }
  if (kernel.gpu && !kernel.gpu->assertions.empty())
    add(sizeof(void *), sizeof(void *));
  if (bytes > limits.maxParameterBytes)
    return failAt(Path(&at, "args"),
                  "expected at most " +
                      std::to_string(limits.maxParameterBytes) +
                      " bytes of parameters, found " + std::to_string(bytes));
  return Status::success();
}

} // namespace tracea::runtime::manifest
