//===- Module.cpp - The extension module tracea._native -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "Tensor.h"

NB_MODULE(_native, m) {
  using namespace tracea::python;
  using namespace nb::literals;
  // Programs that caches of Python hold live to the end of the process.
  nb::set_leak_warnings(false);
  m.doc() = "Tracea's C interface, as the package `tracea` uses it.";
  m.def("version", [] { return tracea_version(); });
  m.def("abi_version", [] { return tracea_abi_version(); });
  m.def(
      "device_describe",
      [](int32_t device) {
        return readText([&](char *buffer, size_t size, size_t *length) {
          return tracea_device_describe(device, buffer, size, length);
        });
      },
      "device"_a);
  m.def(
      "device_synchronize",
      [](int32_t device) {
        TraceaStatus status;
        {
          nb::gil_scoped_release release;
          status = tracea_device_synchronize(device);
        }
        check(status);
      },
      "device"_a);
  m.def(
      "cache_set_directory",
      [](const std::string &path) {
        check(tracea_cache_set_directory(path.c_str()));
      },
      "path"_a);
  m.def("cache_directory", [] {
    return readText([](char *buffer, size_t size, size_t *length) {
      return tracea_cache_directory(buffer, size, length);
    });
  });
  m.def("cache_clear", [] { check(tracea_cache_clear()); });
  addAllocator(m);
  addOperators(m);
  addPrograms(m);
  addGraphs(m);
}
