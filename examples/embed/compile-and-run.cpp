//===- compile-and-run.cpp - Compiles a module from a string and runs it --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   compile-and-run scale.tracea
//
// Compiles a function for the processor of this machine, writes the program to
// the file named (for run-program), and calls it.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Runtime/Executable.h"

#include <cstdio>

using namespace tracea;

// Plain linalg on tensors; the number of rows is known only when it runs.
static const char source[] = R"mlir(
  func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %w = arith.constant dense<[[4.0, 0.0, 0.0],
                               [0.0, 4.0, 0.0],
                               [0.0, 0.0, 4.0]]> : tensor<3x3xf32>
    %rows = tensor.dim %x, %c0 : tensor<?x3xf32>
    %empty = tensor.empty(%rows) : tensor<?x3xf32>
    %init = linalg.fill ins(%zero : f32)
                        outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
    %y = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x3xf32>)
                       outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
    return %y : tensor<?x3xf32>
  }
)mlir";

static int fail(const runtime::Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PROGRAM.tracea\n", argv[0]);
    return 1;
  }

  mlir::DialectRegistry registry;
  compiler::registerAllDialects(registry);
  mlir::MLIRContext context(registry);

  // The parser and the compiler report errors through the context's
  // diagnostics, which go to stderr unless a handler is set.
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseModule(source, context, "scale.mlir");
  if (!module)
    return 1;
  compiler::CompileOptions options;
  options.target = "cpu";
  mlir::FailureOr<runtime::ProgramFile> program =
      compiler::compileToProgram(*module, options);
  if (mlir::failed(program))
    return 1;
  runtime::Status saved = program->save(argv[1]);
  if (!saved.ok())
    return fail(saved);

  // From here on nothing needs the compiler.
  runtime::Expected<std::shared_ptr<runtime::Device>> device =
      runtime::openDevice("cpu");
  if (!device)
    return fail(device.status());
  runtime::Expected<std::shared_ptr<runtime::Executable>> executable =
      runtime::Executable::load(std::move(*program), *device);
  if (!executable)
    return fail(executable.status());

  const float x[] = {1, 2, 3};
  runtime::Expected<runtime::Tensor> input =
      runtime::Tensor::borrow(x, runtime::ElementType::F32, {1, 3});
  if (!input)
    return fail(input.status());
  runtime::Expected<std::vector<runtime::Tensor>> outputs =
      (*executable)->run("main", {*input});
  if (!outputs)
    return fail(outputs.status());

  const runtime::Tensor &y = outputs->front();
  std::printf("y =");
  for (int64_t i = 0; i < y.numElements(); ++i)
    std::printf(" %g", y.dataAs<float>()[i]);
  std::printf("\n");
  return 0;
}
