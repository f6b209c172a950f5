#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Correct kernels are proved; each named fault is an error of its property.

    check_target_faults.py TRACEA-OPT proved|refuted
"""

import pathlib
import subprocess
import sys

GENERATOR = pathlib.Path(__file__).with_name("target_kernels.py")
PASS = ("--pass-pipeline=builtin.module(llvm.func("
        "tracea-verify-target-protocol{require-proof=true}))")

PROVED = [f"gemm slots={slots} skew={skew} consumers={consumers}"
          for slots in range(1, 9) for skew in (0, 1) for consumers in (1, 2)
          if slots > 1 or not skew]
PROVED += [f"gemm slots={slots} form={form}" for slots in (2, 3, 4, 6, 8)
           for form in ("select", "rem", "branch", "mask")
           if form != "mask" or slots & (slots - 1) == 0]
PROVED += ["gemm columns=64", "gemm columns=256 slots=3", "gemm consumers=3 slots=8",
           "gemm stages=2", "gemm role=1", "gemm role=1 consumers=1 skew=0"]
PROVED += [f"attention slots={slots} turns={turns}" for slots in (1, 2, 3, 4)
           for turns in (0, 1)]
PROVED += [f"conv filters={filters} patches={patches}" for filters in (2, 4, 7)
           for patches in (1, 2, 3)]

# Kernel, fault, property (none: not decided), a piece of the message.
REFUTED = [
    ("gemm", "empty count - 1", "arrival count", "empty barriers of 'ring 0' count 1"),
    ("gemm", "empty count + 1", "arrival count", "empty barriers of 'ring 0' count 3"),
    ("gemm", "full count + 1", "arrival count", "full barriers of 'ring 0' count 2"),
    ("gemm", "one slot counts more", "arrival count", "slot 3 of a ring counts 3"),
    ("gemm", "one barrier not initialised", "slot range", "indexes slot 3"),
    ("gemm", "init fence missing", "initialisation", "without waiting for its"),
    ("gemm", "initialised twice", "initialisation", "more than once"),
    ("gemm", "initialised twice at once", "initialisation", "more than once"),
    ("gemm", "all threads initialise", "initialisation", "several threads initialise"),
    ("gemm", "block barrier missing", "initialisation", "without waiting for its"),
    ("gemm", "producer parity", "parity aliasing", "'warp 0' waits at the empty"),
    ("gemm", "consumer parity", "parity aliasing", "waits at the full barrier"),
    ("gemm", "producer modulus + 1", "slot range", "indexes slot 4"),
    ("gemm", "consumer modulus - 1", "unfilled read", "the data of another phase"),
    ("gemm", "producer never flips", "parity aliasing", "'warp 0' waits at the empty"),
    ("gemm", "consumer never flips", "parity aliasing", "waits at the full barrier"),
    ("gemm", "expects more", "bytes", "expects 18448 bytes, but 18432"),
    ("gemm", "expects less", "bytes", "expects 18416 bytes, but 18432"),
    ("gemm", "expect missing", "unfilled read", "without waiting for its data"),
    ("gemm", "copy missing", "unfilled read", "but nobody fills them"),
    ("gemm", "slots too far apart", "overwrite", "belong to two buffers"),
    ("gemm", "buffers overlap", "overwrite", "belong to two buffers"),
    ("gemm", "barriers overlap a buffer", "overwrite", "lies within slot"),
    ("gemm", "reads the other operand's slots", "slot range", "steps by 2048 bytes"),
    ("gemm", "empty not waited for", "arrival count", "'warp 0' may commit slot 0"),
    ("gemm", "full not waited for", "unfilled read", "without waiting for its data"),
    ("gemm", "one lane waits", "unfilled read", "without waiting for its data"),
    ("gemm", "release before the multiply is done", "overwrite", "by 'warps 4-7'"),
    ("gemm", "one more multiply pending", "overwrite", "by 'warps 4-7'"),
    ("gemm", "multiplies not waited for", "overwrite", "by 'warps 4-7'"),
    ("gemm", "all threads release", "arrival count", "make 256"),
    ("gemm", "release missing", "deadlock", "'warp 0' waits for ever for slot 0"),
    ("gemm", "last release missing", "deadlock", "to be released"),
    ("gemm", "sum used in the loop", "pending value", "uses 'accumulator 0'"),
    ("gemm", "last multiply in flight", "pending value", "uses 'accumulator 0'"),
    ("gemm", "multiplies not fenced", "pending value", "before any 'wgmma.fence'"),
    ("gemm", "sum read between multiplies", "pending value",
     "no 'wgmma.fence' lies between"),
    ("gemm", "proxy fence missing", "unfilled read", "'buffer at byte"),
    ("gemm", "store barrier missing", "unfilled read", "'buffer at byte"),
    ("gemm", "staging reused at once", "overwrite", "'buffer at byte"),
    ("gemm", "staged into the other consumer's tile", "overwrite", "'buffer at byte 73728'"),
    ("gemm", "stores not waited for at the end", "drain", "has not waited for"),
    ("gemm", "wrong thread count", "deadlock", "128 of 256 arrivals"),
    ("gemm", "wrong barrier number", "", "order of arrivals matters"),
    ("gemm", "producer: one step too many", "deadlock", ""),
    ("gemm", "producer: one step too few", "deadlock", ""),
    ("gemm", "producer: one tile only", "drain", "never read by 'warps 4-7'"),
    ("gemm", "role branches overlap", "arrival count", "their roles make 1"),
    ("gemm", "registers over the pool", "roles", "registers"),
    ("gemm role=1", "role: store not waited for", "drain", "'warp 1'"),
    ("attention turns=0", "one arrival a consumer", "overwrite", "nothing orders this after"),
    ("attention turns=0", "warps do not meet", "overwrite", "nothing orders this after"),
    ("attention", "Q empty not waited for", "arrival count", "may commit slot 0"),
    ("attention slots=1", "V before K", "deadlock", ""),
    ("attention", "last V missing", "deadlock", ""),
    ("attention", "turn to itself", "deadlock", "128 of 256 arrivals"),
    ("attention", "turn not handed on", "deadlock", ""),
    ("attention", "turn at another barrier", "named barrier", "may arrive twice"),
    ("attention", "turn of too many threads", "named barrier", "with the count 256, others with 384"),
    ("attention", "no first turn", "deadlock", "128 of 256 arrivals"),
    ("attention", "last turn left", "named barrier", "are left"),
    ("attention", "scores not waited for", "pending value", "uses 'accumulator"),
    ("attention", "scores not fenced", "pending value", "before any 'wgmma.fence'"),
    ("attention", "result used in flight", "pending value", ""),
    ("conv", "one tap too few", "deadlock", ""),
    ("conv", "patch released early", "read after release", "after it has released the slot"),
    ("conv", "patch not released", "deadlock", "missing: 'warps 4-7'"),
    ("conv", "patch modulus + 1", "slot range", "indexes slot 2"),
    ("conv", "both producers in one warp", "deadlock", "missing: 'warps 4-7'"),
]


def run(tool, kernel, fault=""):
    command = [sys.executable, GENERATOR, *kernel.split()]
    if fault:
        command.append(f"fault={fault}")
    ir = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = subprocess.run([tool, PASS, "--mlir-print-op-on-diagnostic=false", "-o", "-"],
                            input=ir, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def first_line(text):
    return text.splitlines()[0] if text else "nothing"


def main():
    tool, what = sys.argv[1:]
    failures = []
    if what == "proved":
        for kernel in PROVED:
            code, output, errors = run(tool, kernel)
            if code or 'check = "target-protocol"' not in output:
                failures.append(f"{kernel}: {first_line(errors)}")
    else:
        for kernel, fault, expected, message in REFUTED:
            code, _, errors = run(tool, kernel, fault)
            error = first_line(errors)
            wanted = f"breaks the protocol ({expected})" if expected else "not decided"
            if not code or wanted not in error or message not in error:
                failures.append(f"{kernel}, {fault}: {error}")
    print("\n".join(failures))
    print(f"{len(PROVED if what == 'proved' else REFUTED)} kernels, {len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
