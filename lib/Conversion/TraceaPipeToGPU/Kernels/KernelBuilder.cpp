//===- KernelBuilder.cpp - The function around a kernel's code ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps from a planned kernel to a function that no target needs to know
// differently, and what most of them do alike.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/KernelBuilder.h"
#include "Kernels/Assertions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Raster.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

KernelBuilder::KernelBuilder(KernelContext &context)
    : context(context), plan(context.plan), kernel(plan.kernel),
      b(kernel.getLoc(), kernel) {}

KernelBuilder::~KernelBuilder() = default;

//===----------------------------------------------------------------------===//
// What most targets do alike
//===----------------------------------------------------------------------===//

Value KernelBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value KernelBuilder::isEqual(Value x, int64_t y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, i32(y));
}

void KernelBuilder::onlyIf(Value condition, function_ref<void()> body) {
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

Value KernelBuilder::emitSize(BlockArgument, unsigned) {
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), takeParameter());
}

Value KernelBuilder::emitNumber(BlockArgument number) {
  Value parameter = takeParameter();
  if (!number.getType().isIndex())
    return parameter;
  return b.createOrFold<arith::IndexCastOp>(b.getIndexType(), parameter);
}

SmallVector<Value> KernelBuilder::emitIndices(Value number, TilesOp tiles) {
  return emitGridIndices(b, number, tiles.getBounds(), tiles.getGroup());
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

int64_t mlir::tracea_pipe::getArgumentAlignment(KernelOp kernel,
                                                unsigned argument) {
  auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[argument]);
  if (!type)
    return 1;
  if (auto aligned =
          kernel.getArgAttrOfType<IntegerAttr>(argument, kAlignedAttrName))
    return aligned.getInt();
  Type element = type.getElementType();
  return element.isIntOrFloat()
             ? std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1)
             : 1;
}

/// Gives `memory` the place and the extents of a buffer, and the same memory
/// with collapsed dimensions those that follow from them.
void KernelBuilder::bindBuffer(Value memory, const GlobalBuffer &buffer) {
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    auto dim = dyn_cast<memref::DimOp>(user);
    std::optional<int64_t> number =
        dim ? getConstantIntValue(dim.getIndex()) : std::nullopt;
    if (number && *number >= 0 && *number < buffer.type.getRank()) {
      dim.getResult().replaceAllUsesWith(buffer.sizes[*number]);
      dim.erase();
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user)) {
      // Rows of whole rows begin where those do.
      GlobalBuffer collapsed{
          collapse.getResultType(), buffer.base, {}, {}, buffer.alignment};
      for (const ReassociationIndices &group :
           collapse.getReassociationIndices()) {
        Value size = buffer.sizes[group.front()];
        for (int64_t inner : ArrayRef(group).drop_front())
          size = b.createOrFold<arith::MulIOp>(size, buffer.sizes[inner]);
        collapsed.sizes.push_back(size);
      }
      bindBuffer(collapse, collapsed);
      collapse.erase();
    }
  }
  Value memref = UnrealizedConversionCastOp::create(b, Type(buffer.type),
                                                    ValueRange(buffer.base))
                     .getResult(0);
  memory.replaceAllUsesWith(memref);
  context.arguments[memref] = buffer;
}

/// Gives the kernel's arguments their values. A buffer stays a memref, which
/// nothing but accesses uses that know its parts.
void KernelBuilder::bindArguments() {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      argument.replaceAllUsesWith(emitNumber(argument));
      continue;
    }
    GlobalBuffer buffer;
    buffer.type = type;
    buffer.base = emitBase(argument);
    buffer.alignment = getArgumentAlignment(kernel, argument.getArgNumber());
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      buffer.sizes.push_back(
          ShapedType::isDynamic(size)
              ? emitSize(argument, dim)
              : arith::ConstantIndexOp::create(b, size).getResult());
    if (!type.getLayout().isIdentity())
      buffer.strides = type.getStridesAndOffset().first;
    bindBuffer(argument, buffer);
  }
}

/// Memory that the launch adds to the arguments.
void KernelBuilder::bindRecord() {
  MemRefType type = getRecordType(kernel);
  if (type.getNumElements() == 0)
    return;
  GlobalBuffer buffer;
  buffer.type = type;
  buffer.base = emitRecord();
  buffer.alignment = type.getElementTypeBitWidth() / 8;
  for (int64_t size : type.getShape())
    buffer.sizes.push_back(arith::ConstantIndexOp::create(b, size));
  Value record =
      UnrealizedConversionCastOp::create(b, Type(type), ValueRange(buffer.base))
          .getResult(0);
  context.arguments[record] = buffer;
  lowerAssertions(kernel, record);
}

//===----------------------------------------------------------------------===//
// The workgroup
//===----------------------------------------------------------------------===//

void KernelBuilder::setUpThread() {
  Value thread = emitThread();
  lane = arith::AndIOp::create(b, thread,
                               i32(context.target.getSubgroupSize() - 1));
  warp = emitUniform(
      arith::ShRUIOp::create(b, thread, i32(context.target.getNumLaneBits())));
  Team &workgroup = *plan.teams.front();
  workgroup.index = i32(0);
  workgroup.thread = thread;
  workgroup.warp = warp;
  workgroup.lane = lane;
  workgroup.leader = isEqual(thread, 0);
}

void KernelBuilder::moveBody() {
  TilesOp tiles = kernel.getTiles();
  // The uniform code, then the iteration of this workgroup.
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    if (&op == tiles.getOperation() || isa<EndOp>(op))
      break;
    op.moveBefore(entry, entry->end());
  }
  b.setInsertionPointToEnd(entry);
  SmallVector<Value> indices = emitIndices(emitWorkgroup(), tiles);
  for (auto [argument, index] : llvm::zip(tiles.getIndices(), indices))
    argument.replaceAllUsesWith(index);
  Block &iteration = tiles.getBody().front();
  iteration.getTerminator()->erase();
  entry->getOperations().splice(entry->end(), iteration.getOperations());
  b.setInsertionPointToEnd(entry);
  emitReturn();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void KernelBuilder::buildRole(RoleOp role, Team &team) {
  Block &body = role.getBody().front();
  beginRole(role, team);
  Value inRole = warp;
  if (team.firstWarp)
    inRole = arith::SubIOp::create(b, warp, i32(team.firstWarp));
  team.index = i32(0);
  team.warp = inRole;
  if (team.copies > 1) {
    team.index = arith::DivUIOp::create(b, inRole, i32(team.numWarps));
    team.warp = arith::RemUIOp::create(b, inRole, i32(team.numWarps));
  }
  team.lane = lane;
  team.thread = arith::AddIOp::create(
      b,
      arith::ShLIOp::create(b, team.warp, i32(context.target.getNumLaneBits())),
      lane);
  if (body.getNumArguments())
    body.getArgument(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, b.getIndexType(), team.index));
  auto moveHere = [&]() {
    body.getTerminator()->erase();
    b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                  body.getOperations());
  };
  if (team.singleLane) {
    onlyIf(isEqual(team.warp, 0), [&]() { onlyIf(emitElected(), moveHere); });
    return;
  }
  team.leader = isEqual(team.thread, 0);
  beginTeam(team);
  moveHere();
  endTeam(team);
}

void KernelBuilder::buildRoles(RolesOp roles) {
  b.setInsertionPoint(roles);
  SmallVector<RoleOp> sorted(roles.getBody().front().getOps<RoleOp>());
  llvm::sort(sorted, [](RoleOp x, RoleOp y) {
    return x.getWarps()[0] < y.getWarps()[0];
  });
  beginRoles(sorted);
  int64_t covered = 0;
  OpBuilder::InsertionGuard guard(b);
  for (auto [number, role] : llvm::enumerate(sorted)) {
    int64_t first = role.getWarps()[0], end = role.getWarps()[1];
    bool last = number + 1 == sorted.size();
    Team &team = plan.getTeam(role);
    Value mine;
    if (!(last && end == plan.numWarps))
      mine =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp, i32(end));
    if (first > covered) {
      Value from =
          arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warp, i32(first));
      mine = mine ? arith::AndIOp::create(b, mine, from).getResult() : from;
    }
    if (!mine) {
      buildRole(role, team);
      continue;
    }
    auto ifOp = scf::IfOp::create(b, mine, /*withElseRegion=*/!last);
    b.setInsertionPointToStart(ifOp.thenBlock());
    buildRole(role, team);
    if (!last)
      b.setInsertionPointToStart(ifOp.elseBlock());
    // Those before a gap may come to the next comparison.
    covered = first > covered ? covered : end;
  }
  roles.erase();
}

LogicalResult KernelBuilder::build() {
  RolesOp roles = kernel.getRoles();
  if (roles && roles->getParentOp() != kernel.getTiles())
    return roles.emitOpError()
           << "expects to stand directly in 'tracea_pipe.tiles'";
  entry = createFunction();
  b.setInsertionPointToStart(entry);
  bindArguments();
  setUpMemory();
  bindRecord();
  setUpThread();
  setUpTeams();
  moveBody();
  if (roles)
    buildRoles(roles);
  kernel.erase();
  return success();
}
