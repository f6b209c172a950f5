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

#include <charconv>
#include <limits>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>

using namespace tracea::driver;

static std::string versionText() {
  return std::string("tracea " TRACEA_VERSION " (LLVM ") + llvmVersion() +
         ", " TRACEA_BUILD_TYPE " build)";
}

/// What is wrong with "--flag=value", or nothing. CLI11 would take a number for
/// how often a flag is given, and end in an exception that names no option.
static std::string checkFlagValue(const CLI::App &command,
                                  const std::string &argument) {
  size_t sign = argument.find('=');
  if (argument.rfind("--", 0) != 0 || sign == std::string::npos)
    return {};
  std::string name = argument.substr(0, sign),
              value = argument.substr(sign + 1);
  const CLI::Option *option = command.get_option_no_throw(name);
  if (!option || option->get_expected_max() != 0)
    return {};
  bool isNumber = option->get_flag_value(name.substr(2), "") != "true";
  if (!isNumber)
    return name + ": expected no value, found '" + value + "'";
  uint64_t number = 0;
  const char *end = value.data() + value.size();
  auto [last, error] = std::from_chars(value.data(), end, number);
  if (value.empty() || last != end || error != std::errc())
    return name + ": expected a number from 0 to " +
           std::to_string(std::numeric_limits<uint64_t>::max()) + ", found '" +
           value + "'";
  return {};
}

/// "Could not convert: --seed = x", with what was expected.
static std::string explainConversion(const CLI::App &command,
                                     const CLI::ConversionError &error) {
  std::string text = error.what();
  size_t begin = text.find("--"), end = text.find(" = ");
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return text;
  std::string name = text.substr(begin, end - begin);
  const CLI::Option *option = command.get_option_no_throw(name);
  if (!option)
    return text;
  return name + ": expected " + option->get_type_name() +
         ", a number, found '" + text.substr(end + 3) + "'";
}

void tracea::driver::addPluginOption(CLI::App &command) {
  command
      .add_option_function<std::vector<std::string>>(
          "--plugin",
          [](const std::vector<std::string> &paths) {
            for (const std::string &path : paths)
              if (std::string text = loadPlugin(path); !text.empty())
                throw CLI::ValidationError("--plugin", text);
          },
          "A library that adds variants, loaded into the compiler; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
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

  for (int i = 2; i < argc && first[0] != '-'; ++i) {
    std::string text = checkFlagValue(*app.get_subcommand(first), argv[i]);
    if (text.empty())
      continue;
    printError(text + "; see 'tracea " + first + " --help'");
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
    std::string command = "tracea", text = error.what();
    for (const CLI::App *chosen : app.get_subcommands()) {
      command += " " + chosen->get_name();
      if (auto *conversion = dynamic_cast<const CLI::ConversionError *>(&error))
        text = explainConversion(*chosen, *conversion);
    }
    printError(text + "; see '" + command + " --help'");
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
