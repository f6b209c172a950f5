//===- Allocator.cpp - Temporary memory from functions of Python ----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory is asked for when a run needs more than the runs before, so that what
// a call into the interpreter costs does not matter. No thread waits here for
// the interpreter's lock while another one holds it and waits for a run: calls
// of the library are made without it.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

namespace tracea::python {

namespace {
/// allocate(bytes, device, stream) gives an address, release(address) takes it.
struct Functions {
  nb::object allocate, release;
};

/// What torch's blocks begin at multiples of.
constexpr size_t mostAlignment = 512;

void *allocate(void *context, size_t bytes, size_t alignment, int32_t device,
               void *stream) {
  if (alignment > mostAlignment || !Py_IsInitialized())
    return nullptr;
  nb::gil_scoped_acquire acquire;
  try {
    nb::object address = static_cast<Functions *>(context)->allocate(
        bytes, device, reinterpret_cast<uintptr_t>(stream));
    return reinterpret_cast<void *>(nb::cast<uintptr_t>(address));
  } catch (nb::python_error &error) {
    // The library says that there is no memory; this is why.
    error.discard_as_unraisable("tracea's allocator");
  } catch (const std::exception &) {
  }
  return nullptr;
}

void release(void *context, void *memory, size_t, int32_t, void *) {
  // At the end of the process nobody is left to give it to.
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire acquire;
  try {
    static_cast<Functions *>(context)->release(
        reinterpret_cast<uintptr_t>(memory));
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("tracea's allocator");
  }
}
} // namespace

void addAllocator(nb::module_ &m) {
  using namespace nb::literals;
  m.def(
      "set_allocator",
      [](nb::object allocateIn, nb::object releaseIn) {
        if (allocateIn.is_none())
          return check(tracea_set_allocator(nullptr));
        if (!PyCallable_Check(allocateIn.ptr()) ||
            !PyCallable_Check(releaseIn.ptr()))
          throw nb::type_error("expected two functions");
        // Memory may outlive whatever comes after it.
        auto *functions = new Functions{allocateIn, releaseIn};
        TraceaAllocator allocator = {sizeof allocator, &allocate, &release,
                                     functions};
        check(tracea_set_allocator(&allocator));
      },
      "allocate"_a.none(), "release"_a.none() = nb::none(),
      "Temporary memory of GPU runs: allocate(bytes, device, stream) gives an "
      "address, release(address) takes it. None is the driver's own.");
}

} // namespace tracea::python
