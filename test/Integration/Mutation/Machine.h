//===- Machine.h - Runs kernels as they are described -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs modules of the pipeline level by what the operations' descriptions say,
// and nothing of what lowerings do. Workgroups run one after the other, those
// of a cluster together; the teams of a workgroup are strands that give way to
// each other where they wait. What runs beside its role, copies and multiplies,
// happens at once, or as late as it may: a kernel must not be able to tell.
//
// An element is a double; NaN is what nobody has written. Numbers are rounded
// to their type where they are computed.

#ifndef TRACEA_TEST_INTEGRATION_MUTATION_MACHINE_H
#define TRACEA_TEST_INTEGRATION_MUTATION_MACHINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <ucontext.h>
#include <variant>
#include <vector>

namespace tracea::mutants {

/// Ends the process of a run (`inChild`) with what is wrong with it.
[[noreturn]] void stop(const std::string &why);
/// What `stop` says first.
void describeStops(std::string prefix);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

using Extents = llvm::SmallVector<int64_t, 4>;

struct Memory {
  mlir::Type type;
  std::vector<double> elements;
  /// Which declaration it comes from, for the other workgroups of a cluster.
  std::pair<mlir::Operation *, int64_t> key = {nullptr, 0};
};

/// A window into memory.
struct Window {
  std::shared_ptr<Memory> memory;
  int64_t offset = 0;
  Extents sizes, strides;

  int64_t place(llvm::ArrayRef<int64_t> at) const;
  double read(int64_t place) const;
  void write(int64_t place, double value) const;
};

struct Tile {
  Extents shape;
  std::vector<double> elements;
};
using TileRef = std::shared_ptr<const Tile>;

/// A product that may not have been computed yet.
struct Flight {
  std::function<TileRef()> compute;
  TileRef tile;
};

struct Slot {
  /// Rounds that were filled and given back, and who has arrived since.
  int64_t fills = 0, releases = 0, commits = 0, returns = 0;
  std::vector<Window> buffers;
  /// Copies that are under way.
  std::vector<std::function<void()>> copies;
};

struct Ring {
  std::vector<Slot> slots;
  /// How many arrivals make a round.
  int64_t fillers = 1, readers = 1;
};

struct Turns {
  int64_t teams = 1, current = 0;
};

struct Phase {
  int64_t value = 0, slots = 1;
};

/// Coordinates that follow each other in row-major order: the first one has no
/// end of its own, the others those of the basis.
struct Walk {
  int64_t first = 0;
  Extents basis;

  /// Those of the number `first + t`.
  Extents at(int64_t t) const;
};

using Datum = std::variant<std::monostate, double, Window, TileRef,
                           std::shared_ptr<Flight>, std::shared_ptr<Ring>,
                           std::shared_ptr<Turns>, Phase, Walk>;

/// Rounds to a type of floats, wraps to one of integers.
double roundToType(mlir::Type type, double value);
int64_t toInteger(double value);

//===----------------------------------------------------------------------===//
// Strands
//===----------------------------------------------------------------------===//

struct Workgroup;

/// One thread of control: a team of a role, or a workgroup without roles.
struct Strand {
  Workgroup *group = nullptr;
  int64_t team = 0;
  std::function<void(Strand &)> body;
  llvm::DenseMap<mlir::Value, Datum> values;
  /// What has been started on a unit since the last commit, and the groups that
  /// are pending.
  std::vector<std::function<void()>> started[2];
  std::deque<std::vector<std::function<void()>>> pending[2];
  /// What lanes have written to staged memory since they last met, and how the
  /// tile was spread over them: nobody else sees it yet.
  std::vector<std::function<void()>> unseen;
  mlir::Attribute unseenLanes;
  /// Copies into slots since the last commit of one.
  std::vector<std::function<void()>> copies;
  int64_t arrivals = 0;
  bool ended = false;
  /// What it waits for; empty where it can go on.
  std::function<bool()> ready;
  ucontext_t context;
  std::vector<char> stack;
};

struct Cluster {
  std::vector<std::unique_ptr<Workgroup>> groups;
  std::vector<std::unique_ptr<Strand>> strands;
};

struct Workgroup {
  Cluster *cluster = nullptr;
  llvm::DenseMap<mlir::Value, Datum> values;
  std::map<std::pair<mlir::Operation *, int64_t>, std::shared_ptr<Memory>>
      memories;
};

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

class Machine {
public:
  /// `late`: what runs beside its role does so as late as it may, strands and
  /// workgroups take turns in another order.
  Machine(mlir::ModuleOp module, bool late, size_t alternative)
      : module(module), late(late), alternative(alternative) {}

  /// Calls the public function; its results.
  std::vector<Window> call(const std::vector<Window> &arguments);

private:
  // Host.
  void launch(mlir::tracea_pipe::LaunchOp op);
  void runKernel(mlir::tracea_pipe::KernelOp kernel,
                 const std::vector<Datum> &arguments);
  void runCluster(mlir::tracea_pipe::TilesOp tiles,
                  llvm::ArrayRef<Extents> indices);
  void startRoles(mlir::tracea_pipe::RolesOp roles, Workgroup &group);
  void addStrand(Workgroup &group, std::function<void(Strand &)> body);
  void schedule(Cluster &cluster);
  void waitFor(std::function<bool()> ready);
  static void enter(unsigned high, unsigned low);

  // Code.
  /// The values that the block's terminator yields.
  std::vector<Datum> runBlock(mlir::Block &block);
  void runOp(mlir::Operation &op);
  bool runControl(mlir::Operation &op);
  bool runHost(mlir::Operation &op);
  bool runElementwise(mlir::Operation &op);
  bool runTileOp(mlir::Operation &op);
  bool runMemoryOp(mlir::Operation &op);
  bool runCopy(mlir::tracea_pipe::CopyOp copy);
  bool runRingOp(mlir::Operation &op);
  bool runAsyncOp(mlir::Operation &op);
  /// The lanes of this strand meet.
  void meet();

  // Values.
  const Datum &get(mlir::Value value) const;
  void set(mlir::Value value, Datum datum);
  double scalar(mlir::Value value) const { return number(get(value)); }
  int64_t index(mlir::Value value) const { return toInteger(scalar(value)); }
  static double number(const Datum &datum);
  const Window &window(mlir::Value value) const;
  TileRef tile(mlir::Value value) const;
  Extents indices(mlir::ValueRange values) const;
  std::vector<Walk> walks(mlir::ValueRange values) const;
  /// Whether the element is below all limits.
  static bool isBelow(llvm::ArrayRef<int64_t> at,
                      llvm::ArrayRef<int64_t> limits);
  Window view(const Window &source, llvm::ArrayRef<int64_t> at,
              mlir::AffineMap map, llvm::ArrayRef<int64_t> sizes) const;
  std::shared_ptr<Memory> declare(mlir::Operation *op, int64_t number,
                                  mlir::MemRefType type);
  static Window whole(std::shared_ptr<Memory> memory,
                      llvm::ArrayRef<int64_t> sizes);
  TileRef multiply(const Datum &lhs, const Datum &rhs, TileRef acc,
                   int64_t depth, llvm::ArrayRef<int64_t> limits,
                   mlir::RankedTensorType type) const;

  mlir::ModuleOp module;
  bool late;
  size_t alternative;
  llvm::DenseMap<mlir::Value, Datum> hostValues, kernelValues;
  Strand *current = nullptr;
  ucontext_t scheduler;
  llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> arrivalCounts;
};

/// Calls `body` for all coordinates of a box, in row-major order.
void forEach(llvm::ArrayRef<int64_t> extents,
             llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body);

} // namespace tracea::mutants

#endif // TRACEA_TEST_INTEGRATION_MUTATION_MACHINE_H
