#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes Tables.cpp: the polynomials and constants of the expansions.

Each polynomial is the best one of its degree in the largest weighted error
(Remez' exchange), and the degree is the least whose error lies below the goal.
Weights make the error one relative to the function's result. Needs mpmath.

    python3 lib/Conversion/MathExpansion/tables.py > Tables.cpp
"""

import sys
import textwrap

from mpmath import (asin, atan, cbrt, cos, erf, erfc, exp, floor, ldexp, log,
                    lu_solve, matrix, mp, mpf, pi, sin, sqrt)

mp.prec = 240


def evaluate(coefficients, x):
    total = mpf(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def remez(f, weight, low, high, degree):
    """The best polynomial of the degree, and its largest weighted error."""
    count = degree + 2
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1))
             for i in range(count)]
    samples = [low + (high - low) * (1 - cos(pi * (i + mpf(1) / 2) / 600)) / 2
               for i in range(600)]
    values = [(x, f(x), weight(x)) for x in samples]
    for _ in range(12):
        system, right = matrix(count, count), matrix(count, 1)
        for row, x in enumerate(nodes):
            for column in range(degree + 1):
                system[row, column] = x**column
            system[row, degree + 1] = (-1)**row / max(weight(x), mpf(10)**-30)
            right[row] = f(x)
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [(x, w * (value - evaluate(coefficients, x)))
                  for x, value, w in values]
        # The largest error of each run of one sign.
        peaks = []
        for x, error in errors:
            if peaks and (peaks[-1][1] > 0) == (error > 0):
                if abs(error) > abs(peaks[-1][1]):
                    peaks[-1] = (x, error)
            else:
                peaks.append((x, error))
        while len(peaks) > count:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        largest = max(abs(error) for _, error in peaks)
        least = min(abs(error) for _, error in peaks)
        if len(peaks) < count or largest < least * mpf('1.02'):
            break
        nodes = [x for x, _ in peaks]
    return coefficients, max(abs(error) for _, error in errors)


def fit(f, weight, low, high, goal):
    for degree in range(1, 40):
        coefficients, error = remez(f, weight, low, high, degree)
        if error < mpf(2)**goal:
            print(degree, float(log(error, 2)), file=sys.stderr)
            return coefficients
    raise SystemExit('no polynomial reaches the goal')


def near(series, f, limit):
    """f, but its series where cancellation would leave nothing."""
    return lambda x: series(x) if abs(x) < limit else f(x)


def power_series(coefficient, terms=30):
    return lambda x: sum((coefficient(i) * x**i for i in range(terms)), mpf(0))


def factorial(n):
    return mp.factorial(n)


def exp2_quotient():
    """(2^r - 1) / r."""
    return near(
        power_series(lambda i: log(mpf(2))**(i + 1) / factorial(i + 1)),
        lambda r: (mpf(2)**r - 1) / r, mpf('0.01'))


def polynomials(digits):
    """Name and coefficients, lowest first, of all polynomials of a format."""
    one = mpf(1)
    double = digits == 53
    goal = -digits - 5
    # e^r = 1 + r + r² P(r).
    yield 'exp', fit(power_series(lambda i: one / factorial(i + 2)), abs,
                     '-0.347', '0.347', goal)
    # 2^r = 1 + r P(r).
    yield 'exp2', fit(exp2_quotient(), lambda r: abs(r) / mpf(2)**r, '-0.5001',
                      '0.5001', goal + 2)
    # log((1 + s) / (1 - s)) = 2 s + s³ (2/3 + z P(z)), z = s²; beyond the
    # format's digits, for powers.
    yield 'log', fit(power_series(lambda i: mpf(2) / (2 * i + 5), 60),
                     lambda z: z * z / 2 + mpf(10)**-28, 0, '0.0295', goal - 10)
    # sin r = r + r³ P(r²), cos r = 1 - r²/2 + r⁴ P(r²).
    yield 'sin', fit(
        power_series(lambda i: (-1)**(i + 1) * one / factorial(2 * i + 3)),
        lambda z: z, 0, '0.6175', goal)
    yield 'cos', fit(
        power_series(lambda i: (-1)**i * one / factorial(2 * i + 4)),
        lambda z: z * z * mpf('1.42'), 0, '0.6175', goal)
    # atan t = t + t³ P(t²), asin x = x + x³ P(x²).
    yield 'atan', fit(
        near(power_series(lambda i: (-1)**(i + 1) * one / (2 * i + 3), 60),
             lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, mpf('0.01')),
        lambda z: z, 0, '0.1916', goal)

    def asin_series(i):
        n = i + 1
        return factorial(2 * n) / (mpf(4)**n * factorial(n)**2 * (2 * n + 1))

    yield 'asin', fit(
        near(power_series(asin_series, 60),
             lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf('0.01')),
        lambda z: z, 0, '0.2501', goal)
    # erf x = x + x P(x²) up to 1.
    yield 'erf', fit(
        near(power_series(lambda i: 2 / sqrt(pi) * (-1)**i / factorial(i) /
                          (2 * i + 1) - (1 if i == 0 else 0)),
             lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf('0.5')),
        lambda z: one, 0, 1, goal + 1)
    # erfc x = e^(-x²) P(t) / (1 + 2x), t = (x - K) / (x + K), from 1/2 to where
    # the result is no number of the format.
    shift = mpf(4) if double else mpf(3)
    last = mpf('27.3') if double else mpf('10.2')

    def tail(t):
        x = shift * (1 + t) / (1 - t)
        return exp(x * x) * erfc(x) * (1 + 2 * x)

    at = lambda x: (x - shift) / (x + shift)
    yield 'erfc', fit(tail, lambda t: 1 / tail(t), at(mpf('0.499')), at(last),
                      goal + 2)
    # A start for the cube root of 1/2 to 4.
    yield 'cbrt', fit(cbrt, lambda m: 1 / cbrt(m), '0.5', '4', -8)


def nearest(x, digits):
    """x rounded to so many binary digits."""
    if x == 0:
        return mpf(0)
    exponent = int(floor(log(abs(x), 2))) + 1
    return ldexp(mp.nint(ldexp(x, digits - exponent)), exponent - digits)


def literal(x):
    return float(x).hex()


def constants(digits):
    """Name and parts: the first short where its products must be exact."""
    exponent_bits = 11 if digits == 53 else 9
    ln2 = log(mpf(2))
    for name, value, short in [('ln2', ln2, True),
                               ('log10of2', log(mpf(2)) / log(mpf(10)), True),
                               ('log2e', 1 / ln2, False),
                               ('log10e', 1 / log(mpf(10)), False),
                               ('halfPi', pi / 2, False),
                               ('quarterPi', pi / 4, False),
                               ('atanHalf', atan(mpf(1) / 2), False),
                               ('twoThirds', mpf(2) / 3, False)]:
        first = nearest(value, digits - exponent_bits if short else digits)
        yield name, first, nearest(value - first, digits)


def two_over_pi(digits):
    """Words of 2/π behind a word of zeros."""
    width, count = (64, 20) if digits == 53 else (32, 8)
    mp.prec = 1600
    bits = int(floor(ldexp(2 / pi, width * (count - 1))))
    mp.prec = 240
    return [(bits >> (width * (count - 1 - i))) & ((1 << width) - 1)
            for i in range(count)]


def half_turns():
    """From which power of two on a number of f32 is multiplied by which part of
    1/π, as two numbers of f64: without the digits whose products are whole
    turns. Where parts begin leaves 2^-60 of a turn to what is behind the second
    number."""
    mp.prec = 400
    for first in [None, 45, 66, 87, 108]:
        part = 1 / pi
        if first:
            # The last digit of x counts 2^(first - 23) at least.
            whole = 1 - (first - 23)
            part -= ldexp(floor(ldexp(part, -whole)), whole)
        # Rounded down, so that both have one sign, and so has a product of zero.
        exponent = int(floor(log(part, 2))) + 1
        high = ldexp(floor(ldexp(part, 53 - exponent)), exponent - 53)
        yield mpf(2)**first if first else mpf(0), high, nearest(part - high, 53)
    mp.prec = 240


def sin_of_half_turns():
    """sin(π f) = f P(f²) for |f| <= 1/2, with four digits more than f32 has."""
    return fit(
        power_series(lambda i: (-1)**i * pi**(2 * i + 1) /
                     factorial(2 * i + 1)),
        lambda z: sqrt(z) / sin(pi * sqrt(z)) if z > 0 else 1 / pi, 0, '0.2501',
        -28)


def log_single():
    """log(1 + f) = f - f²/2 + f³ P(f) for 1 + f from 1/√2 to √2."""
    return fit(
        near(power_series(lambda i: mpf((-1)**i) / (i + 3), 60),
             lambda f: (log(1 + f) - f + f * f / 2) / f**3, mpf('0.1')),
        lambda f: f * f * mpf('1.2'), '-0.29290', '0.41422', -27)


# erf of f32 is one polynomial up to here, and another one from here on.
ERF_SPLIT = mpf('0.9')


def erf_single():
    """Name and coefficients of what erf of f32 is made of."""
    # erf x = x + x P(x²).
    yield 'erfNearZero', fit(
        near(power_series(lambda i: 2 / sqrt(pi) * (-1)**i / factorial(i) /
                          (2 * i + 1) - (1 if i == 0 else 0)),
             lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf('0.5')),
        lambda z: mpf(1), 0, ERF_SPLIT**2, -26)
    # erf x = 1 - 2^P(x), to where the result rounds to 1.
    yield 'erfcLog2', fit(
        lambda x: log(erfc(x)) / log(mpf(2)),
        lambda x: erfc(x) * log(mpf(2)) / erf(x), ERF_SPLIT, 4, -26)
    # 2^r = 1 + r P(r), for a power that is below 0.21.
    yield 'erfcExp2', fit(exp2_quotient(), abs, '-0.5001', '0.5001', -23)


def print_list(head, items):
    print(head + ' = {')
    print(textwrap.fill(', '.join(items) + '};', 80, initial_indent='    ',
                        subsequent_indent='    '))


def main():
    print('''//===- Tables.cpp - Polynomials and constants -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by tables.py, which says what each of them approximates and how well.

// clang-format off
#include "Tables.h"

using namespace mlir::tracea;
''')
    for digits, name in [(53, 'Double'), (24, 'Single')]:
        rows = list(polynomials(digits))
        for row, coefficients in rows:
            print_list(f'static const double {row}{name}[]',
                       [literal(nearest(c, digits)) for c in coefficients])
        print_list(f'static const uint64_t twoOverPi{name}[]',
                   [f'0x{word:x}u' for word in two_over_pi(digits)])
        print(f'\nconst MathTables mlir::tracea::k{name}Tables = {{')
        for row, _ in rows:
            print(f'    /*{row}=*/{row}{name},')
        for row, first, second in constants(digits):
            print(f'    /*{row}=*/{{{literal(first)}, {literal(second)}}},')
        print(f'    /*erfcShift=*/{4 if digits == 53 else 3},')
        print(f'    /*twoOverPi=*/twoOverPi{name}}};\n')
    print('static const HalfTurns halfTurns[] = {')
    print(',\n'.join(
        f'    {{{literal(least)}, {{{literal(high)}, {literal(low)}}}}}'
        for least, high, low in half_turns()) + '};')
    print('const mlir::ArrayRef<HalfTurns> mlir::tracea::kHalfTurns = halfTurns;\n')
    print_list('static const double sinOfHalfTurns[]',
               [literal(c) for c in sin_of_half_turns()])
    print('const mlir::ArrayRef<double> mlir::tracea::kSinOfHalfTurns = '
          'sinOfHalfTurns;\n')
    print_list('static const double logOfSingle[]',
               [literal(nearest(c, 24)) for c in log_single()])
    print('const mlir::ArrayRef<double> mlir::tracea::kLogOfSingle = '
          'logOfSingle;\n')
    for row, coefficients in erf_single():
        print_list(f'static const double {row}[]',
                   [literal(nearest(c, 24)) for c in coefficients])
    print(f'const SingleErf mlir::tracea::kSingleErf = {{{literal(ERF_SPLIT)}, '
          'erfNearZero, erfcLog2, erfcExp2};')


if __name__ == '__main__':
    main()
