//===- RunProgram.h - Compile a module and run it ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_COMPILER_RUNPROGRAM_H
#define TRACEA_UNITTESTS_COMPILER_RUNPROGRAM_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/Executable.h"

#include <gtest/gtest.h>

/// A context with all dialects that keeps the diagnostics as text.
class CompilerTest : public ::testing::Test {
protected:
  CompilerTest() {
    mlir::DialectRegistry registry;
    tracea::compiler::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diag) {
      errors += diag.str() + "\n";
      for (mlir::Diagnostic &note : diag.getNotes())
        errors += "note: " + note.str() + "\n";
    });
  }

  using Tensor = tracea::runtime::Tensor;

  /// The program serialized and read back, and loaded: what a file would give.
  std::shared_ptr<tracea::runtime::Executable>
  compile(llvm::StringRef text,
          const tracea::compiler::CompileOptions &options) {
    using namespace tracea::runtime;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tracea::compiler::parseModule(text, context, "test.mlir");
    if (!module) {
      ADD_FAILURE() << errors;
      return nullptr;
    }
    mlir::FailureOr<ProgramFile> program =
        tracea::compiler::compileToProgram(*module, options);
    if (failed(program)) {
      ADD_FAILURE() << errors;
      return nullptr;
    }
    Expected<std::vector<uint8_t>> bytes = program->serialize();
    if (!bytes) {
      ADD_FAILURE() << bytes.message();
      return nullptr;
    }
    Expected<ProgramFile> parsed = ProgramFile::parse(*bytes);
    if (!parsed) {
      ADD_FAILURE() << parsed.message();
      return nullptr;
    }
    CPUDeviceOptions deviceOptions;
    deviceOptions.threads = 2;
    Expected<std::shared_ptr<Device>> device = createCPUDevice(deviceOptions);
    if (!device) {
      ADD_FAILURE() << device.message();
      return nullptr;
    }
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(std::move(*parsed), *device);
    if (!executable) {
      ADD_FAILURE() << executable.message();
      return nullptr;
    }
    return *executable;
  }

  std::shared_ptr<tracea::runtime::Executable>
  compileReference(llvm::StringRef text) {
    tracea::compiler::CompileOptions options;
    options.reference = true;
    return compile(text, options);
  }

  std::vector<Tensor> run(tracea::runtime::Executable &executable,
                          const std::vector<Tensor> &inputs,
                          const std::string &entry = "main") {
    tracea::runtime::Expected<std::vector<Tensor>> outputs =
        executable.run(entry, {inputs.data(), inputs.size()});
    if (!outputs) {
      ADD_FAILURE() << outputs.message();
      return {};
    }
    return *outputs;
  }

  /// Numbers in [-1, 1) that repeat for the same seed.
  template <typename T = double>
  static Tensor random(std::vector<int64_t> shape, unsigned seed) {
    Tensor tensor = make<T>(shape);
    uint64_t state = seed * 2654435761u + 1;
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      tensor.dataAs<T>()[i] = T(double(state >> 40) / double(1 << 23) - 1.0);
    }
    return tensor;
  }

  template <typename T>
  static Tensor make(const std::vector<int64_t> &shape) {
    constexpr tracea::runtime::ElementType type =
        std::is_same_v<T, double>  ? tracea::runtime::ElementType::F64
        : std::is_same_v<T, float> ? tracea::runtime::ElementType::F32
                                   : tracea::runtime::ElementType::I32;
    return *Tensor::allocate(type, {shape.data(), shape.size()});
  }

  mlir::MLIRContext context;
  std::string errors;
};

#endif // TRACEA_UNITTESTS_COMPILER_RUNPROGRAM_H
