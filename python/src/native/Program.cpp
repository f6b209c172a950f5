//===- Program.cpp - Programs, compiled and loaded ------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

namespace tracea::python {

nb::object wrapProgram(TraceaProgram *program) {
  return nb::cast(std::make_unique<ProgramHandle>(program).release(),
                  nb::rv_policy::take_ownership);
}

void addPrograms(nb::module_ &m) {
  using namespace nb::literals;
  nb::class_<ProgramHandle>(m, "Program")
      .def("entries",
           [](ProgramHandle &self) {
             nb::list names;
             for (size_t i = 0; i < tracea_program_entry_count(self.program);
                  ++i)
               names.append(tracea_program_entry_name(self.program, i));
             return names;
           })
      .def("explain",
           [](ProgramHandle &self) {
             return readText([&](char *buffer, size_t size, size_t *length) {
               return tracea_program_explain(self.program, buffer, size,
                                             length);
             });
           })
      .def(
          "save",
          [](ProgramHandle &self, const std::string &path) {
            check(tracea_program_save(self.program, path.c_str()));
          },
          "path"_a)
      .def("to_bytes", [](ProgramHandle &self) {
        const void *bytes = nullptr;
        size_t size = 0;
        check(tracea_program_bytes(self.program, &bytes, &size));
        return nb::bytes(static_cast<const char *>(bytes), size);
      });

  nb::class_<Runner>(m, "Runner")
      .def(
          "__init__",
          [](Runner *self, nb::handle program, std::string entry,
             int32_t device, int streams, bool graph, int64_t maxWorkspace) {
            // The program outlives the runner, which keeps its own reference.
            nb::object owner = nb::borrow(program);
            ProgramHandle *handle = nb::cast<ProgramHandle *>(program);
            std::shared_ptr<ProgramHandle> shared(
                handle, [owner](ProgramHandle *) mutable { owner.reset(); });
            new (self) Runner(shared, std::move(entry), device, streams, graph,
                              maxWorkspace);
          },
          "program"_a, "entry"_a, "device"_a = -1, "streams"_a = 1,
          "graph"_a = false, "max_workspace"_a = 0)
      .def("bind", &Runner::bind, "input"_a, "tensor"_a)
      .def("__call__",
           [](Runner &self, nb::args arguments) {
             return self.call(arguments, nb::none());
           })
      .def("run_into",
           [](Runner &self, nb::handle out, nb::args arguments) {
             return self.call(arguments, out);
           })
      .def("stats", &Runner::stats)
      .def("inputs", &Runner::describeInputs);

  m.def(
      "compile",
      [](nb::bytes module, const std::string &target,
         std::optional<std::string> entry, const std::string &fuse, int threads,
         bool requireProof, bool cache) {
        CompileArguments arguments(target, entry, fuse, threads, requireProof,
                                   cache);
        TraceaProgram *program = nullptr;
        TraceaStatus status;
        {
          nb::gil_scoped_release release;
          status = tracea_compile(module.c_str(), module.size(),
                                  arguments.get(), &program);
        }
        check(status);
        return wrapProgram(program);
      },
      "module"_a, nb::kw_only(), "target"_a, "entry"_a.none() = nb::none(),
      "fuse"_a = "safe", "threads"_a = 0, "require_proof"_a = false,
      "cache"_a = true);
  m.def(
      "load",
      [](const std::string &path) {
        TraceaProgram *program = nullptr;
        check(tracea_program_load(path.c_str(), &program));
        return wrapProgram(program);
      },
      "path"_a);
  m.def(
      "load_bytes",
      [](nb::bytes bytes) {
        TraceaProgram *program = nullptr;
        check(tracea_program_load_bytes(bytes.c_str(), bytes.size(), &program));
        return wrapProgram(program);
      },
      "bytes"_a);
}

} // namespace tracea::python
