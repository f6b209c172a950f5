#!/usr/bin/env python3
"""Whole models by torch.compile: Tracea beside eager and Inductor, compile time and run time.

    benchmarks/torch/run.py                     # all models on the CPU, inference
    benchmarks/torch/run.py --train             # forward and backward
    benchmarks/torch/run.py --only resnet18 --contenders eager,tracea
    benchmarks/torch/run.py --device cuda --dtype bfloat16
    benchmarks/torch/run.py --fill sm_90a       # no run: programs for a GPU that is elsewhere

Each model has a process of its own, in which the contenders take turns, A B C A B C …; a round is
some calls of each, the table has the median of rounds. Compilers start with empty caches; compile
time is the first call's, with what of a compiler is loaded then. Results are compared with eager's in double precision before and after.
The hit rate is the part of the operations that Tracea compiled, from its report.
"""

import argparse
import contextlib
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CONTENDERS = ("eager", "inductor", "inductor-max", "tracea")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--train", action="store_true", help="forward and backward")
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a round, for each contender")
    parser.add_argument("--cores", type=int, default=0, help="to be used; 0: all that there are")
    parser.add_argument(
        "--cpu-time", action="store_true",
        help="of the process in place of the wall's: on a busy machine, with --cores 1",
    )
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--cuda-graphs", action="store_true")
    parser.add_argument("--tf32", action="store_true", help="products of f32 may round to tf32 (cuda)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for a model")
    parser.add_argument("--json", help="where to write all samples")
    parser.add_argument("--target", help="what Tracea compiles for, as named with --fill")
    parser.add_argument("--fill", metavar="TARGET", help="compile for this target into the cache")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- one model, in a process of its own


def compiled(name, model, options):
    import torch

    if name == "eager":
        return model
    if name.startswith("inductor"):
        return torch.compile(model, backend="inductor", mode="max-autotune" if "max" in name else None)
    chosen = {}
    if options.cuda_graphs:
        chosen["cuda_graphs"] = True
    if options.fill or options.device == "cuda":
        # What was filled in advance is found under the target's name.
        chosen["target"] = options.fill or options.target
        chosen["compile_only"] = bool(options.fill)
    return torch.compile(model, backend="tracea", options=chosen or None)


def call(options, model, given):
    import torch

    if not options.train:
        with torch.no_grad():
            return model(*given)
    for parameter in model.parameters():
        parameter.grad = None
    result = model(*given)
    result.float().square().mean().backward()
    return result


def clock(options):
    return time.process_time() if options.cpu_time else time.perf_counter()


def synchronize(options):
    if options.device == "cuda":
        import torch

        torch.cuda.synchronize()


def filled_programs(options):
    """The programs that --fill left, and those that were missed and made since."""
    folder = os.environ.get("TRACEA_CACHE_DIR") if options.target else None
    return {path.name for path in pathlib.Path(folder).glob("*.tracea")} if folder else set()


def error_of(found, expected):
    scale = expected.abs().max().item() or 1.0
    return ((found.double() - expected).abs().max() / scale).item()


def gradient_error(found, expected):
    """In the norm: where rounding takes a sum over the kink of a ReLU, single elements differ by as
    much as they are, eager's too."""
    return ((found - expected).norm() / expected.norm()).item()


def gradients(model):
    import torch

    return torch.cat([p.grad.double().flatten() for p in model.parameters() if p.grad is not None])


def measure(options):
    with contextlib.ExitStack() as caches:
        return measure_within(options, caches)


def measure_within(options, caches):
    import torch

    import models

    make, arguments_of = models.MODELS[options.one]
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.tf32
    dtype = getattr(torch, options.dtype)
    model = models.build(make, options.device, dtype).train(options.train)
    given = [x.to(options.device, dtype if x.is_floating_point() else None)
             for x in arguments_of(options.device)]
    if options.channels_last:
        model = model.to(memory_format=torch.channels_last)
        given = [x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in given]

    wide = copy.deepcopy(model).double()
    expected = call(options, wide, [x.double() if x.is_floating_point() else x for x in given]).detach()
    expected_gradients = gradients(wide) if options.train else None
    del wide

    found, runs = {}, {}
    for name in options.contenders.split(","):
        torch._dynamo.reset()
        if name.startswith("inductor"):
            # What another mode compiled is not to be had, on the disk or in memory.
            from torch._inductor.utils import fresh_inductor_cache

            caches.enter_context(fresh_inductor_cache())
        own = copy.deepcopy(model)
        run = compiled(name, own, options)
        filled = filled_programs(options)
        # Of the wall's clock: Inductor compiles in processes of its own.
        start = time.perf_counter()
        try:
            result = call(options, run, given)
            synchronize(options)
        except Exception as failure:  # a compiler that is not there, or that fails, has no time
            found[name] = {"failure": str(failure).strip().splitlines()[0][:200]}
            continue
        entry = found[name] = {"compile_s": time.perf_counter() - start, "samples_ms": []}
        entry["error"] = error_of(result.detach(), expected)
        if options.train:
            entry["gradient_error"] = gradient_error(gradients(own), expected_gradients)
        runs[name] = (run, entry)
        if name == "tracea":
            import tracea

            report = tracea.torch.report()
            entry["hit_rate"] = report.hit_rate
            entry["eager"] = sorted({f"{operation}: {reason[:120]}" for operation, reason in report.reasons})
            entry["partitions"] = report.counts.get("partitions", 0)
            entry["missed"] = len(filled_programs(options) - filled)

    limit = {"float32": 1e-3 if not options.tf32 else 2e-2}.get(options.dtype, 6e-2)
    counts = {}
    for name, (run, entry) in runs.items():
        if max(entry["error"], entry.get("gradient_error", 0)) > 5 * limit:
            entry["failure"] = f"wrong by {max(entry['error'], entry.get('gradient_error', 0)):.1e}"
        for _ in range(3):
            call(options, run, given)
        synchronize(options)
        start = clock(options)
        call(options, run, given)
        synchronize(options)
        counts[name] = max(1, int(options.seconds / (clock(options) - start)))
    for _ in range(options.rounds):
        for name, (run, entry) in runs.items():
            start = clock(options)
            for _ in range(counts[name]):
                call(options, run, given)
            synchronize(options)
            entry["samples_ms"].append(1e3 * (clock(options) - start) / counts[name])
    for name, (run, entry) in runs.items():
        entry["ms"] = statistics.median(entry["samples_ms"])
    return found


def fill(options):
    """Compiles what a GPU would run, by fake tensors of it, into the cache."""
    import torch

    import tracea

    import gpu_graphs
    import models

    make, arguments_of = models.MODELS[options.one]
    torch.manual_seed(0)
    dtype = getattr(torch, options.dtype)
    with gpu_graphs.fake_gpu(options.train) as device:
        model = models.build(make, device, dtype).train(options.train)
        with torch.device(device):
            given = [x.to(dtype) if x.is_floating_point() else x for x in arguments_of("cuda")]
        if options.channels_last:
            # Not by .to(memory_format), which cannot replace fake parameters.
            for module in model.modules():
                for name, p in list(module._parameters.items()):
                    if p is not None and p.dim() == 4:
                        last = p.detach().contiguous(memory_format=torch.channels_last)
                        module._parameters[name] = torch.nn.Parameter(last)
            given = [
                x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in given
            ]
        call(options, compiled("tracea", model, options), given)
    report = tracea.torch.report()
    return {"tracea": {"hit_rate": report.hit_rate, "partitions": report.counts.get("partitions", 0),
                       "eager": sorted({f"{o}: {r[:120]}" for o, r in report.reasons})}}


# ---- the table


def mean(ratios):
    return statistics.geometric_mean(ratios) if ratios else float("nan")


def table(options, results):
    contenders = options.contenders.split(",")
    lines = [f"{'model':14}" + "".join(f"{c + ' ms':>17}{'compile s':>11}" for c in contenders)
             + f"{'inductor/tracea':>17}{'hit rate':>10}  error"]
    ratios, faster, rates = [], [], []
    for model, found in results.items():
        cells = ""
        for c in contenders:
            entry = found.get(c, {})
            failure = "wrong" if entry.get("failure", "").startswith("wrong") else "failed"
            fine = "ms" in entry and "failure" not in entry
            cells += f"{entry['ms']:>17.2f}" if fine else f"{failure if 'failure' in entry else '-':>17}"
            cells += f"{entry['compile_s']:>11.1f}" if "compile_s" in entry else f"{'-':>11}"
        ours = found.get("tracea", {})
        peers = [found[c]["ms"] for c in ("inductor", "inductor-max") if "ms" in found.get(c, {})]
        ratio = min(peers) / ours["ms"] if peers and "ms" in ours and "failure" not in ours else None
        if ratio:
            ratios.append(ratio)
        if "compile_s" in ours and "compile_s" in found.get("inductor-max", {}):
            faster.append(ours["compile_s"] / found["inductor-max"]["compile_s"])
        if "hit_rate" in ours:
            rates.append(ours["hit_rate"])
        error = max(ours.get("error", 0), ours.get("gradient_error", 0))
        hit = f"{100 * ours['hit_rate']:.1f} %" if "hit_rate" in ours else "-"
        lines.append(f"{model:14}{cells}{f'{ratio:.2f}' if ratio else '-':>17}{hit:>10}  {error:.1e}")
    lines.append("")
    if ratios:
        lines.append(f"faster of Inductor's / Tracea's run time: {mean(ratios):.2f} in the geometric mean, "
                     f"{min(ratios):.2f} at worst")
    if faster:
        lines.append(f"Tracea's / Inductor's compile time with max-autotune: {mean(faster):.2f} in the "
                     "geometric mean")
    if rates:
        lines.append(f"hit rate: {100 * sum(rates) / len(rates):.1f} % of operations, mean over models")
    for model, found in results.items():
        for contender, entry in found.items():
            if "failure" in entry:
                lines.append(f"  {model}, {contender}: {entry['failure']}")
            if entry.get("missed"):
                lines.append(f"  {model}: {entry['missed']} of {entry['partitions']} programs were compiled "
                             "here: the graphs are others than those that were filled in")
            for reason in entry.get("eager", []):
                lines.append(f"  {model}: eager: {reason}")
    return "\n".join(lines)


def main():
    options = arguments()
    if options.cores:
        # Before any library counts them.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    if options.one:
        print(json.dumps(fill(options) if options.fill else measure(options)), flush=True)
        if options.fill:
            # Not through the end of threads that autograd made for a device that is none.
            os._exit(0)
        return
    if options.fill:
        options.contenders = "tracea"
    names = options.only.split(",") if options.only else list_models()
    results = {}
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor"}
            if not options.fill and not options.target:
                environment["TRACEA_CACHE_DIR"] = f"{scratch}/tracea"
            command = [sys.executable, __file__, *sys.argv[1:], "--one", name]
            try:
                ran = subprocess.run(command, env=environment, capture_output=True, text=True,
                                     timeout=options.timeout)
                results[name] = json.loads(ran.stdout.splitlines()[-1])
            except (subprocess.TimeoutExpired, ValueError, IndexError) as failure:
                reason = failure if isinstance(failure, subprocess.TimeoutExpired) else (
                    ran.stderr.strip().splitlines() or ["no result"])[-1]
                results[name] = {c: {"failure": str(reason)[:200]} for c in options.contenders.split(",")}
        print(name, {c: round(e.get("ms", float("nan")), 3) for c, e in results[name].items()},
              file=sys.stderr, flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    print(header(options))
    print(table(options, results))
    if any("failure" in e for found in results.values() for e in found.values()):
        sys.exit(1)


def list_models():
    sys.path.insert(0, str(HERE))
    import models

    return list(models.MODELS)


def header(options):
    import platform

    import torch

    import tracea

    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    if options.device == "cuda" and not options.fill:
        name = torch.cuda.get_device_name()
    what = "forward and backward" if options.train else "inference"
    what += ", time of the process" if options.cpu_time else ""
    load = f"; load average {os.getloadavg()[0]:.1f} at the end" if options.device == "cpu" else ""
    return (
        f"torch {torch.__version__}, Tracea {tracea.__version__}, {name}, "
        f"{torch.get_num_threads()} threads, {options.dtype}, {what}{load}\n"
    )


if __name__ == "__main__":
    main()
