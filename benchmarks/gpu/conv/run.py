#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions on a GPU against float64: run.py [--only REGEX] [--times] [PROGRAMS]

PROGRAMS is what compile.py wrote (default: build/gpu-conv). Results are written
between guards, all of it poisoned before: an element that nobody wrote is a NaN
or a number that no sum is, and a guard that changed is an error. A result may
be off by what its type rounds and its sums lose; integers by nothing. With
--times each is measured beside PyTorch's convolution of channels last.
"""

import argparse
import os
import re
import statistics
import sys

import torch
import torch.nn.functional as F

from cases import EPSILON, NORM, cases

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import TYPES, Program  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
GUARD = 4096
# Half a unit in the last place of a result, and what a sum of products loses.
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
SUM_LOSS = {"tf32": 2.0**-10, "tf32x3": 2.0**-20, "f64": 2.0**-50, "": 2.0**-21}


def make_inputs(case):
    torch.manual_seed(1)
    found = []
    for element, shape in case.inputs:
        if element == "i8":
            found.append(torch.randint(-100, 100, shape, device="cuda", dtype=torch.int8))
        elif element == "i32":
            found.append(torch.randint(-1000, 1000, shape, device="cuda", dtype=torch.int32))
        else:
            found.append(torch.randn(shape, device="cuda", dtype=torch.float64).to(TYPES[element]))
    if "norm" in case.steps:
        # Of random images the results have about this variance, which is positive in any case.
        at = 2 + ("bias" in case.steps) + NORM.index("variance")
        found[at] = (found[at].abs() + 0.5) * (case.r * case.s * case.c / case.groups)
    return found


OF_FILTERS = {"krsc": (0, 3, 1, 2), "kcrs": (0, 1, 2, 3), "rsck": (3, 2, 0, 1)}


def of_images(tensor, case):
    """A tensor of the case's layout as PyTorch has images, without a copy."""
    return tensor.permute(0, 3, 1, 2) if case.layout == "nhwc" and tensor.dim() == 4 else tensor


def backward(case, image, weights, gradient):
    """PyTorch's gradient of the case, of tensors in PyTorch's layouts."""
    by_image = case.by == "image"
    return torch.ops.aten.convolution_backward(
        gradient, image, weights, None, case.strides, case.pads[:2], case.dilations, False, (0, 0), case.groups,
        (by_image, not by_image, False))[0 if by_image else 1]


def of_gradient(case, inputs):
    """What `backward` takes of the inputs of a case."""
    if case.by == "image":
        weights = inputs[1].permute(OF_FILTERS[case.filter])
        image = of_images(torch.empty(case.image_shape, device=weights.device, dtype=weights.dtype), case)
        return image, weights, of_images(inputs[0], case)
    image = of_images(inputs[0], case)
    weights = torch.empty(case.filter_shape, device=image.device, dtype=image.dtype).permute(OF_FILTERS[case.filter])
    return image, weights, of_images(inputs[1], case)


def gradient(case, inputs):
    """The gradient of tensors as they are, in the case's layout."""
    found = backward(case, *of_gradient(case, inputs))
    if case.by == "image":
        return found.permute(0, 2, 3, 1) if case.layout == "nhwc" else found
    order = OF_FILTERS[case.filter]
    return found.permute([order.index(dim) for dim in range(4)])


def reference(case, inputs, magnitudes=False, device="cpu"):
    """The result in float64; with `magnitudes` the sums of all magnitudes."""
    def wide(tensor):
        tensor = tensor.to(torch.float64).to(device)
        return tensor.abs() if magnitudes else tensor

    if case.by:
        return gradient(case, [wide(tensor) for tensor in inputs])
    image, weights = wide(inputs[0]), wide(inputs[1])
    if case.layout == "nhwc":
        image = image.permute(0, 3, 1, 2)
    weights = weights.permute(OF_FILTERS[case.filter])
    shape = (case.n, case.k, case.pixels(0), case.pixels(1))
    if 0 in shape or case.c == 0:
        out = torch.zeros(shape, dtype=torch.float64, device=device)
    else:
        top, left, bottom, right = case.pads
        out = F.conv2d(F.pad(image, (left, right, top, bottom)), weights, stride=case.strides,
                       dilation=case.dilations, groups=case.groups)
    if case.layout == "nhwc":
        out = out.permute(0, 2, 3, 1)
    extras = iter(inputs[2:])
    for step in case.steps:
        if step == "relu":
            out = out if magnitudes else out.clamp(min=0)
        elif step == "silu":
            out = out if magnitudes else F.silu(out)
        elif step == "bias" and case.layout == "nchw":
            out = out + wide(next(extras))[None, :, None, None]
        elif step == "norm":
            scale, shift, mean, variance = [wide(next(extras)).view([-1, 1, 1] if case.layout == "nchw" else [-1]) for _ in NORM]
            out = (out + mean if magnitudes else out - mean) * (scale / (variance + EPSILON).sqrt()) + shift
        else:
            out = out + wide(next(extras))
    return out


def check(case, out, inputs):
    """What is wrong with a result, or nothing."""
    expected = reference(case, inputs)
    found = out.to(torch.float64).cpu()
    if found.shape != expected.shape:
        return f"its shape is {tuple(found.shape)}"
    if not out.numel():
        return ""
    if not out.dtype.is_floating_point:
        wrong = int((found != expected).sum())
        return f"{wrong} of {out.numel()} elements differ" if wrong else ""
    kind = case.allow or ("f64" if case.dtype == "f64" else "")
    bound = expected.abs() * ROUNDING[case.result_type] * 2 + reference(case, inputs, magnitudes=True) * SUM_LOSS[kind]
    error = (found - expected).abs()
    wrong = int((~(error <= bound)).sum())
    return f"{wrong} of {out.numel()} elements are off, by up to {float(error.nan_to_num(float('inf')).max()):.3g}" if wrong else ""


def run_case(case, programs):
    inputs = make_inputs(case)
    count = 1
    for extent in case.result_shape:
        count *= extent
    element = TYPES[case.result_type]
    whole = torch.empty(count + 2 * GUARD, device="cuda", dtype=element)
    whole.view(torch.uint8).fill_(0xFF)
    out = whole[GUARD:GUARD + count].view(case.result_shape)
    program = Program(os.path.join(programs, case.name + ".tracea"))
    launch = program.bind(inputs, [out])
    launch()
    torch.cuda.synchronize()
    problem = check(case, out, inputs)
    guards = torch.cat([whole[:GUARD], whole[GUARD + count:]]).view(torch.uint8)
    if int((guards != 0xFF).sum()):
        problem += " memory beside the result was written"
    return problem, launch, inputs, program


def seconds_of(launch, repeats=20):
    times = []
    for _ in range(5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeats):
            launch()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / repeats)
    return statistics.median(times)


def peer(case, inputs):
    """PyTorch's convolution, without the epilogue, where it has one."""
    top, left, bottom, right = case.pads
    if case.dtype == "i8" or (top, left) != (bottom, right) or 0 in case.image_shape + case.filter_shape:
        return None
    torch.backends.cudnn.allow_tf32 = case.allow == "tf32"
    torch.backends.cudnn.benchmark = True
    if case.by:
        given = of_gradient(case, inputs)
        return lambda: backward(case, *given)
    image = of_images(inputs[0], case)
    weights = inputs[1].permute(OF_FILTERS[case.filter])
    return lambda: F.conv2d(image, weights, stride=case.strides, padding=(top, left), dilation=case.dilations, groups=case.groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-conv"))
    options = parser.parse_args()
    failed = ran = 0
    for case in cases():
        if not re.fullmatch(options.only, case.name):
            continue
        try:
            problem, launch, inputs, program = run_case(case, options.programs)
        except RuntimeError as error:
            failed += 1
            print(f"{case.name:18} FAILED: {error}", flush=True)
            continue
        ran += 1
        failed += bool(problem)
        said = "FAILED: " + problem if problem else "right"
        if options.times and not problem and 0 not in case.result_shape:
            own, other = seconds_of(launch), peer(case, inputs)
            said += f"  {own * 1e6:8.1f} us"
            if other:
                other()
                said += f"  PyTorch {seconds_of(other) * 1e6:8.1f} us"
        print(f"{case.name:18} {said}", flush=True)
        program.close()
    print(f"{ran} ran, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
