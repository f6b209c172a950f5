//===- Parts.h - What the extension is put together of ----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_PYTHON_PARTS_H
#define TRACEA_PYTHON_PARTS_H

#include "tracea.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

namespace tracea::python {

namespace nb = nanobind;

void addAllocator(nb::module_ &m);
void addOperators(nb::module_ &m);
void addPrograms(nb::module_ &m);
void addGraphs(nb::module_ &m);

TraceaEpilogue parseEpilogue(nb::handle value);
TraceaPrecision parsePrecision(nb::handle value);
TraceaLayout parseLayout(nb::handle value);
void parseConv2d(nb::handle stride, nb::handle padding, nb::handle dilation,
                 int64_t groups, nb::handle layout, const uint32_t taps[2],
                 TraceaConv2dParams &params);

/// What tracea_compile and tracea_graph_compile are given. The strings live as
/// long as this does.
class CompileArguments {
public:
  CompileArguments(const std::string &target,
                   const std::optional<std::string> &entry,
                   const std::string &fuse, int threads, bool requireProof,
                   bool cache)
      : target(target), entry(entry.value_or("")), fuse(fuse) {
    options.threads = threads;
    options.require_proof = requireProof;
    options.no_cache = !cache;
  }
  const TraceaCompileOptions *get() {
    options.target = target.c_str();
    options.entry = entry.empty() ? nullptr : entry.c_str();
    options.fuse = fuse.c_str();
    return &options;
  }

private:
  std::string target, entry, fuse;
  TraceaCompileOptions options = TRACEA_COMPILE_OPTIONS_INIT;
};

/// A Python object for the program, which it owns.
nb::object wrapProgram(TraceaProgram *program);

} // namespace tracea::python

#endif // TRACEA_PYTHON_PARTS_H
