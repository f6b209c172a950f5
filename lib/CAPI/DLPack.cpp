//===- DLPack.cpp - Tensors of other libraries ----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structs are those of DLPack 0.8, which later versions kept for tensors
// that carry no version (https://dmlc.github.io/dlpack/latest/c_api.html).
//
//===----------------------------------------------------------------------===//

#include "View.h"

#include <vector>

extern "C" {
struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};
}

namespace tracea::capi {

namespace {
constexpr int32_t deviceCPU = 1, deviceCUDA = 2, deviceCUDAHost = 3,
                  deviceCUDAManaged = 13;
constexpr uint8_t codeInt = 0, codeFloat = 2, codeBFloat = 4, codeBool = 6,
                  codeE4M3FN = 10, codeE5M2 = 12;

struct TypeCode {
  TraceaDType type;
  uint8_t code, bits;
};
constexpr TypeCode typeCodes[] = {
    {TRACEA_FLOAT32, codeFloat, 32},   {TRACEA_FLOAT16, codeFloat, 16},
    {TRACEA_BFLOAT16, codeBFloat, 16}, {TRACEA_FLOAT64, codeFloat, 64},
    {TRACEA_INT8, codeInt, 8},         {TRACEA_INT16, codeInt, 16},
    {TRACEA_INT32, codeInt, 32},       {TRACEA_INT64, codeInt, 64},
    {TRACEA_BOOL, codeBool, 8},        {TRACEA_FLOAT8_E4M3FN, codeE4M3FN, 8},
    {TRACEA_FLOAT8_E5M2, codeE5M2, 8},
};

/// A managed tensor with what it points to.
struct Managed {
  DLManagedTensor tensor{};
  std::vector<int64_t> shape, strides;
  void (*release)(void *) = nullptr;
  void *context = nullptr;
};
} // namespace

static Status fromDLPack(const DLTensor &tensor, TraceaTensorView &view) {
  const TypeCode *found = nullptr;
  for (const TypeCode &type : typeCodes)
    if (type.code == tensor.dtype.code && type.bits == tensor.dtype.bits)
      found = &type;
  if (!found || tensor.dtype.lanes != 1)
    return Status::unsupported(
        "tensor: expected a type that Tracea has, found DLPack's code " +
        std::to_string(tensor.dtype.code) + " of " +
        std::to_string(tensor.dtype.bits) + " bits and " +
        std::to_string(tensor.dtype.lanes) + " lanes");
  bool isHost = tensor.device.device_type == deviceCPU ||
                tensor.device.device_type == deviceCUDAHost;
  if (!isHost && tensor.device.device_type != deviceCUDA &&
      tensor.device.device_type != deviceCUDAManaged)
    return Status::unsupported("tensor: expected memory of the CPU or of CUDA, "
                               "found DLPack's device type " +
                               std::to_string(tensor.device.device_type));
  if (tensor.ndim < 0 || tensor.ndim > static_cast<int32_t>(maxRank))
    return Status::invalid("tensor: expected at most " +
                           std::to_string(maxRank) + " dimensions, found " +
                           std::to_string(tensor.ndim));
  for (int32_t i = 0; i < tensor.ndim; ++i)
    if (!tensor.shape || tensor.shape[i] < 0)
      return Status::invalid("tensor: expected a shape of sizes of at least 0");
  // The arrays have elements of the same size; sizes are not negative.
  view = {tensor.data ? static_cast<char *>(tensor.data) + tensor.byte_offset
                      : nullptr,
          static_cast<uint32_t>(tensor.ndim),
          reinterpret_cast<const uint64_t *>(tensor.shape),
          tensor.strides,
          found->type,
          isHost ? TRACEA_CPU : tensor.device.device_id};
  return Status::success();
}

} // namespace tracea::capi

using namespace tracea::capi;

TraceaStatus tracea_view_from_dlpack(const DLTensor *tensor,
                                     TraceaTensorView *view) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(tensor, "tensor"));
    TRACEA_RETURN_IF_ERROR(requirePointer(view, "view"));
    return fromDLPack(*tensor, *view);
  });
}

TraceaStatus tracea_view_to_dlpack(const TraceaTensorView *view,
                                   void (*release)(void *context),
                                   void *context, DLManagedTensor **tensor) {
  return guarded(__func__, TRACEA_INTERNAL_ERROR, [&]() -> Status {
    TRACEA_RETURN_IF_ERROR(requirePointer(view, "view"));
    TRACEA_RETURN_IF_ERROR(requirePointer(tensor, "tensor"));
    View checked;
    TRACEA_RETURN_IF_ERROR(checkView("view", *view, Memory::Read, checked));
    auto managed = std::make_unique<Managed>();
    managed->shape.assign(checked.shape().begin(), checked.shape().end());
    managed->strides.assign(checked.strides.begin(),
                            checked.strides.begin() + checked.rank);
    managed->release = release;
    managed->context = context;
    DLTensor &out = managed->tensor.dl_tensor;
    out.data = checked.data;
    out.device = {checked.device < 0 ? deviceCPU : deviceCUDA,
                  std::max(checked.device, 0)};
    out.ndim = static_cast<int32_t>(checked.rank);
    for (const TypeCode &type : typeCodes)
      if (type.type == view->dtype)
        out.dtype = {type.code, type.bits, 1};
    out.shape = managed->shape.data();
    out.strides = managed->strides.data();
    managed->tensor.manager_ctx = managed.get();
    managed->tensor.deleter = [](DLManagedTensor *self) {
      std::unique_ptr<Managed> owner(static_cast<Managed *>(self->manager_ctx));
      if (owner->release)
        owner->release(owner->context);
    };
    *tensor = &managed.release()->tensor;
    return Status::success();
  });
}
