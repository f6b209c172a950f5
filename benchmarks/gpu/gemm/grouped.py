#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows against torch._grouped_mm and a loop over cuBLAS.

grouped.py compile [--only REGEX] [OUT]    where the compiler is
grouped.py run [--only REGEX] [--rounds N] [--rest SECONDS] [OUT]

What is measured and how is as in run.py. The sizes of the groups are data: one
program is run with all of them. The loop over cuBLAS knows the sizes on the
host, which the others do not. The program's result is compared with float64,
rows of no group with zeros, and must be the same twice.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))

# Sizes of 16 experts: uneven, one empty.
UNEVEN = [1500, 64, 700, 128, 0, 1024, 333, 257, 900, 512, 81, 640, 1111, 96, 450, 396]
EVEN = [512] * 16


@dataclass(frozen=True)
class Grouped:
    group: str
    rows: int
    n: int
    k: int
    groups: int
    dtype: str = "bf16"
    transposed: bool = True
    # Name of the sizes, and the ends they have; several may share a program.
    sizes: dict = field(default_factory=dict, hash=False)

    @property
    def name(self):
        return f"{self.group}_{self.groups}x{self.rows}x{self.n}x{self.k}_{self.dtype}_{'nt' if self.transposed else 'nn'}"

    @property
    def output(self):
        return "bf16" if self.dtype == "f8E4M3FN" else self.dtype

    @property
    def rhs(self):
        return [self.groups] + ([self.n, self.k] if self.transposed else [self.k, self.n])


def spread(total, groups, seed):
    """Sizes that add up to `total`, by a draw of how much each expert is liked."""
    state, weights = seed, []
    for _ in range(groups):
        state = (state * 1103515245 + 12345) % 2**31
        weights.append(1 + (state >> 8) % 1000)
    sizes = [total * weight // sum(weights) for weight in weights]
    sizes[-1] += total - sum(sizes)
    return sizes


def problems():
    found = []
    for transposed in (True, False):
        found.append(Grouped("grouped", 8192, 4096, 4096, 16, "bf16", transposed,
                             {"uneven": UNEVEN, "even": EVEN, "one": [0] * 7 + [8192] + [0] * 8,
                              "part": [128] * 16, "none": [0] * 16}))
    found.append(Grouped("grouped", 8192, 4096, 4096, 16, "f16", True, {"uneven": UNEVEN}))
    found.append(Grouped("grouped", 8192, 4096, 4096, 16, "f8E4M3FN", True, {"uneven": UNEVEN}))
    found.append(Grouped("grouped", 8192, 2048, 7168, 64, "bf16", True, {"spread": spread(8192, 64, 7)}))
    found.append(Grouped("grouped", 777, 520, 200, 5, "bf16", True,
                         {"odd": [100, 1, 0, 300, 376], "short": [64, 64, 64, 64, 64], "beyond": [700, 700, 0, 0, 5]}))
    # Rows that begin anywhere are padded first.
    found.append(Grouped("grouped", 777, 131, 101, 5, "bf16", True, {"odd": [100, 1, 0, 300, 376], "short": [64, 0, 129, 64, 64]}))
    return found


def tensor(element, shape):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


def module(problem, schedule=""):
    lhs = tensor(problem.dtype, [problem.rows, problem.k])
    rhs = tensor(problem.dtype, problem.rhs)
    ends = tensor("i32", [problem.groups])
    out = tensor(problem.output, [problem.rows, problem.n])
    flag = "transpose_rhs " if problem.transposed else ""
    return f"""func.func @main(%a: {lhs}, %b: {rhs}, %ends: {ends}) -> {out} {{
  %d = tensor.empty() : {out}
  %0 = tracea.grouped_gemm {flag}ins(%a, %b, %ends : {lhs}, {rhs}, {ends}) outs(%d : {out}){schedule and " schedule " + schedule}
  return %0 : {out}
}}
"""


def compile_all(chosen, out):
    entries = []
    for problem in chosen:
        source, program = (os.path.join(out, problem.name + end) for end in (".mlir", ".tracea"))
        with open(source, "w") as file:
            file.write(module(problem))
        begin = time.monotonic()
        done = subprocess.run([os.path.join(ROOT, "build/dev/bin/tracea"), "compile", source, "--target", "sm_90a",
                               "--require-proof", "--dump-remarks", "-o", program], capture_output=True, text=True)
        entry = {"problem": problem.name, "seconds": time.monotonic() - begin}
        if done.returncode:
            entry["error"] = done.stderr.strip()[:2000]
        schedule = re.search(r"takes '([\w.]+)' with tile = \[([\d, ]+)\]", done.stderr)
        if schedule:
            entry["schedule"] = f"{schedule[1]} {schedule[2].replace(', ', 'x')}"
        entries.append(entry)
        print(problem.name, entry.get("error") or f"{entry['seconds']:.2f} s {entry.get('schedule', '')}", file=sys.stderr)
    with open(os.path.join(out, "grouped.json"), "w") as file:
        json.dump(entries, file, indent=1)
    return any("error" in entry for entry in entries)


def ends_of(sizes):
    ends, at = [], 0
    for size in sizes:
        at += size
        ends.append(at)
    return ends


def intervals(problem, ends):
    """First row and end of each group, by the definition: ends are clamped, and never fall."""
    found, begin = [], 0
    for end in ends:
        end = min(max(end, begin), problem.rows)
        found.append((begin, end))
        begin = end
    return found


def measure(problem, label, sizes, path, options):
    import torch
    import run
    ends = ends_of(sizes)
    parts = intervals(problem, ends)
    rows = sum(end - begin for begin, end in parts)
    sets = 2
    cast = run.TYPES[problem.dtype]
    inputs = [[torch.randn([problem.rows, problem.k], device="cuda").to(cast), torch.randn(problem.rhs, device="cuda").to(cast),
               torch.tensor(ends, device="cuda", dtype=torch.int32)] for _ in range(sets)]
    outputs = [torch.empty([problem.rows, problem.n], device="cuda", dtype=run.TYPES[problem.output]) for _ in range(sets)]

    def matrix(b, g):
        return b[g].mT if problem.transposed else b[g]

    def loop(tensors, out):
        for g, (begin, end) in enumerate(parts):
            if end > begin:
                torch.matmul(tensors[0][begin:end], matrix(tensors[1], g), out=out[begin:end])
        return out

    def grouped(tensors, out):
        return torch._grouped_mm(tensors[0], tensors[1].mT if problem.transposed else tensors[1], offs=tensors[2])

    peers = {}
    if problem.dtype in ("bf16", "f16"):
        peers["cuBLAS loop"] = loop
    # It refuses ends beyond the rows only by writing there.
    if problem.dtype == "bf16" and ends[-1] <= problem.rows and problem.k % 8 == 0:
        peers["grouped_mm"] = grouped
    a, b, _ = inputs[0]
    exact = torch.zeros([problem.rows, problem.n], device="cuda", dtype=torch.float64)
    for g, (begin, end) in enumerate(parts):
        exact[begin:end] = a[begin:end].double() @ matrix(b, g).double()
    last = parts[-1][1] if parts else 0
    row = {"peer_error": 4e-3}
    errors = {}
    for name in list(peers):
        try:
            out = peers[name](inputs[0], outputs[0])
            errors[name] = run.distance(out[:last], exact[:last])
        except RuntimeError as failure:
            print(f"    {name}: {str(failure).splitlines()[0][:120]}")
            del peers[name]
    if errors:
        row["peer_error"] = min(errors.values())
    programs = [run.Program(path) for _ in range(sets)]
    launches = []
    for program, tensors, out in zip(programs, inputs, outputs):
        out.view(torch.uint8).fill_(0xFF)
        launches.append(program.bind(tensors, [out]))
    again = []
    for _ in range(2):
        outputs[0].view(torch.uint8).fill_(0xFF)
        launches[0]()
        torch.cuda.synchronize()
        again.append(outputs[0].clone())
    row["error"] = run.distance(again[0][:last], exact[:last])
    rest = again[0][last:]
    if not row["error"] <= 1.1 * row["peer_error"] + 1e-7:
        row["wrong"] = f"error {row['error']:.2e}, expected at most {row['peer_error']:.2e}"
    elif rest.numel() and not bool((rest.float() == 0).all()):
        row["wrong"] = f"{int((rest.float() != 0).sum())} elements of rows in no group are not 0"
    elif not torch.equal(again[0].view(torch.uint8), again[1].view(torch.uint8)):
        row["wrong"] = "two runs differ"
    del exact
    flops = 2 * rows * problem.n * problem.k
    graphs = {}
    repeats = max(1, min(50, int(3e-3 / (flops / 793e12 + 2e-6)))) // sets * sets or sets
    for name, peer in peers.items():
        try:
            graphs[name] = run.capture([lambda t=t, o=o, peer=peer: peer(t, o) for t, o in zip(inputs, outputs)], repeats)
        except RuntimeError as failure:
            print(f"    {name}: {str(failure).splitlines()[0][:120]}")
    if "wrong" not in row:
        graphs["tracea"] = run.capture(launches, repeats)
    times = run.compete(graphs, repeats, options.rounds, options.rest)
    text = f"{problem.name:38} {label:8}"
    for name in ("cuBLAS loop", "grouped_mm"):
        text += f" {times[name][0]:9.2f}" if name in times else f" {'-':>9}"
    if "tracea" in times:
        ours = times["tracea"][0]
        best = min([times[name][0] for name in times if name != "tracea"], default=0)
        text += f" {ours:9.2f} {flops / ours / 1e6:6.0f} TF {best / ours:6.3f}  {row['error']:.2e} {row['peer_error']:.2e}"
    else:
        text += "  " + row.get("wrong", "")
    print(text, flush=True)
    for program in programs:
        program.close()
    return "wrong" in row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["compile", "run"])
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rest", type=float, default=0.06)
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build/gpu-grouped"))
    options = parser.parse_intermixed_args()
    os.makedirs(options.out, exist_ok=True)
    chosen = [p for p in problems() if re.search(options.only, p.name)]
    if options.what == "compile":
        return 1 if compile_all(chosen, options.out) else 0
    print(f"{'problem':38} {'sizes':8} {'cuBLAS us':>9} {'torch us':>9} {'us':>9} {'rate':>9} {'ratio':>6}  {'error':8} peer's")
    bad = 0
    for problem in chosen:
        path = os.path.join(options.out, problem.name + ".tracea")
        if not os.path.exists(path):
            print(f"{problem.name:38} no program")
            bad += 1
            continue
        for label, sizes in problem.sizes.items():
            bad += measure(problem, label, sizes, path, options)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
