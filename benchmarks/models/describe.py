# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled program consists of, by its manifest."""

import json
import subprocess


def evaluate(entry, shapes):
    """The values of an entry's expressions, where inputs have `shapes`."""
    binary = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
              "floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b), "mod": lambda a, b: a % b,
              "min": min, "max": max, "eq": lambda a, b: int(a == b), "ne": lambda a, b: int(a != b),
              "lt": lambda a, b: int(a < b), "le": lambda a, b: int(a <= b)}
    values = []
    for kind, *rest in entry["exprs"]:
        if kind == "const":
            values.append(rest[0])
        elif kind == "dim":
            values.append(shapes[rest[0]][rest[1]])
        elif kind == "select":
            values.append(values[rest[1]] if values[rest[0]] else values[rest[2]])
        else:
            values.append(binary[kind](*(values[i] for i in rest)))
    return values


def buffers_of(step):
    """The numbers of the buffers that a step uses."""
    views = [argument.get("pointer") or argument.get("tensorMap", {}).get("view") or argument
             for argument in step.get("args", [])]
    views += [step[key] for key in ("fill", "copy", "to") if key in step]
    return {view["buffer"] for view in views if "buffer" in view}


def is_once(step, buffers):
    """Whether weights alone decide what a step writes, so that it is done once."""
    written = step.get("writes") or [step.get("to", step.get("fill"))["buffer"]]
    return any(buffers[buffer].get("contents") == "constant" for buffer in written)


def describe(compiler, program, shapes):
    """Kernels, plain loops, launches, those that weights alone decide, megabytes of temporaries that live at once, spilled bytes of a thread."""
    text = subprocess.run([compiler, "explain", program, "--json"], capture_output=True, text=True, check=True).stdout
    manifest = json.loads(text)["manifest"]
    entry = manifest["entries"][0]
    values = evaluate(entry, shapes)
    steps = [step for step in entry["steps"] if "kernel" not in step or values[step["tiles"]]]
    uses = {}
    for number, step in enumerate(steps):
        for buffer in buffers_of(step):
            first, _ = uses.setdefault(buffer, (number, number))
            uses[buffer] = (first, number)
    temporary = {number: values[buffer["bytes"]] for number, buffer in enumerate(entry["buffers"]) if buffer["kind"] == "temp"}
    live = [sum(size for buffer, size in temporary.items() if buffer in uses and uses[buffer][0] <= at <= uses[buffer][1])
            for at in range(len(steps))]
    kernels = manifest["kernels"]
    plain = sum(kernel["variant"] == "linalg" for kernel in kernels)
    plain_steps = sum("kernel" in step and kernels[step["kernel"]]["variant"] == "linalg" for step in steps)
    once = sum(is_once(step, entry["buffers"]) for step in steps)
    spilled = sum(kernel["gpu"].get("use", {}).get("spillStoreBytes", 0) for kernel in kernels)
    # Classes of numerics are no condition of a proof.
    undecided = sorted({remark["check"] for kernel in kernels for remark in kernel["remarks"]} - {"numerics"})
    said = (f"{len(kernels)} kernels, {plain} of them plain loops; {len(steps)} steps, {once} of them once, "
            f"{plain_steps} of plain loops; {max(live, default=0) / 1e6:.1f} MB live")
    if spilled:
        said += f"; {spilled} bytes spilled"
    if undecided:
        said += f"; not decided: {', '.join(undecided)}"
    return said
