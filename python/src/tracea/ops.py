"""Operators, called one at a time.

The first call for a problem compiles a program, or finds it in the cache; later
ones launch it. Tensors are NumPy's, torch's, CuPy's, JAX's or any others that
know DLPack; results come from the library of the first one, or go to `out`. On
a GPU the work goes to that library's current stream.
"""

import json as _json

from . import _native
from ._native import (
    attention,
    conv2d,
    conv2d_dgrad,
    conv2d_wgrad,
    gemm,
    grouped_gemm,
    layer_norm,
    linear,
    log_softmax,
    rms_norm,
    softmax,
)

__all__ = [
    "attention",
    "conv2d",
    "conv2d_dgrad",
    "conv2d_wgrad",
    "counters",
    "gemm",
    "grouped_gemm",
    "layer_norm",
    "linear",
    "log_softmax",
    "rms_norm",
    "softmax",
]


def counters() -> dict:
    """Calls, programs compiled, found in the cache, and for open extents."""
    return _json.loads(_native.operator_counters())
