//===- Accuracy.cpp - Errors of functions in the last place ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles every function of `math` for every type, in loops and in epilogues
// of products, runs it on special values and random numbers (all numbers of 16
// bits), and compares with libm in long double. Prints the table of
// docs/Accuracy.md, or fails where an error is larger than it says.

#include "AccuracyMeasure.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/Executable.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace tracea::accuracy;
using namespace tracea::runtime;
namespace tc = tracea::compiler;

namespace {

enum class Route { Kernel, Arithmetic, Reference };

const char *getTypeName(const Format &format) { return nameOf(format.type); }

std::string replace(std::string text, const std::string &from,
                    const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A module with an entry for each function.
std::string makeModule(const Format &format, Form form) {
  std::string module = "#id = affine_map<(m, n) -> (m, n)>\n";
  for (const Function &function : functions()) {
    bool half = sizeOf(format.type) == 2;
    std::string text;
    if (form == Form::Loop)
      text = R"(
func.func @NAME(%x: tensor<?xTYPE>, %y: tensor<?xTYPE>) -> tensor<?xTYPE> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xTYPE>
  %e = tensor.empty(%n) : tensor<?xTYPE>
  %r = linalg.map ins(%x, %y : tensor<?xTYPE>, tensor<?xTYPE>)
      outs(%e : tensor<?xTYPE>)
    (%a : TYPE, %b : TYPE, %o : TYPE) {
      %f = math.NAME ARGS : TYPE
      linalg.yield %f : TYPE
    }
  return %r : tensor<?xTYPE>
})";
    else
      // The product with 1 is the argument itself.
      text = R"(
func.func @NAME(%x: tensor<?xTYPE>, %y: tensor<?xTYPE>) -> tensor<?xTYPE> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %size = tensor.dim %x, %c0 : tensor<?xTYPE>
  %n = arith.divui %size, %c16 : index
  %one = arith.constant dense<1.0> : tensor<1x1xTYPE>
  %row = tensor.expand_shape %x [[0, 1]] output_shape [1, %size]
      : tensor<?xTYPE> into tensor<1x?xTYPE>
  %rowy = tensor.expand_shape %y [[0, 1]] output_shape [1, %size]
      : tensor<?xTYPE> into tensor<1x?xTYPE>
  %e = tensor.empty(%size) : tensor<1x?xTYPE>
  %r = tracea.gemm ins(%one, %row : tensor<1x1xTYPE>, tensor<1x?xTYPE>)
      outs(%e : tensor<1x?xTYPE>)
      epilogue(%rowy by #id : tensor<1x?xTYPE>) {
    ^bb0(%acc: ACC, %b: TYPE):
      TRUNC
      %f = math.NAME ARGS : TYPE
      tracea.yield %f : TYPE
    }
  %flat = tensor.collapse_shape %r [[0, 1]]
      : tensor<1x?xTYPE> into tensor<?xTYPE>
  return %flat : tensor<?xTYPE>
})";
    bool cut = form == Form::Epilogue && half;
    text = replace(text, "TRUNC",
                   cut ? "%a = arith.truncf %acc : f32 to TYPE" : "");
    std::string first = form == Form::Epilogue && !half ? "%acc" : "%a";
    text = replace(text, "ARGS", function.binary ? first + ", %b" : first);
    text = replace(text, "ACC", half ? "f32" : "TYPE");
    text = replace(text, "NAME", function.name);
    module += replace(text, "TYPE", getTypeName(format));
  }
  return module;
}

class Session {
public:
  Session() {
    mlir::DialectRegistry registry;
    tc::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  mlir::FailureOr<ProgramFile> compile(const Format &format, Form form,
                                       Route route, const std::string &target) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tc::parseModule(makeModule(format, form), context, "functions.mlir");
    if (!module)
      return mlir::failure();
    tc::CompileOptions options;
    options.reference = route == Route::Reference;
    if (!target.empty())
      options.target = target;
    if (route == Route::Arithmetic) {
      mlir::PassManager manager(&context);
      mlir::tracea::LowerMathOptions lower;
      lower.route = mlir::tracea::MathRoute::Arithmetic;
      manager.addPass(mlir::tracea::createLowerMath(lower));
      if (failed(manager.run(*module)))
        return mlir::failure();
    }
    return tc::compileToProgram(*module, options);
  }

  std::shared_ptr<Executable> load(const Format &format, Form form,
                                   Route route) {
    mlir::FailureOr<ProgramFile> program = compile(format, form, route, "");
    if (failed(program))
      return nullptr;
    Expected<std::shared_ptr<Device>> device = createCPUDevice({});
    if (!device)
      return report(device.status());
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(std::move(*program), *device);
    return executable ? *executable : report(executable.status());
  }

private:
  static std::shared_ptr<Executable> report(const Status &status) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return nullptr;
  }

  mlir::MLIRContext context;
};

struct Column {
  const char *title;
  const Format *format;
  Route route;
  std::vector<Form> forms;
};
const Column columns[] = {
    {"f64", &f64, Route::Kernel, {Form::Loop, Form::Epilogue}},
    {"f32", &f32, Route::Kernel, {Form::Loop, Form::Epilogue}},
    {"f16", &f16, Route::Kernel, {Form::Loop, Form::Epilogue}},
    {"bf16", &bf16, Route::Kernel, {Form::Loop, Form::Epilogue}},
    {"arithmetic f64", &f64, Route::Arithmetic, {Form::Loop}},
    {"arithmetic f32", &f32, Route::Arithmetic, {Form::Loop}},
    {"reference", &f64, Route::Reference, {Form::Loop}},
};
const char *const libmTitle = "libm f64";

using Table = std::map<std::string, std::map<std::string, Worst>>;

bool fill(Table &table, int count, const std::string &only) {
  Session session;
  for (const Function &function : functions())
    measureLibm(function, count, table[function.name][libmTitle]);
  for (const Column &column : columns) {
    if (!only.empty() && only != column.title)
      continue;
    for (Form form : column.forms) {
      std::shared_ptr<Executable> program =
          session.load(*column.format, form, column.route);
      if (!program)
        return false;
      for (const Function &function : functions())
        if (Status status =
                measureProgram(*program, function, *column.format, form, count,
                               table[function.name][column.title]);
            !status.ok()) {
          std::fprintf(stderr, "%s\n", status.message().c_str());
          return false;
        }
    }
  }
  return true;
}

/// Programs for another target, for benchmarks/gpu/functions.
bool writePrograms(const std::string &target, const std::string &folder) {
  Session session;
  for (const Format *format : {&f64, &f32, &f16, &bf16}) {
    mlir::FailureOr<ProgramFile> program =
        session.compile(*format, Form::Epilogue, Route::Kernel, target);
    if (failed(program))
      return false;
    std::string path = folder + "/" + getTypeName(*format) + ".tracea";
    if (Status status = program->save(path); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      return false;
    }
  }
  return true;
}

std::vector<std::string> getTitles() {
  std::vector<std::string> titles = {libmTitle};
  for (const Column &column : columns)
    titles.push_back(column.title);
  return titles;
}

void print(const Table &table) {
  std::printf("| function |");
  for (const std::string &title : getTitles())
    std::printf(" %s |", title.c_str());
  std::printf("\n|---|");
  for (size_t i = 0; i < getTitles().size(); ++i)
    std::printf("---|");
  for (const Function &function : functions()) {
    std::printf("\n| `%s` |", function.name);
    for (const std::string &title : getTitles())
      std::printf(" %s |",
                  formatUnits(table.at(function.name).at(title).units).c_str());
  }
  std::printf("\n");
}

void printWorst(const Table &table) {
  for (const Function &function : functions())
    for (const auto &[title, worst] : table.at(function.name))
      std::printf("%s, %s: %g at %.17g, %.17g\n", function.name, title.c_str(),
                  worst.units, worst.x, worst.y);
}

/// The rows of the page's table, by function and title.
std::map<std::string, std::map<std::string, double>>
readPage(const char *path) {
  std::map<std::string, std::map<std::string, double>> rows;
  std::ifstream file(path);
  std::vector<std::string> titles;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| ", 0) != 0)
      continue;
    std::vector<std::string> cells;
    std::stringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      size_t first = cell.find_first_not_of(" `");
      size_t last = cell.find_last_not_of(" `");
      cells.push_back(first == std::string::npos
                          ? std::string()
                          : cell.substr(first, last - first + 1));
    }
    if (cells[0] == "function")
      titles = cells;
    else if (cells[0].rfind("function", 0) == 0)
      titles.clear(); // another table
    else if (!titles.empty())
      for (size_t i = 1; i < cells.size() && i < titles.size(); ++i)
        rows[cells[0]][titles[i]] = std::strtod(cells[i].c_str(), nullptr);
  }
  return rows;
}

/// Errors may grow by less than this over what the page says: libraries differ.
constexpr double tolerance = 0.15;

int check(const Table &table, const char *path) {
  auto rows = readPage(path);
  int failures = 0;
  auto fail = [&](const Function &function, const std::string &title,
                  double units, double bound, const Worst &worst) {
    ++failures;
    std::printf("%s, %s: expected at most %.2f units in the last place, found "
                "%.2f at %.17g, %.17g\n",
                function.name, title.c_str(), bound, units, worst.x, worst.y);
  };
  for (const Function &function : functions())
    for (const auto &[title, worst] : table.at(function.name)) {
      auto row = rows.find(function.name);
      if (row == rows.end() || !row->second.count(title)) {
        std::printf("%s: no row '%s' with a column '%s'\n", path, function.name,
                    title.c_str());
        ++failures;
        continue;
      }
      // What libm does is not ours, but f64 is measured by it.
      double libm = table.at(function.name).at(libmTitle).units;
      if (title != libmTitle && worst.units > row->second[title] + tolerance)
        fail(function, title, worst.units, row->second[title], worst);
      if (title == "f64" && worst.units > libm + 1)
        fail(function, title, worst.units, libm + 1, worst);
    }
  std::printf("%zu functions, %d failures\n", functions().size(), failures);
  return failures != 0;
}

} // namespace

int main(int argc, char **argv) {
  int count = 40000;
  std::string only;
  const char *page = nullptr;
  bool details = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--points" && i + 1 < argc)
      count = std::atoi(argv[++i]);
    else if (argument == "--check" && i + 1 < argc)
      page = argv[++i];
    else if (argument == "--column" && i + 1 < argc)
      only = argv[++i];
    else if (argument == "--worst")
      details = true;
    else if (argument == "--write" && i + 2 < argc)
      return writePrograms(argv[i + 1], argv[i + 2]) ? 0 : 1;
    else {
      std::printf("usage: tracea-accuracy [--points N] [--check PAGE.md] "
                  "[--column TITLE] [--worst]\n       tracea-accuracy --write "
                  "TARGET FOLDER\n");
      return argument == "--help" ? 0 : 1;
    }
  }
  Table table;
  if (!fill(table, count, only))
    return 1;
  if (details || !only.empty())
    printWorst(table);
  else if (!page)
    print(table);
  return page ? check(table, page) : 0;
}
