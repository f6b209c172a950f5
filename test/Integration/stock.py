#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module on tensors with stock MLIR and LLVM tools, without Tracea.

The inputs of other tests (imported and exported modules) are checked with it,
so that a wrong answer there is known to be the input's fault:

    stock.py model.mlir --input a.npy --input b.npy --output y.npy

It compiles to a shared object with plain loops and calls it through ctypes.
"""

import argparse
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import npy

# linalg.softmax has no loop lowering of its own: decompose it first.
STRATEGY = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(
      %module: !transform.any_op {transform.readonly}) {
    %softmax = transform.structured.match ops{["linalg.softmax"]} in %module
        : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.decompose_interface %softmax
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""

PASSES = [
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops",
    "--canonicalize",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--llvm-request-c-wrappers",
    "--convert-math-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-index-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]

DEFAULT_BIN = os.path.dirname(
    shutil.which("mlir-opt") or "/usr/lib/llvm-22/bin/mlir-opt"
)


def execute(command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )
    if done.returncode != 0:
        name = os.path.basename(command[0])
        raise RuntimeError(f"{name}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def compile_module(source, output, tools):
    """Builds the shared object `output` from the .mlir file `source`."""
    strategy = pathlib.Path(output).with_suffix(".transform.mlir")
    strategy.write_text(STRATEGY)
    lowered = execute(
        [
            f"{tools}/mlir-opt",
            str(source),
            f"--transform-preload-library=transform-library-paths={strategy}",
            "--transform-interpreter",
            *PASSES,
        ]
    )
    llvm = execute([f"{tools}/mlir-translate", "--mlir-to-llvmir"], input=lowered)
    runtime = os.path.realpath(f"{tools}/../lib")
    # -Bsymbolic: the entry is often named main, which the process has already.
    execute(
        [
            f"{tools}/clang",
            *("-x", "ir", "-", "-o", str(output)),
            *("-O1", "-shared", "-fPIC", "-w", "-lm"),
            *(f"--ld-path={tools}/ld.lld", "-Wl,-Bsymbolic"),
            *(f"-L{runtime}", "-lmlir_c_runner_utils", f"-Wl,-rpath,{runtime}"),
        ],
        input=llvm,
    )


def descriptor(rank):
    """MLIR's strided memref descriptor."""

    class Descriptor(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
        ] + (
            [
                ("sizes", ctypes.c_int64 * rank),
                ("strides", ctypes.c_int64 * rank),
            ]
            if rank
            else []
        )

    return Descriptor


def call(library, entry, inputs, output_rank, output_descr):
    """Calls an entry that takes tensors and returns one tensor."""
    keep, arguments = [], []
    for tensor in inputs:
        rank = len(tensor.shape)
        storage = ctypes.create_string_buffer(tensor.data, len(tensor.data) or 1)
        value = descriptor(rank)()
        value.allocated = value.aligned = ctypes.addressof(storage)
        stride = 1
        for axis in reversed(range(rank)):
            value.sizes[axis] = tensor.shape[axis]
            value.strides[axis] = stride
            stride *= tensor.shape[axis]
        keep.append(storage)
        arguments.append(value)
    result = descriptor(output_rank)()
    function = ctypes.CDLL(str(library))[f"_mlir_ciface_{entry}"]
    function.restype = None
    function(ctypes.byref(result), *map(ctypes.byref, arguments))

    shape = list(result.sizes) if output_rank else []
    size, stride = int(output_descr[2:]), 1
    for axis in reversed(range(output_rank)):
        if shape[axis] > 1 and result.strides[axis] != stride:
            raise RuntimeError("the result is not contiguous")
        stride *= shape[axis]
    data = ctypes.string_at(result.aligned + result.offset * size, stride * size)
    return npy.Tensor(output_descr, shape, data)


def run(source, inputs, output_rank, output_descr="<f4", entry="main",
        tools=DEFAULT_BIN):
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "module.so"
        compile_module(source, library, tools)
        return call(library, entry, inputs, output_rank, output_descr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output", required=True)
    parser.add_argument("--rank", type=int, required=True, help="of the result")
    parser.add_argument("--descr", default="<f4", help="of the result")
    parser.add_argument("--entry", default="main")
    parser.add_argument("--tools", default=DEFAULT_BIN)
    options = parser.parse_args()
    inputs = [npy.load(path) for path in options.input]
    result = run(options.source, inputs, options.rank, options.descr,
                 options.entry, options.tools)
    npy.save(options.output, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
