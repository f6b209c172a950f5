#!/usr/bin/env python3
"""Attention, rows, elementwise functions, reductions and transpositions on a CPU, beside PyTorch's.

    benchmarks/torch/operations.py                       # all of them on one core, some minutes
    benchmarks/torch/operations.py --only 'attention.*causal' --rounds 5
    benchmarks/torch/operations.py --json samples.json

Needs the package `tracea` (pip install ./python) beside PyTorch. All is in one process on as many
threads: both sides are warmed up, then take turns, A B A B …, each for some calls, and write to
tensors that are there (PyTorch's norms and attention make one in each call). Programs are compiled with their proofs demanded; where one is not decided
the row is marked with *. Results are compared with PyTorch's in double precision beforehand. GB/s
count what has to be read and written once, GFLOP/s of attention two products of all keys, also
where a mask hides them; the ratio is PyTorch's time over Tracea's. The first row is a copy.
"""

import argparse
import json
import os
import re
import statistics
import time

N = 4096
MASKS = (("full", "", {}), ("causal", "causal ", {"is_causal": True}), ("window 256", "causal window [255, -1] ", {}))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression that names have")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a round, for each side")
    parser.add_argument("--json", help="where to write all samples")
    return parser.parse_args()


def function(types, result, body):
    given = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    return f"func.func @main({given}) -> {result} {{\n%e = tensor.empty() : {result}\n{body}\nreturn %r : {result}\n}}\n"


def row(operation, shape):
    type = f"tensor<{shape[0]}x{shape[1]}xf32>"
    return function([type], type, f"%r = tracea.{operation} ins(%a0 : {type}) outs(%e : {type})")


def elementwise(body, shape=(N, N)):
    type = f"tensor<{shape[0]}x{shape[1]}xf32>"
    maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>"
    return function([type], type, f"""%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
  ins(%a0 : {type}) outs(%e : {type}) {{
^bb0(%x: f32, %o: f32):
{body}
  linalg.yield %y : f32
}} -> {type}""")


def reduction(operation, start, dim):
    type, result = f"tensor<{N}x{N}xf32>", f"tensor<{N}xf32>"
    return function([type], result, f"""%z = arith.constant {start} : f32
%f = linalg.fill ins(%z : f32) outs(%e : {result}) -> {result}
%r = linalg.reduce {{ {operation} }} ins(%a0 : {type}) outs(%f : {result}) dimensions = [{dim}]""")


GELU = """  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %s = arith.constant 0.70710678 : f32
  %u = arith.mulf %x, %s : f32
  %f = math.erf %u : f32
  %d = arith.addf %f, %one : f32
  %g = arith.mulf %x, %half : f32
  %y = arith.mulf %g, %d : f32"""
SILU = """  %one = arith.constant 1.0 : f32
  %n = arith.negf %x : f32
  %p = math.exp %n : f32
  %d = arith.addf %p, %one : f32
  %y = arith.divf %x, %d : f32"""


def cases():
    """name, module, shapes, element type, PyTorch's call with `out`, bytes or operations, the unit"""
    import torch
    import torch.nn.functional as F

    def into(call):
        return lambda x, out: out.copy_(call(x))

    both, one = 8 * N * N, 4 * N * N
    matrix = [(N, N)]
    type = f"tensor<{N}x{N}xf32>"
    yield ("copy", elementwise("  %y = arith.addf %x, %x : f32"), matrix, torch.float32,
           lambda x, out: torch.add(x, x, out=out), both, "GB/s")
    for shape in ((N, N), (16384, 1000), (N + 1, N), (330, 50257)):
        size = 8 * shape[0] * shape[1]
        name = f"{shape[0]}x{shape[1]}"
        yield (f"softmax {name}", row("softmax dim 1", shape), [shape], torch.float32,
               lambda x, out: torch.softmax(x, 1, out=out), size, "GB/s")
        yield (f"layer norm {name}", row("layer_norm axis 1 epsilon 1.0e-5", shape), [shape], torch.float32,
               lambda x, out: F.layer_norm(x, x.shape[1:], eps=1e-5), size, "GB/s")
        yield (f"rms norm {name}", row("rms_norm axis 1 epsilon 1.0e-5", shape), [shape], torch.float32,
               lambda x, out: F.rms_norm(x, x.shape[1:], eps=1e-5), size, "GB/s")
    for name in ("exp", "tanh", "erf", "log", "sin", "cos"):
        yield (name, elementwise(f"  %y = math.{name} %x : f32"), matrix, torch.float32,
               lambda x, out, f=getattr(torch, name): f(x, out=out), both, "GB/s")
    yield ("gelu", elementwise(GELU), matrix, torch.float32, lambda x, out: torch.ops.aten.gelu.out(x, out=out), both, "GB/s")
    yield ("silu", elementwise(SILU), matrix, torch.float32, lambda x, out: torch.ops.aten.silu.out(x, out=out), both, "GB/s")
    for dim, along in ((1, "rows"), (0, "columns")):
        yield (f"sum along {along}", reduction("arith.addf", "0.0", dim), matrix, torch.float32,
               lambda x, out, dim=dim: torch.sum(x, dim, out=out), one, "GB/s")
        yield (f"max along {along}", reduction("arith.maximumf", "0xFF800000", dim), matrix, torch.float32,
               lambda x, out, dim=dim: torch.amax(x, dim, out=out), one, "GB/s")
    transpose = f"%r = linalg.transpose ins(%a0 : {type}) outs(%e : {type}) permutation = [1, 0]"
    yield ("transpose", function([type], type, transpose), matrix, torch.float32, into(lambda x: x.t()), both, "GB/s")
    for element, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        for size in (1024, 2048, 4096):
            for depth in (64, 128):
                for name, words, options in MASKS:
                    heads = f"tensor<1x8x{size}x{depth}x{element}>"
                    if name.startswith("window"):
                        place = torch.arange(size)
                        far = place[:, None] - place[None, :]
                        options = {"attn_mask": (far >= 0) & (far <= 255)}
                    text = function([heads] * 3, heads, f"%r = tracea.attention {words}ins(%a0, %a1, %a2 : {heads}, {heads}, {heads}) outs(%e : {heads}) -> {heads}")
                    yield (f"attention {element} 8x{size}x{depth} {name}", text, [(1, 8, size, depth)] * 3, dtype,
                           lambda q, k, v, out, o=options: F.scaled_dot_product_attention(q, k, v, **o),
                           4 * 8 * size * size * depth, "GFLOP/s")


def program(text, cores):
    import tracea

    try:
        return tracea.compile(text, threads=cores, require_proof=True), ""
    except tracea.Error:
        return tracea.compile(text, threads=cores), "*"


def time_of(call, seconds):
    calls, start = 0, time.perf_counter()
    while True:
        call()
        calls += 1
        took = time.perf_counter() - start
        if took >= seconds:
            return took / calls


def measure(options, case):
    import torch

    name, text, shapes, dtype, peer, work, unit = case
    torch.manual_seed(7)
    inputs = [(torch.rand(shape) * 2 - 1).to(dtype) for shape in shapes]
    if name == "log":
        inputs = [x.abs() + 0.1 for x in inputs]
    compiled, mark = program(text, options.cores)
    out = torch.empty_like(compiled(*inputs))
    expected = peer(*(x.double() for x in inputs), torch.empty(out.shape, dtype=torch.float64))
    compiled(*inputs, out=out)
    error = ((out.double() - expected).abs().max() / expected.abs().max()).item()
    if not error <= (2e-2 if dtype is torch.bfloat16 else 1e-4):
        raise SystemExit(f"error: {name}: expected PyTorch's results, found a difference of {error:.1e}")
    del expected
    theirs = torch.empty_like(out)
    sides = (lambda: compiled(*inputs, out=out), lambda: peer(*inputs, theirs))
    samples = ([], [])
    for call in sides:
        call()
    for _ in range(options.rounds):
        for call, found in zip(sides, samples):
            found.append(time_of(call, options.seconds))
    ours, other = (statistics.median(found) for found in samples)
    print(f"{name + mark:<38}{work / ours / 1e9:>9.1f}{work / other / 1e9:>9.1f} {unit:<8}{other / ours:>6.2f}", flush=True)
    return {"name": name, "proved": not mark, "tracea": samples[0], "torch": samples[1], "error": error}


def main():
    options = arguments()
    os.environ["TRACEA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.cores)
    import torch
    import tracea

    torch.set_num_threads(options.cores)
    print(f"PyTorch {torch.__version__}, Tracea {tracea.__version__}, {options.cores} of {os.cpu_count()} processors\n")
    print(f"{'':<38}{'Tracea':>9}{'PyTorch':>9}{'':<9}{'ratio':>6}")
    with torch.no_grad():
        found = [measure(options, case) for case in cases() if re.search(options.only, case[0])]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
