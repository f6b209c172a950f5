# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""streams.py MODULE FOLDER

Runs the tools with standard streams that are closed, full, endless or read by
nobody. Each must end by itself, with exit code 1 and an error."""

import os
import subprocess
import sys

module, folder = sys.argv[1:]
wrong = []

PRINTERS = [
    ["tracea", "--version"],
    ["tracea", "--help"],
    ["tracea", "run", "--help"],
    ["tracea", "explain", module],
    ["tracea", "explain", module, "--json"],
    ["tracea", "compile", module, "--emit", "llvm"],
    ["tracea", "compile", module, "-o", "-"],
    ["tracea", "run", module, "--random-inputs", "--shape", "0=4x64"],
    ["tracea", "doctor"],
    ["tracea-opt", module],
    ["tracea-opt", module, "--emit-bytecode"],
    ["tracea-translate", "--emit=program-manifest", os.path.join(folder, "p.mlir")],
]
READERS = [
    ["tracea", "run", "FILE"],
    ["tracea", "explain", "FILE"],
    ["tracea", "compile", "FILE", "-o", os.path.join(folder, "out.tracea")],
    ["tracea", "run", module, "--input", "FILE", "--random-inputs"],
    ["tracea-opt", "FILE"],
    ["tracea-translate", "FILE"],
]


def check(what, command, said, code, error="error: "):
    if code != 1 or error not in said:
        wrong.append(f"{what}: {' '.join(command)}: exit code {code}: {said[:400]!r}")


def run(command, **options):
    done = subprocess.run(command, stderr=subprocess.PIPE, timeout=120, **options)
    return done.stderr.decode("utf-8", "replace"), done.returncode


subprocess.run(
    ["tracea", "compile", module, "--emit", "mlir", "--to", "pipeline"]
    + ["-o", os.path.join(folder, "p.mlir")],
    check=True,
)

for command in PRINTERS:
    # As the shell's `>&-`.
    said, code = run(
        command, stdin=subprocess.DEVNULL, preexec_fn=lambda: os.close(1)
    )
    check("closed", command, said, code)
    with open("/dev/full", "wb") as full:
        said, code = run(command, stdin=subprocess.DEVNULL, stdout=full)
    check("full", command, said, code, "No space left on device")
    reader, writer = os.pipe()
    os.close(reader)
    said, code = run(command, stdin=subprocess.DEVNULL, stdout=writer)
    os.close(writer)
    check("no reader", command, said, code, "Broken pipe")

# The first file that a tool opens must not become its standard output or input.
output = os.path.join(folder, "y.npy")
said, code = run(
    ["tracea", "run", module, "--random-inputs", "--shape", "0=4x64"]
    + ["--output", output],
    preexec_fn=lambda: [os.close(fd) for fd in (0, 1)],
)
check("closed", ["run --output"], said, code, "cannot write to the standard output")
with open(output, "rb") as file:
    data = file.read()
if data[:6] != b"\x93NUMPY" or len(data) != 128 + 4 * 48 * 4:
    wrong.append(f"the output has {len(data)} bytes and begins {data[:60]!r}")
said, code = run(
    ["tracea", "explain", "-"],
    stdout=subprocess.DEVNULL,
    preexec_fn=lambda: os.close(0),
)
check("closed input", ["explain -"], said, code, "Bad file descriptor")

for command in READERS:
    zero = ["/dev/zero" if word == "FILE" else word for word in command]
    said, code = run(zero, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    check("endless", zero, said, code, "/dev/zero: ")
    folderName = [folder if word == "FILE" else word for word in command]
    said, code = run(folderName, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    check("folder", folderName, said, code, "expected a file, found a directory")

# A pipe that never ends.
for command in (["tracea", "run", "-"], ["tracea-opt"], ["tracea-translate"]):
    yes = subprocess.Popen(["yes", "module {}"], stdout=subprocess.PIPE)
    said, code = run(command, stdin=yes.stdout, stdout=subprocess.DEVNULL)
    yes.stdout.close()
    yes.wait()
    check("endless pipe", command, said, code, "expected at most 268435456 bytes")

for line in wrong:
    print(line)
sys.exit(1 if wrong else 0)
