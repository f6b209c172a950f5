//===- ParseSource.cpp - Modules within the limits ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing here recurses: what it looks for is what recursion cannot stand.
//
//===----------------------------------------------------------------------===//

#include "tracea/Compiler/ParseSource.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Compiler/SourceLimits.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace tc = ::tracea::compiler;

namespace {
/// How deep attributes and types nest, each looked at once.
class ElementDepths {
public:
  /// An attribute or type; the two share no storage.
  struct Element {
    Attribute attribute;
    Type type;
    const void *key() const {
      return attribute ? attribute.getAsOpaquePointer()
                       : type.getAsOpaquePointer();
    }
  };

  unsigned of(Element root) {
    if (!root.key())
      return 0;
    SmallVector<Frame> stack;
    enter(stack, root);
    unsigned found = known.lookup(root.key());
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next < frame.children.size()) {
        Element child = frame.children[frame.next];
        auto done = known.find(child.key());
        if (done == known.end()) {
          enter(stack, child);
          continue; // `frame` may have moved
        }
        frame.depth = std::max(frame.depth, done->second + 1);
        ++frame.next;
        continue;
      }
      found = known[frame.element.key()] = frame.depth;
      stack.pop_back();
    }
    return found;
  }

private:
  struct Frame {
    Element element;
    SmallVector<Element, 4> children;
    size_t next = 0;
    unsigned depth = 1;
  };

  void enter(SmallVectorImpl<Frame> &stack, Element element) {
    // A type that names itself is as deep as it is written once.
    if (!known.try_emplace(element.key(), 1).second)
      return;
    Frame frame;
    frame.element = element;
    auto add = [&](Attribute attribute, Type type) {
      if (attribute || type)
        frame.children.push_back({attribute, type});
    };
    auto addAttribute = [&](Attribute inner) { add(inner, Type()); };
    auto addType = [&](Type inner) { add(Attribute(), inner); };
    if (element.attribute)
      element.attribute.walkImmediateSubElements(addAttribute, addType);
    else
      element.type.walkImmediateSubElements(addAttribute, addType);
    stack.push_back(std::move(frame));
  }

  DenseMap<const void *, unsigned> known;
};

/// An operation and the number of regions around it.
struct Nested {
  Operation *op;
  unsigned depth;
};
} // namespace

/// All operations, each before those in its regions.
static std::vector<Nested> listOperations(Operation *root) {
  std::vector<Nested> all = {{root, 0}};
  for (size_t i = 0; i < all.size(); ++i) {
    Nested at = all[i];
    for (Region &region : at.op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          all.push_back({&inner, at.depth + 1});
  }
  return all;
}

static unsigned findElementDepth(Operation *op, ElementDepths &depths) {
  unsigned depth = depths.of({op->getAttrDictionary(), Type()});
  depth = std::max(depth, depths.of({op->getLoc(), Type()}));
  for (Type type : op->getResultTypes())
    depth = std::max(depth, depths.of({Attribute(), type}));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments()) {
        depth = std::max(depth, depths.of({argument.getLoc(), Type()}));
        depth = std::max(depth, depths.of({Attribute(), argument.getType()}));
      }
  return depth;
}

/// What stands in the regions of all operations goes, innermost first: the
/// destructors of nested operations recurse.
static void dismantle(ArrayRef<Nested> all) {
  for (const Nested &at : all) {
    for (OpOperand &operand : at.op->getOpOperands())
      operand.drop();
    for (BlockOperand &successor : at.op->getBlockOperands())
      successor.drop();
  }
  for (const Nested &at : llvm::reverse(all))
    for (Region &region : at.op->getRegions())
      region.getBlocks().clear();
}

/// Whether what was read goes no deeper than it may. Where it does it is said,
/// and nothing is left in the module.
static LogicalResult checkDepth(ModuleOp module) {
  std::vector<Nested> all = listOperations(module);
  ElementDepths depths;
  for (const Nested &at : all) {
    bool isDeep = at.depth > tc::mostNesting;
    if (!isDeep && findElementDepth(at.op, depths) <= tc::mostNesting)
      continue;
    // The location may be what is deep.
    emitError(UnknownLoc::get(module.getContext()))
        << "expected at most " << tc::mostNesting << " nested "
        << (isDeep ? "regions" : "attributes, types or locations")
        << " in bytecode, found more at an operation '"
        << at.op->getName().getStringRef() << "'";
    dismantle(all);
    return failure();
  }
  return success();
}

static OwningOpRef<ModuleOp> readUnverified(llvm::SourceMgr &sources,
                                            MLIRContext &context) {
  return parseSourceFile<ModuleOp>(
      sources, ParserConfig(&context, /*verifyAfterParse=*/false));
}

OwningOpRef<ModuleOp> tc::parseSource(llvm::SourceMgr &sources,
                                      MLIRContext &context) {
  if (!isBytecode(
          sources.getMemoryBuffer(sources.getMainFileID())->getBuffer()))
    return parseSourceFile<ModuleOp>(sources, &context);
  OwningOpRef<ModuleOp> module = readUnverified(sources, context);
  if (!module || failed(checkDepth(*module)) || failed(verify(*module)))
    return nullptr;
  return module;
}

bool tc::keepsToLimits(llvm::SourceMgr &bytecode, MLIRContext &context) {
  SourceMgrDiagnosticHandler handler(bytecode, &context);
  OwningOpRef<ModuleOp> module = readUnverified(bytecode, context);
  return module && succeeded(checkDepth(*module));
}
