#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the float64 reference of the semantic dialect by numbers.

Definitions: random small cases of every operation go through
convert-tracea-to-linalg, tracea-promote-to-f64 and the stock lowering, and are
compared with formulas written here in NumPy.

Raising: linalg modules run as they are and after convert-linalg-to-tracea and
convert-tracea-to-linalg; the case says which operation must have been raised.

Destinations are filled with NaN: their contents must never be read.
"""

import argparse
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit("oracle_vs_numpy.py needs NumPy (Debian: python3-numpy)")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import stock  # noqa: E402

TOLERANCE = 1e-10


class Case:
    """One function: its text, its inputs and the results to expect."""

    def __init__(self, name, text, inputs, expected, raised=None):
        self.name = name
        self.text = text
        self.inputs = inputs
        self.expected = expected
        self.raised = raised


class Writer:
    """Collects the arguments of a function and writes tensor types."""

    def __init__(self, rng, dynamic):
        self.rng = rng
        self.dynamic = dynamic
        self.arguments = []
        self.inputs = []

    def type(self, array, element):
        sizes = [
            "?" if self.dynamic and self.rng.random() < 0.5 else str(size)
            for size in array.shape
        ]
        return "tensor<" + "x".join(sizes + [element]) + ">"

    def add(self, array, element):
        """A new argument: its name and its type."""
        name = f"%x{len(self.inputs)}"
        text = self.type(array, element)
        self.arguments.append(f"{name}: {text}")
        self.inputs.append(array)
        return name, text

    def destination(self, shape, element):
        if element.startswith("i"):
            return self.add(np.full(shape, -77, np.int32), element)
        return self.add(np.full(shape, np.nan), element)

    def function(self, name, body, results):
        names = ", ".join(value for value, _ in results)
        types = ", ".join(text for _, text in results)
        return (
            f"func.func @{name}({', '.join(self.arguments)}) -> ({types}) {{\n"
            f"{body}\n  return {names} : {types}\n}}\n"
        )


# ------------------------------------------------------------------------------
# gemm
# ------------------------------------------------------------------------------


def gemm_cases(rng):
    shapes = [
        ((), (), 4, 5, 6),
        ((), (), 1, 7, 0),
        ((), (), 0, 3, 2),
        ((2,), (2,), 3, 4, 5),
        ((2,), (), 3, 4, 5),
        ((), (2, 3), 3, 2, 4),
        ((2, 2), (2, 2), 2, 3, 4),
    ]
    flags = list(itertools.product([False, True], repeat=3))
    for index, (shape, (left, right, dynamic)) in enumerate(
        itertools.product(shapes, flags)
    ):
        lhs_batch, rhs_batch, m, n, k = shape
        batch = lhs_batch or rhs_batch
        element = ["f32", "f64", "bf16", "f16", "i8"][index % 5]
        w = Writer(rng, dynamic)

        def draw(dims):
            if element == "i8":
                return rng.integers(-128, 128, dims).astype(np.int8)
            return rng.standard_normal(dims)

        a = draw(lhs_batch + ((k, m) if left else (m, k)))
        b = draw(rhs_batch + ((n, k) if right else (k, n)))
        wide = np.int32 if element == "i8" else np.float64
        product = np.matmul(
            (np.swapaxes(a, -1, -2) if left else a).astype(wide),
            (np.swapaxes(b, -1, -2) if right else b).astype(wide),
        )
        lhs, lhs_type = w.add(a, element)
        rhs, rhs_type = w.add(b, element)
        epilogue = ""
        if index % 3 == 1 and element != "i8":
            acc = "f64" if element == "f64" else "f32"
            bias = rng.standard_normal(n)
            scale = rng.standard_normal((m, 1))
            dims = [f"d{i}" for i in range(len(batch) + 2)]
            head = ", ".join(dims)
            bias_name, bias_type = w.add(bias, acc)
            scale_name, scale_type = w.add(scale, acc)
            if "x1x" not in scale_type:
                scale_type = re.sub(r"x\?x(f..)>", r"x1x\1>", scale_type)
                w.arguments[-1] = f"{scale_name}: {scale_type}"
            epilogue = f"""
    epilogue({bias_name} by affine_map<({head}) -> ({dims[-1]})>,
             {scale_name} by affine_map<({head}) -> ({dims[-2]}, 0)>
             : {bias_type}, {scale_type}) {{
      ^bb0(%acc: {acc}, %b: {acc}, %s: {acc}):
        %t = arith.mulf %acc, %s : {acc}
        %u = arith.addf %t, %b : {acc}
        tracea.yield %u : {acc}
    }}"""
            product = product * scale + bias
            out = acc
        else:
            out = {"i8": "i32"}.get(element, element)
        init, init_type = w.destination(batch + (m, n), out)
        body = (
            "  %y = tracea.gemm"
            + (" transpose_lhs" if left else "")
            + (" transpose_rhs" if right else "")
            + f" ins({lhs}, {rhs} : {lhs_type}, {rhs_type})"
            + f" outs({init} : {init_type}){epilogue}"
        )
        name = f"gemm_{index}"
        yield Case(name, w.function(name, body, [("%y", init_type)]), w.inputs,
                   [product])


# ------------------------------------------------------------------------------
# grouped_gemm
# ------------------------------------------------------------------------------


def grouped_gemm_cases(rng):
    """Ends as they should be, and as data may be."""
    cases = [
        (9, [2, 5, 9]),  # all rows
        (9, [4, 4, 4, 9]),  # empty groups
        (9, [0, 3]),  # rows behind the last end
        (9, [9]),  # one group
        (9, [20, 30]),  # beyond the rows
        (9, [6, 2, 7]),  # an end that falls
        (9, [-4, 5, -1, 9]),
        (9, []),  # no group
        (0, [0, 0]),
    ]
    for index, ((rows, ends), (transposed, dynamic)) in enumerate(
        itertools.product(cases, itertools.product([False, True], repeat=2))
    ):
        element = ["f32", "f64", "bf16", "f16"][index % 4]
        n, k = [(5, 4), (3, 0), (1, 7)][index % 3]
        w = Writer(rng, dynamic)
        a = rng.standard_normal((rows, k))
        b = rng.standard_normal((len(ends), n, k))
        expected = np.zeros((rows, n))
        for row in range(rows):
            group = next((g for g, end in enumerate(ends) if row < end), None)
            if group is not None:
                expected[row] = b[group] @ a[row]
        stored = b if transposed else np.ascontiguousarray(np.swapaxes(b, 1, 2))
        lhs, lhs_type = w.add(a, element)
        rhs, rhs_type = w.add(stored, element)
        name, ends_type = w.add(np.array(ends, np.int32), "i32")
        epilogue = ""
        if index % 2:
            bias = rng.standard_normal(n)
            acc = "f64" if element == "f64" else "f32"
            bias_name, bias_type = w.add(bias, acc)
            epilogue = f"""
    epilogue({bias_name} by affine_map<(m, n) -> (n)> : {bias_type}) {{
      ^bb0(%acc: {acc}, %b: {acc}):
        %t = arith.addf %acc, %b : {acc}
        tracea.yield %t : {acc}
    }}"""
            expected = expected + bias
            element = acc
        init, init_type = w.destination((rows, n), element)
        body = (
            "  %y = tracea.grouped_gemm"
            + (" transpose_rhs" if transposed else "")
            + f" ins({lhs}, {rhs}, {name} : {lhs_type}, {rhs_type}, {ends_type})"
            + f" outs({init} : {init_type}){epilogue}"
        )
        name = f"grouped_gemm_{index}"
        yield Case(name, w.function(name, body, [("%y", init_type)]), w.inputs,
                   [expected])


# ------------------------------------------------------------------------------
# conv2d
# ------------------------------------------------------------------------------


def convolve(image, filter_, strides, pads, dilations, groups):
    """image nhwc, filter krsc."""
    top, left, bottom, right = pads
    image = np.pad(image, ((0, 0), (top, bottom), (left, right), (0, 0)))
    count, height, width, _ = image.shape
    outputs, rows, columns, channels = filter_.shape
    p = max(0, (height - dilations[0] * (rows - 1) - 1) // strides[0] + 1)
    q = max(0, (width - dilations[1] * (columns - 1) - 1) // strides[1] + 1)
    per_group = outputs // groups
    result = np.zeros((count, p, q, outputs), image.dtype)
    for i, j, k, r, s in itertools.product(
        range(p), range(q), range(outputs), range(rows), range(columns)
    ):
        first = (k // per_group) * channels
        patch = image[
            :,
            i * strides[0] + r * dilations[0],
            j * strides[1] + s * dilations[1],
            first : first + channels,
        ]
        result[:, i, j, k] += patch @ filter_[k, r, s]
    return result


FILTERS = {"krsc": (0, 1, 2, 3), "kcrs": (0, 3, 1, 2), "rsck": (1, 2, 3, 0)}


def conv_cases(rng):
    # n, h, w, c, k, r, s, strides, pads, dilations, groups
    shapes = [
        (2, 5, 6, 3, 4, 3, 3, (1, 1), (0, 0, 0, 0), (1, 1), 1),
        (1, 6, 5, 4, 6, 3, 2, (2, 1), (1, 0, 2, 1), (1, 2), 2),
        (1, 7, 7, 3, 3, 3, 3, (2, 2), (1, 1, 1, 1), (2, 2), 3),
        (2, 4, 4, 2, 6, 2, 2, (1, 1), (0, 1, 1, 0), (1, 1), 2),
        (1, 4, 4, 4, 4, 1, 1, (1, 1), (0, 0, 0, 0), (1, 1), 1),
        (0, 4, 4, 2, 3, 3, 3, (1, 1), (1, 1, 1, 1), (1, 1), 1),
        (1, 2, 2, 2, 3, 3, 3, (1, 1), (0, 0, 0, 0), (1, 1), 1),
        (1, 4, 4, 0, 3, 3, 3, (1, 1), (1, 1, 1, 1), (1, 1), 1),
    ]
    kinds = itertools.product(["nhwc", "nchw"], FILTERS, [False, True])
    for index, (shape, (layout, order, dynamic)) in enumerate(
        itertools.product(shapes, kinds)
    ):
        n, h, wd, c, k, r, s, strides, pads, dilations, groups = shape
        element = ["f32", "bf16", "f64", "i8"][index % 4]
        w = Writer(rng, dynamic)
        if element == "i8":
            x = rng.integers(-128, 128, (n, h, wd, c)).astype(np.int8)
            f = rng.integers(-128, 128, (k, r, s, c // groups)).astype(np.int8)
            wide = np.int32
        else:
            x = rng.standard_normal((n, h, wd, c))
            f = rng.standard_normal((k, r, s, c // groups))
            wide = np.float64
        y = convolve(x.astype(wide), f.astype(wide), strides, pads, dilations,
                     groups)
        if layout == "nchw":
            x, y = x.transpose(0, 3, 1, 2), y.transpose(0, 3, 1, 2)
        f = f.transpose(FILTERS[order])
        image, image_type = w.add(x, element)
        filt, filt_type = w.add(f, element)
        epilogue, out = "", {"i8": "i32"}.get(element, element)
        if element in ("f32", "bf16"):
            bias, residual = rng.standard_normal(k), rng.standard_normal(y.shape)
            channel = "d3" if layout == "nhwc" else "d1"
            bias_name, bias_type = w.add(bias, "f32")
            res_name, res_type = w.add(residual, element)
            narrow = element == "bf16"
            epilogue = f"""
    epilogue({bias_name} by affine_map<(d0, d1, d2, d3) -> ({channel})>,
             {res_name} by affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
             : {bias_type}, {res_type}) {{
      ^bb0(%acc: f32, %b: f32, %r: {element}):
        %t = arith.addf %acc, %b : f32
        %e = math.exp %t : f32
        {"%w = arith.extf %r : bf16 to f32" if narrow else ""}
        %u = arith.addf %e, {"%w" if narrow else "%r"} : f32
        tracea.yield %u : f32
    }}"""
            shaped = bias if layout == "nhwc" else bias[:, None, None]
            y = np.exp(y + shaped) + residual
            out = "f32"
        init, init_type = w.destination(y.shape, out)
        body = (
            f"  %y = tracea.conv2d layout {layout} filter {order}"
            f" strides [{strides[0]}, {strides[1]}]"
            f" pads [{', '.join(map(str, pads))}]"
            f" dilations [{dilations[0]}, {dilations[1]}] groups {groups}"
            f" ins({image}, {filt} : {image_type}, {filt_type})"
            f" outs({init} : {init_type}){epilogue}"
        )
        name = f"conv_{index}"
        yield Case(name, w.function(name, body, [("%y", init_type)]), w.inputs,
                   [y])


# ------------------------------------------------------------------------------
# softmax and norms
# ------------------------------------------------------------------------------


def row_cases(rng):
    index = 0
    for shape, dynamic in itertools.product(
        [(5,), (3, 4), (2, 3, 4), (2, 0, 3), (3, 2, 2, 3)], [False, True]
    ):
        rank = len(shape)
        for axis, kind in itertools.product(
            range(rank), ["softmax", "batch", "layer", "layer_plain", "rms",
                          "rms_plain"]
        ):
            index += 1
            element = ["f32", "f16", "f64"][index % 3]
            acc = "f64" if element == "f64" else "f32"
            w = Writer(rng, dynamic)
            x = 3 * rng.standard_normal(shape) + 1
            eps = 1e-3
            inputs, input_type = w.add(x, element)
            if kind == "softmax":
                if x.size:
                    x[(0,) * rank] = -np.inf
                top = x.max(axis, keepdims=True, initial=-np.inf)
                with np.errstate(invalid="ignore"):
                    e = np.exp(x - top)
                    y = e / e.sum(axis, keepdims=True)
                head = f"tracea.softmax dim {axis} ins({inputs} : {input_type})"
            elif kind == "batch":
                parts = [rng.random(shape[axis]) + 0.5 for _ in range(4)]
                scale, bias, mean, variance = (
                    part.reshape([-1] + [1] * (rank - 1 - axis))
                    for part in parts
                )
                y = (x - mean) / np.sqrt(variance + eps) * scale + bias
                added = [w.add(part, acc) for part in parts]
                head = (
                    f"tracea.batch_norm axis {axis} epsilon {eps} ins({inputs}, "
                    + ", ".join(name for name, _ in added)
                    + f" : {input_type}, "
                    + ", ".join(text for _, text in added)
                    + ")"
                )
            else:
                axes = tuple(range(axis, rank))
                scale = rng.standard_normal(shape[axis:])
                bias = rng.standard_normal(shape[axis:])
                plain = kind.endswith("plain")
                with np.errstate(all="ignore"):
                    if kind.startswith("layer"):
                        mean = x.sum(axes, keepdims=True) / scale.size
                        centered = x - mean
                        variance = (centered**2).sum(axes, keepdims=True)
                        y = centered / np.sqrt(variance / scale.size + eps)
                    else:
                        square = (x * x).sum(axes, keepdims=True) / scale.size
                        y = x / np.sqrt(square + eps)
                head = (
                    f"tracea.{'layer' if kind.startswith('layer') else 'rms'}"
                    f"_norm axis {axis} epsilon {eps}"
                    f" ins({inputs} : {input_type})"
                )
                if not plain:
                    name, text = w.add(scale, acc)
                    head += f" scale({name} : {text})"
                    y = y * scale
                    if kind == "layer":
                        name, text = w.add(bias, acc)
                        head += f" bias({name} : {text})"
                        y = y + bias
            epilogue = ""
            if index % 2:
                epilogue = f""" epilogue {{
      ^bb0(%acc: {acc}):
        %t = arith.addf %acc, %acc : {acc}
        tracea.yield %t : {acc}
    }}"""
                y = 2 * y
            init, init_type = w.destination(shape, acc if epilogue else element)
            body = f"  %y = {head} outs({init} : {init_type}){epilogue}"
            name = f"{kind}_{index}"
            yield Case(name, w.function(name, body, [("%y", init_type)]),
                       w.inputs, [y])


# ------------------------------------------------------------------------------
# attention
# ------------------------------------------------------------------------------


def attend(q, k, v, scale, causal, window, mask, block):
    batch, heads, rows, depth = q.shape
    groups, columns = k.shape[1:3]
    result = np.zeros((batch, heads, rows, v.shape[3]))
    lse = np.full((batch, heads, rows), -np.inf)
    scale = 1 / np.sqrt(depth) if scale is None else scale
    for b, h, i in np.ndindex(batch, heads, rows):
        g = h // (heads // groups)
        keys = []
        for j in range(columns):
            place = i + columns - rows
            keep = not (causal and j > place)
            if window and window[0] >= 0:
                keep = keep and j >= place - window[0]
            if window and window[1] >= 0:
                keep = keep and j <= place + window[1]
            if mask is not None:
                keep = keep and mask[
                    b % mask.shape[0], h % mask.shape[1], i // block[0],
                    j // block[1]
                ]
            if keep:
                keys.append(j)
        if not keys:
            continue
        scores = scale * (k[b, g, keys] @ q[b, h, i])
        weights = np.exp(scores - scores.max())
        lse[b, h, i] = scores.max() + np.log(weights.sum())
        result[b, h, i] = weights @ v[b, g, keys] / weights.sum()
    return result, lse


def attention_cases(rng):
    # b, h, g, i, j, d, e
    shapes = [
        (2, 2, 2, 4, 4, 3, 5),
        (1, 4, 2, 3, 6, 4, 4),
        (2, 6, 1, 5, 3, 2, 3),
        (1, 2, 2, 3, 0, 4, 2),
        (1, 3, 3, 0, 4, 4, 2),
        (1, 0, 0, 2, 3, 4, 2),
    ]
    masks = [
        (False, None, None),
        (True, None, None),
        (False, (1, 1), None),
        (True, (2, -1), None),
        (False, (-1, 0), (1, 1)),
        (False, None, (2, 3)),
        (True, (-1, -1), (2, 2)),
    ]
    for index, (shape, (causal, window, block), dynamic) in enumerate(
        itertools.product(shapes, masks, [False, True])
    ):
        b, h, g, i, j, d, e = shape
        element = ["f32", "bf16", "f64"][index % 3]
        acc = "f64" if element == "f64" else "f32"
        w = Writer(rng, dynamic)
        q = rng.standard_normal((b, h, i, d))
        k = rng.standard_normal((b, g, j, d))
        v = rng.standard_normal((b, g, j, e))
        scale = 0.7 if index % 4 == 0 else None
        names, types = zip(*[w.add(array, element) for array in (q, k, v)])
        mask = None
        extra = ""
        if block:
            count = (
                b if index % 2 else 1, h if index % 3 else 1,
                -(-i // block[0]), -(-j // block[1]),
            )
            mask = rng.random(count) < 0.6
            name, text = w.add(mask, "i1")
            extra = (
                f" block_mask({name} : {text})"
                f" block_size [{block[0]}, {block[1]}]"
            )
        result, lse = attend(q, k, v, scale, causal, window, mask, block)
        init, init_type = w.destination(result.shape, element)
        results, expected = [("%y", init_type)], [result]
        lse_text = ""
        if index % 5 != 4:
            name, text = w.destination(lse.shape, acc)
            lse_text = f" lse({name} : {text})"
            results.append(("%z", text))
            expected.append(lse)
        body = (
            f"  {', '.join(value for value, _ in results)} = tracea.attention"
            + (" causal" if causal else "")
            + (f" window [{window[0]}, {window[1]}]" if window else "")
            + (f" scale {scale}" if scale is not None else "")
            + f" ins({', '.join(names)} : {', '.join(types)}){extra}"
            + f" outs({init} : {init_type}){lse_text}"
            + f" -> {', '.join(text for _, text in results)}"
        )
        name = f"attention_{index}"
        yield Case(name, w.function(name, body, results), w.inputs, expected)


# ------------------------------------------------------------------------------
# Raising
# ------------------------------------------------------------------------------


def raising_cases(rng):
    """linalg operations; what they compute is what they compute unraised."""
    index = 0

    def case(operation, raised, inputs, init, attributes="", start="zero",
             pad=None, dynamic=False, generic=None):
        nonlocal index
        index += 1
        name = f"raise_{index}"
        w = Writer(rng, dynamic)
        lhs, lhs_type = w.add(rng.standard_normal(inputs[0]), "f32")
        rhs, rhs_type = w.add(rng.standard_normal(inputs[1]), "f32")
        out, out_type = w.add(rng.standard_normal(init), "f32")
        lines = ["  %zero = arith.constant 0.0 : f32"]
        if pad:
            low, high = pad
            padded = [
                "?" if size == "?" else str(int(size) + l + h)
                for size, l, h in zip(
                    re.match(r"tensor<(.*)xf32>", lhs_type)[1].split("x"), *pad
                )
            ]
            padded_type = "tensor<" + "x".join(padded) + "xf32>"
            indices = ", ".join(f"%i{i}: index" for i in range(len(low)))
            lines.append(
                f"  %padded = tensor.pad {lhs} low{list(low)} high{list(high)}"
                f" {{\n  ^bb0({indices}):\n    tensor.yield %zero : f32\n  }}"
                f" : {lhs_type} to {padded_type}"
            )
            lhs, lhs_type = "%padded", padded_type
        if start == "zero":
            lines.append(
                f"  %start = linalg.fill ins(%zero : f32)"
                f" outs({out} : {out_type}) -> {out_type}"
            )
            out = "%start"
        elif start == "bias":
            bias, _ = w.add(rng.standard_normal(init[-1]), "f32")
            # linalg wants the extent to be as static as the destination's.
            bias_type = "tensor<" + out_type[len("tensor<"):].split("x")[-2] + "xf32>"
            w.arguments[-1] = f"{bias}: {bias_type}"
            dims = ", ".join(str(i) for i in range(len(init) - 1))
            lines.append(
                f"  %start = linalg.broadcast ins({bias} : {bias_type})"
                f" outs({out} : {out_type}) dimensions = [{dims}]"
            )
            out = "%start"
        tail = (
            f"ins({lhs}, {rhs} : {lhs_type}, {rhs_type})"
            f" outs({out} : {out_type})"
        )
        if generic:
            maps, iterators = generic
            lines.append(
                f"  %y = linalg.generic {{indexing_maps = [{maps}],"
                f" iterator_types = [{iterators}]}} {tail} {{\n"
                "  ^bb0(%a: f32, %b: f32, %c: f32):\n"
                "    %m = arith.mulf %a, %b : f32\n"
                "    %s = arith.addf %m, %c : f32\n"
                f"    linalg.yield %s : f32\n  }} -> {out_type}"
            )
        else:
            lines.append(f"  %y = linalg.{operation} {attributes} {tail}"
                         f" -> {out_type}")
        text = w.function(name, "\n".join(lines), [("%y", out_type)])
        return Case(f"{name} ({operation})", text, w.inputs, None, raised)

    starts = ["zero", "sum", "bias"]
    for start, dynamic in itertools.product(starts, [False, True]):
        options = {"start": start, "dynamic": dynamic}
        yield case("matmul", "gemm", [(4, 5), (5, 6)], (4, 6), **options)
        for maps in ("(k, m)|(k, n)", "(m, k)|(n, k)", "(k, m)|(n, k)",
                     "(n, k)|(m, k)", "(k, n)|(m, k)"):
            left, right = maps.split("|")
            size = {"m": 4, "n": 6, "k": 5}
            shapes = [
                tuple(size[d] for d in part.strip("()").split(", "))
                for part in (left, right)
            ]
            generic = (
                f"affine_map<(m, n, k) -> {left}>,"
                f" affine_map<(m, n, k) -> {right}>,"
                " affine_map<(m, n, k) -> (m, n)>",
                '"parallel", "parallel", "reduction"',
            )
            yield case(maps, "gemm", shapes, (4, 6), generic=generic, **options)
        yield case("batch_matmul", "gemm", [(2, 3, 4), (2, 4, 5)], (2, 3, 5),
                   **options)
        shared = (
            "affine_map<(b, m, n, k) -> (b, m, k)>,"
            " affine_map<(b, m, n, k) -> (k, n)>,"
            " affine_map<(b, m, n, k) -> (b, m, n)>",
            '"parallel", "parallel", "parallel", "reduction"',
        )
        yield case("shared", "gemm", [(2, 3, 4), (4, 5)], (2, 3, 5),
                   generic=shared, **options)
        yield case("matvec", "gemm", [(4, 5), (5,)], (4,), **options)
        yield case("vecmat", "gemm", [(4,), (4, 5)], (5,), **options)
        yield case("batch_matvec", "gemm", [(2, 3, 4), (2, 4)], (2, 3),
                   **options)
        yield case("batch_vecmat", "gemm", [(2, 4), (2, 4, 3)], (2, 3),
                   **options)

        # `groups` is an attribute: the extent must be known.
        grouped = {"start": start, "dynamic": False}
        plain = ("{strides = dense<1> : tensor<2xi64>,"
                 " dilations = dense<1> : tensor<2xi64>}")
        strided = ("{strides = dense<[2, 1]> : tensor<2xi64>,"
                   " dilations = dense<[1, 2]> : tensor<2xi64>}")
        yield case("conv_2d_nhwc_hwcf", "conv2d", [(2, 5, 6, 3), (3, 3, 3, 4)],
                   (2, 3, 4, 4), plain, **options)
        yield case("conv_2d_nhwc_hwcf", "conv2d", [(2, 6, 6, 3), (3, 3, 3, 4)],
                   (2, 3, 4, 4), strided,
                   pad=((0, 1, 0, 0), (0, 0, 2, 0)), **options)
        yield case("conv_2d_nhwc_fhwc", "conv2d", [(2, 5, 6, 3), (4, 3, 3, 3)],
                   (2, 3, 4, 4), plain, **options)
        yield case("conv_2d_nchw_fchw", "conv2d", [(2, 3, 5, 6), (4, 3, 3, 3)],
                   (2, 4, 3, 4), plain, **options)
        yield case("depthwise_conv_2d_nhwc_hwc", "conv2d",
                   [(2, 5, 6, 3), (3, 3, 3)], (2, 3, 4, 3), plain, **grouped)
        yield case("depthwise_conv_2d_nchw_chw", "conv2d",
                   [(2, 3, 5, 6), (3, 3, 3)], (2, 3, 3, 4), plain, **grouped)
        yield case("depthwise_conv_2d_nhwc_hwcm", "conv2d",
                   [(2, 4, 5, 3), (3, 3, 3, 2)], (2, 3, 4, 3, 2), plain,
                   pad=((0, 1, 0, 0), (0, 0, 1, 0)), **grouped)
        yield case("conv_2d_ngchw_gfchw", "conv2d",
                   [(2, 2, 3, 5, 6), (2, 4, 3, 3, 3)], (2, 2, 4, 3, 4), plain,
                   **grouped)
        yield case("conv_2d_ngchw_fgchw", "conv2d",
                   [(2, 2, 3, 5, 6), (4, 2, 3, 3, 3)], (2, 2, 4, 3, 4), plain,
                   **grouped)
        yield case("conv_2d_nhwgc_gfhwc", "conv2d",
                   [(2, 5, 6, 2, 3), (2, 4, 3, 3, 3)], (2, 3, 4, 2, 4), plain,
                   **grouped)


# ------------------------------------------------------------------------------
# Running
# ------------------------------------------------------------------------------


def run_opt(text, passes):
    done = subprocess.run(
        ["tracea-opt", "-", *passes],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"tracea-opt {' '.join(passes)}:\n{done.stderr[:4000]}")
    return done.stdout


def call(library, name, inputs, outputs):
    """Calls a function on arrays; `outputs` are (rank, dtype) pairs."""
    descriptors, keep = [], []
    for array in inputs:
        array = np.array(array, order="C")  # the callee may write into it
        value = stock.descriptor(array.ndim)()
        value.allocated = value.aligned = array.ctypes.data
        for axis in range(array.ndim):
            value.sizes[axis] = array.shape[axis]
            value.strides[axis] = array.strides[axis] // array.itemsize
        keep.append(array)
        descriptors.append(value)

    class Packed(ctypes.Structure):
        _fields_ = [
            (f"r{i}", stock.descriptor(rank))
            for i, (rank, _) in enumerate(outputs)
        ]

    packed = Packed()
    function = library[f"_mlir_ciface_{name}"]
    function.restype = None
    function(ctypes.byref(packed), *map(ctypes.byref, descriptors))
    results = []
    for i, (rank, dtype) in enumerate(outputs):
        value = getattr(packed, f"r{i}")
        shape = tuple(value.sizes)
        count = int(np.prod(shape))
        size = np.dtype(dtype).itemsize
        address = (value.aligned or 0) + value.offset * size
        data = ctypes.string_at(address, count * size) if count else b""
        results.append(np.frombuffer(data, dtype).reshape(shape))
    return results


def compile_text(text, folder, name):
    source = folder / f"{name}.mlir"
    source.write_text(text)
    output = folder / f"{name}.so"
    tools = os.path.dirname(shutil.which("mlir-opt") or stock.DEFAULT_BIN + "/x")
    stock.compile_module(source, output, tools)
    return ctypes.CDLL(str(output))


def compare(case, found, expected):
    for number, (a, b) in enumerate(zip(found, expected)):
        if a.shape != b.shape:
            raise SystemExit(
                f"{case.name}, result {number}: expected shape {b.shape}, found"
                f" {a.shape}\n{case.text}"
            )
        with np.errstate(invalid="ignore"):
            error = np.abs(a - b) / np.maximum(1, np.abs(b))
        # Equal infinities and NaNs agree.
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        bad = ~same & ~(error <= TOLERANCE)
        if bad.any():
            where = tuple(int(i) for i in np.argwhere(bad)[0])
            raise SystemExit(
                f"{case.name}, result {number} at {where}: expected {b[where]},"
                f" found {a[where]} ({int(bad.sum())} of {bad.size} differ)\n"
                f"{case.text}"
            )


def check_definitions(rng, folder):
    cases = [
        *gemm_cases(rng),
        *grouped_gemm_cases(rng),
        *conv_cases(rng),
        *row_cases(rng),
        *attention_cases(rng),
    ]
    text = run_opt(
        "".join(case.text for case in cases),
        ["--convert-tracea-to-linalg", "--tracea-promote-to-f64"],
    )
    library = compile_text(text, folder, "definitions")
    for case in cases:
        name = re.search(r"@(\w+)", case.text)[1]
        outputs = [(b.ndim, b.dtype) for b in case.expected]
        compare(case, call(library, name, case.inputs, outputs), case.expected)
    print(f"definitions: {len(cases)} cases agree")


def check_raising(rng, folder):
    cases = list(raising_cases(rng))
    text = "".join(case.text for case in cases)
    raised = run_opt(text, ["--convert-linalg-to-tracea"])
    for case, part in zip(cases, raised.split("func.func")[1:]):
        if f"tracea.{case.raised}" not in part:
            raise SystemExit(
                f"{case.name}: expected tracea.{case.raised}, found\n{part}"
            )
    plain = compile_text(
        run_opt(text, ["--tracea-promote-to-f64"]), folder, "plain"
    )
    back = compile_text(
        run_opt(raised, ["--convert-tracea-to-linalg",
                         "--tracea-promote-to-f64"]),
        folder,
        "raised",
    )
    for case in cases:
        name = re.search(r"@(\w+)", case.text)[1]
        result = case.text.split("return")[1]
        rank = result[result.index("<"):].count("x")
        outputs = [(rank, np.float64)]
        expected = call(plain, name, case.inputs, outputs)
        assert np.isfinite(expected[0]).all(), f"{case.name} reads a destination"
        compare(case, call(back, name, case.inputs, outputs), expected)
    print(f"raising: {len(cases)} cases agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        check_definitions(rng, pathlib.Path(folder))
        check_raising(rng, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
