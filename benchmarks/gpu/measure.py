# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and peers in turns, as CUDA graphs of repeats."""

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


def distance(x, exact):
    exact = exact.double()
    norm = exact.norm().item()
    return ((x.double() - exact).norm().item() / norm) if norm else (x.double() - exact).norm().item()
