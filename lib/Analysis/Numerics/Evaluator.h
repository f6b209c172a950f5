//===- Evaluator.h - From a kernel to the terms of its elements -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows one element backwards: from the store that writes it, through
// register tiles, scratch memory and channels, to the kernel's arguments.
// Anything that is not understood sets `IndexSpace::failure`.

#ifndef TRACEA_LIB_ANALYSIS_NUMERICS_EVALUATOR_H
#define TRACEA_LIB_ANALYSIS_NUMERICS_EVALUATOR_H

#include "Term.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/Turns.h"

namespace mlir::tracea::numerics {

/// How the target multiplies and adds.
struct TargetNumerics {
  /// Stands before every normal form; targets of different arithmetic differ.
  std::string name;
  bool isCPU = true;
  bool hasFma = true;
  /// Products that the unit sums in one step: the one that reads staged memory,
  /// or the one of a warp, which reads registers.
  std::function<int64_t(bool readsMemory, Type operand, Type accumulator)>
      unitDepth;
  /// How words are multiplied: the table's name for it, and how many of them
  /// one step adds up.
  struct Dot {
    std::string name = "unknown";
    int64_t words = 1;
  };
  std::function<Dot(Type operand, RankedTensorType sums)> dot;
};

/// What is computed of one argument: coordinates are the variables `at`.
struct ElementTerm {
  unsigned argument;
  llvm::SmallVector<unsigned, 4> at;
  TermRef term;
};

class Evaluator {
public:
  Evaluator(tracea_pipe::KernelOp kernel, const TargetNumerics &target,
            IndexSpace &index, TermSpace &terms);

  /// One term for each way in which an element of an argument is written.
  llvm::SmallVector<ElementTerm> run();

private:
  struct FoldContext;
  using Coordinates = llvm::SmallVector<Form, 4>;

  /// Which iteration of which loop is looked at, and what is known there.
  struct Environment {
    const Environment *parent = nullptr;
    Operation *loop = nullptr;
    Form iteration;
    /// Set when the iteration is the round of a fold in the making.
    FoldContext *fold = nullptr;
    /// Everything known here.
    Facts facts = nullptr;
    /// The part that loops and limits say. Indices are simplified by these
    /// alone, so that they look the same on both sides of a branch.
    Facts ranges = nullptr;
  };
  using Env = const Environment *;

  /// A value carried from one round to the next: an iteration argument, or an
  /// element of memory.
  struct StateKey {
    Value carrier;
    Coordinates at;
    bool operator==(const StateKey &other) const {
      return carrier == other.carrier && at == other.at;
    }
  };
  struct FoldContext {
    scf::ForOp loop;
    unsigned variable;
    Env outside;
    llvm::SmallVector<StateKey, 2> keys;
    llvm::SmallVector<unsigned, 2> states;
  };

  // Environments.
  Env bind(Env env, Operation *loop, const Form &iteration,
           FoldContext *fold = nullptr);
  Env know(Env env, Facts facts);
  /// Where `notNegative` holds because of a loop or a limit.
  Env range(Env env, const Form &notNegative);
  Env find(Env env, Operation *loop);
  /// The environment around `loop`, with what is known inside.
  Env around(Env env, Operation *loop);
  Form tripCount(scf::ForOp loop, Env env);
  /// Whether the loop hands out tiles, as the grid does: its step is a number
  /// of workgroups, and it carries phases alone.
  static bool isGridLoop(scf::ForOp loop);
  /// Some iteration of such a loop.
  Env witnessGridLoop(scf::ForOp loop, Env env,
                      llvm::function_ref<Form(const Form &)> witness,
                      llvm::function_ref<void(unsigned)> addCandidate);
  /// `inside`, in an iteration of `loop`, whose bounds are those of `env`.
  Env inLoop(scf::ForOp loop, const Form &iteration, Env env, Env inside);
  Form newIndex(const Form &count);
  /// The variable that `op` binds where it is evaluated for these forms: the
  /// same each time, so that what is evaluated twice is one term.
  unsigned boundVariable(Operation *op, const Coordinates &forms, unsigned slot,
                         const Form &count, Env env);

  // Values: Values.cpp.
  Form indexOf(Value value, Env env);
  Form computeIndex(Value value, Env env);
  Form rasterOf(OpResult value, Env env);
  TermRef termOf(Value value, const Coordinates &at, Env env);
  TermRef compute(Value value, const Coordinates &at, Env env);
  TermRef computeArgument(BlockArgument argument, const Coordinates &at,
                          Env env);
  TermRef compare(arith::CmpIOp op, const Coordinates &at, Env env);
  TermRef choose(TermRef condition, Env env,
                 llvm::function_ref<TermRef(Env)> then,
                 llvm::function_ref<TermRef(Env)> otherwise);
  /// What a branch yields.
  TermRef branched(scf::IfOp op, unsigned number, const Coordinates &at,
                   Env env);
  TermRef elementwise(Operation *op, const Coordinates &at, Env env);
  TermRef convert(TermRef term, Type from, Type to);
  TermRef reduce(tracea_pipe::ReduceOp op, const Coordinates &at, Env env);
  TermRef multiply(Operation *op, Value lhs, Value rhs, Value acc, Value depth,
                   RankedTensorType tile, tracea_pipe::Precision precision,
                   const Coordinates &at, Env env);
  TermRef readOperand(Operation *op, Value operand, const Coordinates &at,
                      Env env);
  TermRef foldOf(scf::ForOp loop, const Form &rounds, StateKey key, Env env);
  TermRef stateOf(FoldContext &fold, StateKey key);

  // Channels: Channels.cpp.
  /// A phase as a number: how many slots of the ring came before.
  Form phaseOf(Value value, Env env);
  /// What one iteration of a loop adds to a phase that it carries.
  std::optional<Form> phaseStep(scf::ForOp loop, BlockArgument phase, Env env);
  Form timesStep(const Form &begin, const Form &rounds,
                 std::optional<Form> step, Env env);
  /// What has to hold so that a fill is the one of a number.
  struct FillConditions {
    bool isNever = false;
    llvm::SmallVector<Form, 2> notNegative;
    std::optional<Form> zero;
  };
  /// Where `commit` fills the slot of this number, as this team of its role;
  /// null where it does not. It does so under the conditions in `open`; without
  /// `open` they have to be proved.
  Env fillOf(tracea_pipe::CommitOp commit, const Form &number, bool isAlone,
             const Form &team, Env env, FillConditions *open = nullptr);
  /// What a fill has left in a buffer of its slot.
  TermRef filled(tracea_pipe::CommitOp fill, unsigned buffer,
                 const Coordinates &at, Env env);
  TermRef readOneOf(tracea_pipe::WaitOp wait,
                    llvm::ArrayRef<tracea_pipe::CommitOp> commits,
                    unsigned buffer, const Coordinates &at, Env env);
  /// The team of another role whose part of the slot has the element.
  std::optional<Form> teamOf(Value slot, const Coordinates &at, unsigned team,
                             Env env);

  // Memory: Memory.cpp.
  /// What a write does to an element.
  enum class Hit { Yes, No, Unclear };
  struct Unknown {
    unsigned variable;
    int64_t count; // its values are below; -1: not known
  };
  Value getObject(Value memory);
  void collectWriters();
  bool isInside(Operation *op, Value object);
  /// Coordinates in the object that `memory` is a view of.
  Coordinates inObject(Value memory, Coordinates at, Env env);
  Coordinates address(ValueRange indices, AffineMap map, const Coordinates &at,
                      Env env);
  TermRef read(Value memory, const Coordinates &at, Operation *point, Env env);
  TermRef load(tracea_pipe::LoadOp op, const Coordinates &at, Env env);
  /// `inside` where `place` lies in `memory` in all padded dimensions, as far
  /// as the `known` facts do not tell.
  TermRef whereInside(Value memory, ArrayRef<int64_t> padded,
                      const Coordinates &place, Env env,
                      Facts Environment::*known,
                      llvm::function_ref<TermRef(Env)> inside,
                      llvm::function_ref<TermRef(Env)> outside);
  TermRef readWait(tracea_pipe::WaitOp op, unsigned buffer,
                   const Coordinates &at, Env env);
  TermRef copied(Operation *op, const Coordinates &at, Env env);
  TermRef lastWrite(Value object, const Coordinates &at, Block *block,
                    Block::iterator before, Env env);
  TermRef beforeBlock(Value object, const Coordinates &at, Block *block,
                      Env env);
  TermRef initially(Value object, const Coordinates &at);
  /// Which iterations of a loop write an element: every one, at most one, or
  /// false where that is not decided.
  bool findRounds(scf::ForOp loop, Value object, const Coordinates &at, Env env,
                  bool &everyRound, std::optional<Form> &round);
  TermRef afterLoop(scf::ForOp loop, Value object, const Coordinates &at,
                    Env env);
  /// The element that `op` writes for its own coordinates, as coordinates of
  /// the object.
  Coordinates written(Operation *op, const Coordinates &at, Env env);
  ArrayRef<int64_t> extentsOf(Operation *op);
  ValueRange limitsOf(Operation *op);
  TermRef valueOf(Operation *op, const Coordinates &at, Env env);
  Hit match(Operation *op, const Coordinates &wanted, Env env,
            Coordinates &found);
  Hit solve(const Coordinates &wanted, const Coordinates &form,
            ArrayRef<Unknown> unknowns, Env env,
            IndexSpace::Replacement &solution);
  /// The iteration of `loop` in which `writer` writes the element; nothing
  /// where every iteration may.
  Hit iterationOf(scf::ForOp loop, Operation *writer, const Coordinates &at,
                  Env env, std::optional<Form> &iteration);

  // Dimensions that walk: Walks.cpp.
  /// A number in the mixed radix of a basis.
  struct Walked {
    Form number;
    Coordinates basis;
  };
  Walked walkedBy(Value walk, const Form &at, Env env);
  /// Element `at` of a walk along a table: a function of its place.
  Form gatheredBy(tracea_pipe::GatherOp op, const Form &at, Env env);
  /// Whether coordinates are those of one number in the mixed radix of `basis`,
  /// for what is known of them.
  bool areDigits(const Coordinates &basis, const Coordinates &coordinates,
                 Env env);
  Coordinates coordinatesOf(const Walked &number, Env env);
  /// The number that has these coordinates.
  Form numberOf(const Walked &walked, const Coordinates &coordinates);
  /// Where element `at` of what `op` moves lies in its memory.
  Coordinates place(Operation *op, const Coordinates &at, Env env);
  Form extentOf(Value memory, int64_t dim);
  /// Collapsed dimensions as a number in the mixed radix of their extents.
  Walked collapsedBy(memref::CollapseShapeOp op, ArrayRef<int64_t> group,
                     const Form &number);
  Coordinates inSource(memref::CollapseShapeOp op, const Coordinates &at,
                       Env env);
  /// An element of an object, as one of the memory that it is collapsed to.
  std::optional<Coordinates> inCollapsed(Value memory,
                                         const Coordinates &wanted);
  const Walked *findWalked(const Coordinates &basis,
                           const Coordinates &coordinates) const;
  /// Makes symbols of the coordinates that element `at` of a store walks
  /// through.
  Env nameWalked(Operation *op, const Coordinates &at, Env env,
                 llvm::function_ref<void(unsigned)> addCandidate);
  /// What is equal where `op` writes the element `wanted` as its element `at`:
  /// coordinates, or numbers that are walked. Nothing if that is not known.
  std::optional<std::pair<Coordinates, Coordinates>>
  equations(Operation *op, const Coordinates &element, const Coordinates &at,
            Env env);

  // Memory of a cluster: Clusters.cpp.
  /// What some team of some workgroup writes: symbols for both and for the
  /// coordinates of the tile, where it is written, and what.
  struct SharedWrite {
    unsigned workgroup = 0;
    llvm::SmallVector<Unknown> symbols;
    llvm::SmallVector<std::pair<Value, Form>> places;
    Coordinates place;
    TermRef term = nullptr;
  };
  static tracea_pipe::PeerOp getPeer(Value memory);
  bool isOfCluster(Value object, Operation *point);
  tracea_pipe::StoreOp getOnlyStore(Value object, Operation *point);
  SharedWrite &evaluateShared(tracea_pipe::StoreOp store, Env env);
  TermRef readShared(Value object, const Coordinates &at, const Form &workgroup,
                     Operation *point, Env env);
  /// The term for workgroup 0 where all workgroups compute the same; otherwise
  /// as it is.
  TermRef withoutWorkgroup(TermRef term, unsigned workgroup);

  // Results: Evaluator.cpp.
  /// Nothing, without a failure, where the write lies past its limits.
  Env withFactors(mlir::BlockArgument object, Env env);
  void dropSingles(mlir::Operation *writer, mlir::BlockArgument object,
                   Coordinates &at, Env env);
  void dropSingleTiles(Form &form, llvm::ArrayRef<unsigned> candidates,
                       IndexSpace::Replacement &by, Env env);
  std::optional<ElementTerm> resultOf(Operation *writer, BlockArgument object);

  tracea_pipe::KernelOp kernel;
  tracea_pipe::TilesOp tiles;
  const TargetNumerics &target;
  IndexSpace &index;
  TermSpace &terms;
  Env intern(Environment environment);
  std::deque<Environment> environments;
  std::map<std::tuple<Env, Operation *, Form, FoldContext *, Facts, Facts>, Env>
      knownEnvironments;
  std::deque<FoldContext> folds;
  llvm::DenseMap<Value, llvm::SmallVector<Operation *, 2>> writers;
  llvm::DenseMap<Value, Form> grid;
  /// Row and column of the tiles that are looked at, by number, extents and
  /// group: the order of tiles is one to one.
  std::map<std::tuple<Form, Form, Form, int64_t>, std::pair<Form, Form>>
      rasters;
  /// Phases whose step is being found.
  llvm::DenseMap<Value, Form> marks;
  std::map<std::tuple<Operation *, unsigned, Coordinates>, unsigned> bound;
  std::map<std::tuple<unsigned, void *, Coordinates>, unsigned> carried;
  std::map<std::tuple<void *, Env, Coordinates>, TermRef> done;
  llvm::DenseMap<Operation *, SharedWrite> sharedWrites;
  /// Numbers whose coordinates are symbols.
  llvm::SmallVector<std::pair<Walked, Coordinates>, 2> walkedNumbers;
  unsigned depth = 0;
  size_t steps = 0;
};

/// The normal form of the terms as text: definitions in the order in which the
/// results need them, named by number; equal terms have equal text whatever
/// kernel they are from.
std::string printNormalForm(const TargetNumerics &target,
                            ArrayRef<ElementTerm> results, IndexSpace &index,
                            TermSpace &terms);
/// Some words about the most important term.
std::string describeNormalForm(const TargetNumerics &target,
                               ArrayRef<ElementTerm> results, IndexSpace &index,
                               TermSpace &terms);

/// A form in words: the coordinates `at` are r0, r1, ..., others k1, k2, ...
std::string describeForm(const Form &form, IndexSpace &index,
                         ArrayRef<unsigned> at);

} // namespace mlir::tracea::numerics

#endif // TRACEA_LIB_ANALYSIS_NUMERICS_EVALUATOR_H
