#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions against cuDNN in one process: layers.py [--only REGEX] [--plans] [--graduation] [--peers compiled] [--rounds N] [--rest SECONDS] [PROGRAMS]

PROGRAMS is what `compile.py --layers`, or `--graduation`, wrote (default:
build/gpu-conv). The peer is
PyTorch's convolution, which times cuDNN's kernels and takes the fastest, of
channels last where the program's are; with an epilogue also cuDNN's fused forms,
and with `--peers compiled` torch.compile. For i8 it has none: there it is that of
f16. Results are written over NaN and compared with float64; two runs must be
equal bit for bit. Figures are of CUDA graphs of repeats over inputs beyond the
cache, rested before each sample, peers and program in turns; the median of rounds.
"""

import argparse
import dataclasses
import math
import os
import sys

import torch
import torch.nn.functional as F

from cases import EPSILON, NORM, graduation, layers, plans
from run import OF_FILTERS, backward, make_inputs, of_gradient, of_images, reference

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import TYPES, Program  # noqa: E402
from measure import distance, race, run_cases  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
CACHE_BYTES = 400e6
SECONDS_OF_SAMPLE = 6e-3
BANDWIDTH, FLOPS = 4.3e12, 800e12
IMAGES_AT_A_TIME = 8


def exact(case, inputs):
    """The result in float64, some images at a time."""
    per_image = [True] + [shape == case.result_shape for _, shape in case.inputs[1:]]
    if case.by == "filter":
        per_image[1] = True

    def part(at):
        some = dataclasses.replace(case, n=min(IMAGES_AT_A_TIME, case.n - at))
        return reference(some, [x[at:at + IMAGES_AT_A_TIME] if cut else x for x, cut in zip(inputs, per_image)], device="cuda")

    with torch.backends.cudnn.flags(benchmark=False):
        parts = [part(at) for at in range(0, case.n, IMAGES_AT_A_TIME)]
    return sum(parts) if case.by == "filter" else torch.cat(parts)


def eager(case):
    """The layer in PyTorch, on what `as_peer` makes of inputs."""
    if case.by:
        return lambda *given: backward(case, *given)
    how = dict(stride=case.strides, padding=case.pads[:2], dilation=case.dilations, groups=case.groups)

    def run(image, weights, *extras):
        extras = iter(extras)
        out = F.conv2d(image, weights, next(extras) if "bias" in case.steps else None, **how)
        for step in case.steps:
            if step == "residual":
                out = out + next(extras)
            elif step == "norm":
                scale, shift, mean, variance = [next(extras) for _ in NORM]
                out = F.batch_norm(out, mean, variance, scale, shift, eps=EPSILON)
            elif step != "bias":
                out = {"relu": F.relu, "silu": F.silu}[step](out)
        return out
    return run


def fused(case):
    """cuDNN's convolution with this epilogue, or None."""
    where = (case.strides, case.pads[:2], case.dilations, case.groups)
    return {
        "bias+relu": lambda image, weights, bias: torch.cudnn_convolution_relu(image, weights, bias, *where),
        "bias+residual+relu": lambda image, weights, bias, residual: torch.cudnn_convolution_add_relu(image, weights, residual, 1.0, bias, *where),
    }.get(case.epilogue)


def as_peer(case, inputs):
    if case.by:
        return list(of_gradient(case, inputs))
    image, weights, *extras = inputs
    weights = weights.permute(OF_FILTERS[case.filter])
    given = [of_images(image, case), weights, *[of_images(x, case) for x in extras]]
    return [x.half() if case.dtype == "i8" else x for x in given]


def peers_of(case, inputs, options):
    found = {"cudnn": eager(case), "fused": fused(case)}
    if options.peers == "compiled":
        found["compile"] = torch.compile(found["cudnn"], dynamic=False)
    usable = {}
    for name, peer in found.items():
        try:
            if peer:
                peer(*inputs)
                usable[name] = peer
        except RuntimeError as refused:
            print(f"  {name}: {str(refused).splitlines()[0][:120]}", flush=True)
    return usable


def measure(case, path, options):
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = case.allow == "tf32"
    sets = max(1, min(8, int(CACHE_BYTES / case.bytes) + 1))
    inputs = [make_inputs(case) for _ in range(sets)]
    of_peers = [as_peer(case, given) for given in inputs]
    outputs = [torch.empty(case.result_shape, device="cuda", dtype=TYPES[case.result_type]) for _ in range(sets)]
    programs = [Program(path) for _ in range(sets)]
    launches = [p.bind(i, [o]) for p, i, o in zip(programs, inputs, outputs)]
    again = []
    for _ in range(2):
        outputs[0].view(-1).view(torch.uint8).fill_(0xFF)
        launches[0]()
        torch.cuda.synchronize()
        again.append(outputs[0].clone())
    peers = peers_of(case, of_peers[0], options)
    wanted = exact(case, inputs[0])
    own = distance(again[0], wanted)
    wanted = wanted.permute(OF_FILTERS[case.filter]) if case.by == "filter" else of_images(wanted, case)
    others = [distance(peer(*of_peers[0]), wanted) for peer in peers.values()]
    bound = 2 * min(others) if case.result_type == case.dtype else 0
    wrong = "" if own <= bound else f"error {own:.2e}, expected at most {bound:.2e}"
    if not torch.equal(again[0].view(-1).view(torch.uint8), again[1].view(-1).view(torch.uint8)):
        wrong = "two runs differ"
    del wanted, again
    floor = max(case.flops / FLOPS, case.bytes / BANDWIDTH) + 2e-6
    times = race(launches, peers, of_peers, floor, options, SECONDS_OF_SAMPLE)
    for program in programs:
        program.close()
    torch.cuda.empty_cache()
    return times, own, min(others, default=0), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="layers, a regular expression")
    parser.add_argument("--plans", action="store_true", help="also other schedules of some layers")
    parser.add_argument("--graduation", action="store_true", help="in place of the layers the rounds with batch norm and ReLU")
    parser.add_argument("--peers", choices=["eager", "compiled"], default="eager")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rest", type=float, default=0.03)
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-conv"))
    options = parser.parse_args()
    print(f"torch {torch.__version__}; medians of {options.rounds} rounds, {options.rest * 1e3:.0f} ms of rest before each")
    print(f"{'layer':44} {'us':>9} {'TFLOP/s':>8} {'GB/s':>6}  {'cudnn':>9} {'fused':>9} {'compile':>9} {'ratio':>6}  {'error':8} {'peer s':8}")
    ratios = {}

    def describe(case, own, peers):
        shown = " ".join(f"{peers[name]:9.1f}" if name in peers else f"{'-':>9}" for name in ("cudnn", "fused", "compile"))
        ratio = min(peers.values(), default=math.nan) / own
        if options.graduation:
            ratios.setdefault("odd shapes" if case.name.startswith("odd") else f"usual shapes, {case.allow or case.dtype}", []).append(ratio)
        elif case.name.startswith("r") and not case.schedule:
            ratios.setdefault(f"ResNet-50, {case.n} images", []).append(ratio)
        return f"{own:9.1f} {case.flops / own / 1e6:8.0f} {case.bytes / own / 1e3:6.0f}  {shown} {ratio:6.2f}"
    chosen = graduation() if options.graduation else layers()
    status = run_cases(chosen + (plans() if options.plans else []), options, 44, measure, describe)
    for group, found in ratios.items():
        print(f"{group}: {math.exp(sum(map(math.log, found)) / len(found)):.2f} in the geometric mean, {min(found):.2f} at least")
    return status


if __name__ == "__main__":
    sys.exit(main())
