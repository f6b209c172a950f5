# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""each.py refused TEXT COMMAND... -- FILE...
each.py accepted COMMAND... -- FILE...

Runs the command for each file, in place of the word FILE. Refused: exit code 1,
an error that has TEXT in it, and nothing on the standard output. Accepted: exit
code 0."""

import subprocess
import sys

mode, *rest = sys.argv[1:]
text = rest.pop(0) if mode == "refused" else ""
cut = rest.index("--")
command, files = rest[:cut], rest[cut + 1 :]
wrong = 0 if files else 1
for file in files:
    run = subprocess.run(
        [file if word == "FILE" else word for word in command],
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    said = run.stderr.decode("utf-8", "replace")
    if mode == "accepted":
        good = run.returncode == 0
    else:
        good = (
            run.returncode == 1 and "error: " in said and text in said and not run.stdout
        )
    if not good:
        wrong += 1
        print(f"{file}: exit code {run.returncode}\n{said[:600]}")
sys.exit(1 if wrong else 0)
