//===- DLPackExchange.h - DLPack's table of C functions ---------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a type's `__dlpack_c_exchange_api__` points to, as DLPack 1.2 and later
// lay it out: tensors without a Python call, in a tenth of __dlpack__'s time.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_PYTHON_DLPACKEXCHANGE_H
#define TRACEA_PYTHON_DLPACKEXCHANGE_H

#include <cstdint>

namespace tracea::python {

enum DLDeviceKind : int32_t {
  DLCPU = 1,
  DLCUDA = 2,
  DLCUDAHost = 3,
};

enum DLTypeCode : uint8_t {
  DLInt = 0,
  DLFloat = 2,
  DLBfloat = 4,
  DLBool = 6,
  DLFloat8E4M3FN = 10,
  DLFloat8E5M2 = 12,
};

struct DLTensorFields {
  void *data;
  int32_t deviceType, deviceId;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

struct DLExchangeTable {
  uint32_t major, minor;
  const DLExchangeTable *previous;
  int (*allocate)(DLTensorFields *prototype, void **managed, void *context,
                  void (*setError)(void *context, const char *kind,
                                   const char *message));
  int (*fromObject)(void *object, void **managed);
  int (*toObject)(void *managed, void **object);
  /// May be null.
  int (*borrow)(void *object, DLTensorFields *tensor);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

} // namespace tracea::python

#endif // TRACEA_PYTHON_DLPACKEXCHANGE_H
