//===- KernelToFunc.cpp - Kernels become functions of the CPU ABI ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel becomes two functions. The outer one has the ABI of the runtime:
//
//   void kernel(const int64_t *args, int64_t begin, int64_t end, void *ws);
//
// and unpacks its slots for the inner one, whose pointers are parameters so
// that they can carry `noalias`. The inner one runs the uniform code and then
// the tiles [begin, end) of the grid.

#include "tracea/Conversion/Passes.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Dialect/TraceaPipe/Utils/Assertions.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEAPIPEKERNELSTOFUNC
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {

constexpr int64_t workspaceAlignment = 64;
/// Offsets into the workspace are constants of 32 bits.
constexpr int64_t mostWorkspaceBytes = (int64_t(1) << 31) - workspaceAlignment;

/// What the launches of a kernel say about one of its buffers.
struct BufferFacts {
  bool readOnly = true;
  /// Nobody writes the memory through another argument.
  bool noAlias = true;
};

/// Facts that hold for every launch of a kernel. A kernel without launches
/// could be called in any way.
SmallVector<BufferFacts> gatherFacts(KernelOp kernel,
                                     ArrayRef<LaunchOp> launches) {
  SmallVector<BufferFacts> facts(kernel.getNumArguments());
  if (launches.empty())
    for (BufferFacts &fact : facts)
      fact = {false, false};
  for (LaunchOp launch : launches) {
    unsigned numInputs = launch.getInputs().size();
    llvm::SmallBitVector aliased = getAliasedOperands(launch);
    for (auto [number, fact] : llvm::enumerate(facts)) {
      fact.readOnly &= number < numInputs;
      fact.noAlias &= !aliased.test(number);
    }
  }
  return facts;
}

class KernelConverter {
public:
  KernelConverter(KernelOp kernel, ArrayRef<LaunchOp> launches,
                  const LLVMTypeConverter &types)
      : kernel(kernel), loc(kernel.getLoc()), types(types),
        facts(gatherFacts(kernel, launches)), builder(kernel) {
    pointerType = LLVM::LLVMPointerType::get(builder.getContext());
    i64 = builder.getI64Type();
  }

  LogicalResult convert();

private:
  LogicalResult buildInner();
  void buildOuter();
  void moveBody();
  LogicalResult placeWorkspace();
  LogicalResult placeScratch();
  LogicalResult placeAssertions();
  void eraseMemorySpaces();
  SmallVector<Value> delinearize(Value linear, TilesOp tiles);
  Value toIndex(Value value) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  }
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  }
  Type scalarType(Type type) { return isa<IndexType>(type) ? Type(i64) : type; }
  Value buildBuffer(MemRefType type, Value pointer, ValueRange dynamicSizes);

  KernelOp kernel;
  Location loc;
  const LLVMTypeConverter &types;
  SmallVector<BufferFacts> facts;
  OpBuilder builder;
  LLVM::LLVMPointerType pointerType;
  IntegerType i64;
  LLVM::LLVMFuncOp inner, outer;
  int64_t workspaceBytes = 0;
};

} // namespace

/// A memref over `pointer`, row-major with the static and given sizes.
Value KernelConverter::buildBuffer(MemRefType type, Value pointer,
                                   ValueRange dynamicSizes) {
  MemRefDescriptor descriptor =
      MemRefDescriptor::poison(builder, loc, types.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, pointer);
  descriptor.setAlignedPtr(builder, loc, pointer);
  descriptor.setConstantOffset(builder, loc, 0);
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      sizes.push_back(dynamicSizes.front());
      dynamicSizes = dynamicSizes.drop_front();
    } else {
      sizes.push_back(constant(size));
    }
  }
  Value stride = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    descriptor.setSize(builder, loc, dim, sizes[dim]);
    descriptor.setStride(builder, loc, dim, stride);
    if (dim > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[dim]);
  }
  return UnrealizedConversionCastOp::create(builder, loc, Type(type),
                                            Value(descriptor))
      .getResult(0);
}

/// The function of bare parameters: for each buffer a pointer and its dynamic
/// sizes, for each scalar itself; then begin, end and workspace.
LogicalResult KernelConverter::buildInner() {
  SmallVector<Type> parameters;
  SmallVector<DictionaryAttr> attributes;
  NamedAttribute noUndef(LLVM::LLVMDialect::getNoUndefAttrName(),
                         builder.getUnitAttr());
  NamedAttribute noAlias(LLVM::LLVMDialect::getNoAliasAttrName(),
                         builder.getUnitAttr());
  for (auto [type, fact] : llvm::zip(kernel.getArgumentTypes(), facts)) {
    SmallVector<NamedAttribute> list = {noUndef};
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      parameters.push_back(scalarType(type));
      attributes.push_back(builder.getDictionaryAttr(list));
      continue;
    }
    if (fact.noAlias)
      list.push_back(noAlias);
    if (fact.readOnly)
      list.emplace_back(LLVM::LLVMDialect::getReadonlyAttrName(),
                        builder.getUnitAttr());
    parameters.push_back(pointerType);
    attributes.push_back(builder.getDictionaryAttr(list));
    for (size_t i = 0, e = memref.getNumDynamicDims(); i < e; ++i) {
      parameters.push_back(i64);
      attributes.push_back(builder.getDictionaryAttr({noUndef}));
    }
  }
  for (Type type : {Type(i64), Type(i64)}) {
    parameters.push_back(type);
    attributes.push_back(builder.getDictionaryAttr({noUndef}));
  }
  parameters.push_back(pointerType);
  attributes.push_back(builder.getDictionaryAttr({noAlias}));

  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), parameters);
  builder.setInsertionPoint(kernel);
  std::string name = (kernel.getSymName() + ".tiles").str();
  inner = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                   LLVM::Linkage::Internal,
                                   /*dsoLocal=*/true, LLVM::CConv::C,
                                   /*comdat=*/nullptr,
                                   /*attrs=*/{}, attributes);
  // Inlining would turn `noalias` into metadata, which some passes lose.
  inner.setNoInline(true);
  // Code generation need not look for vectors where there are some already.
  // What copies whole lines says nothing of the loops that compute them.
  bool hasVectors = kernel
                        .walk([](Operation *op) {
                          return !isa<vector::LoadOp>(op) &&
                                         llvm::any_of(op->getResultTypes(),
                                                      llvm::IsaPred<VectorType>)
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
  if (hasVectors)
    inner.setPassthroughAttr(builder.getStrArrayAttr({"tracea-vectorized"}));

  Block *entry = inner.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  ArrayRef<BlockArgument> rest = entry->getArguments();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Value replacement = rest.front();
    rest = rest.drop_front();
    if (auto memref = dyn_cast<MemRefType>(argument.getType())) {
      unsigned numDynamic = memref.getNumDynamicDims();
      SmallVector<Value> sizes(rest.begin(), rest.begin() + numDynamic);
      rest = rest.drop_front(numDynamic);
      replacement = buildBuffer(memref, replacement, sizes);
    } else if (isa<IndexType>(argument.getType())) {
      replacement = toIndex(replacement);
    }
    argument.replaceAllUsesWith(replacement);
  }
  return success();
}

/// Index tuple of a linear tile number. With a group g the last two dimensions
/// go column by column through bands of g rows.
SmallVector<Value> KernelConverter::delinearize(Value linear, TilesOp tiles) {
  ValueRange bounds = tiles.getBounds();
  SmallVector<Value> indices(bounds.size());
  int64_t last = bounds.size() - 1;
  if (int64_t group = tiles.getGroup()) {
    Value rows = bounds[last - 1], columns = bounds[last];
    Value matrix = arith::MulIOp::create(builder, loc, rows, columns);
    Value rest = linear;
    if (last > 1) {
      rest = arith::RemUIOp::create(builder, loc, linear, matrix);
      linear = arith::DivUIOp::create(builder, loc, linear, matrix);
    }
    Value height = arith::ConstantIndexOp::create(builder, loc, group);
    Value band = arith::MulIOp::create(builder, loc, height, columns);
    Value number = arith::DivUIOp::create(builder, loc, rest, band);
    Value within = arith::RemUIOp::create(builder, loc, rest, band);
    Value first = arith::MulIOp::create(builder, loc, number, height);
    Value left = arith::SubIOp::create(builder, loc, rows, first);
    Value tall = arith::MinSIOp::create(builder, loc, left, height);
    Value row = arith::RemUIOp::create(builder, loc, within, tall);
    indices[last - 1] = arith::AddIOp::create(builder, loc, first, row);
    indices[last] = arith::DivUIOp::create(builder, loc, within, tall);
    last -= 2;
  }
  for (; last > 0; --last) {
    indices[last] = arith::RemUIOp::create(builder, loc, linear, bounds[last]);
    linear = arith::DivUIOp::create(builder, loc, linear, bounds[last]);
  }
  if (last == 0)
    indices[0] = linear;
  return indices;
}

/// Moves the uniform code into the inner function and the grid's body into its
/// loop over tiles.
void KernelConverter::moveBody() {
  Block *entry = &inner.getBody().front();
  unsigned numArguments = entry->getNumArguments();
  Value begin = toIndex(entry->getArgument(numArguments - 3));
  Value end = toIndex(entry->getArgument(numArguments - 2));

  TilesOp tiles = kernel.getTiles();
  Block &body = kernel.getBody().front();
  body.back().erase();
  entry->getOperations().splice(entry->end(), body.getOperations());

  builder.setInsertionPoint(tiles);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  scf::ForOp loop = scf::ForOp::create(builder, loc, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices = delinearize(loop.getInductionVar(), tiles);
  Block &tile = tiles.getBody().front();
  for (auto [argument, index] : llvm::zip(tile.getArguments(), indices))
    argument.replaceAllUsesWith(index);
  tile.back().erase();
  loop.getBody()->getOperations().splice(
      loop.getBody()->getTerminator()->getIterator(), tile.getOperations());
  tiles.erase();
  builder.setInsertionPointToEnd(entry);
  // The next kernel's threads may be others than those that wrote.
  if (inner
          .walk([](vector::StoreOp store) {
            return store.getNontemporal() ? WalkResult::interrupt()
                                          : WalkResult::advance();
          })
          .wasInterrupted())
    LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst,
                          StringRef());
  LLVM::ReturnOp::create(builder, loc, ValueRange());

  // One stack slot for all tiles, not one more for each.
  SmallVector<memref::AllocaOp> allocas;
  inner.walk([&](memref::AllocaOp alloca) {
    if (alloca->getNumOperands() == 0)
      allocas.push_back(alloca);
  });
  for (memref::AllocaOp alloca : llvm::reverse(allocas))
    alloca->moveBefore(entry, entry->begin());
}

/// Gives the kernel's own panels the first bytes of the workspace.
LogicalResult KernelConverter::placeWorkspace() {
  Block *entry = &inner.getBody().front();
  int64_t bytes = kernel.getWorkspaceBytes().value_or(0);
  if (bytes > mostWorkspaceBytes)
    return kernel.emitOpError()
           << "needs a workspace of more than 2 GiB a thread";
  workspaceBytes = llvm::alignTo(bytes, workspaceAlignment);
  SmallVector<WorkspaceOp> workspaces;
  inner.walk([&](WorkspaceOp op) { workspaces.push_back(op); });
  for (WorkspaceOp workspace : workspaces) {
    auto type = dyn_cast<MemRefType>(workspace.getType());
    if (!type || type.getRank() != 1 || !type.hasStaticShape() ||
        !type.getLayout().isIdentity() || type.getDimSize(0) > bytes ||
        !type.getElementType().isInteger(8))
      return workspace.emitOpError()
             << "expects the type memref<" << bytes
             << "xi8> or a shorter one, found " << workspace.getType();
    builder.setInsertionPointToStart(entry);
    Value buffer = buildBuffer(type, entry->getArguments().back(), {});
    workspace.getResult().replaceAllUsesWith(buffer);
    workspace.erase();
  }
  return success();
}

/// Gives each scratch buffer its place in the workspace.
LogicalResult KernelConverter::placeScratch() {
  Block *entry = &inner.getBody().front();
  Value workspace = entry->getArguments().back();
  SmallVector<ScratchOp> scratches;
  inner.walk([&](ScratchOp op) { scratches.push_back(op); });
  for (ScratchOp scratch : scratches) {
    auto type = dyn_cast<MemRefType>(scratch.getType());
    if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
      return scratch.emitOpError()
             << "expects a static shape and the identity layout, found "
             << scratch.getType();
    if (!type.getElementType().isIntOrIndexOrFloat() &&
        !isa<VectorType>(type.getElementType()))
      return scratch.emitOpError()
             << "expects scalar or vector elements, found "
             << type.getElementType();
    DataLayout layout = DataLayout::closest(scratch);
    int64_t bytes = layout.getTypeSize(type.getElementType()).getFixedValue();
    bool fits = true;
    for (int64_t extent : type.getShape())
      fits &= !llvm::MulOverflow(bytes, extent, bytes);
    if (!fits || bytes > mostWorkspaceBytes - workspaceBytes)
      return kernel.emitOpError()
             << "needs a workspace of more than 2 GiB a thread";
    builder.setInsertionPointToStart(entry);
    Value pointer = LLVM::GEPOp::create(
        builder, loc, pointerType, builder.getI8Type(), workspace,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(workspaceBytes)});
    auto plain = MemRefType::get(type.getShape(), type.getElementType());
    Value buffer = buildBuffer(plain, pointer, {});
    scratch.getResult().setType(plain);
    scratch.replaceAllUsesWith(buffer);
    scratch.erase();
    workspaceBytes += llvm::alignTo(bytes, workspaceAlignment);
  }
  return success();
}

/// A kernel cannot stop the run. An assertion that fails leaves its number and
/// what was compared in the last 64 bytes of the workspace, where the runtime
/// looks after the launch; the texts stand beside the kernel's code.
LogicalResult KernelConverter::placeAssertions() {
  SmallVector<cf::AssertOp> assertions;
  inner.walk([&](cf::AssertOp op) { assertions.push_back(op); });
  if (assertions.empty())
    return success();
  if (workspaceBytes > mostWorkspaceBytes - workspaceAlignment)
    return kernel.emitOpError()
           << "needs a workspace of more than 2 GiB a thread";
  Value workspace = inner.getBody().front().getArguments().back();
  std::string texts(8, '\0');
  llvm::support::endian::write64le(texts.data(), workspaceBytes);
  for (auto [number, assertion] : llvm::enumerate(assertions)) {
    builder.setInsertionPoint(assertion);
    Value isTrue = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value fails =
        arith::XOrIOp::create(builder, loc, assertion.getArg(), isTrue);
    auto branch = scf::IfOp::create(builder, loc, fails,
                                    /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    auto store = [&](Value value, int32_t slot) {
      Value address = LLVM::GEPOp::create(
          builder, loc, pointerType, builder.getI8Type(), workspace,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(workspaceBytes) +
                                 8 * slot});
      LLVM::StoreOp::create(builder, loc, value, address, /*alignment=*/8);
    };
    auto [found, expected] = getCompared(assertion.getArg());
    store(constant(number + 1), 0);
    store(getAssertedWord(builder, loc, found), 1);
    store(getAssertedWord(builder, loc, expected), 2);
    texts += assertion.getMsg().str() + '\0';
    assertion.erase();
  }
  texts += '\0';
  workspaceBytes += workspaceAlignment;
  builder.setInsertionPoint(kernel);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), texts.size());
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                         LLVM::Linkage::External,
                         (kernel.getSymName() + ".assertions").str(),
                         builder.getStringAttr(texts), /*alignment=*/8);
  return success();
}

/// On a CPU a workgroup's memory is memory like any other.
void KernelConverter::eraseMemorySpaces() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
      return std::nullopt;
    return MemRefType::get(type.getShape(), type.getElementType(),
                           type.getLayout());
  });
  replacer.recursivelyReplaceElementsIn(inner, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// The function that the runtime calls.
void KernelConverter::buildOuter() {
  builder.setInsertionPoint(kernel);
  Type voidType = LLVM::LLVMVoidType::get(builder.getContext());
  auto type = LLVM::LLVMFunctionType::get(voidType,
                                          {pointerType, i64, i64, pointerType});
  outer = LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  if (workspaceBytes)
    outer->setAttr(kWorkspaceAttrName,
                   builder.getI64IntegerAttr(workspaceBytes));
  Block *entry = outer.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value slots = entry->getArgument(0);
  int32_t slot = 0;
  auto load = [&](Type slotType, int32_t number) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, i64, slots,
                                        ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(builder, loc, slotType, address,
                                /*alignment=*/8);
  };
  SmallVector<Value> operands;
  for (Type argument : kernel.getArgumentTypes()) {
    if (auto memref = dyn_cast<MemRefType>(argument)) {
      operands.push_back(load(pointerType, slot));
      for (int64_t dim = 0; dim < memref.getRank(); ++dim)
        if (memref.isDynamicDim(dim))
          operands.push_back(load(i64, slot + 1 + dim));
      slot += 1 + 2 * memref.getRank();
      continue;
    }
    Type scalar = scalarType(argument);
    Value value = load(i64, slot++);
    unsigned width = scalar.getIntOrFloatBitWidth();
    if (width < 64)
      value = LLVM::TruncOp::create(builder, loc, builder.getIntegerType(width),
                                    value);
    if (isa<FloatType>(scalar))
      value = LLVM::BitcastOp::create(builder, loc, scalar, value);
    operands.push_back(value);
  }
  operands.append(
      {entry->getArgument(1), entry->getArgument(2), entry->getArgument(3)});
  LLVM::CallOp::create(builder, loc, inner, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

LogicalResult KernelConverter::convert() {
  if (failed(buildInner()))
    return failure();
  moveBody();
  if (failed(placeWorkspace()) || failed(placeScratch()) ||
      failed(placeAssertions()))
    return failure();
  eraseMemorySpaces();
  buildOuter();
  kernel.erase();
  return success();
}

namespace {

struct ConvertTraceaPipeKernelsToFunc
    : public mlir::tracea::impl::ConvertTraceaPipeKernelsToFuncBase<
          ConvertTraceaPipeKernelsToFunc> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyHost(module)))
      return signalPassFailure();
    llvm::MapVector<StringAttr, SmallVector<LaunchOp>> launches;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      function.walk([&](LaunchOp launch) {
        launches[launch.getKernelAttr().getAttr()].push_back(launch);
      });
    LLVMTypeConverter types(&getContext());
    for (KernelOp kernel :
         llvm::make_early_inc_range(module.getOps<KernelOp>()))
      if (failed(
              KernelConverter(kernel, launches[kernel.getSymNameAttr()], types)
                  .convert()))
        return signalPassFailure();
    eraseHost(module);
  }

private:
  /// What still computes on tensors has not become kernels: erasing it would
  /// lose it silently.
  LogicalResult verifyHost(ModuleOp module) {
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      WalkResult found = function.walk([](Operation *op) {
        auto isTensor = llvm::IsaPred<TensorType>;
        if (llvm::none_of(op->getOperandTypes(), isTensor) &&
            llvm::none_of(op->getResultTypes(), isTensor))
          return WalkResult::advance();
        op->emitOpError("is on tensors, expected a host function on buffers; "
                        "run the phases from 'tile' on before 'target'");
        return WalkResult::interrupt();
      });
      if (found.wasInterrupted())
        return failure();
    }
    return success();
  }

  /// The manifest holds what the host functions said.
  void eraseHost(ModuleOp module) {
    for (func::FuncOp function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    DenseSet<Attribute> used;
    if (std::optional<SymbolTable::UseRange> uses =
            SymbolTable::getSymbolUses(&module.getBodyRegion()))
      for (SymbolTable::SymbolUse use : *uses)
        used.insert(use.getSymbolRef().getRootReference());
    for (memref::GlobalOp global :
         llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      if (!used.contains(global.getSymNameAttr()))
        global.erase();
  }
};

} // namespace
