#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention against PyTorch's FlashAttention-2 and cuDNN in one process: run.py [--only REGEX] [--plans] [--rounds N] [--rest SECONDS] [--flex] [PROGRAMS]

PROGRAMS is what compile.py wrote (default: build/gpu-attention). Results are
written over NaN and compared with float64 on a few heads; two runs must be equal
bit for bit. Figures are of CUDA graphs of repeats, rested before each sample,
peers and program in turns; the median of the rounds. With --flex FlexAttention
is compiled and measured too, which is the peer of windows and masks.
"""

import argparse
import os
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from cases import cases, plans

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from contender import TYPES, Program  # noqa: E402
from measure import distance, race, run_cases  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
PEERS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
CACHE_BYTES = 400e6
SECONDS_OF_SAMPLE = 6e-3


def make_mask(case):
    if not case.shown:
        return None
    blocks = (-(-case.queries // 128), -(-case.keys // 128))
    mask = torch.rand(blocks, device="cuda") < case.shown / 100
    mask.fill_diagonal_(True)
    return mask[None, None].contiguous()


def visible(case, mask, rows, batch):
    """Which keys the queries `rows` of a batch see, or None: all."""
    if not (case.causal or case.window or case.shown or case.documents):
        return None
    i = rows[:, None] + (case.keys - case.queries)
    j = torch.arange(case.keys, device="cuda")[None, :]
    seen = torch.ones(len(rows), case.keys, device="cuda", dtype=torch.bool)
    if case.causal:
        seen &= j <= i
    if case.window:
        seen &= j >= i - case.window
    if case.shown:
        seen &= mask[0, 0][rows // 128].repeat_interleave(128, 1)[:, :case.keys]
    if case.documents:
        seen &= j < case.lengths[batch]
    return seen


def exact(case, q, k, v, mask):
    """Of the first and the last head of the first and last batch, some queries: float64."""
    rows = torch.unique(torch.linspace(0, case.queries - 1, min(case.queries, 257), device="cuda").long())
    found = []
    for b, h in {(0, 0), (case.batch - 1, case.heads - 1)}:
        g = h * case.key_heads // case.heads
        scores = q[b, h, rows].double() @ k[b, g].double().T * case.depth ** -0.5
        seen = visible(case, mask, rows, b)
        if seen is not None:
            scores = scores.masked_fill(~seen, float("-inf"))
        found.append((b, h, torch.nan_to_num(torch.softmax(scores, -1)) @ v[b, g].double()))
    return rows, found


def peers_of(case, inputs, mask, options):
    """Functions of a set of inputs, by name."""
    found = {}
    if not (case.window or case.shown or case.documents) and case.element != "f32":
        for name, backend in PEERS.items():
            def run(q, k, v, backend=backend):
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=case.causal, enable_gqa=case.heads != case.key_heads)
            found[name] = run
    if case.element == "f32":
        # Products that may be rounded to tf32 are the peer of those that are.
        torch.backends.cuda.matmul.allow_tf32 = True

        def run(q, k, v):
            with sdpa_kernel(SDPBackend.MATH):
                return F.scaled_dot_product_attention(q, k, v, is_causal=case.causal)
        found["sdpa"] = run
    if options.flex and (case.window or case.shown or case.documents):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        ends = torch.tensor(case.lengths, device="cuda")

        def see(b, h, i, j):
            seen = j <= i if case.causal else i >= 0
            if case.window:
                seen = seen & (j >= i - case.window)
            if case.shown:
                seen = seen & mask[0, 0][i // 128, j // 128]
            if case.documents:
                seen = seen & (j < ends[b])
            return seen
        blocks = create_block_mask(see, case.batch if case.documents else None, None, case.queries, case.keys, device="cuda")
        compiled = torch.compile(flex_attention, dynamic=False)
        shared = case.heads != case.key_heads
        found["flex"] = lambda q, k, v: compiled(q, k, v, block_mask=blocks, enable_gqa=shared)
    usable = {}
    for name, peer in found.items():
        try:
            peer(*inputs)
            usable[name] = peer
        except RuntimeError as refused:
            print(f"  {name}: {str(refused).splitlines()[0][:120]}", flush=True)
    return usable


def backward_peers(case, inputs):
    """The backward passes that torch calls, by name: functions of queries, keys, values, result, gradient and log-sum-exp."""
    q, k, v, y, g, sums = inputs
    shared = case.heads // case.key_heads
    aten, found = torch.ops.aten, {}
    if shared > 1:
        # They take as many heads of keys as of queries, and sums over those that share are torch's.
        k, v = (x.repeat_interleave(shared, 1) for x in (k, v))
    flash = aten._scaled_dot_product_flash_attention(q, k, v, 0.0, case.causal)

    def heads(x):
        return x.repeat_interleave(shared, 1) if shared > 1 else x

    def add(x):
        return x.unflatten(1, (-1, shared)).sum(2) if shared > 1 else x

    def by_flash(q, k, v, y, g, sums):
        a, b, c = aten._scaled_dot_product_flash_attention_backward(
            g, q, heads(k), heads(v), y, sums, flash[2], flash[3], flash[4], flash[5], 0.0, case.causal, flash[6], flash[7])
        return a, add(b), add(c)
    found["flash"] = by_flash
    try:
        cudnn = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, case.causal)

        def by_cudnn(q, k, v, y, g, sums):
            a, b, c = aten._scaled_dot_product_cudnn_attention_backward(
                g, q, heads(k), heads(v), cudnn[0], cudnn[1], cudnn[6], cudnn[7], torch.empty(0, device="cuda"), cudnn[2], cudnn[3], cudnn[4],
                cudnn[5], 0.0, case.causal)
            return a, add(b), add(c)
        by_cudnn(*inputs)
        found["cudnn"] = by_cudnn
    except (RuntimeError, TypeError) as refused:
        print(f"  cudnn: {str(refused).splitlines()[0][:120]}", flush=True)
    return found


def exact_backward(case, inputs, batch, head):
    """Of one head of keys: float64 gradients of its query heads, and of its keys and values."""
    q, k, v, _, g, _ = inputs
    shared = case.heads // case.key_heads
    mine = slice(head * shared, (head + 1) * shared)
    leaves = [x.double().requires_grad_() for x in (q[batch, mine], k[batch, head], v[batch, head])]
    scores = leaves[0] @ leaves[1].T * case.depth ** -0.5
    seen = visible(case, None, torch.arange(case.queries, device="cuda"), batch)
    if seen is not None:
        scores = scores.masked_fill(~seen, float("-inf"))
    (torch.softmax(scores, -1) @ leaves[2]).backward(g[batch, mine].double())
    return mine, [x.grad for x in leaves]


def measure_backward(case, path, options):
    sets = max(1, min(4, int(CACHE_BYTES / case.bytes) + 1))
    kind = TYPES[case.element]

    def draw(heads, length):
        return torch.randn(case.batch, heads, length, case.depth, device="cuda", dtype=torch.float32).to(kind)
    inputs = []
    for _ in range(sets):
        q, k, v, g = draw(case.heads, case.queries), draw(case.key_heads, case.keys), draw(case.key_heads, case.keys), draw(case.heads, case.queries)
        shared = case.heads // case.key_heads
        wide = [x.repeat_interleave(shared, 1) if shared > 1 else x for x in (k, v)]
        y, sums, *_ = torch.ops.aten._scaled_dot_product_flash_attention(q, *wide, 0.0, case.causal)
        inputs.append((q, k, v, y.contiguous(), g, sums.contiguous()))
    outputs = [[torch.empty_like(x) for x in given[:3]] for given in inputs]
    programs = [Program(path) for _ in range(sets)]
    launches = [p.bind(list(i), o) for p, i, o in zip(programs, inputs, outputs)]
    again = []
    for _ in range(2):
        for output in outputs[0]:
            output.view(torch.uint8).fill_(0xFF)
        launches[0]()
        torch.cuda.synchronize()
        again.append([output.clone() for output in outputs[0]])
    wanted = {(b, h): exact_backward(case, inputs[0], b, h) for b, h in {(0, 0), (case.batch - 1, case.key_heads - 1)}}

    def error(found):
        return max(distance(x, want) for (b, h), (mine, exact) in wanted.items()
                   for x, want in zip((found[0][b, mine], found[1][b, h], found[2][b, h]), exact))
    peers = backward_peers(case, inputs[0])
    own, theirs = error(again[0]), [error(peer(*inputs[0])) for peer in peers.values()]
    wrong = "" if own <= 2 * min(theirs) else f"error {own:.2e}, expected at most {2 * min(theirs):.2e}"
    if not all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(*again)):
        wrong = "two runs differ"
    floor = max(case.flops / 900e12, case.bytes / 4300e9) + 6e-6
    times = race(launches, peers, inputs, floor, options, SECONDS_OF_SAMPLE)
    for program in programs:
        program.close()
    torch.cuda.empty_cache()
    return times, own, min(theirs, default=0), wrong


def measure(case, path, options):
    if case.backward:
        return measure_backward(case, path, options)
    sets = max(1, min(4, int(CACHE_BYTES / case.bytes) + 1))
    kind = TYPES[case.element]
    mask = make_mask(case)

    def draw(heads, length):
        order = (length, heads) if case.behind else (heads, length)
        return torch.randn(case.batch, *order, case.depth, device="cuda", dtype=torch.float32).to(kind)

    def view(tensor):
        return tensor.transpose(1, 2) if case.behind else tensor
    memory = [(draw(case.heads, case.queries), draw(case.key_heads, case.keys), draw(case.key_heads, case.keys)) for _ in range(sets)]
    inputs = [tuple(map(view, tensors)) for tensors in memory]
    outputs = [torch.empty_like(q) for q, _, _ in memory]
    programs = [Program(path) for _ in range(sets)]
    others = [mask] if case.shown else []
    if case.documents:
        others.append(torch.tensor(case.lengths, device="cuda", dtype=torch.int32))
    launches = [p.bind([*i, *others], [o]) for p, i, o in zip(programs, memory, outputs)]
    again = []
    for _ in range(2):
        outputs[0].view(torch.uint8).fill_(0xFF)
        launches[0]()
        torch.cuda.synchronize()
        again.append(outputs[0].clone())
    rows, wanted = exact(case, *inputs[0], mask)

    def error(found):
        return max(distance(found[b, h][rows], want) for b, h, want in wanted)
    peers = peers_of(case, inputs[0], mask, options)
    own = error(view(again[0]))
    theirs = [error(peer(*inputs[0])) for peer in peers.values()]
    bound = 2 * min(theirs) if theirs else {"bf16": 8e-3, "f16": 1e-3, "f32": 2e-3}[case.element]
    wrong = "" if own <= bound else f"error {own:.2e}, expected at most {bound:.2e}"
    if not torch.equal(again[0].view(torch.uint8), again[1].view(torch.uint8)):
        wrong = "two runs differ"
    floor = max(case.flops / 900e12, case.bytes / 4300e9) + 2e-6
    times = race(launches, peers, inputs, floor, options, SECONDS_OF_SAMPLE)
    for program in programs:
        program.close()
    torch.cuda.empty_cache()
    return times, own, min(theirs, default=0), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--plans", action="store_true", help="also other schedules of some cases")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rest", type=float, default=0.03)
    parser.add_argument("--flex", action="store_true")
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-attention"))
    options = parser.parse_args()
    print(f"torch {torch.__version__}; medians of {options.rounds} rounds, {options.rest * 1e3:.0f} ms of rest before each")
    print(f"{'case':36} {'us':>9} {'TFLOP/s':>8} {'GB/s':>6}  {'flash':>9} {'cudnn':>9} {'other':>9} {'ratio':>6} {'best':>6}  {'error':8} {'peer s':8}")

    def describe(case, own, peers):
        columns = [peers.get("flash"), peers.get("cudnn"), next((peers[n] for n in ("sdpa", "flex") if n in peers), None)]
        shown = " ".join(f"{x:9.1f}" if x else f"{'-':>9}" for x in columns)
        first = next((x for x in (columns[0], columns[2]) if x), 0)
        return (f"{own:9.1f} {case.flops / own / 1e6:8.0f} {case.bytes / own / 1e3:6.0f}  {shown} {first / own:6.2f} "
                f"{min(peers.values(), default=0) / own:6.2f}")
    return run_cases(cases() + (plans() if options.plans else []), options, 36, measure, describe)


if __name__ == "__main__":
    sys.exit(main())
