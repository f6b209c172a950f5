#!/usr/bin/env python3
"""What of the PyTorch backend only a GPU can show: graphs, torch's allocator, streams, training.

    benchmarks/torch/gpu_check.py                  # with the compiler
    benchmarks/torch/gpu_check.py --fill sm_90a    # no GPU: its programs get into the cache
    benchmarks/torch/gpu_check.py --target sm_90a  # takes them from there
"""

import argparse
import os
import sys

import torch

import tracea

failures = []


def check(what, fine, detail=""):
    print(f"{'ok' if fine else 'FAILED':8}{what} {detail}", flush=True)
    if not fine:
        failures.append(what)


def make(device="cuda"):
    import models

    torch.manual_seed(0)
    model = models.build(lambda: models.blocks.Block(192, 3), device, torch.bfloat16)
    return model, torch.randn(4, 64, 192, device=device).to(torch.bfloat16)


def fill(target):
    import gpu_graphs

    options = {"target": target, "compile_only": True}
    with gpu_graphs.fake_gpu(train=False) as device, torch.no_grad():
        model, x = make(device)
        torch.compile(model, backend="tracea", options=options)(x)
    with gpu_graphs.fake_gpu(train=True) as device:
        model, x = make(device)
        torch._dynamo.reset()
        torch.compile(model, backend="tracea", options=options)(x).float().square().mean().backward()
    print(tracea.torch.report(), flush=True)
    # Not through the end of threads that autograd made for a device that is none.
    os._exit(0)


def run(options):
    model, x = make()
    wide = make()[0].double()
    with torch.no_grad():
        expected = wide(x.double())

    def error(y):
        return (y.double() - expected).abs().max().item()

    with torch.no_grad():
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        for graphs in (False, True):
            torch._dynamo.reset()
            tracea.torch.reset()
            compiled = torch.compile(model, backend="tracea", options={**options, "cuda_graphs": graphs})
            name = "with cuda_graphs" if graphs else "a block"
            for _ in range(6):
                y = compiled(x)
            report = tracea.torch.report()
            check(name, error(y) < 0.15, f"error {error(y):.1e}")
            check(f"{name}: all of it is Tracea's", report.hit_rate == 1, "" if report.hit_rate == 1 else report)
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                z = compiled(x)
            side.synchronize()
            check(f"{name}: on another stream, the same bits", torch.equal(z, y))
        taken = torch.cuda.memory_stats()["allocation.all.allocated"] - before
        check("allocations that torch counts", taken > 0, f"{taken}")
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="tracea", options=options)
        compiled(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = compiled(x)
        captured.zero_()
        graph.replay()
        torch.cuda.synchronize()
        check("captured by torch.cuda.graph", error(captured) < 0.15, f"error {error(captured):.1e}")
    torch._dynamo.reset()
    tracea.torch.reset()
    torch.compile(model, backend="tracea", options=options)(x).float().square().mean().backward()
    wide(x.double()).square().mean().backward()
    worst = max(
        ((a.grad.double() - b.grad).abs().max() / b.grad.abs().max()).item()
        for a, b in zip(model.parameters(), wide.parameters())
    )
    report = tracea.torch.report()
    check("gradients", worst < 0.1, f"error {worst:.1e}")
    check("gradients: all of it is Tracea's", report.hit_rate == 1, "" if report.hit_rate == 1 else report)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fill", metavar="TARGET")
    parser.add_argument("--target")
    options = parser.parse_args()
    if options.fill:
        fill(options.fill)
    else:
        run({"target": options.target})
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
