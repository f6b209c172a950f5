//===- DigitsTest.cpp - The digits example, compiled and run --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small residual network, whose probabilities the framework that trained it
// has left beside it.

#include "RunProgram.h"

#include "tracea/Runtime/Npy.h"

#include <cmath>

namespace {

using namespace tracea::runtime;

class DigitsTest : public CompilerTest {
protected:
  /// Largest deviation from the stored probabilities.
  double deviation(const tracea::compiler::CompileOptions &options) {
    const std::string folder = TRACEA_SOURCE_DIR "/examples/digits/";
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tracea::compiler::parseModuleFile(folder + "model.mlir", context);
    auto images = readNpy(folder + "images_test.npy");
    auto expected = readNpy(folder + "probabilities_test.npy");
    if (!module || !images.ok() || !expected.ok()) {
      ADD_FAILURE() << errors << images.message() << expected.message();
      return INFINITY;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    auto program = compile(text, options);
    if (!program)
      return INFINITY;
    ElementType type = program->manifest().entries[0].inputs[0].type;
    // The images may be stored in another float type than the entry's.
    const std::vector<int64_t> &shape = images->shape();
    Tensor input = *Tensor::allocate(type, {shape.data(), shape.size()});
    int64_t bytes = sizeOf(images->type());
    for (int64_t i = 0; i < input.numElements(); ++i) {
      double value = readAsDouble(
          images->type(), static_cast<char *>(images->data()) + i * bytes);
      if (type == ElementType::F64)
        input.dataAs<double>()[i] = value;
      else
        input.dataAs<float>()[i] = float(value);
    }
    std::vector<Tensor> out = run(*program, {input});
    if (out.size() != 1 || out[0].shape() != expected->shape()) {
      ADD_FAILURE() << "wrong shape of the probabilities";
      return INFINITY;
    }
    double largest = 0;
    for (int64_t i = 0; i < out[0].numElements(); ++i) {
      double got =
          readAsDouble(out[0].type(), static_cast<char *>(out[0].data()) +
                                          i * sizeOf(out[0].type()));
      double want =
          readAsDouble(expected->type(), static_cast<char *>(expected->data()) +
                                             i * sizeOf(expected->type()));
      double error = std::fabs(got - want);
      if (!(error <= largest))
        largest = error;
    }
    return largest;
  }
};

TEST_F(DigitsTest, Reference) {
  tracea::compiler::CompileOptions options;
  options.reference = true;
  EXPECT_LT(deviation(options), 1e-5);
}

TEST_F(DigitsTest, Optimized) { EXPECT_LT(deviation({}), 1e-5); }

} // namespace
