#!/usr/bin/env python3
"""Cuts the regression tests into the seeds of a fuzzer.

Every part between `// -----` lines becomes a file of its own, without its
comments. With --phases, the parts of a test that reach further down get a first
line that tells the fuzzer which phases to run.
"""

import argparse
import hashlib
import pathlib
import re


def seeds(path):
    for part in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
        lines = [re.sub(r"\s*//.*", "", line) for line in part.splitlines()]
        text = "\n".join(line for line in lines if line.strip())
        if text:
            yield text + "\n"


def phases(text):
    """The phases that the contents of a part can run through."""
    if "tracea_pipe." in text:
        return ["from=pipeline to=target", "from=tile to=target"]
    if "schedule" in text:
        return ["from=decision to=target", ""]
    return ["", "to=target", "to=tile reference"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", type=pathlib.Path, help="folder of .mlir files")
    parser.add_argument("corpus", type=pathlib.Path, help="folder to fill")
    parser.add_argument("--phases", action="store_true")
    parser.add_argument("--max-bytes", type=int, default=4096)
    parser.add_argument("--most", type=int, help="at most so many, evenly spread")
    arguments = parser.parse_args()
    arguments.corpus.mkdir(parents=True, exist_ok=True)
    # The seeds of earlier tests, and what a fuzzer added to them.
    for old in arguments.corpus.iterdir():
        if re.fullmatch(r"[0-9a-f]{16}\.mlir|[0-9a-f]{40}", old.name):
            old.unlink()
    made = []
    for path in sorted(arguments.tests.rglob("*.mlir")):
        for text in seeds(path):
            if len(text) > arguments.max_bytes:
                continue
            for line in phases(text) if arguments.phases else [""]:
                made.append(f"// {line}\n{text}" if line else text)
    if not made:
        parser.error(f"no seeds in {arguments.tests}")
    step = -(-len(made) // arguments.most) if arguments.most else 1
    for seed in made[::step]:
        name = hashlib.sha1(seed.encode()).hexdigest()[:16]
        (arguments.corpus / f"{name}.mlir").write_text(seed)
    print(f"{len(made[::step])} seeds")


if __name__ == "__main__":
    main()
