//===- Tensor.cpp - Python's tensors as views -----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include <nanobind/ndarray.h>

#include <cstring>

namespace tracea::python {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void throwError(TraceaStatus status, const std::string &message) {
  nb::object type = nb::module_::import_("tracea._error").attr("Error");
  nb::object error = type(message, static_cast<int>(status));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void throwLastError(TraceaStatus status) {
  std::string message(tracea_get_last_error(nullptr, 0), '\0');
  tracea_get_last_error(reinterpret_cast<uint8_t *>(message.data()),
                        message.size() + 1);
  throwError(status, message);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeRow {
  TraceaDType dtype;
  uint8_t code, bits;
  const char *name;
};
} // namespace

static constexpr TypeRow typeRows[] = {
    {TRACEA_FLOAT32, DLFloat, 32, "float32"},
    {TRACEA_FLOAT16, DLFloat, 16, "float16"},
    {TRACEA_BFLOAT16, DLBfloat, 16, "bfloat16"},
    {TRACEA_FLOAT64, DLFloat, 64, "float64"},
    {TRACEA_INT8, DLInt, 8, "int8"},
    {TRACEA_INT16, DLInt, 16, "int16"},
    {TRACEA_INT32, DLInt, 32, "int32"},
    {TRACEA_INT64, DLInt, 64, "int64"},
    {TRACEA_BOOL, DLBool, 8, "bool"},
    {TRACEA_FLOAT8_E4M3FN, DLFloat8E4M3FN, 8, "float8_e4m3fn"},
    {TRACEA_FLOAT8_E5M2, DLFloat8E5M2, 8, "float8_e5m2"},
};

static const TypeRow &rowOf(TraceaDType dtype) {
  for (const TypeRow &row : typeRows)
    if (row.dtype == dtype)
      return row;
  throwError(TRACEA_INTERNAL_ERROR, "a type without a name");
}

const char *dtypeName(TraceaDType dtype) { return rowOf(dtype).name; }

TraceaDType parseDType(nb::handle dtype) {
  nb::object text;
  if (nb::isinstance<nb::str>(dtype))
    text = nb::borrow(dtype);
  else if (nb::hasattr(dtype, "__name__")) // numpy.float32
    text = dtype.attr("__name__");
  else if (nb::hasattr(dtype, "name")) // numpy.dtype("float32")
    text = dtype.attr("name");
  else // torch.float32
    text = nb::str(dtype);
  std::string name = nb::cast<std::string>(nb::str(text));
  size_t dot = name.rfind('.');
  if (dot != std::string::npos)
    name = name.substr(dot + 1);
  std::string names;
  for (const TypeRow &row : typeRows) {
    if (name == row.name)
      return row.dtype;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throwError(TRACEA_UNSUPPORTED_CONFIG,
             "dtype: expected one of " + names + ", found '" + name + "'");
}

void Tensor::setType(const char *name, uint8_t code, uint8_t bits,
                     uint16_t lanes) {
  if (lanes == 1)
    for (const TypeRow &row : typeRows)
      if (row.code == code && row.bits == bits) {
        view.dtype = row.dtype;
        return;
      }
  throwError(
      TRACEA_UNSUPPORTED_CONFIG,
      std::string(name) +
          ": expected elements of a type that Tracea has, found " +
          nb::cast<std::string>(nb::str(nb::object(object.attr("dtype")))));
}

void Tensor::setDevice(const char *name, int32_t type, int32_t id) {
  if (type == DLCPU || type == DLCUDAHost)
    view.device_id = TRACEA_CPU;
  else if (type == DLCUDA)
    view.device_id = id;
  else
    throwError(TRACEA_UNSUPPORTED_CONFIG,
               std::string(name) +
                   ": expected memory of the CPU or a CUDA device, found "
                   "DLPack's device type " +
                   std::to_string(type));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The table of an object's type. Types that were asked before are found by
/// their address; they are never let go.
static const DLExchangeTable *tableOf(PyObject *object) {
  struct Known {
    PyTypeObject *type;
    const DLExchangeTable *table;
  };
  static Known known[16];
  static size_t numKnown = 0;
  PyTypeObject *type = Py_TYPE(object);
  for (size_t i = 0; i < numKnown; ++i)
    if (known[i].type == type)
      return known[i].table;
  const DLExchangeTable *table = nullptr;
  nb::object capsule = nb::steal(PyObject_GetAttrString(
      reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__"));
  if (capsule.is_valid())
    table = static_cast<const DLExchangeTable *>(
        PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  PyErr_Clear();
  while (table && table->major != 1)
    table = table->previous;
  if (table && !table->borrow)
    table = nullptr;
  if (numKnown < std::size(known)) {
    Py_INCREF(reinterpret_cast<PyObject *>(type));
    known[numKnown++] = {type, table};
  }
  return table;
}

[[noreturn]] static void throwNotATensor(const char *name, nb::handle object,
                                         const char *expected) {
  std::string found = nb::cast<std::string>(
      nb::str(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(object.ptr())))
                  .attr("__name__")));
  throw nb::type_error(
      (std::string(name) + ": expected " + expected + ", found " + found)
          .c_str());
}

static void checkRank(const char *name, size_t rank) {
  if (rank > TRACEA_MAX_RANK)
    throwError(TRACEA_INVALID_PARAMS,
               std::string(name) + ": expected at most " +
                   std::to_string(TRACEA_MAX_RANK) + " dimensions, found " +
                   std::to_string(rank));
}

void Tensor::read(const char *name, nb::handle handle, bool isWritten) {
  object = nb::borrow(handle);
  table = tableOf(handle.ptr());
  view.shape = shape.data();
  view.stride = strides.data();
  if (table) {
    DLTensorFields fields;
    if (table->borrow(handle.ptr(), &fields))
      throw nb::python_error();
    checkRank(name, static_cast<size_t>(fields.rank));
    setType(name, fields.code, fields.bits, fields.lanes);
    setDevice(name, fields.deviceType, fields.deviceId);
    view.ptr = static_cast<char *>(fields.data) + fields.byteOffset;
    view.rank = static_cast<uint32_t>(fields.rank);
    for (uint32_t i = 0; i < view.rank; ++i) {
      shape[i] = static_cast<uint64_t>(fields.shape[i]);
      if (fields.strides)
        strides[i] = fields.strides[i];
    }
    if (!fields.strides)
      view.stride = nullptr;
    return;
  }
  auto take = [&](auto array) {
    checkRank(name, array.ndim());
    setType(name, array.dtype().code, array.dtype().bits, array.dtype().lanes);
    setDevice(name, array.device_type(), array.device_id());
    view.ptr = const_cast<void *>(static_cast<const void *>(array.data()));
    view.rank = static_cast<uint32_t>(array.ndim());
    for (uint32_t i = 0; i < view.rank; ++i) {
      shape[i] = array.shape(i);
      strides[i] = array.stride(i);
    }
    kept = nb::capsule(new decltype(array)(array), [](void *pointer) noexcept {
      delete static_cast<decltype(array) *>(pointer);
    });
  };
  if (isWritten) {
    nb::ndarray<> array;
    if (!nb::try_cast(handle, array, false))
      throwNotATensor(name, handle, "a tensor that can be written to");
    take(array);
  } else {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(handle, array, false))
      throwNotATensor(name, handle, "a tensor");
    take(array);
  }
}

bool Tensor::readOptional(const char *name, nb::handle handle) {
  if (handle.is_none())
    return false;
  read(name, handle);
  return true;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool Tensor::isRowMajor() const {
  if (!view.stride)
    return true;
  int64_t inside = 1;
  for (size_t i = view.rank; i-- > 0;) {
    if (shape[i] == 0)
      return true;
    if (shape[i] != 1 && strides[i] != inside)
      return false;
    inside *= size(i);
  }
  return true;
}

bool Tensor::isChannelsLast() const {
  if (view.rank != 4 || !view.stride || isRowMajor())
    return false;
  int64_t inside = 1;
  for (size_t i : {1, 3, 2, 0}) {
    if (shape[i] != 1 && strides[i] != inside)
      return false;
    inside *= size(i);
  }
  return true;
}

bool Tensor::flattenRows() {
  uint64_t rows = 1;
  for (uint32_t i = 0; i + 1 < view.rank; ++i)
    rows *= shape[i];
  if (view.stride && rows != 0)
    for (uint32_t i = 0; i + 2 < view.rank; ++i)
      if (shape[i] != 1 && strides[i] != strides[i + 1] * size(i + 1))
        return false;
  uint32_t last = view.rank - 1;
  shape[0] = rows;
  shape[1] = shape[last];
  strides[0] = strides[last - 1];
  strides[1] = strides[last];
  view.rank = 2;
  return true;
}

void Tensor::addRow() {
  shape[1] = shape[0];
  strides[1] = strides[0];
  shape[0] = 1;
  strides[0] = static_cast<int64_t>(shape[1]);
  view.rank = 2;
}

void Tensor::setShape(const Sizes &sizes) {
  for (size_t i = 0; i < sizes.size(); ++i)
    shape[i] = static_cast<uint64_t>(sizes[i]);
  view.rank = static_cast<uint32_t>(sizes.size());
  view.stride = nullptr;
}

//===----------------------------------------------------------------------===//
// The tensor's library
//===----------------------------------------------------------------------===//

static nb::object helper(const char *name) {
  return nb::module_::import_("tracea._arrays").attr(name);
}

nb::object Tensor::makeEmpty(const Sizes &sizes, TraceaDType dtype) const {
  if (!table) {
    nb::list list;
    for (int64_t size : sizes)
      list.append(size);
    return helper("empty")(object, nb::tuple(list), dtypeName(dtype));
  }
  const TypeRow &row = rowOf(dtype);
  Sizes shape = sizes;
  DLTensorFields prototype = {};
  prototype.deviceType = view.device_id < 0 ? DLCPU : DLCUDA;
  prototype.deviceId = view.device_id < 0 ? 0 : view.device_id;
  prototype.rank = static_cast<int32_t>(sizes.size());
  prototype.code = row.code;
  prototype.bits = row.bits;
  prototype.lanes = 1;
  prototype.shape = shape.data();
  void *managed = nullptr, *result = nullptr;
  if (table->allocate(&prototype, &managed, nullptr,
                      [](void *, const char *, const char *message) {
                        PyErr_SetString(PyExc_MemoryError, message);
                      }) ||
      table->toObject(managed, &result))
    throw nb::python_error();
  return nb::steal(static_cast<PyObject *>(result));
}

nb::object Tensor::finish(nb::object result) const {
  return table ? result : helper("finish")(object, result);
}

void *Tensor::currentStream() const {
  if (view.device_id < 0)
    return nullptr;
  void *stream = nullptr;
  if (!table)
    return reinterpret_cast<void *>(
        nb::cast<intptr_t>(helper("current_stream")(object)));
  if (table->currentStream(DLCUDA, view.device_id, &stream))
    throw nb::python_error();
  return stream;
}

bool Tensor::requiresGrad() const {
  if (!isSet() || !table)
    return false;
  nb::object value =
      nb::steal(PyObject_GetAttrString(object.ptr(), "requires_grad"));
  if (!value.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return value.ptr() == Py_True;
}

} // namespace tracea::python
