#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX's backend tests of the operators that Tracea compiles.

    run_onnx_tests.py --build build/dev
    run_onnx_tests.py --build build/dev --device cuda
    run_onnx_tests.py --build build/dev --compile-for sm_90a   # proved and compiled, not run
    run_onnx_tests.py --backend stock      # checks the importer itself

The tests are those that the onnx project ships (Debian: libonnx-testdata), each
a model with inputs and the expected output.  A test is relevant if its model
holds one of the operators in RELEVANT.  Tolerances are ONNX's own.  One line a
test; exits with 1 if one fails, or if there was none to run.
"""

import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import import_onnx
import npy
import onnx_proto
import stock

DATA = "/usr/share/libonnx-testdata/data"
SUITES = ["node", "pytorch-converted", "pytorch-operator"]
RELEVANT = {
    "AveragePool",
    "BatchNormalization",
    "Conv",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "MatMul",
    "MaxPool",
    "Softmax",
}
RTOL, ATOL = 1e-3, 1e-7
TIMEOUT = 120


def find_tests(data, pattern):
    for suite in SUITES:
        for path in sorted(pathlib.Path(data, suite).glob("*/model.onnx")):
            if not re.search(pattern, path.parent.name):
                continue
            model = onnx_proto.read_model(path)
            if RELEVANT & {node.op_type for node in model.graph.node}:
                yield path.parent, model


def load(path):
    tensor = onnx_proto.read_tensor(path)
    if tensor.data_type != onnx_proto.FLOAT:
        raise ValueError(f"{path}: expected floats")
    return npy.Tensor("<f4", tensor.dims, onnx_proto.tensor_bytes(tensor))


def mismatch(found, expected):
    """What is wrong with `found`, or None."""
    if found.descr != expected.descr:
        return f"expected {expected.descr}, found {found.descr}"
    if found.shape != expected.shape:
        return f"expected shape {expected.shape}, found {found.shape}"
    wrong, first = 0, None
    for index, (a, b) in enumerate(zip(found.values(), expected.values())):
        # The first comparison covers infinities, the second NaNs.
        same = a == b or (math.isnan(a) and math.isnan(b))
        if not same and not abs(a - b) <= ATOL + RTOL * abs(b):
            wrong += 1
            first = first or f"element {index}: expected {b:.8g}, found {a:.8g}"
    if not wrong:
        return None
    return f"{wrong} of {math.prod(found.shape)} elements differ; {first}"


def command(options, model, rank):
    if options.backend == "stock":
        tool = [sys.executable, str(HERE.parent / "stock.py"), str(model)]
        return tool + ["--rank", str(rank), "--tools", options.tools]
    where = ["--device", options.device] if options.device else ["--target", options.target]
    return [options.tracea, "run", str(model), *where]


def compile_test(options, source):
    """Compiles a module for another machine; what is wrong, or None."""
    line = [options.tracea, "compile", str(source), "--target", options.compile_for]
    line += ["--require-proof", "--only-ptx", "-o", str(source.with_suffix(".tracea"))]
    try:
        done = subprocess.run(line, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"not compiled within {TIMEOUT} s"
    if done.returncode == 0:
        return None
    return f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-2000:]}"


def run_test(options, folder, model):
    """Returns PASS, FAIL or SKIP and what there is to say about it."""
    try:
        text, inputs = import_onnx.import_model(model)
    except import_onnx.Unsupported as error:
        return "SKIP", str(error)
    except Exception as error:
        return "FAIL", f"import: {type(error).__name__}: {error}"
    sets = sorted(folder.glob("test_data_set_*"))
    if not sets:
        return "FAIL", "no data sets"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        source, output = scratch / "model.mlir", scratch / "output.npy"
        source.write_text(text)
        if options.compile_for:
            problem = compile_test(options, source)
            return ("FAIL", problem) if problem else ("PASS", "")
        for data in sets:
            expected = load(data / "output_0.pb")
            line = command(options, source, len(expected.shape))
            for index in range(len(inputs)):
                path = scratch / f"input_{index}.npy"
                npy.save(path, load(data / f"input_{index}.pb"))
                line += ["--input", str(path)]
            line += ["--output", str(output)]
            output.unlink(missing_ok=True)
            try:
                done = subprocess.run(line, capture_output=True, timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                return "FAIL", f"no result within {TIMEOUT} s"
            if done.returncode != 0:
                error = done.stderr.decode(errors="replace").strip()
                return "FAIL", f"exit code {done.returncode}: {error[-2000:]}"
            if not output.exists():
                return "FAIL", "wrote no output"
            problem = mismatch(npy.load(output), expected)
            if problem:
                return "FAIL", problem
    return "PASS", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backend", choices=["tracea", "stock"], default="tracea")
    parser.add_argument("--build", help="build folder that holds bin/tracea")
    parser.add_argument("--tracea", default="tracea", help="path of the tool")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--device", help="where to run: cpu, cuda or cuda:1")
    parser.add_argument("--compile-for", metavar="TARGET", help="compile alone, with all proofs")
    parser.add_argument("--tools", default=stock.DEFAULT_BIN,
                        help="folder of mlir-opt, for --backend stock")
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--filter", default="", help="regular expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    if options.build:
        options.tracea = os.path.join(options.build, "bin", "tracea")
    if options.backend == "tracea" and not shutil.which(options.tracea):
        sys.exit(f"{options.tracea}: not found; name the build folder with --build")
    start = time.monotonic()
    tests = list(find_tests(options.data, options.filter))
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda test: run_test(options, *test), tests)
        for (folder, _), (verdict, reason) in zip(tests, verdicts):
            counts[verdict] += 1
            name = f"{folder.parent.name}/{folder.name}"
            print(f"{verdict} {name}" + (f": {reason}" if reason else ""), flush=True)
    print(f"{time.monotonic() - start:.1f} s")
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, "
          f"{counts['SKIP']} skipped")
    return 1 if counts["FAIL"] or not counts["PASS"] else 0


if __name__ == "__main__":
    sys.exit(main())
