//===- NeededTerms.cpp - Which terms memory says a sum needs --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/NeededTerms.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The integers of a dictionary by their names; false where one is missing.
static bool readNumbers(DictionaryAttr from,
                        ArrayRef<std::pair<StringRef, int64_t *>> numbers) {
  return from && llvm::all_of(numbers, [&](const auto &number) {
           auto found = from.getAs<IntegerAttr>(number.first);
           if (found)
             *number.second = found.getInt();
           return static_cast<bool>(found);
         });
}

static NamedAttribute makeNumber(Builder &b, StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}

std::optional<ListedTerms> ListedTerms::get(KernelOp kernel) {
  ListedTerms terms;
  auto from = kernel->getAttrOfType<DictionaryAttr>(kAttrName);
  if (!readNumbers(from, {{"result", &terms.result},
                          {"counts", &terms.counts},
                          {"blocks", &terms.blocks},
                          {"rows", &terms.rows},
                          {"columns", &terms.columns}}))
    return std::nullopt;
  std::pair<StringRef, SmallVector<int64_t> *> lists[] = {
      {"resultDims", &terms.resultDims},
      {"operands", &terms.operands},
      {"dims", &terms.dims}};
  for (auto [name, numbers] : lists) {
    auto found = from.getAs<DenseI64ArrayAttr>(name);
    if (!found)
      return std::nullopt;
    numbers->assign(found.asArrayRef().begin(), found.asArrayRef().end());
  }
  return terms;
}

void ListedTerms::set(KernelOp kernel) const {
  Builder b(kernel.getContext());
  auto makeNumbers = [&](StringRef name, ArrayRef<int64_t> numbers) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(numbers));
  };
  kernel->setAttr(
      kAttrName,
      b.getDictionaryAttr(
          {makeNumber(b, "result", result),
           makeNumbers("resultDims", resultDims),
           makeNumbers("operands", operands), makeNumbers("dims", dims),
           makeNumber(b, "counts", counts), makeNumber(b, "blocks", blocks),
           makeNumber(b, "rows", rows), makeNumber(b, "columns", columns)}));
}

std::optional<int64_t> ListedTerms::getDim(int64_t operand) const {
  for (auto [known, dim] : llvm::zip_equal(operands, dims))
    if (known == operand)
      return dim;
  return std::nullopt;
}

std::optional<EndedTerms> EndedTerms::get(KernelOp kernel) {
  EndedTerms terms;
  if (!readNumbers(
          kernel->getAttrOfType<DictionaryAttr>(kAttrName),
          {{"lengths", &terms.lengths}, {"sequence", &terms.sequence}}))
    return std::nullopt;
  return terms;
}

void EndedTerms::set(KernelOp kernel) const {
  Builder b(kernel.getContext());
  kernel->setAttr(kAttrName,
                  b.getDictionaryAttr({makeNumber(b, "lengths", lengths),
                                       makeNumber(b, "sequence", sequence)}));
}

/// An argument of a kernel, if it is memory of a rank.
static MemRefType getMemory(KernelOp kernel, int64_t argument) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (argument < 0 || argument >= static_cast<int64_t>(types.size()))
    return MemRefType();
  return dyn_cast<MemRefType>(types[argument]);
}

static bool isDim(MemRefType memory, int64_t dim) {
  return memory && dim >= 0 && dim < memory.getRank();
}

static bool holds(KernelOp kernel, const ListedTerms &terms) {
  auto isList = [&](int64_t argument) {
    MemRefType memory = getMemory(kernel, argument);
    return memory && memory.getRank() == ListedTerms::kRank &&
           memory.getElementType().isInteger(32);
  };
  return terms.resultDims.size() == ListedTerms::kRank - 1 &&
         llvm::all_of(terms.resultDims,
                      [&](int64_t dim) {
                        return isDim(getMemory(kernel, terms.result), dim);
                      }) &&
         isList(terms.counts) && isList(terms.blocks) && terms.rows >= 1 &&
         terms.columns >= 1 && terms.operands.size() == terms.dims.size() &&
         llvm::all_of(terms.operands, [&](int64_t operand) {
           return isDim(getMemory(kernel, operand), *terms.getDim(operand));
         });
}

static bool holds(KernelOp kernel, const EndedTerms &terms) {
  BandAttr band = kernel.getBandAttr();
  MemRefType lengths = getMemory(kernel, terms.lengths);
  return band && lengths && lengths.getRank() == 1 &&
         lengths.getElementType().isSignlessInteger() &&
         isDim(getMemory(kernel, band.getResult()), terms.sequence);
}

LogicalResult mlir::tracea_pipe::verifyNeededTerms(KernelOp kernel) {
  auto fail = [&](StringRef name, StringRef what) {
    return kernel.emitOpError() << "expects '" << name << "' to be " << what
                                << ", found " << kernel->getAttr(name);
  };
  std::optional<ListedTerms> listed = ListedTerms::get(kernel);
  if (kernel->hasAttr(ListedTerms::kAttrName) &&
      (!listed || !holds(kernel, *listed)))
    return fail(ListedTerms::kAttrName,
                "a dictionary of lists of i32 of rank 4, of dimensions of its "
                "memref arguments, and of blocks with rows and columns");
  std::optional<EndedTerms> ended = EndedTerms::get(kernel);
  if (kernel->hasAttr(EndedTerms::kAttrName) &&
      (!ended || !holds(kernel, *ended)))
    return fail(EndedTerms::kAttrName,
                "a dictionary of lengths, integers of rank 1, and of a "
                "dimension of the result that its band names");
  return success();
}
