//===- Mutant.cpp - One mutant, made and judged ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mutant.h"

#include "mlir/IR/Verifier.h"
#include "tracea/Analysis/Certificates.h"

using namespace mlir;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

/// Seconds that the runs of one mutant may take: starts take milliseconds.
static constexpr int runSeconds = 10;

const char *mut::nameOf(OutcomeKind kind) {
  switch (kind) {
  case OutcomeKind::Unchanged:
    return "unchanged";
  case OutcomeKind::Invalid:
    return "invalid";
  case OutcomeKind::Refused:
    return "refused";
  case OutcomeKind::NotDecided:
    return "not decided";
  case OutcomeKind::NotLowered:
    return "not lowered";
  case OutcomeKind::Equal:
    return "equal";
  case OutcomeKind::NotRun:
    return "not run";
  case OutcomeKind::OtherProtocol:
    return "other sync";
  case OutcomeKind::NotClaimed:
    return "not claimed";
  case OutcomeKind::Different:
    return "DIFFERENT";
  case OutcomeKind::Crash:
    return "CRASH";
  }
  return "";
}

OwningOpRef<ModuleOp> Judge::copyStart(const Draw &draw) {
  if (!context || ++uses % 400 == 0) {
    modules.clear();
    context = makeContext();
    // Remarks are part of the compiler's normal talk.
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }
  OwningOpRef<ModuleOp> &module = modules[{draw.start, draw.level}];
  if (!module)
    module = compileTo(starts[draw.start], draw.level, *context);
  return module->clone();
}

Outcome Judge::judgeTarget(ModuleOp module, size_t start) {
  Judgement judgement = proveTarget(module);
  switch (judgement.verdict) {
  case Verdict::Invalid:
    return {OutcomeKind::Invalid, judgement.check, judgement.message};
  case Verdict::Refused:
    return {OutcomeKind::Refused, judgement.check, judgement.message};
  case Verdict::NotDecided:
    return {OutcomeKind::NotDecided, judgement.check, judgement.message};
  case Verdict::Accepted:
    break;
  }
  auto known = protocols.find(start);
  if (known == protocols.end()) {
    OwningOpRef<ModuleOp> original =
        copyStart({0, start, mlir::tracea::Phase::Target});
    proveTarget(*original);
    known = protocols.emplace(start, getProtocols(*original)).first;
  }
  bool isSame = getProtocols(module) == known->second;
  return {isSame ? OutcomeKind::Equal : OutcomeKind::OtherProtocol, "", ""};
}

Outcome Judge::judgeModule(ModuleOp module, const Start &start) {
  if (!proofs) {
    if (failed(verify(module)))
      return {OutcomeKind::Invalid, "verifier", ""};
    std::string wrong = interpret(module, start, runSeconds);
    bool harmless = wrong.empty() || StringRef(wrong).contains(refusedByHost);
    return {harmless ? OutcomeKind::Equal : OutcomeKind::Different, "", wrong};
  }
  Judgement judgement = prove(module, start.target);
  if (judgement.verdict == Verdict::Accepted && start.onGPU)
    judgement = proveLowered(module, start.target);
  switch (judgement.verdict) {
  case Verdict::Invalid:
    return {OutcomeKind::Invalid, judgement.check, judgement.message};
  case Verdict::Refused:
    return {OutcomeKind::Refused, judgement.check, judgement.message};
  case Verdict::NotDecided:
    return {OutcomeKind::NotDecided, judgement.check, judgement.message};
  case Verdict::Accepted:
    break;
  }
  std::string wrong;
  if (start.onGPU) {
    wrong = interpret(module, start, runSeconds);
  } else {
    std::string error;
    std::vector<uint8_t> program = makeProgram(module, start.target, error);
    if (!error.empty())
      return {OutcomeKind::NotLowered, "lowering", error};
    wrong = inChild(runSeconds, [&] { return runProgram(program, start); });
    // What the code does is what the operations' descriptions say.
    if (wrong.empty())
      wrong = interpret(module, start, runSeconds);
    if (StringRef(wrong).contains(notInterpreted))
      wrong.clear();
  }
  if (wrong.empty())
    return {OutcomeKind::Equal, "", ""};
  if (StringRef(wrong).contains(refusedByHost))
    return {OutcomeKind::NotRun, "", wrong};
  bool isClaimed = !StringRef(wrong).contains(otherValues);
  for (auto kernel : module.getOps<tracea_pipe::KernelOp>())
    isClaimed |= bool(mlir::tracea::getCertificate(kernel, "meaning"));
  if (isClaimed)
    return {OutcomeKind::Different, "", wrong};
  return {OutcomeKind::NotClaimed, "values of " + start.name, wrong};
}

Outcome Judge::judgeEdits(const Draw &draw, ArrayRef<Edit> edits) {
  OwningOpRef<ModuleOp> module = copyStart(draw);
  std::string list;
  bool onHost = true;
  for (const Change &change : applyEdits(*module, edits)) {
    if (change.text.empty())
      continue;
    list += "  " + change.text + "\n";
    onHost &= change.onHost;
  }
  if (list.empty())
    return {OutcomeKind::Unchanged, "", ""};
  Outcome outcome = draw.level == mlir::tracea::Phase::Target
                        ? judgeTarget(*module, draw.start)
                        : judgeModule(*module, starts[draw.start]);
  outcome.onHost = onHost;
  // No certificate is about the function that launches: only that it keeps what
  // they rely on, and does no harm.
  if (onHost && outcome.kind == OutcomeKind::Different &&
      StringRef(outcome.message).contains(otherValues))
    outcome.kind = OutcomeKind::NotClaimed;
  if (onHost && outcome.kind == OutcomeKind::NotClaimed)
    outcome.check = "what the host does";
  outcome.message = list + "  " + outcome.message;
  return outcome;
}

static std::vector<Edit> drawEditsOf(const Draw &draw, ModuleOp module) {
  Random random(draw.seed + 1);
  return drawEdits(random, module);
}

Outcome Judge::judge(const Draw &draw) {
  std::vector<Edit> edits = drawEditsOf(draw, *copyStart(draw));
  Outcome outcome = judgeEdits(draw, edits);
  // One edit alone says more than three.
  if (outcome.kind == OutcomeKind::Different && edits.size() > 1)
    for (const Edit &edit : edits) {
      Outcome alone = judgeEdits(draw, edit);
      if (alone.kind == OutcomeKind::Different)
        return alone;
    }
  return outcome;
}

Outcome Judge::judgeStart(size_t start) {
  Outcome outcome = {OutcomeKind::Unchanged, "", ""};
  for (mlir::tracea::Phase level :
       {mlir::tracea::Phase::Tile, mlir::tracea::Phase::Pipeline}) {
    OwningOpRef<ModuleOp> module = copyStart({0, start, level});
    outcome = judgeModule(*module, starts[start]);
    if (outcome.kind != OutcomeKind::Equal)
      return outcome;
  }
  return outcome;
}

std::string Judge::print(const Draw &draw) {
  OwningOpRef<ModuleOp> module = copyStart(draw);
  std::vector<Edit> edits = drawEditsOf(draw, *module);
  std::string text;
  for (const Change &change : applyEdits(*module, edits))
    text += "// " + change.text + "\n";
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}
