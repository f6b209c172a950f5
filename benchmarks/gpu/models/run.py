#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models on a GPU against float64: run.py [--only REGEX] [--compiled] [--seed N] [PROGRAMS]

PROGRAMS is what compile.py wrote (default: build/gpu-models). Inputs are random
and made there. Results are written over NaN, twice, and must be the same bits;
their error is the largest difference from PyTorch's float64 results over the
largest of these, beside that of PyTorch in the model's own type, of which a
program may have twice as much, and a little. Times are of CUDA graphs where
either side can be captured: the medians of samples in turns, the program's,
PyTorch's, and with --compiled torch.compile's.
"""

import argparse
import os
import re
import statistics
import sys

import torch

from cases import CASES, evaluate, module
from eager import TYPES, Eager, make_inputs, widened

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import Program  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
# Half a unit in the last place of 1.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "i8": 2.0**-24}


def error_of(found, expected):
    """The largest difference over the largest magnitude; infinite where one side alone is NaN."""
    difference = (found.double() - expected).abs()
    return float((difference.max() / expected.abs().max()).nan_to_num(float("inf")))


def captured(launch):
    """A launch as a CUDA graph, or as it is where it cannot be captured."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            launch()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            launch()
    except RuntimeError:
        torch.cuda.synchronize()
        return launch, ""
    return graph.replay, " (graph)"


def sample(launch, seconds=0.05):
    def run(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            launch()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / repeats

    return run(max(1, min(100, int(seconds / max(run(2), 1e-6)))))


def run_case(case, options):
    _, arguments = module(case)
    inputs = make_inputs(arguments, options.seed, "cuda")
    with torch.inference_mode():
        expected = evaluate(case, Eager(widened(inputs)))
        eager = lambda: evaluate(case, Eager(inputs))
        theirs = eager()
    outputs = [torch.empty(tensor.shape, device="cuda", dtype=tensor.dtype) for tensor in theirs]
    program = Program(os.path.join(options.programs, case.name + ".tracea"))
    launch = program.bind(inputs, outputs, [argument.constant for argument in arguments])
    runs = []
    for _ in range(2):
        for out in outputs:
            out.view(torch.uint8).fill_(0xFF)
        launch()
        torch.cuda.synchronize()
        runs.append([out.clone() for out in outputs])
    repeated = all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(*runs))
    own = max(error_of(out, wanted) for out, wanted in zip(runs[0], expected))
    other = max(error_of(out, wanted) for out, wanted in zip(theirs, expected))
    right = repeated and own <= 2 * other + 8 * ROUNDING[case.dtype]
    said = f"error {own:.2e}, PyTorch's {other:.2e}"
    if not repeated:
        said += ", two runs differ"
    if right:
        peers = {"program": launch, "PyTorch": eager}
        if options.compiled:
            peers["compiled"] = torch.compile(eager, mode="max-autotune-no-cudagraphs", fullgraph=True, dynamic=False)
        with torch.inference_mode():
            peers = {name: captured(peer) for name, peer in peers.items()}
            times = {name: [] for name in peers}
            for _ in range(options.rounds):
                for name, (peer, _) in peers.items():
                    times[name].append(sample(peer))
        medians = {name: statistics.median(samples) for name, samples in times.items()}
        for name, median in medians.items():
            said += f"  {name} {median * 1e6:.1f} us{peers[name][1]}"
        best = min(median for name, median in medians.items() if name != "program")
        said += f"  ratio {best / medians['program']:.2f}"
    program.close()
    return right, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--compiled", action="store_true", help="also torch.compile, which tunes for minutes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-models"))
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    # A program computes products of f32 as such.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    failed = ran = 0
    for case in CASES:
        if not re.fullmatch(options.only, case.name):
            continue
        try:
            right, said = run_case(case, options)
        except RuntimeError as error:
            right, said = False, str(error).splitlines()[0]
        ran += 1
        failed += not right
        print(f"{case.name:24} {'right ' if right else 'FAILED'} {said}", flush=True)
    print(f"{ran} ran, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
