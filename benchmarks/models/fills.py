# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What arguments of a model hold: numbers of a magnitude at which activations stay near 1."""

import collections
import math

# signed, positive: magnitudes in [2^exponent, 2^(exponent + 1)), for floats.
# below: integers in [0, limit). around: integers in [-limit, limit).
Fill = collections.namedtuple("Fill", "kind number")

DATA = Fill("signed", -1)
SMALL_DATA = Fill("signed", -2)
BIAS = Fill("signed", -4)
POSITIVE = Fill("positive", -1)
LEVELS = Fill("around", 128)


def weights(terms):
    """For sums of `terms` products: the root of the mean square is 2^exponent * sqrt(7/3)."""
    return Fill("signed", round(-0.5 * math.log2(terms * 7 / 3)))


def tokens_below(limit):
    return Fill("below", limit)


def quantized_bias(terms):
    return Fill("around", 1 << (10 + round(0.5 * math.log2(terms))))


def quantized_scale(terms):
    """Levels are as far apart as the results of `terms` products of levels need."""
    return Fill("positive", -6 - round(0.5 * math.log2(terms)))
