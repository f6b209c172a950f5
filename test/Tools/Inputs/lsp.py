#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session of an editor with a document that nests too deep: lsp.py [--delimited] FOLDER

Writes the messages to the standard output, and a file of bytecode into FOLDER.
With --answers it prints what the server answers, a line each.
"""

import json
import pathlib
import re
import sys

DEEP = "(" * 600


def session(folder):
    folder.mkdir(exist_ok=True)
    (folder / "deep.mlirbc").write_bytes(b"ML\xefR" + b"(" * 600)
    deep = "test:///deep.mlir"

    def at(line, begin, end):
        return {"start": {"line": line, "character": begin}, "end": {"line": line, "character": end}}

    def change(version, *changes):
        return {"method": "textDocument/didChange",
                "params": {"textDocument": {"uri": deep, "version": version}, "contentChanges": list(changes)}}

    yield {"id": 0, "method": "initialize", "params": {"processId": 1, "rootPath": "mlir", "capabilities": {}, "trace": "off"}}
    # The 501st bracket is the 505th character of its line.
    text = "// A tile.\n\nf = " + DEEP
    yield {"method": "textDocument/didOpen",
           "params": {"textDocument": {"uri": deep, "languageId": "mlir", "version": 1, "text": text}}}
    yield change(2, {"text": "func.func private @f(tensor<4xf32>) -"})
    # An edit of the text that the server was last given: it is a function without a result.
    yield change(3, {"range": at(0, 36, 37), "text": ""})
    yield change(4, {"range": at(0, 36, 36), "text": "\nf = " + DEEP})
    yield "[" * 600 + "]" * 600
    yield {"id": 7, "method": "mlir/convertFromBytecode", "params": {"uri": "file://" + str((folder / "deep.mlirbc").resolve())}}
    yield {"id": 8, "method": "shutdown"}
    yield {"method": "exit"}


def write(folder, delimited):
    for message in session(folder):
        if isinstance(message, dict):
            message = json.dumps({"jsonrpc": "2.0", **message})
        if delimited:
            print(message + "\n// -----")
        else:
            sys.stdout.write(f"Content-Length: {len(message)}\r\n\r\n{message}")


def read(text):
    while text:
        length = int(re.match(r"Content-Length: (\d+)\r\n\r\n", text).group(1))
        begin = text.index("{")
        yield json.loads(text[begin:begin + length])
        text = text[begin + length:]


def describe(answer):
    params = answer.get("params", {})
    if "error" in answer:
        name = "" if answer["id"] is None else f"{answer['id']}: "
        return f"{name}error {answer['error']['code']} {answer['error']['message']}"
    if "id" in answer:
        return "initialized" if answer["id"] == 0 else f"{answer['id']}: done"
    found = [f"{d['range']['start']['line'] + 1}:{d['range']['start']['character'] + 1}: {d['message']}"
             for d in params["diagnostics"]]
    return f"{params['uri'].rsplit('/', 1)[-1]} {params['version']}: " + ("; ".join(found) or "nothing")


if sys.argv[1] == "--answers":
    for answer in read(sys.stdin.read()):
        print(describe(answer))
else:
    write(pathlib.Path(sys.argv[-1]), sys.argv[1] == "--delimited")
