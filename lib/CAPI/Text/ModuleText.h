//===- ModuleText.h - Writes a module of one function -----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators and graphs are modules like any other: this writes their text, in
// `tracea`, `linalg`, `tensor` and `arith`, so that the runtime needs no part
// of MLIR. Operands are checked here, by the names that tracea.h gives them:
// what it writes is well formed.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_MODULETEXT_H
#define TRACEA_LIB_CAPI_MODULETEXT_H

#include "Error.h"
#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/Span.h"

#include <functional>
#include <string>
#include <vector>

namespace tracea::capi {

using runtime::ElementType;
using runtime::Span;

/// The size of a dimension, or the value that has it where only the run knows.
struct Extent {
  int64_t size = 0;
  std::string value;

  bool isOpen() const { return size < 0; }
};

/// A tensor of the function.
struct Value {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<Extent> shape;

  size_t rank() const { return shape.size(); }
  /// "tensor<?x8xbf16>"
  std::string typeText() const;
  /// "bf16[?, 8]", for messages.
  std::string describe() const;
};

/// A tensor that an epilogue reads, and by which dimensions of the result:
/// dimension i of the tensor is dimension dims[i] of the result.
struct EpilogueOperand {
  Value value;
  std::vector<unsigned> dims;
};

/// What is done to a sum: act(alpha sum + operands).
struct Epilogue {
  std::vector<EpilogueOperand> operands;
  TraceaEpilogue function = TRACEA_EPILOGUE_NONE;
  double alpha = 1;
};

struct GemmOperands {
  Value a, b;
  bool transposeA = false, transposeB = false;
  Epilogue epilogue;
  /// Of the result.
  ElementType type = ElementType::F32;
};

/// The numbers of a convolution, and how its tensors lie in memory.
struct Convolution {
  /// Image and result are [N, H, W, C], else [N, C, H, W].
  bool channelsLast = true;
  /// "krsc", "kcrs" or "rsck".
  std::string filter = "krsc";
  TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
};

struct Conv2DOperands : Convolution {
  Value x, w;
  Epilogue epilogue;
  ElementType type = ElementType::F32;
};

/// The gradient by x or by w, whichever has no name: its shape and its type are
/// the result's.
struct Conv2DGradientOperands : Convolution {
  Value x, w, grad;
};

class ModuleText {
public:
  /// An argument; sizes below zero are the run's. Names are made unique.
  Value input(const std::string &name, ElementType type,
              Span<const int64_t> shape, bool isConstant = false);
  void output(const Value &value);
  void allow(TraceaPrecision precision);

  Expected<Value> gemm(const GemmOperands &operands);
  Expected<Value> groupedGemm(const Value &a, const Value &b, const Value &ends,
                              bool transposeB);
  Expected<Value> conv2d(const Conv2DOperands &operands);
  Expected<Value> conv2dGradient(const Conv2DGradientOperands &operands);
  /// `lse` is set where it is asked for.
  Expected<Value> attention(const Value &q, const Value &k, const Value &v,
                            const TraceaAttentionParams &params, Value *lse);
  Expected<Value> softmax(const Value &x, int64_t dim, bool isLog,
                          ElementType type);
  /// Scale and bias may have no name: they are not there.
  Expected<Value> norm(bool isLayerNorm, const Value &x, const Value &scale,
                       const Value &bias, double epsilon, ElementType type);
  Expected<Value> unary(TraceaUnary function, const Value &x);
  Expected<Value> binary(TraceaBinary function, const Value &a, const Value &b);
  Expected<Value> cast(const Value &x, ElementType type);
  Expected<Value> transpose(const Value &x, Span<const uint32_t> order);
  Expected<Value> reshape(const Value &x, Span<const int64_t> shape);
  /// The first elements of each dimension.
  Value firstElements(const Value &x, const std::vector<Extent> &shape);

  bool hasOutputs() const { return !results.empty(); }
  /// The whole module.
  std::string str() const;

private:
  std::string line(const std::string &text);
  std::string index(int64_t number);
  std::string indexOp(const char *op, const std::string &a,
                      const std::string &b);
  /// `tensor.empty` of that type.
  Value empty(ElementType type, const std::vector<Extent> &shape);
  Value fill(ElementType type, const std::vector<Extent> &shape,
             const std::string &number);
  Extent arithmetic(const char *op, const Extent &a, const Extent &b);
  std::string epilogueText(const Epilogue &epilogue, size_t rank,
                           ElementType accumulator, ElementType type);
  /// The shape of what a convolution of x with w gives; the two are checked by
  /// the names that messages have for them.
  Expected<std::vector<Extent>>
  convolvedShape(const Convolution &convolution, const char *xName,
                 const Value &x, const char *wName, const Value &w);
  /// `tracea.<op>` of two tensors.
  Value convolutionLine(const char *op, const Convolution &convolution,
                        const Value &a, const Value &b,
                        const std::vector<Extent> &shape, ElementType type,
                        const Epilogue &epilogue);
  /// A map over the elements of a result, with operands by their dimensions.
  using Body = std::function<std::string(const std::vector<std::string> &)>;
  Value elementwise(const std::vector<Extent> &shape, ElementType type,
                    const std::vector<EpilogueOperand> &operands,
                    const Body &body);

  struct Argument {
    std::string name, type;
    bool isConstant;
  };
  std::vector<Argument> arguments;
  std::vector<Value> results;
  std::string body;
  std::string attributes;
  int64_t numValues = 0;
};

/// The element type that a sum of products of this type is kept in.
ElementType accumulatorOf(ElementType type);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_MODULETEXT_H
