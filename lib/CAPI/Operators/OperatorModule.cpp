//===- OperatorModule.cpp - The module of an operator's call --------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operators/Operator.h"

#include <algorithm>

namespace tracea::capi {

Status OperatorCall::add(const char *name, const TraceaTensorView &view,
                         bool isOutput) {
  Operand &operand = operands[numOperands++];
  operand.name = name;
  operand.isOutput = isOutput;
  TRACEA_RETURN_IF_ERROR(checkView(
      name, view, isOutput ? Memory::Written : Memory::Read, operand.view));
  const View &first = operands[0].view;
  if (operand.view.device != first.device)
    return Status::invalid(std::string(name) + ": expected device_id " +
                           std::to_string(first.device) + " as " +
                           operands[0].name + " has, found " +
                           std::to_string(operand.view.device));
  return Status::success();
}

Status OperatorCall::addOptional(const char *name,
                                 const TraceaTensorView *view) {
  if (view)
    return add(name, *view, false);
  ++numOperands;
  return Status::success();
}

void OperatorCall::openExtent(
    std::initializer_list<std::pair<size_t, int>> dims) {
  OpenExtent &extent = open[numOpen++];
  for (const auto &[operand, dim] : dims)
    if (has(operand))
      extent.dims[operand] = static_cast<int8_t>(dim);
}

static bool isSame(const std::array<uint8_t, maxRank> &a,
                   const std::array<uint8_t, maxRank> &b, uint32_t rank) {
  return std::equal(a.begin(), a.begin() + rank, b.begin());
}

Expected<Stored> OperatorModule::argument(
    size_t number, const std::vector<std::array<uint8_t, maxRank>> &preferred) {
  const Operand &operand = call.operands[number];
  const View &view = operand.view;
  MemoryForm form = findForm(view);
  for (const std::array<uint8_t, maxRank> &order : preferred) {
    MemoryForm other = formIn(view, order);
    if (!other.isIrregular) {
      form = other;
      break;
    }
  }
  if (form.isIrregular) {
    // The runtime gathers it, which needs memory that the host sees.
    if (view.device >= 0)
      return Status::unsupported(
          std::string(operand.name) +
          ": expected memory whose innermost dimension is in one piece and "
          "whose strides are multiples of each other, found strides " +
          runtime::describeShape({view.strides.data(), view.rank}) +
          " for shape " + runtime::describeShape(view.shape()));
    for (unsigned i = 0; i < view.rank; ++i)
      form.order[i] = static_cast<uint8_t>(i);
  }
  std::vector<int64_t> declared, sizes;
  for (unsigned i = 0; i < view.rank; ++i) {
    unsigned dim = form.order[i];
    bool open = false;
    for (size_t e = 0; e < call.numOpen; ++e)
      open |= isOpen[e] && call.open[e].dims[number] == static_cast<int>(dim);
    int64_t places = form.isIrregular ? view.sizes[dim] : form.parent[i];
    sizes.push_back(open ? -1 : view.sizes[dim]);
    declared.push_back(open ? -1 : places);
  }
  inputs.push_back({number, form});
  Stored stored;
  stored.order = form.order;
  stored.value = text.input(operand.name, view.type, declared);
  bool hasGaps = false;
  std::vector<Extent> kept = stored.value.shape;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] >= 0 && sizes[i] != declared[i]) {
      kept[i] = {sizes[i], ""};
      hasGaps = true;
    }
  if (hasGaps)
    stored.value = text.firstElements(stored.value, kept);
  return stored;
}

Expected<Value> OperatorModule::toOrder(const Stored &stored) {
  std::vector<uint32_t> order(stored.value.rank());
  for (size_t i = 0; i < order.size(); ++i)
    order[stored.order[i]] = static_cast<uint32_t>(i);
  return text.transpose(stored.value, order);
}

Expected<Value> OperatorModule::inOrder(size_t operand) {
  Expected<Stored> stored = argument(operand);
  if (!stored)
    return stored.status();
  return toOrder(*stored);
}

Status OperatorModule::addResidual(size_t operand, size_t out,
                                   const std::array<uint8_t, maxRank> &order,
                                   Epilogue &epilogue) {
  if (!call.has(operand))
    return Status::success();
  uint32_t rank = call.operands[out].view.rank;
  const View &view = call.operands[operand].view;
  if (view.rank != rank)
    return Status::invalid(std::string(call.operands[operand].name) +
                           ": expected " + std::to_string(rank) +
                           " dimensions as out has, found " + view.describe());
  Expected<Stored> stored = argument(operand);
  if (!stored)
    return stored.status();
  EpilogueOperand added{stored->value, {}};
  for (uint32_t i = 0; i < rank; ++i)
    added.dims.push_back(static_cast<unsigned>(
        std::find(order.begin(), order.begin() + rank, stored->order[i]) -
        order.begin()));
  epilogue.operands.push_back(added);
  return Status::success();
}

Status OperatorModule::result(size_t number, const Value &value,
                              const std::array<uint8_t, maxRank> &order) {
  const Operand &operand = call.operands[number];
  const View &view = operand.view;
  bool agrees = value.rank() == view.rank && value.type == view.type;
  for (size_t i = 0; agrees && i < value.rank(); ++i)
    agrees =
        value.shape[i].isOpen() || value.shape[i].size == view.sizes[order[i]];
  if (!agrees) {
    Value expected = value;
    // The order is one of as many dimensions as the operand has.
    for (size_t i = 0; value.rank() == view.rank && i < value.rank(); ++i)
      expected.shape[order[i]] = value.shape[i];
    return Status::invalid(std::string(operand.name) + ": expected " +
                           expected.describe() + ", found " + view.describe());
  }
  MemoryForm form = formIn(view, order);
  if (form.isIrregular)
    form = findForm(view);
  if (!form.isDense && view.device >= 0)
    return Status::unsupported(
        std::string(operand.name) +
        ": expected a result without gaps on a GPU, found strides " +
        runtime::describeShape({view.strides.data(), view.rank}) +
        " for shape " + runtime::describeShape(view.shape()));
  Value stored = value;
  if (!isSame(form.order, order, view.rank)) {
    std::vector<uint32_t> moves;
    for (unsigned i = 0; i < view.rank; ++i)
      moves.push_back(static_cast<uint32_t>(
          std::find(order.begin(), order.begin() + view.rank, form.order[i]) -
          order.begin()));
    Expected<Value> moved = text.transpose(value, moves);
    if (!moved)
      return moved.status();
    stored = *moved;
  }
  outputs.push_back({number, form});
  text.output(stored);
  return Status::success();
}

} // namespace tracea::capi
