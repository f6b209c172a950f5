//===- ManifestGPU.cpp - What GPU kernels add to the manifest -------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch shapes, images of code and recipes of tensor maps, as JSON.
//
//===----------------------------------------------------------------------===//

#include "ManifestReader.h"

namespace tracea::runtime::manifest {

template <typename T>
static auto name(Reader &r, const char *field, int count, T &out) {
  return Field(field, [&r, &out, count](const Json &v) {
    return readName(r, v, count, out);
  });
}

static bool readUse(Reader &r, const Json &value, KernelUseSpec &use) {
  return r.object(value, number(r, "registers", use.registers),
                  number(r, "sharedBytes", use.sharedBytes),
                  number(r, "stackBytes", use.stackBytes),
                  number(r, "spillStoreBytes", use.spillStoreBytes),
                  number(r, "spillLoadBytes", use.spillLoadBytes));
}

bool readGPUKernel(Reader &r, const Json &value, GPUKernelSpec &gpu) {
  auto has = [&](const char *name) {
    return value.is_object() && value.contains(name);
  };
  return r.object(
      value, numbers(r, "block", gpu.block), numbers(r, "cluster", gpu.cluster),
      number(r, "persistent", gpu.persistent),
      Field("overlaps",
            [&](const Json &v) {
              if (!v.is_boolean())
                return r.wrong(v, "a boolean");
              gpu.overlaps = v.get<bool>();
              return true;
            }),
      number(r, "indexBits", gpu.indexBits),
      onlyIf(has("use"), Field("use",
                               [&](const Json &v) {
                                 return readUse(r, v, gpu.use.emplace());
                               })),
      onlyIf(r.format > 4 && has("assertions"),
             texts(r, "assertions", gpu.assertions)));
}

bool readImage(Reader &r, const Json &value, ImageSpec &image) {
  return r.object(value, number(r, "code", image.code),
                  number(r, "blob", image.blob),
                  name(r, "kind", numImageKinds, image.kind),
                  text(r, "arch", image.arch), number(r, "isa", image.isa));
}

bool readTensorMap(Reader &r, const Json &value, ArgSpec &arg) {
  TensorMapSpec &map = arg.map;
  bool im2col = value.is_object() && value.contains("im2col");
  return r.object(
      value,
      Field("view", [&](const Json &v) { return readView(r, v, arg.view); }),
      name(r, "element", numMapElements, map.element),
      onlyIf(!im2col, numbers(r, "box", map.box)),
      onlyIf(im2col,
             Field("im2col",
                   [&](const Json &v) {
                     Im2colSpec &window = map.im2col.emplace();
                     return r.object(
                         v, numbers(r, "lower", window.lower),
                         numbers(r, "upper", window.upper),
                         number(r, "channelsPerPixel", window.channelsPerPixel),
                         number(r, "pixelsPerColumn", window.pixelsPerColumn));
                   })),
      numbers(r, "elementStrides", map.elementStrides),
      name(r, "interleave", numMapInterleaves, map.interleave),
      name(r, "swizzle", numMapSwizzles, map.swizzle),
      name(r, "promotion", numMapPromotions, map.promotion),
      name(r, "fill", numMapFills, map.fill));
}

Json writeGPUKernel(const GPUKernelSpec &gpu) {
  Json object;
  object["block"] = gpu.block;
  object["cluster"] = gpu.cluster;
  object["persistent"] = gpu.persistent;
  object["overlaps"] = gpu.overlaps;
  object["indexBits"] = gpu.indexBits;
  if (gpu.use) {
    Json use;
    use["registers"] = gpu.use->registers;
    use["sharedBytes"] = gpu.use->sharedBytes;
    use["stackBytes"] = gpu.use->stackBytes;
    use["spillStoreBytes"] = gpu.use->spillStoreBytes;
    use["spillLoadBytes"] = gpu.use->spillLoadBytes;
    object["use"] = std::move(use);
  }
  if (!gpu.assertions.empty())
    object["assertions"] = gpu.assertions;
  return object;
}

Json writeImage(const ImageSpec &image) {
  Json object;
  object["code"] = image.code;
  object["blob"] = image.blob;
  object["kind"] = nameOf(image.kind);
  object["arch"] = image.arch;
  object["isa"] = image.isa;
  return object;
}

Json writeTensorMap(const ArgSpec &arg) {
  const TensorMapSpec &map = arg.map;
  Json object;
  object["view"] = writeView(arg.view);
  object["element"] = nameOf(map.element);
  if (map.im2col) {
    Json window;
    window["lower"] = map.im2col->lower;
    window["upper"] = map.im2col->upper;
    window["channelsPerPixel"] = map.im2col->channelsPerPixel;
    window["pixelsPerColumn"] = map.im2col->pixelsPerColumn;
    object["im2col"] = std::move(window);
  } else {
    object["box"] = map.box;
  }
  object["elementStrides"] = map.elementStrides;
  object["interleave"] = nameOf(map.interleave);
  object["swizzle"] = nameOf(map.swizzle);
  object["promotion"] = nameOf(map.promotion);
  object["fill"] = nameOf(map.fill);
  return object;
}

} // namespace tracea::runtime::manifest
