//===- AccuracyMeasure.cpp - Errors in the last place ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AccuracyMeasure.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

using namespace tracea;
using namespace tracea::accuracy;
using namespace tracea::runtime;

#define UNARY(NAME, LIBM, LOW, HIGH)                                           \
  {#NAME, [](Exact x, Exact) -> Exact { return std::LIBM(x); },                \
   [](double x, double) -> double { return std::LIBM(x); }, LOW, HIGH}

const std::vector<Function> &accuracy::functions() {
  static const std::vector<Function> list = {
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
  return list;
}
#undef UNARY

const Format accuracy::f64{ElementType::F64, 53, -1022, 1024};
const Format accuracy::f32{ElementType::F32, 24, -126, 128};
const Format accuracy::f16{ElementType::F16, 11, -14, 16};
const Format accuracy::bf16{ElementType::BF16, 8, -126, 128};

static void store(const Format &format, void *to, double value) {
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
static double unitsBetween(const Format &format, double got, Exact want) {
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
static std::vector<double> makePoints(const Function &function,
                                      const Format &format, int count,
                                      unsigned seed) {
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

namespace {
struct Points {
  std::vector<double> x, y;
};
} // namespace

static Points makeArguments(const Function &function, const Format &format,
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

static void measure(const Function &function, const Format &format,
                    const Points &points, const double *got, Worst &worst) {
  for (size_t i = 0; i < points.x.size(); ++i) {
    double units =
        unitsBetween(format, got[i], function.exact(points.x[i], points.y[i]));
    if (!(units <= worst.units))
      worst = {units, points.x[i], points.y[i]};
  }
}

void accuracy::measureLibm(const Function &function, int count, Worst &worst) {
  Points points = makeArguments(function, f64, count);
  std::vector<double> got;
  for (size_t i = 0; i < points.x.size(); ++i)
    got.push_back(function.libm(points.x[i], points.y[i]));
  measure(function, f64, points, got.data(), worst);
}

Status accuracy::measureProgram(Executable &program, const Function &function,
                                const Format &format, Form form, int count,
                                Worst &worst) {
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
            (*values)[static_cast<size_t>(i)]);
  }
  Expected<std::vector<Tensor>> results =
      program.run(function.name, {inputs.data(), inputs.size()});
  if (!results)
    return results.status();
  std::vector<double> got;
  for (int64_t i = 0; i < size; ++i)
    got.push_back(
        readAsDouble(format.type, (*results)[0].dataAs<char>() + i * bytes));
  measure(function, format, points, got.data(), worst);
  return Status::success();
}

std::string accuracy::formatUnits(double units) {
  char text[32];
  std::snprintf(text, sizeof text, units < 100 ? "%.2f" : "%.3g",
                std::ceil(units * 100) / 100);
  return text;
}
