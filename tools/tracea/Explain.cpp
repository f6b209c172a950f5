//===- Explain.cpp - tracea explain ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Proofs.h"
#include "Session.h"
#include "SourceFile.h"
#include "Views.h"
#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Dependencies.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct ExplainCommand {
  std::string source;
  /// Of a module: the machine, this one by default. Of a program: the version.
  std::string target;
  std::string entry;
  int threads = 0;
  bool json = false;
  bool requireProof = false;
  bool recheck = false;
  int bankCycles = 1;
  ViewOptions view;
};

/// Expressions as text. Nodes are shared, so the full text of one may be
/// exponentially long: long ones are named "e17".
class ExprPrinter {
public:
  explicit ExprPrinter(const rt::EntrySpec &entry) {
    for (const rt::Expr &expr : entry.exprs) {
      std::string text = print(entry, expr);
      if (text.size() > longest)
        text = "e" + std::to_string(texts.size());
      texts.push_back(std::move(text));
    }
  }

  const std::string &operator[](int64_t node) const {
    return texts[static_cast<size_t>(node)];
  }

  std::string list(const std::vector<int64_t> &nodes) const {
    std::string text = "[";
    for (size_t i = 0; i < nodes.size(); ++i)
      text += (i ? ", " : "") + (*this)[nodes[i]];
    return text + "]";
  }

private:
  static constexpr size_t longest = 100;

  std::string print(const rt::EntrySpec &entry, const rt::Expr &expr) const {
    auto call = [&](const char *name, bool three = false) {
      return std::string(name) + "(" + (*this)[expr.a] + ", " +
             (*this)[expr.b] + (three ? ", " + (*this)[expr.c] : "") + ")";
    };
    auto infix = [&](const char *sign) {
      return "(" + (*this)[expr.a] + sign + (*this)[expr.b] + ")";
    };
    switch (expr.op) {
    case rt::ExprOp::Const:
      return std::to_string(expr.a);
    case rt::ExprOp::Dim:
      return "dim(" + entry.inputs[static_cast<size_t>(expr.a)].name + ", " +
             std::to_string(expr.b) + ")";
    case rt::ExprOp::Value:
      return entry.inputs[static_cast<size_t>(expr.a)].name;
    case rt::ExprOp::Add:
      return infix(" + ");
    case rt::ExprOp::Sub:
      return infix(" - ");
    case rt::ExprOp::Mul:
      return infix(" * ");
    case rt::ExprOp::Eq:
      return infix(" == ");
    case rt::ExprOp::Ne:
      return infix(" != ");
    case rt::ExprOp::Lt:
      return infix(" < ");
    case rt::ExprOp::Le:
      return infix(" <= ");
    case rt::ExprOp::Select:
      return call("select", true);
    default:
      return call(rt::nameOf(expr.op));
    }
  }

  std::vector<std::string> texts;
};
} // namespace

/// Whether the compiler made plain loops for want of a variant.
static bool isPlainLoops(const rt::KernelSpec &kernel) {
  return kernel.variant.empty() || kernel.variant == "linalg";
}

static bool stand(const RemarkNote &remark, const OpDecision &decision) {
  return remark.place.line != 0 && remark.place.file == decision.place.file &&
         remark.place.line == decision.place.line &&
         remark.place.column == decision.place.column;
}

/// "gemm_0 else gemm_1, gemm_2": two launches, the first of one of two kernels.
static std::string describeLaunches(const OpDecision &decision) {
  std::string text;
  for (const LaunchNote &launch : decision.launches) {
    text += text.empty() ? "" : ", ";
    for (size_t i = 0; i < launch.kernels.size(); ++i)
      text += (i ? " else " : "") + launch.kernels[i];
  }
  return text.empty() ? "plain loops" : text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string describeBuffer(const rt::EntrySpec &entry,
                                  const rt::BufferSpec &buffer,
                                  const ExprPrinter &exprs) {
  switch (buffer.kind) {
  case rt::BufferKind::Input:
    return "input '" + entry.inputs[static_cast<size_t>(buffer.index)].name +
           "'";
  case rt::BufferKind::Constant:
    return "constant " + std::to_string(buffer.index);
  case rt::BufferKind::Table: {
    std::string text;
    for (const rt::TableValue &value : buffer.values)
      text +=
          (text.empty() ? "" : ", ") +
          (value.isInput ? entry.inputs[static_cast<size_t>(value.index)].name
                         : exprs[value.index]);
    return std::string("table of ") + rt::nameOf(buffer.type) + " {" + text +
           "}";
  }
  case rt::BufferKind::Temp:
    return "temporary of " + exprs[buffer.bytes] + " bytes" +
           (buffer.contents == rt::TempContents::Any
                ? ""
                : std::string(", ") + rt::nameOf(buffer.contents));
  }
  return "";
}

static std::string describeView(const rt::ViewSpec &view,
                                const ExprPrinter &exprs) {
  std::string text = std::string("%") + std::to_string(view.buffer) + " " +
                     rt::nameOf(view.type) + exprs.list(view.sizes);
  if (exprs[view.offset] != "0")
    text += " at " + exprs[view.offset];
  return text;
}

static std::string describeStep(const rt::Manifest &manifest,
                                const rt::EntrySpec &entry,
                                const rt::StepSpec &step, bool isConstant,
                                const ExprPrinter &exprs) {
  std::string text;
  if (step.isLaunch()) {
    text = "launch " + manifest.kernels[static_cast<size_t>(step.kernel)].name +
           ", " + exprs[step.tiles] + " tiles (";
    for (size_t i = 0; i < step.args.size(); ++i) {
      const rt::ArgSpec &arg = step.args[i];
      text += i ? "; " : "";
      text += arg.hasView() ? describeView(arg.view, exprs)
              : arg.kind == rt::ArgKind::Value
                  ? entry.inputs[static_cast<size_t>(arg.index)].name
                  : exprs[arg.index];
    }
    text += ")";
  } else {
    bool isFill = step.kind == rt::StepKind::Fill;
    text = (isFill ? "fill " : "copy ") +
           describeView(step.args.front().view, exprs) +
           (isFill ? " with bytes of " + std::to_string(step.value)
                   : " to " + describeView(step.args.back().view, exprs));
  }
  for (size_t i = 0; i < step.after.size(); ++i)
    text += (i ? ", " : " after ") + std::to_string(step.after[i]);
  return text + (isConstant ? ", once" : "");
}

/// Where branches of the program need nothing of each other, what several
/// streams could gain at the most.
static std::string describePaths(const rt::EntrySpec &entry,
                                 const std::vector<char> &constantSteps) {
  std::vector<int64_t> paths = rt::findLongestPaths(entry);
  int64_t longest = 0;
  for (int64_t path : paths)
    longest = std::max(longest, path);
  int64_t all =
      std::count(constantSteps.begin(), constantSteps.end(), char(false));
  if (longest == all)
    return "";
  return "longest path: " + std::to_string(longest) + " of " +
         std::to_string(all) + " steps; --streams runs others beside it";
}

static std::string describeEntry(const rt::Manifest &manifest,
                                 const rt::EntrySpec &entry) {
  ExprPrinter exprs(entry);
  std::string text = "\nentry " + entry.name + "\n";
  for (const rt::InputSpec &input : entry.inputs)
    text += "  takes '" + input.name + "' " + describeType(input) +
            (input.isConstant ? ", constant\n" : "\n");
  for (const rt::CheckSpec &check : entry.checks)
    text += "  requires " + exprs[check.expr] + ": " + check.message + "\n";
  for (size_t i = 0; i < entry.buffers.size(); ++i)
    text += "  %" + std::to_string(i) + " = " +
            describeBuffer(entry, entry.buffers[i], exprs) + "\n";
  std::vector<char> constantSteps = rt::findConstantSteps(entry);
  for (size_t i = 0; i < entry.steps.size(); ++i)
    text +=
        "  " + std::to_string(i) + ": " +
        describeStep(manifest, entry, entry.steps[i], constantSteps[i], exprs) +
        "\n";
  if (std::string paths = describePaths(entry, constantSteps); !paths.empty())
    text += "  " + paths + "\n";
  for (const rt::OutputSpec &output : entry.outputs)
    text += "  gives " + describeView(output.view, exprs) + "\n";
  return text;
}

/// A table; blocks and registers where kernels run on a grid.
static std::string describeKernels(const rt::Manifest &manifest) {
  bool onGrid = manifest.target.hasGrid() && !manifest.entries.empty();
  auto bytes = [](int64_t count) {
    return describeBytes(static_cast<double>(count));
  };
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "operation", "variant"}};
  if (onGrid)
    rows[0].insert(rows[0].end(), {"threads", "shared memory", "registers",
                                   "spilled a thread"});
  else
    rows[0].push_back("workspace a thread");
  for (const rt::KernelSpec &kernel : manifest.kernels) {
    std::vector<std::string> row = {
        kernel.name, kernel.op.empty() ? "-" : kernel.op,
        kernel.variant.empty() && manifest.entries.empty() ? "-"
        : isPlainLoops(kernel)                             ? "plain loops"
                                                           : kernel.variant};
    if (!onGrid) {
      row.push_back(bytes(kernel.workspace));
    } else {
      const rt::GPUKernelSpec &gpu = *kernel.gpu;
      int64_t shared = kernel.workspace + (gpu.use ? gpu.use->sharedBytes : 0);
      row.push_back(std::to_string(gpu.block[0] * gpu.block[1] * gpu.block[2]));
      row.push_back(bytes(shared));
      row.push_back(gpu.use ? std::to_string(gpu.use->registers) : "-");
      row.push_back(gpu.use ? bytes(gpu.use->spillStoreBytes) : "-");
    }
    rows.push_back(std::move(row));
  }
  return formatTable(rows, {3, 4, 5, 6});
}

static std::string describe(const std::string &source,
                            const rt::Manifest &manifest,
                            const std::optional<rt::PublicKey> &signer,
                            const CompileReport *report) {
  std::string text =
      source + " for " +
      (manifest.target.name.empty() ? "no target" : manifest.target.name);
  if (!manifest.producer.empty())
    text += " (" + manifest.target.arch + "), by " + manifest.producer;
  if (signer)
    text += ", signed by " + signer->text();
  text += "\n";
  std::vector<const RemarkNote *> others;
  if (report && !manifest.entries.empty()) {
    text += "\noperations\n";
    for (const OpDecision &decision : report->decisions) {
      text += "  " + decision.place.text() + ": " + decision.op + " -> " +
              describeLaunches(decision) + "\n    schedule " +
              decision.schedule + "\n";
      for (const RemarkNote &remark : report->remarks)
        if (stand(remark, decision) && remark.category == "tracea-doctor")
          text += "    " + remark.kind + " " + remark.name + ": " +
                  remark.text + "\n";
    }
    if (report->decisions.empty())
      text += "  none with a choice\n";
  }
  if (report)
    for (const RemarkNote &remark : report->remarks)
      if (remark.category != "tracea-doctor")
        others.push_back(&remark);
  if (!others.empty())
    text += "\nremarks\n";
  for (const RemarkNote *remark : others)
    text += "  " + remark->place.text() + ": " + remark->kind + " " +
            remark->name + ": " + remark->text + "\n";

  text += "\nkernels\n" + describeKernels(manifest);
  for (const rt::KernelSpec &kernel : manifest.kernels) {
    for (const rt::CertificateSpec &proof : kernel.certificates)
      text += "  " + kernel.name + ": proved: " + proof.check + ": " +
              proof.claim + "\n";
    for (const rt::RemarkSpec &remark : kernel.remarks)
      text += "  " + kernel.name + ": not decided: " + remark.check + ": " +
              remark.reason + "\n";
    if (kernel.gpu)
      for (const std::string &assertion : kernel.gpu->assertions)
        text += "  " + kernel.name + ": fails the run: " + assertion + "\n";
  }
  for (const rt::EntrySpec &entry : manifest.entries)
    text += describeEntry(manifest, entry);
  return text;
}

namespace {
struct Counts {
  int64_t kernels = 0;
  int64_t plainLoops = 0;
  int64_t hostCopies = 0;
};
} // namespace

static Counts count(const rt::Manifest &manifest, const CompileReport *report) {
  Counts counts;
  counts.kernels = static_cast<int64_t>(manifest.kernels.size());
  for (const rt::KernelSpec &kernel : manifest.kernels)
    counts.plainLoops += isPlainLoops(kernel);
  if (report)
    for (const RemarkNote &remark : report->remarks)
      counts.hostCopies += remark.name == "host-copy";
  return counts;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static nlohmann::ordered_json toJSON(const RemarkNote &remark) {
  return {{"location", remark.place.text()},
          {"kind", remark.kind},
          {"category", remark.category},
          {"name", remark.name},
          {"text", remark.text}};
}

static nlohmann::ordered_json toJSON(const std::string &source,
                                     const rt::Manifest &manifest,
                                     const CompileReport *report) {
  nlohmann::ordered_json json;
  json["source"] = source;
  json["target"] = manifest.target.name;
  if (report) {
    json["operations"] = nlohmann::ordered_json::array();
    for (const OpDecision &decision : report->decisions) {
      nlohmann::ordered_json entry = {{"location", decision.place.text()},
                                      {"op", decision.op},
                                      {"variant", decision.variant},
                                      {"schedule", decision.schedule}};
      entry["launches"] = nlohmann::ordered_json::array();
      for (const LaunchNote &launch : decision.launches)
        entry["launches"].push_back(launch.kernels);
      json["operations"].push_back(std::move(entry));
    }
    json["remarks"] = nlohmann::ordered_json::array();
    for (const RemarkNote &remark : report->remarks)
      json["remarks"].push_back(toJSON(remark));
  }
  Counts counts = count(manifest, report);
  json["fallbacks"] = {{"plainLoops", counts.plainLoops}};
  if (report)
    json["fallbacks"]["hostCopies"] = counts.hostCopies;
  return json;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static std::string describeCounts(const rt::Manifest &manifest,
                                  const CompileReport *report) {
  Counts counts = count(manifest, report);
  std::string text = "\n" + std::to_string(counts.kernels) + " kernels";
  if (!manifest.entries.empty())
    text += ", " + std::to_string(counts.plainLoops) + " of them plain loops";
  if (report && !manifest.entries.empty())
    text += "; " + std::to_string(counts.hostCopies) +
            " operands copied because a kernel could not take them as they lie";
  return text + "\n";
}

/// That there is code for the target.
static Status checkGenerator(const std::string &target) {
  Expected<tracea::target::TargetDescription> machine = findTarget(target);
  if (!machine)
    return machine.status();
  if (machine->isGPU() && machine->kind != tracea::target::TargetKind::CUDA)
    return Status::error("no code generator for target '" + target +
                         "' of kind " +
                         std::string(tracea::target::stringify(machine->kind)) +
                         "; expected a target of kind cpu or cuda");
  return Status::success();
}

/// Leaves the version and the entry of a program that are asked for.
static Status selectParts(Source &source, const ExplainCommand &command) {
  rt::ProgramFile &program = *source.program;
  if (!command.target.empty() && command.target != "cpu" &&
      command.target != "host")
    TRACEA_RETURN_IF_ERROR(program.selectTarget(command.target)
                               .withContext("--target: " + source.name));
  if (command.entry.empty())
    return Status::success();
  std::vector<std::string> names;
  for (const rt::EntrySpec &entry : program.manifest.entries)
    names.push_back(entry.name);
  Expected<std::string> name = chooseEntry(source.name, names, command.entry);
  if (!name)
    return name.status();
  auto keepEntry = [&](rt::Manifest &version) {
    std::vector<rt::EntrySpec> &entries = version.entries;
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const rt::EntrySpec &spec) {
                                   return spec.name != *name;
                                 }),
                  entries.end());
  };
  keepEntry(program.manifest);
  for (rt::Manifest &other : program.others)
    keepEntry(other);
  return Status::success();
}

/// Decides the certificates of all versions again.
static Status recheck(const ExplainCommand &command, const std::string &source,
                      const std::vector<rt::Manifest> &versions) {
  std::vector<Recheck> all;
  std::string text;
  nlohmann::ordered_json json = {{"source", source}};
  for (const rt::Manifest &version : versions) {
    std::vector<Recheck> rechecks = recheckAll(version);
    if (versions.size() > 1)
      text += (text.empty() ? "for " : "\nfor ") + version.target.name + "\n";
    text += describeRechecks(version, rechecks);
    (&version == &versions.front() ? json["recheck"]
                                   : json["others"].emplace_back()) =
        rechecksToJSON(rechecks);
    all.insert(all.end(), rechecks.begin(), rechecks.end());
  }
  TRACEA_RETURN_IF_ERROR(command.json ? writeJSON(json) : writeStdout(text));
  return demandConfirmed(source, all);
}

static Status explain(const ExplainCommand &command) {
  Expected<Source> source = Source::open(command.source);
  if (!source)
    return source.status();
  std::string target = command.target.empty() ? "cpu" : command.target;
  if (source->module)
    TRACEA_RETURN_IF_ERROR(checkGenerator(target));

  CompileReport report;
  rt::Manifest manifest;
  if (source->module && source->module->hasKernels()) {
    CompileRequest request;
    request.requireProof = command.requireProof;
    request.bankCycles = command.bankCycles;
    std::optional<rt::Manifest> proved =
        source->module->prove(request, &report);
    if (!proved)
      return Status::error("cannot prove the kernels of '" + source->name +
                           "'");
    manifest = std::move(*proved);
  } else if (source->module) {
    std::vector<std::string> names = source->module->publicFunctions();
    if (names.empty() || !command.entry.empty()) {
      Expected<std::string> entry =
          chooseEntry(source->name, names, command.entry);
      if (!entry)
        return entry.status();
    }
    CompileRequest request;
    request.target = target;
    request.entry = command.entry;
    request.threads = command.threads;
    request.requireProof = command.requireProof;
    request.bankCycles = command.bankCycles;
    Progress progress("compiling " + source->name);
    std::optional<rt::ProgramFile> program =
        source->module->compile(request, &report);
    progress.clear();
    if (!program)
      return Status::error("cannot compile '" + source->name + "'");
    source->program = std::move(*program);
  } else {
    TRACEA_RETURN_IF_ERROR(selectParts(*source, command));
  }

  std::vector<rt::Manifest> versions = {manifest};
  std::optional<rt::PublicKey> signer;
  if (source->program) {
    versions.clear();
    for (const rt::Manifest *version : source->program->versions())
      versions.push_back(*version);
    signer = source->program->signer;
  }
  const CompileReport *known = source->module ? &report : nullptr;
  if (command.requireProof)
    for (const rt::Manifest &version : versions)
      TRACEA_RETURN_IF_ERROR(requireProofs(source->name, version));
  if (command.recheck)
    return recheck(command, source->name, versions);
  if (command.view.isAsked()) {
    if (versions.size() > 1)
      return Status::error(source->name +
                           ": expected --target to say which of "
                           "the program's " +
                           std::to_string(versions.size()) +
                           " versions to show");
    return showViews(source->name, versions.front(), known, command.view);
  }
  if (command.json) {
    nlohmann::ordered_json json = toJSON(source->name, versions.front(), known);
    for (const rt::Manifest &version : versions) {
      Expected<std::string> text = rt::toJSON(version);
      if (!text)
        return text.status();
      (&version == &versions.front() ? json["manifest"]
                                     : json["others"].emplace_back()) =
          nlohmann::ordered_json::parse(*text);
    }
    if (signer)
      json["signer"] = signer->text();
    return writeJSON(json);
  }
  std::string text;
  for (const rt::Manifest &version : versions)
    text += (text.empty() ? "" : "\n") +
            describe(source->name, version, signer, known) +
            describeCounts(version, known);
  return writeStdout(text);
}

void tracea::driver::addExplainCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub = app.add_subcommand(
      "explain", "Say what the compiler chose for each operation, and why");
  auto command = std::make_shared<ExplainCommand>();
  sub->add_option("module", command->source,
                  "A module (.mlir text or bytecode), a program (.tracea), or "
                  "- for the standard input")
      ->required()
      ->type_name("FILE");
  sub->add_option("--target", command->target,
                  "Machine to compile for; default: this one. Of a program: "
                  "the version to look at; default: all")
      ->type_name("NAME");
  sub->add_option("--entry", command->entry,
                  "The function to look at; default: all public ones")
      ->type_name("NAME");
  sub->add_option("--threads", command->threads,
                  "Cores to plan for; default: all of the target's")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  addPluginOption(*sub);
  sub->add_flag("--json", command->json,
                "Print one JSON object, with the program's whole manifest");
  sub->add_option("--show", command->view.views,
                  "Show lanes (register tiles), banks (accesses to staged "
                  "memory), pipeline (one run of the roles) or coverage (who "
                  "writes what); repeatable")
      ->check(CLI::IsMember({"lanes", "banks", "pipeline", "coverage"}))
      ->allow_extra_args(false)
      ->type_name("VIEW");
  sub->add_option("--kernel", command->view.kernel,
                  "With --show or --svg: this kernel only")
      ->type_name("NAME");
  sub->add_option("--iterations", command->view.iterations,
                  "With --show pipeline: iterations of each loop")
      ->check(CLI::Range(0, 100))
      ->capture_default_str()
      ->type_name("N");
  sub->add_option("--svg", command->view.svgFolder,
                  "Write the views as drawings into this folder, and print "
                  "their names")
      ->type_name("FOLDER");
  sub->add_option("--bank-cycles", command->bankCycles,
                  "Accept bank conflicts of up to so many cycles a phase, to "
                  "look at them")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  sub->add_flag("--recheck", command->recheck,
                "Decide each kernel's certificates again from what they carry, "
                "without the compiler, and compare the claims");
  sub->add_flag("--require-proof", command->requireProof,
                "A kernel that lacks a certificate is an error");
  sub->footer(
      "For a module: each operation with its schedule, the variants that were "
      "refused and the\nreasons, what was fused and what was not, and what is "
      "left to plain loops. For both: the\nkernels, and each entry's buffers, "
      "launches and sizes as expressions of the inputs.\n\n"
      "Examples:\n"
      "  tracea explain model.mlir\n"
      "  tracea explain model.mlir --target znver4 --json\n"
      "  tracea explain model.tracea\n"
      "  tracea explain model.tracea --recheck\n"
      "  tracea explain kernel.mlir --show pipeline --svg pictures");
  sub->callback([command, &exitCode] {
    Status status = explain(*command);
    if (!status.ok()) {
      printError(status.message());
      exitCode = 1;
    }
  });
}
