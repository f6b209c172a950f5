#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products against cuBLAS and PyTorch in one process.

run.py [--only REGEX] [--rounds N] [--rest SECONDS] [--peers eager|compiled] [--overlap] [PROGRAMS]

PROGRAMS is what compile.py wrote (default: build/gpu-gemm). Every figure is of
CUDA graphs of repeats over buffers that together exceed the second-level cache,
rested before each sample, peer and program in turns; the median of the rounds.
Operands are random; results are written over NaN and compared with float64.
A wrong result has no time. Rows without a program say so and count as such.
"""

import argparse
import json
import math
import os
import re
import sys

import torch

from problems import problems

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import TYPES, Program  # noqa: E402
from measure import capture, compete, distance  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
# Rested ceilings, in TFLOP/s and GB/s: the roofline of an H200.
CEILING = {"bf16": 793, "f16": 783, "tf32": 401, "f8E4M3FN": 1480, "i8": 1480, "f32": 51, "tf32x3": 134, "f64": 33}
BANDWIDTH = 4298
CACHE_BYTES = 360e6
SECONDS_OF_SAMPLE = 3e-3


def make_inputs(problem):
    found = []
    for element, shape in problem.inputs:
        if element == "i8":
            found.append(torch.randint(-100, 100, shape, device="cuda", dtype=torch.int8))
        else:
            found.append(torch.randn(shape, device="cuda").to(TYPES[element]))
    if "rowscale" in problem.epilogue:
        # Into the range of the result's type.
        found[2] *= 4 / math.sqrt(problem.k)
    return found


def poison(problem):
    """A tensor of NaNs for each result."""
    outputs = [torch.empty(shape, device="cuda", dtype=TYPES[element]) for element, shape in problem.outputs]
    for out in outputs:
        out.view(torch.uint8).fill_(0xFF)
    return outputs


def oriented(problem, inputs):
    a, b = inputs[0], inputs[1]
    return (a.mT if problem.transposes[0] == "t" else a), (b.mT if problem.transposes[1] == "t" else b)


def steps_of(problem):
    return problem.epilogue.split("+") if problem.epilogue else []


def apply_epilogue(steps, x, extras):
    """Every result, the first one first."""
    extras, others = iter(extras), []
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    for step in steps:
        if step == "bias" or step == "residual":
            x = x + next(extras).to(x.dtype)
        elif step == "rowscale":
            x = x * next(extras).to(x.dtype)[:, None]
        elif step == "relu":
            x = torch.relu(x)
        elif step == "silu":
            x = torch.nn.functional.silu(x)
        elif step == "gelu":
            x = torch.nn.functional.gelu(x)
        elif step == "aux":
            others.append(x)
        elif step == "rowsq":
            others.append((x * x).sum(-1, dtype=wide))
        elif step == "rowmax":
            others.append(x.amax(-1))
        elif step == "colsum":
            others.append(x.sum(-2, dtype=wide))
    return [x] + others


def reference(problem, inputs):
    a, b = oriented(problem, inputs)
    return apply_epilogue(steps_of(problem), a.double() @ b.double(), inputs[2:])


def peers_of(problem, compiled):
    """Name and function of each peer: (inputs, output) -> the result, or all of them."""
    if problem.dtype == "f8E4M3FN":
        one = torch.ones((), device="cuda")
        def scaled(inputs, out):
            return torch._scaled_mm(inputs[0], inputs[1].mT, one, one, out_dtype=TYPES[problem.output], use_fast_accum=True)
        return {"cuBLASLt": scaled}
    if problem.dtype == "i8":
        return {"cuBLASLt": lambda inputs, out: torch._int_mm(inputs[0], inputs[1].mT)}

    def plain(inputs, out):
        return torch.matmul(*oriented(problem, inputs), out=out[0])
    if not problem.epilogue:
        peers = {"cuBLAS": plain}
        if problem.group == "odd" and compiled:
            function = torch.compile(lambda a, b: a @ b.mT, dynamic=False)
            peers["compile"] = lambda inputs, out: function(inputs[0], inputs[1])
        return peers

    def body(*inputs):
        a, b = oriented(problem, inputs)
        if problem.group == "results":
            found = apply_epilogue(steps_of(problem)[1:], torch.addmm(inputs[2], a, b), inputs[3:])
            return [y.to(TYPES[element]) for y, (element, _) in zip(found, problem.outputs)]
        if problem.epilogue.startswith("bias"):
            x = torch.addmm(inputs[2], a, b)
            rest = problem.epilogue.split("+", 1)
            for step in rest[1].split("+") if len(rest) > 1 else []:
                if step == "residual":
                    x = x + inputs[3]
                else:
                    x = getattr(torch.nn.functional, step)(x)
            return x
        return apply_epilogue(steps_of(problem), (a @ b).float(), inputs[2:])[0].to(TYPES[problem.output])
    peers = {"eager": lambda inputs, out: body(*inputs)}
    if compiled:
        function = torch.compile(body, dynamic=False, mode="max-autotune-no-cudagraphs")
        peers["compile"] = lambda inputs, out: function(*inputs)
    return peers


def as_list(results):
    return [x.clone() for x in (results if isinstance(results, (list, tuple)) else [results])]


def measure(problem, path, options):
    """One row, as a dictionary."""
    row = {"name": problem.name}
    torch.backends.cuda.matmul.allow_tf32 = problem.dtype == "tf32"
    sets = max(1, min(8, int(CACHE_BYTES / problem.bytes) + 1))
    inputs = [make_inputs(problem) for _ in range(sets)]
    outputs = [poison(problem) for _ in range(sets)]
    peers = peers_of(problem, options.peers == "compiled")
    exact = reference(problem, inputs[0])
    results = {name: as_list(peer(inputs[0], outputs[0])) for name, peer in peers.items()}
    # Of each result, by the best peer; a tolerance where the peer rounds nothing.
    # Sums of f32 in another order round otherwise, and split operands are
    # compared with whole ones.
    errors = [min(distance(found[i], want) for found in results.values()) for i, want in enumerate(exact)]
    row["peer_error"] = max(errors)
    factor = 2 if problem.dtype in ("f32", "tf32x3") else 1.1
    bounds = [factor * error + 1e-7 * (10 if i else 1) for i, error in enumerate(errors)]
    programs = []
    if path:
        try:
            again = []
            programs = [Program(path, options.overlap) for _ in range(sets)]
            outputs = [poison(problem) for _ in range(sets)]
            launches = [p.bind(i, o) for p, i, o in zip(programs, inputs, outputs)]
            for _ in range(2):
                for out in outputs[0]:
                    out.view(torch.uint8).fill_(0xFF)
                launches[0]()
                torch.cuda.synchronize()
                again.append([out.clone() for out in outputs[0]])
            found = [distance(x, want) for x, want in zip(again[0], exact)]
            row["error"] = max(found)
            for i, (error, bound) in enumerate(zip(found, bounds)):
                if not error <= bound:
                    row["wrong"] = f"error of result {i} {error:.2e}, expected at most {bound:.2e}"
            if not all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(*again)):
                row["wrong"] = "two runs differ"
        except RuntimeError as failure:
            if "CUDA_ERROR_ILLEGAL" in str(failure) or "CUDA error" in str(failure):
                raise
            row["wrong"] = str(failure).splitlines()[0][:200]
    del exact, results
    floor = max(problem.flops / (CEILING[problem.dtype] * 1e12), problem.bytes / (BANDWIDTH * 1e9)) + 2e-6
    repeats = max(1, min(300, int(SECONDS_OF_SAMPLE / floor)) // sets) * sets
    graphs, spare = {}, [poison(problem) for _ in range(sets)]
    for name, peer in peers.items():
        graphs[name] = capture([lambda i=i, o=o, peer=peer: peer(i, o) for i, o in zip(inputs, spare)], repeats)
    if path and "wrong" not in row:
        graphs["tracea"] = capture(launches, repeats)
    times = compete(graphs, repeats, options.rounds, options.rest)
    row["times"] = times
    row["peer"] = min(peers, key=lambda name: times[name][0])
    if "tracea" in times:
        row["ratio"] = times[row["peer"]][0] / times["tracea"][0]
        row["roofline"] = (floor - 2e-6) * 1e6 / times["tracea"][0]
    del graphs
    for program in programs:
        program.close()
    torch.cuda.empty_cache()
    return row


def describe(problem, row):
    peer = row["times"][row["peer"]][0]
    text = f"{problem.name:44} {row['peer']:9} {peer:9.2f}"
    if "ratio" not in row:
        return f"{text} {'-':>9}  {row.get('wrong') or 'no program'}"
    ours, least, most = row["times"]["tracea"]
    rate = f"{problem.flops / ours / 1e6:6.0f} TF" if problem.flops / problem.bytes > 150 else f"{problem.bytes / ours / 1e3:6.0f} GB"
    return (f"{text} {ours:9.2f} {rate} {100 * row['roofline']:4.0f} %  {row['ratio']:6.3f}  "
            f"{row['error']:.2e} {row['peer_error']:.2e}  {100 * (most - least) / ours:4.1f} %  {row.get('schedule', '')}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rest", type=float, default=0.06)
    parser.add_argument("--overlap", action="store_true",
                        help="begin launches before the ones before them have ended, where kernels wait themselves")
    parser.add_argument("--peers", choices=["eager", "compiled"], default="eager")
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-gemm"))
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    with open(os.path.join(options.programs, "compiled.json")) as file:
        compiled = json.load(file)
    print(f"torch {torch.__version__}, cuBLAS as it carries it; medians of {options.rounds} rounds, "
          f"{options.rest * 1e3:.0f} ms of rest before each; programs compiled with proofs demanded"
          + ("; launches of programs overlap" if options.overlap else ""))
    print(f"{'problem':44} {'peer':9} {'peer us':>9} {'us':>9} {'rate':>9} {'roof':>6} {'ratio':>7}  "
          f"{'error':8} {'peer s':8}  {'spread':>6}  schedule")
    groups, bad = {}, 0
    for problem in problems():
        if not re.search(options.only, problem.name):
            continue
        for entry in [e for e in compiled if e["problem"] == problem.name] or [{"error": "not compiled"}]:
            path = None if "error" in entry else os.path.join(options.programs, entry["name"] + ".tracea")
            row = measure(problem, path, options)
            row["schedule"] = entry.get("schedule", "")
            print(describe(problem, row), flush=True)
            bad += "wrong" in row
            groups.setdefault(problem.group, []).append(row)
    print()
    for group, rows in groups.items():
        ratios = [row["ratio"] for row in rows if "ratio" in row]
        if not ratios:
            print(f"{group:10} no program")
            continue
        worst = min((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        missing = f", {len(rows) - len(ratios)} without a time" if len(ratios) < len(rows) else ""
        print(f"{group:10} geometric mean {mean:.3f} of {len(ratios)}{missing}; worst {worst['ratio']:.3f} {worst['name']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
