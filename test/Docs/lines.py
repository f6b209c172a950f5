#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of pages have at most 100 characters: lines.py [--fix] [PAGE.md ...]

Without pages it is all of the project's. Tables, code and lines that are one
long word (a link) may be longer. With --fix the paragraphs that hold longer
lines are wrapped anew.
"""

import pathlib
import re
import sys
import textwrap

WIDTH = 100
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# A line that began with one of these would no longer be of its paragraph.
MARK = re.compile(r" (?=(?:[-+*]|\d+\.)(?: |$)|[|#<>])")
ITEM = re.compile(r"(\s*(?:[-*]|\d+\.)\s+)")


def paragraphs(lines):
    """Pairs of whether the lines are prose, and the lines: a paragraph, an item of a list, or anything else."""
    block, fenced = [], False
    for line in lines:
        fence = line.strip().startswith("```")
        other = fenced or fence or not line.strip() or line.lstrip().startswith(("|", "#", "<", ">")) \
            or (line.startswith("    ") and not block)
        if fence:
            fenced = not fenced
        if other or ITEM.match(line):
            if block:
                yield True, block
            block = []
        if other:
            yield False, [line]
        else:
            block.append(line)
    if block:
        yield True, block


def is_long(line):
    return len(line) > WIDTH and len(line.split()) > 1 + bool(ITEM.match(line))


def wrap(block):
    item = ITEM.match(block[0])
    first = item[1] if item else re.match(r"\s*", block[0])[0]
    text = " ".join(line.strip() for line in block)[len(first.lstrip()):]
    # Words alone are moved; a mark stays behind the word before it.
    lines = textwrap.wrap(MARK.sub("\0", text), WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def all_pages():
    """The pages of the tree: none of what was built, and none that is an input of a test."""
    for path in sorted(SOURCE.rglob("*.md")):
        folders = path.relative_to(SOURCE).parts[:-1]
        if not any(name in ("build", "test") or name[0] == "." for name in folders):
            yield str(path)


def main():
    fix = "--fix" in sys.argv[1:]
    wrong = 0
    for path in [argument for argument in sys.argv[1:] if argument != "--fix"] or all_pages():
        with open(path) as file:
            lines = file.read().split("\n")
        new, number = [], 1
        for prose, block in paragraphs(lines):
            bad = prose and any(map(is_long, block))
            if bad and not fix:
                for offset, line in enumerate(block):
                    if is_long(line):
                        print(f"{path}:{number + offset}: {len(line)} characters, expected at most {WIDTH}")
                        wrong += 1
            new += wrap(block) if bad and fix else block
            number += len(block)
        if fix and new != lines:
            with open(path, "w") as file:
                file.write("\n".join(new))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
