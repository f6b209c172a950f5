#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows, movement and reductions against PyTorch in one process: run.py [--only REGEX] [--rounds N] [--rest SECONDS] [--peers eager|compiled] [PROGRAMS]

PROGRAMS is what compile.py wrote (default: build/gpu-rows). Results are written
over NaN and compared with float64; two runs must be equal bit for bit. Figures
are of CUDA graphs of repeats over buffers that together exceed the second-level
cache, rested before each sample, peers and program in turns; the median of the
rounds. The share is that of the memory's bandwidth for each byte once.
"""

import argparse
import os
import sys

import torch
import torch.nn.functional as F

from cases import cases

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import TYPES, Program  # noqa: E402
from measure import distance, race, run_cases  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
BANDWIDTH = 4300e9
CACHE_BYTES = 400e6
SECONDS_OF_SAMPLE = 3e-3


def rms(x, w):
    return F.rms_norm(x, x.shape[-1:], w, 1e-5)


def residual_rms(x, y, w):
    h = x + y
    return h, rms(h, w)


def residual_quantised(x, y, w, scale):
    h = x + y
    if h.dtype == torch.float64:
        return h, (rms(h, w) * scale).clamp(-448, 448)
    return h, (rms(h.float(), w.float()) * scale).clamp(-448, 448).to(torch.float8_e4m3fn)


def own_scale(x, y, w, most):
    h = x + y
    exact = h.dtype == torch.float64
    n = rms(h, w) if exact else rms(h.float(), w.float())
    scale = n.abs().amax(-1, keepdim=True).clamp(min=1e-12) / most
    q = (n / scale).clamp(-most, most)
    if exact:
        return h, q, scale
    return h, q.to(torch.float8_e4m3fn) if most > 127 else q.round().to(torch.int8), scale


def chain(a, b, c):
    if a.dtype == torch.float64:
        return F.silu(a * b + c) * a
    w = a.float()
    return (F.silu(w * b.float() + c.float()) * w).to(a.dtype)


def cumsum(x, dim):
    if x.dtype == torch.float64:
        return torch.cumsum(x, dim)
    return torch.cumsum(x, dim, dtype=torch.float32).to(x.dtype)


def philox(key, count):
    """Products of 32 bits in halves: integers of 64 bits have a sign."""
    def product(x, m):
        low, high = x * (m & 0xFFFF), x * (m >> 16)
        middle = (low >> 16) + high
        return (middle >> 16) & 0xFFFFFFFF, (x * m) & 0xFFFFFFFF
    k = [key[i].long() & 0xFFFFFFFF for i in range(2)]
    c = [torch.arange(count, device="cuda"), *[torch.zeros(count, dtype=torch.long, device="cuda") for _ in range(3)]]
    for _ in range(10):
        (ha, la), (hb, lb) = product(c[0], 0xD2511F53), product(c[2], 0xCD9E8D57)
        c = [hb ^ c[1] ^ k[0], lb, ha ^ c[3] ^ k[1], la]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return tuple((word >> 8).float() * 2.0 ** -24 for word in c)


def of_images(apply):
    """`apply` on images, channels first in shape; channels last only in memory."""
    def applied(x, channels_last):
        if not channels_last:
            return apply(x)
        return apply(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    return applied


MEANINGS = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "rms_norm": rms,
    "layer_norm": lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
    "image_norm": lambda x, w, b: torch.nn.functional.layer_norm(x, x.shape[1:], w, b, 1e-5),
    "residual_rms": residual_rms,
    "residual_quantised": residual_quantised,
    "own_scale": own_scale,
    "chain": chain,
    "broadcast": lambda x, row, column: x + row + column[:, None],
    "permute": lambda x, order: x.permute(order).contiguous(),
    "concat": lambda x, y: torch.cat([x, y], 1),
    "total": lambda x, dims: torch.sum(x, dims, dtype=x.dtype if x.dtype == torch.float64 else torch.float32),
    "heads": lambda x, count, width: x[:, count * width:2 * count * width].view(-1, count, width).permute(1, 2, 0).contiguous(),
    "argmax": lambda x: tuple(torch.max(x, -1)),
    "max_pool": of_images(lambda x: F.max_pool2d(x, 3, 2, 1)),
    "bilinear": of_images(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)),
    "pad": of_images(lambda x: F.pad(x, (1, 1, 1, 1))),
    "cumsum": cumsum,
    "scatter": lambda table, index, rows: torch.index_add(table, 0, index, rows),
    "philox": philox,
    "topk": lambda x, count: tuple(torch.topk(x, count)),
    "embedding": lambda table, index: F.embedding(index, table),
}


def make_inputs(case):
    found = []
    for element, shape in case.inputs:
        if element == "i32":
            found.append(torch.randint(0, case.inputs[0][1][0], shape, device="cuda", dtype=torch.int32))
        else:
            found.append(torch.randn(shape, device="cuda").to(TYPES[element]))
    return found


def poison(case):
    outputs = [torch.empty(shape, device="cuda", dtype=TYPES[element]) for element, shape in case.outputs]
    for out in outputs:
        out.view(-1).view(torch.uint8).fill_(0xFF)
    return outputs


def as_list(found):
    return list(found) if isinstance(found, tuple) else [found]


def wide(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def measure(case, path, options):
    sets = max(1, min(8, int(CACHE_BYTES / case.bytes) + 1))
    inputs = [make_inputs(case) for _ in range(sets)]
    meaning = MEANINGS[case.meaning]
    peers = {"eager": lambda *given: meaning(*given, **case.options)}
    if options.peers == "compiled":
        # Cases share code, of which PyTorch keeps eight versions before it gives up.
        torch._dynamo.reset()
        peers["compile"] = torch.compile(peers["eager"], dynamic=False)
    exact = as_list(meaning(*[wide(x) for x in inputs[0]], **case.options))
    # Eager operations round what they pass on, as the program's meaning does;
    # torch.compile may leave that out.
    errors = [distance(x, want) for x, want in zip(as_list(peers["eager"](*inputs[0])), exact)]
    programs = [Program(path) for _ in range(sets)]
    outputs = [poison(case) for _ in range(sets)]
    launches = [p.bind(i, o) for p, i, o in zip(programs, inputs, outputs)]
    again = []
    for _ in range(2):
        for out in outputs[0]:
            out.view(-1).view(torch.uint8).fill_(0xFF)
        launches[0]()
        torch.cuda.synchronize()
        again.append([out.clone() for out in outputs[0]])
    found = [distance(x, want) for x, want in zip(again[0], exact)]
    wrong = next((f"error of result {i} {own:.2e}, that of the peer {peer:.2e}"
                  for i, (own, peer) in enumerate(zip(found, errors)) if not own <= 2 * peer + 1e-7), "")
    if not all(torch.equal(x.view(-1).view(torch.uint8), y.view(-1).view(torch.uint8)) for x, y in zip(*again)):
        wrong = "two runs differ"
    del exact, again
    floor = case.bytes / BANDWIDTH + 2e-6
    times = race(launches, peers, inputs, floor, options, SECONDS_OF_SAMPLE)
    for program in programs:
        program.close()
    torch.cuda.empty_cache()
    return times, max(found), max(errors), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rest", type=float, default=0.03)
    parser.add_argument("--peers", choices=["eager", "compiled"], default="eager")
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-rows"))
    options = parser.parse_args()
    print(f"torch {torch.__version__}; medians of {options.rounds} rounds, {options.rest * 1e3:.0f} ms of rest before each")
    print(f"{'case':28} {'us':>9} {'share':>6}  {'eager':>9} {'compile':>9} {'ratio':>6}  {'error':8} {'peer s':8}")

    def describe(case, own, peers):
        shown = " ".join(f"{peers[name]:9.1f}" if name in peers else f"{'-':>9}" for name in ("eager", "compile"))
        return f"{own:9.1f} {case.bytes / own * 1e6 / BANDWIDTH:6.2f}  {shown} {min(peers.values()) / own:6.2f}"
    return run_cases(cases(), options, 28, measure, describe)


if __name__ == "__main__":
    sys.exit(main())
