//===- Accuracy.cpp - Errors of functions in the last place ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles every function of `math` for every type, in loops and in epilogues
// of products, runs it on special values and random numbers (all numbers of 16
// bits), and compares with libm in long double. Prints the table of
// docs/Accuracy.md, or fails where an error is larger than it says.

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/Executable.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

using namespace tracea::runtime;
namespace tc = tracea::compiler;

namespace {

using Exact = long double;

struct Function {
  const char *name;
  Exact (*exact)(Exact x, Exact y);
  double (*libm)(double x, double y);
  /// Where results are neither constant nor infinite.
  double low, high;
  bool binary = false;
};

#define UNARY(NAME, LIBM, LOW, HIGH)                                           \
  {#NAME, [](Exact x, Exact) -> Exact { return std::LIBM(x); },                \
   [](double x, double) -> double { return std::LIBM(x); }, LOW, HIGH}

const Function functions[] = {
    UNARY(acos, acos, -1, 1),
    UNARY(acosh, acosh, 1, 20),
    UNARY(asin, asin, -1, 1),
    UNARY(asinh, asinh, -20, 20),
    UNARY(atan, atan, -20, 20),
    {"atan2", [](Exact x, Exact y) -> Exact { return std::atan2(x, y); },
     [](double x, double y) -> double { return std::atan2(x, y); }, -10, 10,
     true},
    UNARY(atanh, atanh, -1, 1),
    UNARY(cbrt, cbrt, -100, 100),
    UNARY(cos, cos, -100, 100),
    UNARY(cosh, cosh, -715, 715),
    UNARY(erf, erf, -6, 6),
    UNARY(erfc, erfc, -6, 28),
    UNARY(exp, exp, -750, 715),
    UNARY(exp2, exp2, -1080, 1030),
    UNARY(expm1, expm1, -50, 715),
    UNARY(log, log, 0, 20),
    UNARY(log10, log10, 0, 20),
    UNARY(log1p, log1p, -1, 20),
    UNARY(log2, log2, 0, 20),
    {"powf", [](Exact x, Exact y) -> Exact { return std::pow(x, y); },
     [](double x, double y) -> double { return std::pow(x, y); }, -30, 30,
     true},
    {"rsqrt", [](Exact x, Exact) -> Exact { return 1 / std::sqrt(x); },
     [](double x, double) -> double { return 1 / std::sqrt(x); }, 0, 20},
    UNARY(sin, sin, -100, 100),
    UNARY(sinh, sinh, -715, 715),
    UNARY(sqrt, sqrt, 0, 20),
    UNARY(tan, tan, -100, 100),
    UNARY(tanh, tanh, -20, 20),
};
constexpr size_t numFunctions = std::size(functions);

/// The floats of a type.
struct Format {
  ElementType type;
  int digits, leastExponent, largestExponent;
};
const Format f64{ElementType::F64, 53, -1022, 1024};
const Format f32{ElementType::F32, 24, -126, 128};
const Format f16{ElementType::F16, 11, -14, 16};
const Format bf16{ElementType::BF16, 8, -126, 128};

void store(const Format &format, void *to, double value) {
  if (format.type == ElementType::F64)
    std::memcpy(to, &value, 8);
  float single = static_cast<float>(value);
  if (format.type == ElementType::F32)
    std::memcpy(to, &single, 4);
  uint16_t half = format.type == ElementType::F16 ? floatToHalf(single)
                                                  : floatToBFloat(single);
  if (sizeOf(format.type) == 2)
    std::memcpy(to, &half, 2);
}

/// The distance in units of the last place of the true result. Infinite where
/// only one of the two is a number.
double unitsBetween(const Format &format, double got, Exact want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got)
               ? 0
               : std::numeric_limits<double>::infinity();
  // What rounds beyond the largest number is infinite.
  Exact beyond = std::ldexp(Exact(1), format.largestExponent);
  Exact last = std::ldexp(Exact(1), format.largestExponent - format.digits);
  if (std::isinf(got) && std::fabs(want) >= beyond - 2 * last &&
      std::signbit(got) == std::signbit(want))
    return 0;
  if (std::isinf(want) || std::isinf(got))
    return std::numeric_limits<double>::infinity();
  int exponent = 0;
  std::frexp(want, &exponent);
  if (want == 0 || exponent <= format.leastExponent)
    exponent = format.leastExponent + 1;
  Exact unit = std::ldexp(Exact(1), exponent - format.digits);
  return static_cast<double>(std::fabs(Exact(got) - want) / unit);
}

/// Arguments: special ones, numbers near those where functions change, numbers
/// from the function's own range and of all exponents.
std::vector<double> makePoints(const Function &function, const Format &format,
                               int count, unsigned seed) {
  std::vector<double> points;
  auto add = [&](double x) {
    char bytes[8];
    store(format, bytes, x);
    points.push_back(readAsDouble(format.type, bytes));
  };
  if (sizeOf(format.type) == 2 && !function.binary) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
      uint16_t half = static_cast<uint16_t>(bits);
      points.push_back(readAsDouble(format.type, &half));
    }
    return points;
  }
  std::mt19937_64 random(seed);
  auto uniform = [&](double low, double high) {
    return low + (high - low) * std::ldexp(double(random() >> 11), -53);
  };
  const double special[] = {0,      0.25, 0.5,      0.75,  1,     1.5,  2,
                            3,      10,   100,      0.7,   1e5,   1e15, 3e8,
                            1e-5,   1e-8, 1e-12,    1e-18, 88.7,  709,  710,
                            0x1p60, 745,  HUGE_VAL, NAN,   1e-300};
  for (double x : special)
    for (double sign : {1.0, -1.0})
      add(sign * x);
  add(std::ldexp(1.0, format.leastExponent));
  add(std::ldexp(1.0, format.leastExponent + 1 - format.digits));
  add(std::ldexp(2 - std::ldexp(1.0, 1 - format.digits),
                 format.largestExponent - 1));
  double scale = format.largestExponent < 1024 ? 0.13 : 1;
  double low = function.low, high = function.high;
  if (std::fabs(high) > 200)
    low *= scale, high *= scale;
  for (int i = 0; i < count; ++i) {
    double sign = random() & 1 ? 1 : -1;
    switch (i % 8) {
    case 0:
    case 1:
    case 2:
      add(uniform(low, high));
      break;
    case 3:
      add(uniform(-1.5, 1.5));
      break;
    case 4:
      add(sign + uniform(-1, 1) * std::exp2(uniform(-53, -1)));
      break;
    case 5:
      add(sign * std::exp2(uniform(-40, 40)));
      break;
    case 6:
      // Near multiples of a quarter turn.
      add(sign * std::nearbyint(std::exp2(uniform(0, 40))) * M_PI_2);
      break;
    default:
      add(sign * std::exp2(uniform(format.leastExponent - format.digits,
                                   format.largestExponent)));
    }
  }
  return points;
}

enum class Form { Loop, Epilogue };
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
  for (const Function &function : functions) {
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

  std::shared_ptr<Executable> compile(const Format &format, Form form,
                                      Route route) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tc::parseModule(makeModule(format, form), context, "functions.mlir");
    if (!module)
      return nullptr;
    tc::CompileOptions options;
    options.reference = route == Route::Reference;
    if (route == Route::Arithmetic) {
      mlir::PassManager manager(&context);
      mlir::tracea::LowerMathOptions lower;
      lower.route = mlir::tracea::MathRoute::Arithmetic;
      manager.addPass(mlir::tracea::createLowerMath(lower));
      if (failed(manager.run(*module)))
        return nullptr;
    }
    mlir::FailureOr<ProgramFile> program =
        tc::compileToProgram(*module, options);
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

struct Worst {
  double units = 0;
  double x = 0, y = 0;
};

struct Points {
  std::vector<double> x, y;
};

Points makeArguments(const Function &function, const Format &format,
                     int count) {
  Points points;
  points.x = makePoints(function, format, count, 1);
  points.y =
      function.binary ? makePoints(function, format, count, 2) : points.x;
  // Each special value meets each.
  if (function.binary)
    for (size_t i = 0; i < 55; ++i)
      for (size_t j = 0; j < 55; ++j) {
        points.x.push_back(points.x[i]);
        points.y.push_back(points.y[j]);
      }
  while (points.x.size() % 16) {
    points.x.push_back(1);
    points.y.push_back(1);
  }
  return points;
}

void measure(const Function &function, const Format &format,
             const Points &points, const double *got, Worst &worst) {
  for (size_t i = 0; i < points.x.size(); ++i) {
    double units =
        unitsBetween(format, got[i], function.exact(points.x[i], points.y[i]));
    if (!(units <= worst.units))
      worst = {units, points.x[i], points.y[i]};
  }
}

using Table = std::map<std::string, std::map<std::string, Worst>>;

bool fill(Table &table, int count, const std::string &only) {
  Session session;
  for (const Function &function : functions) {
    Points points = makeArguments(function, f64, count);
    std::vector<double> got;
    for (size_t i = 0; i < points.x.size(); ++i)
      got.push_back(function.libm(points.x[i], points.y[i]));
    measure(function, f64, points, got.data(), table[function.name][libmTitle]);
  }
  for (const Column &column : columns) {
    if (!only.empty() && only != column.title)
      continue;
    const Format &format = *column.format;
    for (Form form : column.forms) {
      std::shared_ptr<Executable> program =
          session.compile(format, form, column.route);
      if (!program)
        return false;
      for (const Function &function : functions) {
        Points points = makeArguments(function, format, count);
        // The sum of a product and zero is never -0.
        if (form == Form::Epilogue)
          for (double &x : points.x)
            x += 0.0;
        int64_t size = static_cast<int64_t>(points.x.size());
        int64_t bytes = sizeOf(format.type);
        std::vector<Tensor> inputs;
        for (const std::vector<double> *values : {&points.x, &points.y}) {
          inputs.push_back(*Tensor::allocate(format.type, {&size, 1}));
          for (int64_t i = 0; i < size; ++i)
            store(format, inputs.back().dataAs<char>() + i * bytes,
                  (*values)[i]);
        }
        Expected<std::vector<Tensor>> results =
            program->run(function.name, {inputs.data(), inputs.size()});
        if (!results) {
          std::fprintf(stderr, "%s\n", results.message().c_str());
          return false;
        }
        std::vector<double> got;
        for (int64_t i = 0; i < size; ++i)
          got.push_back(readAsDouble(format.type,
                                     (*results)[0].dataAs<char>() + i * bytes));
        measure(function, format, points, got.data(),
                table[function.name][column.title]);
      }
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

std::string formatUnits(double units) {
  char text[32];
  std::snprintf(text, sizeof text, units < 100 ? "%.2f" : "%.3g",
                std::ceil(units * 100) / 100);
  return text;
}

void print(const Table &table) {
  std::printf("| function |");
  for (const std::string &title : getTitles())
    std::printf(" %s |", title.c_str());
  std::printf("\n|---|");
  for (size_t i = 0; i < getTitles().size(); ++i)
    std::printf("---|");
  for (const Function &function : functions) {
    std::printf("\n| `%s` |", function.name);
    for (const std::string &title : getTitles())
      std::printf(" %s |",
                  formatUnits(table.at(function.name).at(title).units).c_str());
  }
  std::printf("\n");
}

void printWorst(const Table &table) {
  for (const Function &function : functions)
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
  for (const Function &function : functions)
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
  std::printf("%zu functions, %d failures\n", numFunctions, failures);
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
    else {
      std::printf("usage: tracea-accuracy [--points N] [--check PAGE.md] "
                  "[--column TITLE] [--worst]\n");
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
