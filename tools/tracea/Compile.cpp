//===- Compile.cpp - tracea compile ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Session.h"
#include "Signing.h"
#include "SourceFile.h"
#include "Stopwatch.h"
#include "Support.h"

#include <algorithm>
#include <unistd.h>

using namespace tracea::driver;
namespace rt = tracea::runtime;

namespace {
struct CompileCommand {
  std::string source;
  std::string output;
  std::string target = "cpu";
  std::string entry;
  std::string form = "program";
  std::string level = "target";
  std::string fuse = "safe";
  int threads = 0;
  bool reference = false;
  bool remarks = false;
  bool time = false;
  bool requireProof = false;
  bool onlyPTX = false;
  /// The private key's file; empty: unsigned.
  std::string key;
};
} // namespace

static void printRemarks(const CompileReport &report) {
  for (const RemarkNote &remark : report.remarks)
    std::fprintf(stderr, "%s: remark: [%s] %s (%s): %s\n",
                 remark.place.text().c_str(), remark.kind.c_str(),
                 remark.name.c_str(), remark.category.c_str(),
                 remark.text.c_str());
}

/// What the steps took, to stderr. Steps that go on side by side count each.
static void printTimes(const CompileReport &report, double seconds) {
  auto milliseconds = [](double value) {
    return formatNumber("%.1f ms", 1e3 * value);
  };
  std::vector<std::vector<std::string>> rows = {{"step", "time"}};
  for (const StepTime &time : report.times)
    rows.push_back({time.step, milliseconds(time.seconds)});
  rows.push_back({"all", milliseconds(seconds)});
  std::fputs(formatTable(rows, {1}).c_str(), stderr);
}

/// The compiler's name of what is wanted.
static std::string getForm(const CompileCommand &command) {
  if (command.form == "manifest")
    return "program-manifest";
  if (command.form != "mlir")
    return command.form;
  return command.level == "target" ? "llvm-dialect" : command.level;
}

static Status compile(const CompileCommand &command, bool levelGiven) {
  Stopwatch watch;
  if (levelGiven && command.form != "mlir")
    return Status::error("--to " + command.level +
                         ": expected --emit mlir with it, found --emit " +
                         command.form);
  bool isEarly = command.form == "mlir" &&
                 (command.level == "semantic" || command.level == "decision" ||
                  command.level == "tile");
  if (command.requireProof && (command.reference || isEarly))
    return Status::error(
        "--require-proof cannot be kept: " +
        std::string(command.reference
                        ? "the kernels of a reference are not proved"
                        : "kernels are proved at the level pipeline, and the "
                          "IR of level " +
                              command.level + " comes before it"));
  bool binary = command.form == "program" || command.form == "object";
  std::string output = command.output;
  if (output.empty()) {
    if (binary)
      return Status::error(
          "expected -o FILE (- is the standard output) for " +
          std::string(command.form == "program" ? "a program" : "an object"));
    output = "-";
  }
  if (binary && output == "-" && ::isatty(1))
    return Status::error("will not write binary data to a terminal; expected "
                         "-o FILE or a redirection");
  Expected<std::vector<tracea::target::TargetDescription>> machines =
      findTargets(command.target);
  if (!machines)
    return machines.status();
  if (machines->size() > 1 && command.form != "program")
    return Status::error("--target " + command.target +
                         ": expected --emit program with several targets, "
                         "found --emit " +
                         command.form);
  const tracea::target::TargetDescription *machine = &machines->front();
  bool needsCode = command.form != "mlir" ||
                   (command.level != "semantic" && command.level != "decision");
  std::string kind(tracea::target::stringify(machine->kind));
  bool forCUDA = machine->kind == tracea::target::TargetKind::CUDA;
  if (machine->isGPU() && !forCUDA && needsCode)
    return Status::error("no code generator for target '" + command.target +
                         "' of kind " + kind +
                         "; expected a target of kind cpu or cuda, or --emit "
                         "mlir --to semantic");
  if (machine->isGPU() && command.reference)
    return Status::error("--reference: expected a target of kind cpu, found '" +
                         command.target + "' of kind " + kind);
  TRACEA_RETURN_IF_ERROR(checkWritable(output));
  std::optional<rt::SigningKey> key;
  if (!command.key.empty()) {
    if (command.form != "program")
      return Status::error("--sign: expected --emit program with it, found "
                           "--emit " +
                           command.form);
    Expected<rt::SigningKey> loaded = rt::SigningKey::load(command.key);
    if (!loaded)
      return loaded.status().withContext("--sign");
    key = *loaded;
  }

  Expected<Source> source = Source::open(command.source);
  if (!source)
    return source.status();
  if (source->program)
    return Status::error(source->name +
                         ": expected a module, found a program that is "
                         "already compiled");
  if (!command.entry.empty()) {
    Expected<std::string> entry = chooseEntry(
        source->name, source->module->publicFunctions(), command.entry);
    if (!entry)
      return entry.status();
  }

  CompileRequest request;
  request.target = command.target;
  request.entry = command.entry;
  request.threads = command.threads;
  request.fuse = command.fuse;
  request.reference = command.reference;
  request.requireProof = command.requireProof;
  request.assemble = !command.onlyPTX;
  CompileReport report;
  std::optional<std::string> text;
  {
    Progress progress("compiling " + source->name);
    text = source->module->emit(getForm(command), request, &report);
    if (!text)
      progress.clear();
  }
  if (command.remarks)
    printRemarks(report);
  if (!text)
    return Status::error("cannot compile '" + source->name + "'");
  if (!binary && (text->empty() || text->back() != '\n'))
    *text += '\n';
  OutputFiles files;
  std::vector<uint8_t> bytes(text->begin(), text->end());
  if (key) {
    Expected<std::vector<uint8_t>> signedBytes = signProgram(bytes, *key);
    if (!signedBytes)
      return signedBytes.status();
    bytes = std::move(*signedBytes);
  }
  // What others may write is not the user's own when it comes to run it.
  files.add(output, std::move(bytes),
            command.form == "program" ? rt::modeOfCode : rt::modeOfData);
  TRACEA_RETURN_IF_ERROR(files.commit());
  if (command.time)
    printTimes(report, watch.seconds());
  return Status::success();
}

void tracea::driver::addCompileCommand(CLI::App &app, int &exitCode) {
  CLI::App *sub = app.add_subcommand(
      "compile", "Compile a module to a program, code, or IR of any level");
  auto command = std::make_shared<CompileCommand>();
  sub->add_option("module", command->source,
                  "A module (.mlir text or bytecode), or - for the standard "
                  "input")
      ->required()
      ->type_name("FILE");
  sub->add_option("-o", command->output,
                  "Where to write; - is the standard output, which is the "
                  "default for text")
      ->type_name("FILE");
  sub->add_option("--target", command->target,
                  "Machine to compile for: cpu is this one, 'tracea doctor -v' "
                  "lists the others; several with commas, the preferred one "
                  "first, make a program with a version for each")
      ->capture_default_str()
      ->type_name("NAME");
  sub->add_option("--emit", command->form,
                  "program (what 'tracea run' takes), manifest (its "
                  "description, JSON), llvm (IR), asm (PTX for a GPU), object "
                  "(a cubin for a GPU), or mlir")
      ->check(CLI::IsMember(
          {"program", "manifest", "llvm", "asm", "object", "mlir"}))
      ->capture_default_str()
      ->type_name("FORM");
  CLI::Option *level =
      sub->add_option("--to", command->level,
                      "With --emit mlir, the level: semantic, decision, tile, "
                      "pipeline or target")
          ->check(CLI::IsMember(
              {"semantic", "decision", "tile", "pipeline", "target"}))
          ->capture_default_str()
          ->type_name("LEVEL");
  sub->add_option("--entry", command->entry,
                  "The function to compile; default: all public ones")
      ->type_name("NAME");
  sub->add_option("--threads", command->threads,
                  "Cores to plan for; default: all of the target's")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  sub->add_option("--fuse", command->fuse,
                  "Which operations become one kernel: none (as they are "
                  "written), safe (what cannot take longer so), or all (also "
                  "where the cost model expects a gain)")
      ->check(CLI::IsMember({"none", "safe", "all"}))
      ->capture_default_str()
      ->type_name("LEVEL");
  sub->add_flag("--reference", command->reference,
                "Compile the float64 meaning, by stock lowering, in place of "
                "the module");
  sub->add_flag("--require-proof", command->requireProof,
                "A kernel that lacks a certificate is an error");
  sub->add_flag("--only-ptx", command->onlyPTX,
                "A program for a GPU without machine code: its driver compiles "
                "the PTX");
  addPluginOption(*sub);
  sub->add_option("--sign", command->key,
                  "Sign the program with the private key in this file "
                  "('tracea keygen' makes one)")
      ->type_name("KEY");
  sub->add_flag("--dump-remarks", command->remarks,
                "Print what every pass decided, and why, to stderr");
  sub->add_flag("--time", command->time,
                "Print what the steps of the compilation took to stderr");
  sub->footer(
      "Examples:\n"
      "  tracea compile model.mlir -o model.tracea\n"
      "  tracea compile model.mlir --target x86-64-v3 --emit asm -o model.s\n"
      "  tracea compile model.mlir --target sm_90a -o model.tracea\n"
      "  tracea compile model.mlir --target cooperlake,x86-64-v4,x86-64-v3 -o "
      "model.tracea\n"
      "  tracea compile model.mlir --emit mlir --to decision\n"
      "  tracea compile model.mlir --sign key.pem -o model.tracea\n"
      "  generate-module | tracea compile - -o - > model.tracea");
  sub->callback([command, level, &exitCode] {
    Status status = compile(*command, level->count() > 0);
    if (!status.ok()) {
      printError(status.message());
      exitCode = 1;
    }
  });
}
