#!/usr/bin/env python3
"""Runs the commands that a Markdown page shows and compares what they print.

    check_doc.py PAGE.md [BUILD]

A fenced block marked `console` holds commands, each behind "$ " (with "\\" a
command goes on in the next line). What follows a command in its block is what it
prints; a block of another language right behind a `console` block is what its
last command prints. A command without shown output must only succeed; one whose
line ends in "# fails" must not.

Shown output is compared token by token, so that lines may be wrapped anywhere:

  - "…" stands for anything, but the text around it must appear in order;
  - names of values (%x) and of aliases (#map1, #lanes) may be others, but equal
    names stay equal within a block.

All commands of a page run in one scratch folder, in which `docs`, `examples`
and `test` are those of the source tree, and `build/dev/lib` that of the folder
BUILD.
"""

import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TOKEN = re.compile(r"…|[%#]?\w+|\S")
RENAMED = re.compile(r"%\w+$|#(map|lanes)\w*$")
TIMEOUT = 120  # seconds for one command


class Fence:
    def __init__(self, language, line):
        self.language, self.line, self.lines = language, line, []


def fences(text):
    """The fenced blocks; an element None stands for text between two of them."""
    result, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if fence is None:
            if stripped.startswith("```"):
                fence = Fence(stripped[3:].strip(), number)
            elif stripped:
                result.append(None)
        elif stripped == "```":
            result.append(fence)
            fence = None
        else:
            fence.lines.append(line)
    if fence is not None:
        raise SystemExit(f"line {fence.line}: the block is not closed")
    return result


def commands(blocks):
    """Triples of line, command and shown output."""
    result = []
    for position, block in enumerate(blocks):
        if block is None or block.language != "console":
            continue
        going_on = False
        for offset, line in enumerate(block.lines, 1):
            if going_on:
                result[-1][1] += "\n" + line
            elif line.startswith("$ "):
                result.append([block.line + offset, line[2:], ""])
            elif not result or result[-1][0] < block.line:
                raise SystemExit(
                    f"line {block.line + offset}: expected a command, '$ …'"
                )
            else:
                result[-1][2] += line + "\n"
            going_on = (going_on or line.startswith("$ ")) and line.endswith("\\")
        following = blocks[position + 1] if position + 1 < len(blocks) else None
        if following is not None and following.language != "console":
            result[-1][2] += "\n".join(following.lines)
    return result


def match(piece, tokens, start, names):
    """Index behind the first place at or behind `start` where `piece` is."""
    for at in range(start, len(tokens) - len(piece) + 1):
        bound = dict(names)
        for expected, found in zip(piece, tokens[at:]):
            if RENAMED.match(expected) and RENAMED.match(found):
                if bound.setdefault(expected, found) != found:
                    break
            elif expected != found:
                break
        else:
            names.update(bound)
            return at + len(piece)
    return None


def compare(shown, printed):
    """What is shown and not printed, or None."""
    tokens, names, start = TOKEN.findall(printed), {}, 0
    for part in shown.split("…"):
        piece = TOKEN.findall(part)
        end = match(piece, tokens, start, names)
        if end is None:
            return part.strip()
        start = end
    return None


def main():
    page = sys.argv[1]
    with open(page, encoding="utf-8") as file:
        steps = commands(fences(file.read()))
    if not steps:
        raise SystemExit(f"{page}: no command to run")
    failures = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("docs", "examples", "test"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(scratch, name))
        for build in sys.argv[2:]:
            os.makedirs(os.path.join(scratch, "build/dev"))
            os.symlink(os.path.join(build, "lib"), os.path.join(scratch, "build/dev/lib"))
        for line, command, shown in steps:
            must_fail = command.rstrip().endswith("# fails")
            run = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command.replace("build/dev/bin/", "")],
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT,
            )
            printed = run.stdout.decode("utf-8", "replace")
            problem = None
            if (run.returncode != 0) != must_fail:
                problem = f"exit status {run.returncode}"
            elif shown.strip():
                compared += 1
                missing = compare(shown, printed)
                if missing is not None:
                    problem = f"shown and not printed:\n{missing}"
            if problem:
                failures += 1
                print(f"{page}:{line}: $ {command}\n{problem}\n--- printed:\n{printed}")
    print(f"{len(steps)} commands run, {compared} outputs compared, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
