//===- Multiplies.cpp - What multiplies of a warpgroup read ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NVVMEvents.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// An operand that is a matrix descriptor.
struct MultiplyOperand {
  Value descriptor;
  int64_t rows = 0;      // M or N
  int64_t rowBytes = 32; // K, for the types there are
  int64_t elementBytes = 2;
  bool kMajor = true;
};
} // namespace

/// How many registers inline assembly writes; these have the first numbers.
static int64_t countOutputs(Operation *op) {
  if (op->getNumResults() == 0)
    return 0;
  auto fields = dyn_cast<LLVM::LLVMStructType>(op->getResult(0).getType());
  return fields ? fields.getBody().size() : 1;
}

/// Bytes of an element of a multiply's operand.
static int64_t bytesOf(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
  case NVVM::WGMMATypes::bf16:
    return 2;
  case NVVM::WGMMATypes::tf32:
    return 4;
  default:
    return 1;
  }
}

/// Fails where inline assembly is not understood.
static FailureOr<SmallVector<MultiplyOperand>> getOperands(Operation *op) {
  SmallVector<MultiplyOperand> operands;
  if (auto multiply = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op)) {
    int64_t element = bytesOf(multiply.getTypeA());
    int64_t k = multiply.getShape().getK();
    operands.push_back({multiply.getDescriptorA(), multiply.getShape().getM(),
                        k * element, element,
                        multiply.getLayoutA() == NVVM::MMALayout::row});
    operands.push_back({multiply.getDescriptorB(), multiply.getShape().getN(),
                        k * element, element,
                        multiply.getLayoutB() == NVVM::MMALayout::col});
    return operands;
  }
  // wgmma.mma_async.sync.aligned.m64nNkK.f32.TYPE.TYPE {d}, a, b, p, 1, 1, t;
  auto assembly = cast<LLVM::InlineAsmOp>(op);
  StringRef text = assembly.getAsmString();
  text = text.substr(text.find("wgmma.mma_async"));
  StringRef shape = text.substr(text.find(".m64n") + 5);
  int64_t n = 0, k = 0;
  if (shape.consumeInteger(10, n) || !shape.consume_front("k") ||
      shape.consumeInteger(10, k))
    return failure();
  StringRef types = shape.substr(0, shape.find_first_of(" {"));
  SmallVector<StringRef> names;
  types.split(names, '.', -1, /*KeepEmpty=*/false);
  if (names.size() < 3)
    return failure();
  int64_t element = names[2] == "bf16" || names[2] == "f16" ? 2
                    : names[2] == "tf32"                    ? 4
                                                            : 1;
  // Descriptors are the operands of 64 bits.
  SmallVector<Value> descriptors;
  for (Value operand : op->getOperands())
    if (operand.getType().isInteger(64))
      descriptors.push_back(operand);
  if (descriptors.empty() || descriptors.size() > 2)
    return failure();
  // Types of 16 bits say whether each descriptor is transposed.
  SmallVector<StringRef> arguments;
  text.substr(0, text.find(';')).split(arguments, ',');
  int64_t outputs = countOutputs(op);
  bool known = true;
  auto flag = [&](size_t fromEnd) {
    if (element != 2 || arguments.size() <= fromEnd)
      return false;
    StringRef text = arguments[arguments.size() - 1 - fromEnd].trim(" \t\n}");
    if (!text.consume_front("$"))
      return text == "1";
    // An operand of the assembly; outputs have the first numbers.
    int64_t number = 0;
    APInt value;
    if (text.getAsInteger(10, number) || number < outputs ||
        number - outputs >= static_cast<int64_t>(op->getNumOperands()) ||
        !matchPattern(op->getOperand(number - outputs), m_ConstantInt(&value)))
      return known = false;
    return value.isOne();
  };
  bool both = descriptors.size() == 2;
  if (both)
    operands.push_back({descriptors[0], 64, k * element, element, !flag(1)});
  operands.push_back({descriptors.back(), n, k * element, element, !flag(0)});
  if (!known)
    return failure();
  return operands;
}

/// What a matrix descriptor of `wgmma` makes the unit read.
static Footprint getFootprint(const MultiplyOperand &operand,
                              ValueSymbols &values) {
  Footprint footprint;
  Linear descriptor = values.table.linearize(values.get(operand.descriptor));
  auto isBase = [](const auto &term) {
    return term.first->kind == Symbol::Base && term.first->value == 4 &&
           term.second == 1;
  };
  if (!llvm::any_of(descriptor.terms, isBase)) {
    footprint.reason = "the address in a matrix descriptor is not understood";
    return footprint;
  }
  // Fields in units of 16 bytes; see the matrix descriptor of the PTX ISA.
  uint64_t word = static_cast<uint64_t>(descriptor.constant);
  int64_t start = (word & 0x3FFF) * 16;
  int64_t leading = (word >> 16 & 0x3FFF) * 16;
  int64_t stride = (word >> 32 & 0x3FFF) * 16;
  unsigned swizzle = word >> 62;
  int64_t row = swizzle == 1 ? 128 : swizzle == 2 ? 64 : swizzle == 3 ? 32 : 16;
  // Variables of another address of shared memory are kept above this.
  footprint.address.constant = start;
  for (auto [symbol, coefficient] : descriptor.terms) {
    if (symbol->kind == Symbol::Base) {
      footprint.address.terms[values.table.base()] = 1;
      continue;
    }
    footprint.address.terms[symbol] = coefficient * 16;
  }
  int64_t groups = llvm::divideCeil(operand.rows, 8);
  if (operand.kMajor) {
    if (swizzle == 0) {
      footprint.length =
          (groups - 1) * stride + (operand.rowBytes / 16 - 1) * leading + 128;
      return footprint;
    }
    // Groups of eight rows; a start within a group is a row of it.
    bool dense = stride == 8 * row;
    int64_t unit = dense ? row : 8 * row;
    int64_t &at = footprint.address.constant;
    at -= at % unit;
    footprint.length =
        dense ? operand.rows * row : (groups - 1) * stride + 8 * row;
    return footprint;
  }
  if (swizzle == 0) {
    footprint.reason = "a transposed operand without a swizzle";
    return footprint;
  }
  int64_t chunks = llvm::divideCeil(operand.rows * operand.elementBytes, row);
  int64_t depth = llvm::divideCeil(operand.rowBytes / operand.elementBytes, 8);
  int64_t &at = footprint.address.constant;
  at -= at % (8 * row);
  footprint.length = (chunks - 1) * leading + (depth - 1) * stride + 8 * row;
  return footprint;
}

FailureOr<SmallVector<Footprint>>
NVVMEvents::getReads(Operation *multiply, ValueSymbols &values) const {
  FailureOr<SmallVector<MultiplyOperand>> operands = getOperands(multiply);
  if (failed(operands))
    return failure();
  return llvm::map_to_vector(*operands, [&](const MultiplyOperand &operand) {
    return getFootprint(operand, values);
  });
}

SmallVector<Value> NVVMEvents::getFragments(Operation *op) const {
  SmallVector<Value> fragments;
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!assembly)
    return fragments;
  // The second list in braces; outputs have the first numbers.
  StringRef text = assembly.getAsmString();
  text = text.substr(text.find("wgmma.mma_async"));
  text = text.substr(text.find('}') + 1);
  text = text.substr(0, text.find(';'));
  size_t open = text.find('{'), close = text.find('}');
  if (open == StringRef::npos || close == StringRef::npos || close < open)
    return fragments;
  int64_t outputs = countOutputs(op);
  SmallVector<StringRef> names;
  text.slice(open + 1, close).split(names, ',');
  for (StringRef name : names) {
    int64_t number = 0;
    name = name.trim();
    if (!name.consume_front("$") || name.getAsInteger(10, number))
      continue;
    number -= outputs;
    if (number >= 0 && number < static_cast<int64_t>(op->getNumOperands()))
      fragments.push_back(op->getOperand(number));
  }
  return fragments;
}

Value NVVMEvents::getAccumulator(Operation *multiply) const {
  auto op = dyn_cast<NVVM::WgmmaMmaAsyncOp>(multiply);
  return op ? op.getInouts() : Value();
}
