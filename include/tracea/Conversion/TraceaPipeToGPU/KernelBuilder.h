//===- KernelBuilder.h - The function around a kernel's code ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel to a function: where the values of its arguments come from,
// which thread of which team runs, the grid as the number of the workgroup,
// roles as branches over the number of the warp. A target says how its
// functions are entered, and what a role begins and ends with.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELBUILDER_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELBUILDER_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

class KernelBuilder {
public:
  explicit KernelBuilder(KernelContext &context);
  virtual ~KernelBuilder();

  /// Replaces the planned kernel by its function. What is inside moves there as
  /// it is, to be converted next; `context.arguments` knows the buffers.
  LogicalResult build();

protected:
  //===--------------------------------------------------------------------===//
  // How the target enters a function
  //===--------------------------------------------------------------------===//

  /// Makes the function, with an empty first block.
  virtual Block *createFunction() = 0;
  /// What a buffer is addressed by, a size of its (an index), and an argument
  /// that is a number, of its own type. By default arguments are parameters in
  /// their order: of a buffer its base and its dynamic sizes.
  virtual Value emitBase(BlockArgument buffer) { return takeParameter(); }
  virtual Value emitSize(BlockArgument buffer, unsigned dim);
  virtual Value emitNumber(BlockArgument number);
  /// Whatever comes before the kernel's own code: staged memory, before the
  /// thread is known; and behind that, what teams need.
  virtual void setUpMemory() {}
  /// The address of the record of the kernel's assertions, where it has some.
  /// By default it is the parameter behind those that `setUpMemory` takes.
  virtual Value emitRecord() { return takeParameter(); }
  virtual void setUpTeams() {}
  /// The thread's number in its workgroup (i32), and the workgroup's (an
  /// index).
  virtual Value emitThread() = 0;
  virtual Value emitWorkgroup() = 0;
  /// A number (i32) that is the same for all lanes of a subgroup, in a form
  /// that the target knows to be so.
  virtual Value emitUniform(Value number) { return number; }
  /// The indices of the iteration that workgroup `number` runs.
  virtual SmallVector<Value> emitIndices(Value number, TilesOp tiles);
  virtual void emitReturn() = 0;

  //===--------------------------------------------------------------------===//
  // Roles
  //===--------------------------------------------------------------------===//

  /// Before the warps part, in front of the branches; roles are in the order of
  /// their warps.
  virtual void beginRoles(ArrayRef<RoleOp> roles) {}
  /// The warps of a role have parted from the others.
  virtual void beginRole(RoleOp role, Team &team) {}
  /// Around the code of a role that all its lanes run.
  virtual void beginTeam(Team &team) {}
  virtual void endTeam(Team &team) {}
  /// Whether this lane is the one that runs the code of a single lane, i1.
  virtual Value emitElected() { return isEqual(lane, 0); }

  Value takeParameter() { return entry->getArgument(nextParameter++); }
  Value i32(int64_t value);
  Value isEqual(Value x, int64_t y);
  /// Fills an `if` and goes on behind it.
  void onlyIf(Value condition, function_ref<void()> body);

  KernelContext &context;
  KernelPlan &plan;
  KernelOp kernel;
  ImplicitLocOpBuilder b;
  Block *entry = nullptr;
  /// The thread's numbers in the workgroup, i32.
  Value warp, lane;

private:
  void bindArguments();
  void bindRecord();
  void bindBuffer(Value memory, const GlobalBuffer &buffer);
  void setUpThread();
  void moveBody();
  void buildRoles(RolesOp roles);
  void buildRole(RoleOp role, Team &team);

  unsigned nextParameter = 0;
};

/// The texts of the assertions in a kernel, in their order. A function of a
/// kernel that has some takes the address of their record.
SmallVector<StringAttr> getAssertedTexts(KernelOp kernel);

/// Bytes that the beginning of a memref argument, and of each of its rows, is a
/// multiple of: an element's, if the kernel does not ask for more.
int64_t getArgumentAlignment(KernelOp kernel, unsigned argument);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_KERNELBUILDER_H
