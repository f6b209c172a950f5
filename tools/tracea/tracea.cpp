//===- tracea.cpp - Compile, run, measure and explain modules -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver. Data goes to the standard output, all else to stderr; the exit
// code is 0, or 1 on any error.

#include "Commands.h"
#include "Frontend.h"
#include "Support.h"
#include "tracea/Compiler/ToolMain.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>

using namespace tracea::driver;

static std::string versionText() {
  return std::string("tracea " TRACEA_VERSION " (LLVM ") + llvmVersion() +
         ", " TRACEA_BUILD_TYPE " build)";
}

static int run(int argc, char **argv) {
  CLI::App app("A kernel compiler for tensor operations: compiles, runs, "
               "measures and explains MLIR modules.",
               "tracea");
  app.footer("Examples:\n"
             "  tracea run model.mlir --input x.npy --output y.npy --check\n"
             "  tracea compile model.mlir -o model.tracea\n"
             "  tracea doctor\n\n"
             "'tracea COMMAND --help' says more about a command.");
  app.set_version_flag("--version", versionText(), "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  int exitCode = 0;
  addCompileCommand(app, exitCode);
  addRunCommand(app, exitCode);
  addBenchCommand(app, exitCode);
  addExplainCommand(app, exitCode);
  addDoctorCommand(app, exitCode);
  addKeygenCommand(app, exitCode);

  std::vector<std::string> commands;
  for (const CLI::App *sub : app.get_subcommands({}))
    commands.push_back(sub->get_name());
  std::string first = argc > 1 ? argv[1] : "";
  if (first.empty() ||
      (first[0] != '-' &&
       std::find(commands.begin(), commands.end(), first) == commands.end())) {
    printError((first.empty() ? "expected a command"
                              : "unknown command '" + first + "'") +
               "; there are " + quoteList(commands) + ", see 'tracea --help'");
    return 1;
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) { // help and version
    std::ostringstream text;
    app.exit(success, text, text);
    Status status = writeStdout(text.str());
    if (!status.ok())
      printError(status.message());
    return status.ok() ? 0 : 1;
  } catch (const CLI::ParseError &error) {
    std::string command = "tracea";
    for (const CLI::App *chosen : app.get_subcommands())
      command += " " + chosen->get_name();
    printError(error.what() + std::string("; see '") + command + " --help'");
    return 1;
  }
  return exitCode;
}

static int guardedRun(int argc, char **argv) {
  installCrashHandler(argv[0]);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    printError("out of memory");
  } catch (const std::exception &error) {
    printError(error.what());
  }
  return 1;
}

int main(int argc, char **argv) {
  return tracea::compiler::runTool(argc, argv, guardedRun);
}
