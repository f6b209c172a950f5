# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and peers in turns, as CUDA graphs of repeats."""

import os
import re
import statistics
import time

import torch


def capture(launches, repeats):
    for launch in launches:
        launch()
    torch.cuda.synchronize()
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        launches[0]()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(repeats):
                launches[i % len(launches)]()
    return graph


def compete(graphs, repeats, rounds, rest):
    """Microseconds of one run: median, least and most of the rounds."""
    times = {name: [] for name in graphs}
    for graph in graphs.values():
        graph.replay()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, graph in graphs.items():
            time.sleep(rest)
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e3 / repeats)
    return {name: (statistics.median(found), min(found), max(found)) for name, found in times.items()}


def race(launches, peers, inputs, floor, options, seconds):
    """Times of the program, whose launches go round, and of peers, which are
    functions of inputs that go round with them. A sample takes about `seconds`
    if a run takes `floor`."""
    repeats = max(1, min(300, int(seconds / floor)) // len(launches)) * len(launches)
    graphs = {"tracea": capture(launches, repeats)}
    # What a peer returns is kept, so that its memory goes round as well.
    kept = {}
    for name, peer in peers.items():
        def launch(i, peer=peer, name=name):
            kept[name, i] = peer(*inputs[i])
        graphs[name] = capture([lambda i=i, launch=launch: launch(i) for i in range(len(launches))], repeats)
    return compete(graphs, repeats, options.rounds, options.rest)


def distance(x, exact):
    exact = exact.double()
    norm = exact.norm().item()
    return ((x.double() - exact).norm().item() / norm) if norm else (x.double() - exact).norm().item()


def run_cases(cases, options, width, measure, describe):
    """Measures each chosen case whose program is there, and prints a line: what
    `describe(case, microseconds, peers)` says, errors, and what is wrong; 1 where
    something is. `measure(case, path, options)` gives times by contender, the
    program's error, the peers', and what is wrong."""
    bad = 0
    for case in cases:
        if not re.fullmatch(options.only, case.name):
            continue
        path = os.path.join(options.programs, case.name + ".tracea")
        if not os.path.exists(path):
            print(f"{case.name:{width}} no program", flush=True)
            continue
        try:
            times, error, peer_error, wrong = measure(case, path, options)
        except RuntimeError as failure:
            if "CUDA" in str(failure):
                raise
            times, wrong = None, str(failure).splitlines()[0][:200]
        bad += bool(wrong)
        if not times:
            print(f"{case.name:{width}} FAILED: {wrong}", flush=True)
            continue
        peers = {name: times[name][0] for name in times if name != "tracea"}
        print(f"{case.name:{width}} {describe(case, times['tracea'][0], peers)}  "
              f"{error:.2e} {peer_error:.2e}  {'FAILED: ' + wrong if wrong else ''}", flush=True)
    return 1 if bad else 0
