# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""refused.py [--absent FILE]... [--stdout] -- COMMAND...

The command must end with exit code 1, say why on stderr, leave the standard
output empty (unless --stdout) and none of the files, nor anything beside them
that begins with their names. Prints what it said on stderr."""

import glob
import subprocess
import sys

cut = sys.argv.index("--")
options, command = sys.argv[1:cut], sys.argv[cut + 1 :]
run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
said = run.stderr.decode("utf-8", "replace")
print(said, end="")

wrong = []
if run.returncode != 1:
    wrong.append(f"expected exit code 1, found {run.returncode}")
if "error: " not in said:
    wrong.append("expected an error on stderr")
if run.stdout and "--stdout" not in options:
    wrong.append(f"expected nothing on stdout, found {run.stdout[:200]!r}")
for i, option in enumerate(options):
    if option == "--absent":
        left = glob.glob(glob.escape(options[i + 1]) + "*")
        if left:
            wrong.append(f"expected no output, found {left}")
for line in wrong:
    print("refused.py:", line)
sys.exit(1 if wrong else 0)
