#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the C interface with the one that was committed, by abidiff.

    scripts/abi.py LIBRARY [--update]

A library of empty functions is made of include/tracea.h with debug information,
so that the comparison knows all types; that LIBRARY exports the same functions,
and nothing else, is compared by their names. What was added is fine; what was
removed or changed is an error.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "include", "tracea.h")
COMMITTED = os.path.join(ROOT, "test", "ABI", "tracea.abi")


def declarations():
    """The declarations of functions, each to its semicolon."""
    text = open(HEADER).read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"^TRACEA_API [^;]*;", text, flags=re.M)


def build(folder):
    source = os.path.join(folder, "empty.c")
    with open(source, "w") as file:
        file.write('#include "tracea.h"\n')
        for declaration in declarations():
            file.write(declaration[:-1] + " { __builtin_trap(); }\n")
    library = os.path.join(folder, "libtracea-runtime.so")
    subprocess.run(
        ["cc", "-g", "-O0", "-std=c99", "-w", "-fPIC", "-shared", "-I", os.path.dirname(HEADER), source, "-o", library],
        check=True,
    )
    return library


def exported(library):
    """The names of functions that the library defines for others."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in lines.splitlines() if line.split()[-2] in "TWV"}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        declared, found = exported(library), exported(arguments[0])
        declared = {name for name in declared if name.startswith("tracea_")}
        if declared != found:
            sys.exit(
                f"{arguments[0]}: expected the functions of include/tracea.h; "
                f"missing {sorted(declared - found)}, not declared {sorted(found - declared)}"
            )
        if "--update" in sys.argv:
            os.makedirs(os.path.dirname(COMMITTED), exist_ok=True)
            command = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", COMMITTED]
            subprocess.run([*command, library], check=True)
            return
        result = subprocess.run(
            ["abidiff", "--no-added-syms", COMMITTED, library], capture_output=True, text=True
        )
        # Bit 2 is a change; 3 is one that breaks callers.
        if result.returncode != 0:
            print(result.stdout + result.stderr)
            sys.exit("the C interface is not what test/ABI/tracea.abi says; see CONTRIBUTING.md")
    print(f"{len(declared)} functions, as committed")


main()
