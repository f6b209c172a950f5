#!/usr/bin/env python3
"""Compares schedules of an operation: plans.py MODULE --plan SCHEDULE ... [options].

MODULE is MLIR text with {plan} behind the operation, where a schedule may stand:

    %y = tracea.gemm ins(...) outs(...) {plan}

Every SCHEDULE, such as 'variant = "gemm.direct", unit = vector, tile = [8, 64, 8], registers =
[8, 32]', and the Doctor's, shown as "-", is compiled to a program. The programs are run in turns,
a process each, by `tracea-run --bench` with --rest and --copies: from memory, unless --hot. Of each
the table has the smallest median and the fastest sample in milliseconds, and the Doctor's time over
both, above 1 the plan is faster. An operation with a schedule of its own is fused with nothing.

Other machines: --write FOLDER compiles for --target and writes programs, tools and this script;
`FOLDER/plans.py --read FOLDER` runs them there. TRACEA_BUILD is the build folder, build/dev by
default. Exit code 1 where a schedule is refused, with the compiler's message.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("TRACEA_BUILD", HERE / "../../build/dev"))


def compile_plans(args, folder):
    """Compiles a program for each schedule; their labels, in the order of their files."""
    text = pathlib.Path(args.module).read_text()
    if "{plan}" not in text:
        sys.exit(f"plans.py: {args.module}: expected {{plan}} behind the operation, found none")
    labels = ["-"] + args.plan
    for number, label in enumerate(labels):
        source = folder / f"{number}.mlir"
        source.write_text(text.replace("{plan}", "" if label == "-" else f"schedule <{label}>"))
        command = [BUILD / "bin/tracea", "compile", source, "--threads", str(args.threads)]
        command += ["--target", args.target] if args.target else []
        subprocess.run(command + ["-o", folder / f"{number}.tracea"], check=True)
        source.unlink()
    (folder / "plans.json").write_text(json.dumps(labels))
    return labels


def run(args, folder, number, tool):
    """One process's median and fastest sample, in milliseconds."""
    command = [tool, folder / f"{number}.tracea", "--random-inputs", "--json", "--trust", "any"]
    command += ["--threads", str(args.threads), "--bench", str(args.seconds)]
    for shape in args.shape:
        command += ["--shape", shape]
    if not args.hot:
        command += ["--rest", "0.06", "--copies", str(args.copies)]
    environment = dict(os.environ)
    if tool.parent == folder:
        environment["LD_LIBRARY_PATH"] = str(folder)
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    bench = json.loads(done.stdout)["bench"]
    return 1e3 * bench["medianSeconds"], 1e3 * bench["fastestSeconds"]


def measure(args, folder, labels, tool):
    samples = [[] for _ in labels]
    for turn in range(args.rounds):
        order = list(range(len(labels)))
        random.shuffle(order)
        for number in order:
            print(f"round {turn + 1} of {args.rounds}: {labels[number]}", file=sys.stderr)
            samples[number].append(run(args, folder, number, tool))
    best = [[min(column) for column in zip(*sample)] for sample in samples]
    print(f"{'median':>9} {'fastest':>9}      ratios  plan")
    for number in sorted(range(len(labels)), key=lambda i: best[i][0] * best[i][1]):
        median, fastest = best[number]
        ratios = f"{best[0][0] / median:5.2f} {best[0][1] / fastest:5.2f}"
        print(f"{median:9.3f} {fastest:9.3f} {ratios}  {labels[number]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("module", nargs="?", metavar="MODULE")
    parser.add_argument("--plan", action="append", default=[], metavar="SCHEDULE")
    parser.add_argument("--shape", action="append", default=[], metavar="I=AxB")
    parser.add_argument("--target", metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--copies", type=int, default=8, help="of inputs and outputs, in turns")
    parser.add_argument("--hot", action="store_true", help="one copy, no rests")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--read", metavar="FOLDER")
    args = parser.parse_args()
    if (args.module is None) == (args.read is None):
        parser.error("expected MODULE or --read FOLDER")
    if args.read:
        folder = pathlib.Path(args.read).resolve()
        labels = json.loads((folder / "plans.json").read_text())
        measure(args, folder, labels, folder / "tracea-run")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(args.write or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        labels = compile_plans(args, folder)
        if not args.write:
            measure(args, folder, labels, BUILD / "bin/tracea-run")
            return
        for path in (BUILD / "bin/tracea-run", BUILD / "lib/libtracea-runtime.so.0", __file__):
            shutil.copy(path, folder)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError:
        sys.exit(1)  # The tool has said why.
    except OSError as error:
        sys.exit(f"plans.py: {error}")
