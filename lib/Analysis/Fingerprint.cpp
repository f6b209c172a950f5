//===- Fingerprint.cpp - A digest of what a kernel does -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's own fingerprint of operations hashes addresses, which differ between
// processes. This one numbers values and hashes the text of names, types and
// attributes; each type and attribute is printed once.

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <limits>

using namespace mlir;
using namespace mlir::tracea;

namespace {
class Digest {
public:
  explicit Digest(MLIRContext *context) : state(context, getFlags()) {}

  void addKernel(Operation *kernel);
  template <typename T>
  void addText(T value) {
    auto [it, inserted] = printed.try_emplace(value.getAsOpaquePointer(), 0);
    if (inserted) {
      std::string text;
      llvm::raw_string_ostream os(text);
      value.print(os, state);
      it->second = llvm::xxh3_64bits(text);
    }
    addWord(it->second);
  }
  std::string get() const {
    return llvm::toHex(byteOrder(llvm::xxh3_64bits(bytes)),
                       /*LowerCase=*/true);
  }

private:
  /// What is hashed does not follow the options of a command line.
  static OpPrintingFlags getFlags() {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    return OpPrintingFlags()
        .elideLargeElementsAttrs(most)
        .elideLargeResourceString(most);
  }
  static std::string byteOrder(uint64_t word) {
    std::string text(sizeof word, '\0');
    for (size_t i = 0; i < sizeof word; ++i)
      text[i] = static_cast<char>(word >> (8 * (sizeof word - 1 - i)));
    return text;
  }
  void addWord(uint64_t word) {
    uint8_t buffer[sizeof word];
    llvm::support::endian::write64le(buffer, word);
    bytes.append(buffer, buffer + sizeof word);
  }
  /// Accesses that are built say of a hint that they do not have it; read from
  /// text they do not.
  static bool isUnsaid(NamedAttribute attribute) {
    auto hint = dyn_cast<BoolAttr>(attribute.getValue());
    return attribute.getName() == "nontemporal" && hint && !hint.getValue();
  }
  void addAttributes(Operation *op, ArrayRef<StringLiteral> without = {}) {
    uint64_t count = 0;
    for (NamedAttribute attribute : op->getAttrDictionary()) {
      if (llvm::is_contained(without, attribute.getName().getValue()) ||
          isUnsaid(attribute))
        continue;
      addText<Attribute>(attribute.getName());
      addText(attribute.getValue());
      ++count;
    }
    addWord(count);
  }
  void number(Operation *op);
  void addRegions(Operation *op);
  void addOp(Operation *op);

  AsmState state;
  SmallVector<uint8_t, 0> bytes;
  DenseMap<const void *, uint64_t> printed;
  DenseMap<Value, uint64_t> values;
  DenseMap<Block *, uint64_t> blocks;
};
} // namespace

/// Values may be used above their definition, so all get numbers first.
void Digest::number(Operation *op) {
  for (Value result : op->getResults())
    values.try_emplace(result, values.size());
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      blocks.try_emplace(&block, blocks.size());
      for (Value argument : block.getArguments())
        values.try_emplace(argument, values.size());
      for (Operation &inner : block)
        number(&inner);
    }
}

void Digest::addRegions(Operation *op) {
  addWord(op->getNumRegions());
  for (Region &region : op->getRegions()) {
    addWord(region.getBlocks().size());
    for (Block &block : region) {
      addWord(block.getNumArguments());
      for (Type type : block.getArgumentTypes())
        addText(type);
      addWord(block.getOperations().size());
      for (Operation &inner : block)
        addOp(&inner);
    }
  }
}

void Digest::addOp(Operation *op) {
  addText<Attribute>(op->getName().getIdentifier());
  addWord(op->getNumOperands());
  for (Value operand : op->getOperands())
    addWord(values.lookup(operand));
  addWord(op->getNumResults());
  for (Type type : op->getResultTypes())
    addText(type);
  for (Block *successor : op->getSuccessors())
    addWord(blocks.lookup(successor));
  addAttributes(op);
  addRegions(op);
}

void Digest::addKernel(Operation *kernel) {
  number(kernel);
  addText<Attribute>(kernel->getName().getIdentifier());
  addAttributes(kernel,
                {"sym_name", "sym_visibility", "variant", "source_op",
                 tracea_pipe::kCertificatesAttrName, "tracea_pipe.certified",
                 "tracea_pipe.remarks", kIndexLimit});
  addRegions(kernel);
}

std::string mlir::tracea::getFingerprint(Operation *kernel) {
  Digest digest(kernel->getContext());
  digest.addKernel(kernel);
  // Claims speak of the target too.
  if (auto module = kernel->getParentOfType<ModuleOp>())
    if (Attribute target = module->getAttr("tracea.target"))
      digest.addText(target);
  return digest.get();
}
