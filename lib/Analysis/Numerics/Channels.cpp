//===- Channels.cpp - Which fill of a channel a wait reads ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases count the fills of a ring: a wait reads the fill of its number,
// whichever role makes it. That this fill comes in time, and that the slot is
// not filled again before it was read, is what the protocol proves.

#include "Evaluator.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Phases as numbers
//===----------------------------------------------------------------------===//

/// `begin` and `step` for each of the rounds.
Form Evaluator::timesStep(const Form &begin, const Form &rounds,
                          std::optional<Form> step, Env env) {
  if (!step) {
    index.fail("a phase does not advance evenly");
    return Form(0);
  }
  Form some = index.prove(rounds, env->facts)
                  ? rounds
                  : index.max(rounds, Form(0), env->facts);
  return index.add(begin, index.mul(some, *step));
}

std::optional<Form> Evaluator::phaseStep(scf::ForOp loop, BlockArgument phase,
                                         Env env) {
  unsigned round = index.newVariable(0, std::nullopt);
  unsigned mark = index.newVariable(0, std::nullopt);
  auto [it, inserted] = marks.try_emplace(phase, index.form(mark));
  if (!inserted)
    return std::nullopt;
  Env inside = bind(env, loop, index.form(round));
  Form next = phaseOf(loop.getTiedLoopYieldedValue(phase)->get(), inside);
  marks.erase(phase);
  Form step = index.sub(next, index.form(mark));
  if (index.uses(step, mark) || index.uses(step, round))
    return std::nullopt;
  return step;
}

Form Evaluator::phaseOf(Value value, Env env) {
  if (++steps > 400000)
    index.fail("the kernel is too large");
  if (!index.failure.empty())
    return Form(0);
  if (auto it = marks.find(value); it != marks.end())
    return it->second;
  auto init = [&](scf::ForOp loop, BlockArgument phase) {
    return loop.getTiedLoopInit(phase)->get();
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    Env binding = loop ? find(env, loop) : nullptr;
    if (binding) {
      Env outside = around(env, loop);
      return timesStep(phaseOf(init(loop, argument), outside),
                       binding->iteration, phaseStep(loop, argument, outside),
                       env);
    }
  } else if (value.getDefiningOp<StartOp>()) {
    return Form(0);
  } else if (auto advance = value.getDefiningOp<AdvanceOp>()) {
    return index.add(phaseOf(advance->getOperand(0), env), Form(1));
  } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
    BlockArgument carried =
        loop.getTiedLoopRegionIterArg(cast<OpResult>(value));
    if (getConstantIntValue(loop.getStep()))
      return timesStep(phaseOf(init(loop, carried), env), tripCount(loop, env),
                       phaseStep(loop, carried, env), env);
  } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    TermRef condition = termOf(branch.getCondition(), {}, env);
    auto side = [&](scf::YieldOp yield, bool truth) {
      Env inside = know(env, terms.assume(env->facts, condition, truth));
      return std::make_pair(phaseOf(yield.getOperand(number), inside), inside);
    };
    if (getOwnTurn(branch.getCondition())) {
      // All teams advance alike, whoever's turn it is.
      Form own = phaseOf(branch.thenYield().getOperand(number), env);
      Form past = phaseOf(branch.elseYield().getOperand(number), env);
      if (own != past)
        index.fail("teams do not advance alike past what others read");
      return own;
    }
    if (condition == terms.truth(true))
      return phaseOf(branch.thenYield().getOperand(number), env);
    if (condition == terms.truth(false))
      return phaseOf(branch.elseYield().getOperand(number), env);
    std::pair<Form, Env> then = side(branch.thenYield(), true);
    std::pair<Form, Env> other = side(branch.elseYield(), false);
    // One number says both where the other side knows them to be equal.
    auto agree = [&](Env where) {
      Form gap = index.sub(then.first, other.first);
      return index.prove(gap, where->facts) &&
             index.prove(index.scale(gap, -1), where->facts);
    };
    if (agree(other.second))
      return then.first;
    if (agree(then.second))
      return other.first;
  }
  index.fail("the number of a phase is not followed");
  return Form(0);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

Evaluator::Env Evaluator::fillOf(CommitOp commit, const Form &number,
                                 bool isAlone, const Form &team, Env env,
                                 FillConditions *open) {
  SmallVector<Operation *> path;
  for (Operation *parent = commit->getParentOp(); parent != tiles;
       parent = parent->getParentOp())
    path.push_back(parent);
  auto role = commit->getParentOfType<RoleOp>();
  Env inner = intern({nullptr, role, team, nullptr, env->facts, env->ranges});
  SmallVector<Unknown> unknowns;
  SmallVector<std::pair<scf::ForOp, Form>> loops;
  for (Operation *parent : llvm::reverse(path)) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      continue;
    Form iteration;
    if (isGridLoop(loop)) {
      // The loop of another role that hands out the same tiles.
      Env same = env;
      for (; same; same = same->parent) {
        auto other = dyn_cast_or_null<scf::ForOp>(same->loop);
        auto equal = [&](Value x, Value y) {
          return x == y || indexOf(x, inner) == indexOf(y, same->parent);
        };
        if (other && isGridLoop(other) &&
            equal(loop.getLowerBound(), other.getLowerBound()) &&
            equal(loop.getUpperBound(), other.getUpperBound()) &&
            equal(loop.getStep(), other.getStep()))
          break;
      }
      if (!same)
        return nullptr;
      iteration = same->iteration;
    } else {
      std::optional<int64_t> most = index.interval(tripCount(loop, inner)).high;
      int64_t count = most ? std::max<int64_t>(*most, 1) : -1;
      unsigned variable = index.newVariable(
          0, most ? std::optional<int64_t>(count - 1) : std::nullopt);
      unknowns.push_back({variable, count});
      iteration = index.form(variable);
    }
    loops.push_back({loop, iteration});
    inner = bind(inner, loop, iteration);
  }
  IndexSpace::Replacement solution;
  Form phase = phaseOf(commit.getPhase(), inner);
  Hit hit = solve({number}, {phase}, unknowns, env, solution);
  if (open)
    open->isNever = hit == Hit::No;
  // Outside of loops it is this fill where the numbers are equal.
  if (hit == Hit::Unclear && open && unknowns.empty())
    open->zero = index.sub(number, phase);
  else if (hit != Hit::Yes || solution.size() != unknowns.size())
    return nullptr;
  Env found = intern({nullptr, role, team, nullptr, env->facts, env->ranges});
  auto next = loops.begin();
  for (Operation *parent : llvm::reverse(path)) {
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      bool isThen =
          branch.getThenRegion().isAncestor(commit->getParentRegion());
      if (!isAlone &&
          termOf(branch.getCondition(), {}, found) != terms.truth(isThen))
        return nullptr;
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      continue;
    Form iteration = index.substitute(next->second, solution, env->facts);
    ++next;
    Env inside = bind(found, loop, iteration);
    if (isGridLoop(loop)) {
      found = inside;
      continue;
    }
    Form room =
        index.sub(index.sub(tripCount(loop, found), iteration), Form(1));
    // Of a single commit the fill is known to be, and so to be in the loop.
    if (!isAlone)
      for (const Form &condition : {iteration, room}) {
        if (index.prove(condition, env->facts))
          continue;
        if (!open)
          return nullptr;
        if (index.prove(index.sub(Form(-1), condition), env->facts)) {
          open->isNever = true;
          return nullptr;
        }
        open->notNegative.push_back(condition);
      }
    found = open && !open->notNegative.empty()
                ? inside
                : range(range(inside, iteration), room);
  }
  return found;
}

static AcquireOp acquireOf(CommitOp commit) {
  AcquireOp owner;
  for (Operation *user : commit.getChannel().getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      if (acquire.getPhase() == commit.getPhase() &&
          acquire->getBlock() == commit->getBlock() &&
          acquire->isBeforeInBlock(commit))
        owner = acquire;
  return owner;
}

std::optional<Form> Evaluator::teamOf(Value slot, const Coordinates &at,
                                      unsigned team, Env env) {
  std::optional<Form> found;
  for (Operation *writer : writers[slot]) {
    SmallVector<Unknown> unknowns = {
        {team, *index.interval(index.form(team)).high + 1}};
    Coordinates tile;
    for (int64_t extent : extentsOf(writer)) {
      unsigned variable = index.newVariable(0, extent - 1);
      unknowns.push_back({variable, extent});
      tile.push_back(index.form(variable));
    }
    IndexSpace::Replacement solution;
    if (solve(at, written(writer, tile, env), unknowns, env, solution) ==
        Hit::No)
      continue;
    auto it = solution.find(team);
    if (it == solution.end() || (found && *found != it->second) ||
        llvm::any_of(unknowns, [&](const Unknown &unknown) {
          return index.uses(it->second, unknown.variable);
        }))
      return std::nullopt;
    found = it->second;
  }
  return found;
}

/// The value that a wait finds in a slot is the one that its fill has left
/// there.
TermRef Evaluator::readWait(WaitOp wait, unsigned buffer, const Coordinates &at,
                            Env env) {
  SmallVector<CommitOp> commits;
  for (Operation *user : wait.getChannel().getUsers())
    if (auto commit = dyn_cast<CommitOp>(user))
      commits.push_back(commit);
  CommitOp fill;
  Env where = env;
  // Before it in one thread of control, an equal phase is the same fill.
  for (CommitOp commit : commits) {
    Operation *same = commit->getBlock()->findAncestorOpInBlock(*wait);
    if (commit.getPhase() == wait.getPhase() && same &&
        commit->isBeforeInBlock(same)) {
      if (fill) {
        index.fail("two fills of a slot have one phase");
        return terms.undefined();
      }
      fill = commit;
    }
  }
  if (!fill) {
    Form number = phaseOf(wait.getPhase(), env);
    for (CommitOp commit : commits) {
      auto role = commit->getParentOfType<RoleOp>();
      bool isOwn = role && find(env, role);
      int64_t teams = role && !isOwn ? role.getCopies() : 1;
      Form team = isOwn ? find(env, role)->iteration : Form(0);
      // A role that the witness is in has the witness's team.
      if (role && !isOwn && role->isProperAncestor(wait) && teams > 1)
        for (BlockArgument argument : role.getBody().getArguments())
          team = grid.lookup(argument), teams = 1;
      std::optional<unsigned> unknown;
      if (teams > 1)
        team = index.form(*(unknown = index.newVariable(0, teams - 1)));
      bool isAlone = commits.size() == 1;
      Env found = fillOf(commit, number, isAlone, team, env);
      if (found && unknown) {
        std::optional<Form> solved;
        if (AcquireOp acquire = acquireOf(commit))
          solved = teamOf(acquire.getBuffers()[buffer], at, *unknown, found);
        found =
            solved ? fillOf(commit, number, isAlone, *solved, env) : nullptr;
      }
      if (!index.failure.empty())
        return terms.undefined();
      if (found) {
        fill = commit;
        where = found;
        break;
      }
    }
  }
  if (!fill)
    return readOneOf(wait, commits, buffer, at, env);
  return filled(fill, buffer, at, where);
}

TermRef Evaluator::filled(CommitOp fill, unsigned buffer, const Coordinates &at,
                          Env env) {
  AcquireOp owner = acquireOf(fill);
  if (!owner) {
    index.fail("which fill of a channel is read is not decided");
    return terms.undefined();
  }
  return lastWrite(owner.getBuffers()[buffer], at, fill->getBlock(),
                   fill->getIterator(), env);
}

/// What one thread of control fills in several places, as a loop and what comes
/// before it do: the number of the fill says in which.
TermRef Evaluator::readOneOf(WaitOp wait, ArrayRef<CommitOp> commits,
                             unsigned buffer, const Coordinates &at, Env env) {
  struct Candidate {
    CommitOp commit;
    Env env;
    FillConditions conditions;
  };
  SmallVector<Candidate, 2> candidates;
  unsigned unknown = 0;
  Form number = phaseOf(wait.getPhase(), env);
  for (CommitOp commit : commits) {
    auto role = commit->getParentOfType<RoleOp>();
    if (role && !find(env, role)) {
      ++unknown;
      continue;
    }
    Candidate candidate{commit, nullptr, FillConditions()};
    Form team = role ? find(env, role)->iteration : Form(0);
    candidate.env = fillOf(commit, number, /*isAlone=*/false, team, env,
                           &candidate.conditions);
    // Loops come last: what they fill has a form for each number.
    if (candidate.env)
      candidates.insert(candidate.conditions.zero ? candidates.begin()
                                                  : candidates.end(),
                        std::move(candidate));
    else if (!candidate.conditions.isNever)
      ++unknown;
  }
  // The last place stands for what is left.
  if (candidates.empty() || unknown) {
    index.fail("which fill of a channel is read is not decided");
    return terms.undefined();
  }
  std::function<TermRef(size_t)> from = [&](size_t next) -> TermRef {
    Candidate &candidate = candidates[next];
    TermRef value = filled(candidate.commit, buffer, at, candidate.env);
    if (next + 1 == candidates.size() || !index.failure.empty())
      return value;
    TermRef others = from(next + 1);
    auto onlyIf = [&](const Form &condition, bool isEquality) {
      value = terms.select(terms.condition(condition, isEquality, env->facts),
                           value, others);
    };
    for (const Form &condition :
         llvm::reverse(candidate.conditions.notNegative))
      onlyIf(condition, /*isEquality=*/false);
    if (candidate.conditions.zero)
      onlyIf(*candidate.conditions.zero, /*isEquality=*/true);
    return value;
  };
  return from(0);
}
