#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports small float32 ONNX models of static shape as linalg on tensors.

    import_onnx.py model.onnx -o model.mlir

It exists to run ONNX's own operator tests, so it covers the operators that
Tracea compiles and a few cheap ones around them.  What it cannot import it
refuses with a reason (`Unsupported`); it never approximates.

The operators' meaning is taken from the ONNX operator schemas, for the opset
that the model names.
"""

import argparse
import math
import struct
import sys

import onnx_proto

NEGATIVE_INFINITY = "0xFF800000"


class Unsupported(Exception):
    """The model holds something that this importer does not cover."""


class Value:
    def __init__(self, name, shape):
        self.name = name
        self.shape = list(shape)

    @property
    def type(self):
        return tensor_type(self.shape)


def tensor_type(shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def dims(rank):
    return [f"d{axis}" for axis in range(rank)]


def affine_map(rank, results):
    return f"affine_map<({', '.join(dims(rank))}) -> ({', '.join(results)})>"


def vector(values):
    return f"dense<[{', '.join(map(str, values))}]> : vector<{len(values)}xi64>"


class Builder:
    """Appends operations to the body of the function."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def op(self, text, shape):
        value = Value(f"%{self.count}", shape)
        self.count += 1
        self.lines.append(f"    {value.name} = {text}")
        return value

    def scalar(self, literal):
        if not isinstance(literal, str):
            bits = struct.unpack("<I", struct.pack("<f", literal))[0]
            literal = f"0x{bits:08X}"
        return self.op(f"arith.constant {literal} : f32", []).name

    def constant(self, shape, data):
        text = f'dense<"0x{data.hex().upper()}">'
        if not data:
            text = "dense<>"
        return self.op(f"arith.constant {text} : {tensor_type(shape)}", shape)

    def empty(self, shape):
        return self.op(f"tensor.empty() : {tensor_type(shape)}", shape)

    def filled(self, shape, literal):
        scalar, init = self.scalar(literal), self.empty(shape)
        return self.op(
            f"linalg.fill ins({scalar} : f32) outs({init.name} : {init.type}) "
            f"-> {init.type}",
            shape,
        )

    def named(self, text, inputs, init):
        """A linalg op in destination style."""
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(value.type for value in inputs)
        return self.op(
            f"{text} ins({names} : {types}) outs({init.name} : {init.type}) "
            f"-> {init.type}",
            init.shape,
        )

    def elementwise(self, inputs, shape, body, result="%y"):
        """A linalg.generic without reductions.

        `inputs` are (value, results of its indexing map) pairs; `body` gets
        the names of the scalars, %in0 and so on, and returns lines that
        define `result`.
        """
        rank = len(shape)
        maps = [affine_map(rank, results) for _, results in inputs]
        maps.append(affine_map(rank, dims(rank)))
        values = [value for value, _ in inputs]
        init = self.empty(shape)
        names = ", ".join(value.name for value in values)
        types = ", ".join(value.type for value in values)
        scalars = [f"%in{index}" for index in range(len(values))]
        block = ", ".join(f"{name}: f32" for name in scalars + ["%out"])
        loops = ", ".join(['"parallel"'] * rank)
        lines = "".join(f"      {line}\n" for line in body(*scalars))
        return self.op(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{loops}]}} ins({names} : {types}) "
            f"outs({init.name} : {init.type}) {{\n"
            f"    ^bb0({block}):\n{lines}"
            f"      linalg.yield {result} : f32\n    }} -> {init.type}",
            shape,
        )

    def map(self, value, body):
        return self.elementwise([(value, dims(len(value.shape)))], value.shape, body)

    def scale(self, value, factor):
        scalar = self.scalar(factor)
        return self.map(value, lambda x: [f"%y = arith.mulf {x}, {scalar} : f32"])

    def broadcast(self, value, shape):
        """Multidirectional broadcasting: aligned at the last axis."""
        if value.shape == list(shape):
            return value
        results = broadcast_results(value.shape, shape)
        return self.elementwise([(value, results)], shape, lambda x: [], "%in0")

    def reshape(self, value, shape, groups):
        """Collapses or expands along `groups`, the longer side's axes."""
        if value.shape == list(shape):
            return value
        text = "[" + ", ".join(str(group) for group in groups) + "]"
        if len(shape) < len(value.shape):
            return self.op(
                f"tensor.collapse_shape {value.name} {text} : {value.type} into "
                f"{tensor_type(shape)}",
                shape,
            )
        sizes = ", ".join(map(str, shape))
        return self.op(
            f"tensor.expand_shape {value.name} {text} output_shape [{sizes}] : "
            f"{value.type} into {tensor_type(shape)}",
            shape,
        )

    def pad(self, value, low, high, literal):
        if not any(low) and not any(high):
            return value
        scalar = self.scalar(literal)
        rank = len(value.shape)
        shape = [a + b + c for a, b, c in zip(low, value.shape, high)]
        block = ", ".join(f"%i{axis}: index" for axis in range(rank))
        return self.op(
            f"tensor.pad {value.name} low{low} high{high} {{\n"
            f"    ^bb0({block}):\n"
            f"      tensor.yield {scalar} : f32\n"
            f"    }} : {value.type} to {tensor_type(shape)}",
            shape,
        )


def broadcast_results(shape, target):
    """The indexing map that reads a tensor of `shape` for each target index."""
    offset = len(target) - len(shape)
    if offset < 0:
        raise Unsupported(f"broadcasting {shape} to {list(target)}")
    results = []
    for axis, size in enumerate(shape):
        wanted = target[axis + offset]
        if size not in (1, wanted):
            raise Unsupported(f"broadcasting {shape} to {list(target)}")
        results.append(f"d{axis + offset}" if size == wanted else "0")
    return results


class Attributes:
    def __init__(self, node):
        self.by_name = {attribute.name: attribute for attribute in node.attribute}

    def int(self, name, default):
        return self.by_name[name].i if name in self.by_name else default

    def float(self, name, default):
        return self.by_name[name].f if name in self.by_name else default

    def ints(self, name, default):
        return list(self.by_name[name].ints) if name in self.by_name else default

    def string(self, name, default):
        return self.by_name[name].s.decode() if name in self.by_name else default


class Window:
    """The sliding window of a convolution or a pooling, per spatial axis."""

    def __init__(self, attributes, sizes, kernel):
        rank = len(sizes)
        self.sizes = sizes
        self.kernel = kernel
        self.strides = attributes.ints("strides", [1] * rank)
        self.dilations = attributes.ints("dilations", [1] * rank)
        self.extent = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]
        pads = attributes.ints("pads", [0] * (2 * rank))
        self.low, high = pads[:rank], pads[rank:]
        mode = attributes.string("auto_pad", "NOTSET")
        if mode in ("SAME_UPPER", "SAME_LOWER"):
            self.out = [-(-n // s) for n, s in zip(sizes, self.strides)]
            total = [
                max((out - 1) * s + extent - n, 0)
                for out, s, extent, n in zip(
                    self.out, self.strides, self.extent, sizes
                )
            ]
            upper = mode == "SAME_UPPER"
            self.low = [t // 2 if upper else t - t // 2 for t in total]
            high = [t - l for t, l in zip(total, self.low)]
        elif mode in ("VALID", "NOTSET"):
            if mode == "VALID":
                self.low, high = [0] * rank, [0] * rank
            ceil = attributes.int("ceil_mode", 0)
            self.out = [
                self.count(axis, high[axis], ceil) for axis in range(rank)
            ]
        else:
            raise Unsupported(f"auto_pad {mode}")
        self.pads_high = high
        # Rounding up lets the last window reach past the padding.
        self.high = [
            max(h, (out - 1) * s + extent - n - l)
            for h, out, s, extent, n, l in zip(
                high, self.out, self.strides, self.extent, sizes, self.low
            )
        ]
        if min(self.out) < 1:
            raise Unsupported(f"an output of {self.out}")

    def count(self, axis, high, ceil):
        span = self.sizes[axis] + self.low[axis] + high - self.extent[axis]
        stride = self.strides[axis]
        if not ceil:
            return span // stride + 1
        out = -(-span // stride) + 1
        # A window has to start inside the input or its low padding.
        if (out - 1) * stride >= self.sizes[axis] + self.low[axis]:
            out -= 1
        return out

    def text(self):
        return (
            f"{{dilations = {vector(self.dilations)}, "
            f"strides = {vector(self.strides)}}}"
        )

    def counts(self, include_pad):
        """How many elements each window averages over, in row-major order."""
        per_axis = []
        for axis, out in enumerate(self.out):
            first = -self.low[axis] if include_pad else 0
            last = self.sizes[axis] + (self.pads_high[axis] if include_pad else 0)
            counts = []
            for index in range(out):
                start = index * self.strides[axis] - self.low[axis]
                taps = (
                    start + tap * self.dilations[axis]
                    for tap in range(self.kernel[axis])
                )
                counts.append(sum(first <= tap < last for tap in taps))
            per_axis.append(counts)
        return [float(a * b) for a in per_axis[0] for b in per_axis[1]]


def lift(builder, value):
    """[N, C, L] to [N, C, 1, L]."""
    n, c, length = value.shape
    return builder.reshape(value, [n, c, 1, length], [[0], [1], [2, 3]])


def unlift(builder, value):
    n, c, _, length = value.shape
    return builder.reshape(value, [n, c, length], [[0], [1], [2, 3]])


def spatial(value):
    """1 or 2 spatial axes, or a refusal."""
    rank = len(value.shape) - 2
    if rank not in (1, 2):
        raise Unsupported(f"{rank} spatial axes")
    return rank


class Lifted(Attributes):
    """The attributes of an operator with one spatial axis, as if it had two."""

    def ints(self, name, default):
        values = super().ints(name, None)
        if values is None:
            return default
        if name == "pads":
            return [0, values[0], 0, values[1]]
        return [1, values[0]]


class Importer:
    def __init__(self, model):
        self.graph = model.graph
        versions = [o.version for o in model.opset_import if not o.domain]
        self.opset = max(versions, default=1)
        self.builder = Builder()
        self.values = {}
        self.inputs = []

    def run(self):
        b = self.builder
        given = {tensor.name for tensor in self.graph.initializer}
        for info in self.graph.input:
            if info.name in given:
                continue
            shape = self.check(info)
            value = Value(f"%arg{len(self.inputs)}", shape)
            self.inputs.append((info.name, shape))
            self.values[info.name] = value
        for tensor in self.graph.initializer:
            self.values[tensor.name] = self.tensor(tensor)
        for node in self.graph.node:
            self.node(node)
        if len(self.graph.output) != 1:
            raise Unsupported(f"{len(self.graph.output)} outputs")
        output = self.graph.output[0]
        result = self.values[output.name]
        expected = self.check(output)
        if result.shape != expected:
            raise ValueError(
                f"imported a result of shape {result.shape}, the model says {expected}"
            )
        arguments = ", ".join(
            f"%arg{index}: {tensor_type(shape)}"
            for index, (_, shape) in enumerate(self.inputs)
        )
        body = "\n".join(b.lines)
        return (
            f"module {{\n  func.func @main({arguments}) -> {result.type} {{\n"
            f"{body}\n"
            f"    return {result.name} : {result.type}\n  }}\n}}\n"
        )

    def check(self, info):
        tensor = info.type.tensor_type if info.type else None
        if tensor is None:
            raise Unsupported(f"{info.name} is not a tensor")
        if tensor.elem_type != onnx_proto.FLOAT:
            raise Unsupported(f"{onnx_proto.type_name(tensor.elem_type)} tensors")
        shape = onnx_proto.shape_of(info)
        if shape is None or None in shape:
            raise Unsupported(f"the dynamic shape of {info.name}")
        return shape

    def tensor(self, tensor):
        if tensor.data_type != onnx_proto.FLOAT:
            raise Unsupported(
                f"{onnx_proto.type_name(tensor.data_type)} initializers"
            )
        return self.builder.constant(tensor.dims, onnx_proto.tensor_bytes(tensor))

    def node(self, node):
        handler = getattr(self, "import_" + node.op_type, None)
        if node.domain or handler is None:
            raise Unsupported(f"operator {node.op_type}")
        outputs = [name for name in node.output if name]
        if len(outputs) != 1 or not node.output[0]:
            raise Unsupported(f"{node.op_type} with {len(outputs)} outputs")
        inputs = [self.values[name] if name else None for name in node.input]
        attributes = Attributes(node)
        self.values[node.output[0]] = handler(attributes, node, *inputs)

    # Convolution and pooling ---------------------------------------------

    def import_Conv(self, attributes, node, x, w, bias=None):
        b = self.builder
        one = spatial(x) == 1
        if one:
            x, w = lift(b, x), lift(b, w)
            attributes = Lifted(node)
        batch, channels = x.shape[:2]
        filters, per_group = w.shape[:2]
        groups = attributes.int("group", 1)
        window = Window(attributes, x.shape[2:], w.shape[2:])
        if per_group * groups != channels or filters % groups:
            raise ValueError(f"{groups} groups of {channels} channels")
        x = b.pad(x, [0, 0] + window.low, [0, 0] + window.high, 0.0)
        shape = [batch, filters] + window.out
        if groups == 1:
            init = b.filled(shape, 0.0)
            y = b.named(
                f"linalg.conv_2d_nchw_fchw {window.text()}", [x, w], init
            )
        elif per_group == 1 and filters == channels:
            w = b.reshape(w, [filters] + w.shape[2:], [[0, 1], [2], [3]])
            init = b.filled(shape, 0.0)
            y = b.named(
                f"linalg.depthwise_conv_2d_nchw_chw {window.text()}", [x, w], init
            )
        else:
            x = b.reshape(
                x,
                [batch, groups, per_group] + x.shape[2:],
                [[0], [1, 2], [3], [4]],
            )
            w = b.reshape(
                w,
                [groups, filters // groups] + w.shape[1:],
                [[0, 1], [2], [3], [4]],
            )
            init = b.filled([batch, groups, filters // groups] + window.out, 0.0)
            y = b.named(
                f"linalg.conv_2d_ngchw_gfchw {window.text()}", [x, w], init
            )
            y = b.reshape(y, shape, [[0], [1, 2], [3], [4]])
        if bias is not None:
            y = b.elementwise(
                [(y, dims(4)), (bias, ["d1"])],
                shape,
                lambda x, c: [f"%y = arith.addf {x}, {c} : f32"],
            )
        return unlift(b, y) if one else y

    def pool(self, attributes, node, x, maximum):
        b = self.builder
        one = spatial(x) == 1
        if one:
            x = lift(b, x)
            attributes = Lifted(node)
        kernel = attributes.ints("kernel_shape", None)
        window = Window(attributes, x.shape[2:], kernel)
        y = self.reduce_window(x, window, maximum)
        if not maximum:
            include = attributes.int("count_include_pad", 0)
            y = self.average(y, window, include)
        return unlift(b, y) if one else y

    def reduce_window(self, x, window, maximum):
        b = self.builder
        neutral = NEGATIVE_INFINITY if maximum else 0.0
        x = b.pad(x, [0, 0] + window.low, [0, 0] + window.high, neutral)
        init = b.filled(x.shape[:2] + window.out, neutral)
        kind = "max" if maximum else "sum"
        return b.named(
            f"linalg.pooling_nchw_{kind} {window.text()}",
            [x, b.empty(window.kernel)],
            init,
        )

    def average(self, y, window, include_pad):
        b = self.builder
        counts = window.counts(include_pad)
        if 0.0 in counts:
            raise Unsupported("a window without elements")
        if min(counts) == max(counts):
            count = b.scalar(counts[0])
            return b.map(y, lambda x: [f"%y = arith.divf {x}, {count} : f32"])
        data = struct.pack(f"<{len(counts)}f", *counts)
        count = b.constant(window.out, data)
        return b.elementwise(
            [(y, dims(4)), (count, ["d2", "d3"])],
            y.shape,
            lambda x, c: [f"%y = arith.divf {x}, {c} : f32"],
        )

    def import_MaxPool(self, attributes, node, x):
        return self.pool(attributes, node, x, True)

    def import_AveragePool(self, attributes, node, x):
        return self.pool(attributes, node, x, False)

    def global_pool(self, node, x, maximum):
        b = self.builder
        one = spatial(x) == 1
        if one:
            x = lift(b, x)
        window = Window(Attributes(node), x.shape[2:], x.shape[2:])
        y = self.reduce_window(x, window, maximum)
        if not maximum:
            y = self.average(y, window, False)
        return unlift(b, y) if one else y

    def import_GlobalMaxPool(self, attributes, node, x):
        return self.global_pool(node, x, True)

    def import_GlobalAveragePool(self, attributes, node, x):
        return self.global_pool(node, x, False)

    # Matrix products -----------------------------------------------------

    def import_Gemm(self, attributes, node, a, b, c=None):
        builder = self.builder
        trans_a = attributes.int("transA", 0)
        trans_b = attributes.int("transB", 0)
        m, k = reversed(a.shape) if trans_a else a.shape
        n = b.shape[0] if trans_b else b.shape[1]
        text = "linalg.matmul"
        if trans_a or trans_b:
            maps = [
                affine_map(3, ["d2", "d0"] if trans_a else ["d0", "d2"]),
                affine_map(3, ["d1", "d2"] if trans_b else ["d2", "d1"]),
                affine_map(3, ["d0", "d1"]),
            ]
            text += f" indexing_maps = [{', '.join(maps)}]"
        y = builder.named(text, [a, b], builder.filled([m, n], 0.0))
        alpha = attributes.float("alpha", 1.0)
        if alpha != 1.0:
            y = builder.scale(y, alpha)
        if c is None:
            return y
        beta = attributes.float("beta", 1.0)
        if beta != 1.0:
            c = builder.scale(c, beta)
        return builder.elementwise(
            [(y, dims(2)), (c, broadcast_results(c.shape, [m, n]))],
            [m, n],
            lambda x, z: [f"%y = arith.addf {x}, {z} : f32"],
        )

    def import_MatMul(self, attributes, node, a, b):
        builder = self.builder
        # A vector is a row on the left and a column on the right.
        row, column = len(a.shape) == 1, len(b.shape) == 1
        if row:
            a = builder.reshape(a, [1, a.shape[0]], [[0, 1]])
        if column:
            b = builder.reshape(b, [b.shape[0], 1], [[0, 1]])
        m, k = a.shape[-2:]
        n = b.shape[-1]
        batch = self.batch(a.shape[:-2], b.shape[:-2])
        if b.shape[-2] != k:
            raise ValueError(f"the product of {a.shape} and {b.shape}")
        a = builder.broadcast(a, batch + [m, k])
        b = builder.broadcast(b, batch + [k, n])
        rank = len(batch)
        if not rank:
            init = builder.filled([m, n], 0.0)
            y = builder.named("linalg.matmul", [a, b], init)
        else:
            groups = [list(range(rank)), [rank], [rank + 1]]
            count = math.prod(batch)
            a = builder.reshape(a, [count, m, k], groups)
            b = builder.reshape(b, [count, k, n], groups)
            init = builder.filled([count, m, n], 0.0)
            y = builder.named("linalg.batch_matmul", [a, b], init)
            y = builder.reshape(y, batch + [m, n], groups)
        # Drop the axes that stood in for a vector's missing one.
        return self.drop(y, [rank] * row + [rank + 1] * column)

    @staticmethod
    def batch(a, b):
        rank = max(len(a), len(b))
        a = [1] * (rank - len(a)) + a
        b = [1] * (rank - len(b)) + b
        for x, y in zip(a, b):
            if x != y and 1 not in (x, y):
                raise ValueError(f"batches {a} and {b} do not broadcast")
        return [y if x == 1 else x for x, y in zip(a, b)]

    def drop(self, value, axes):
        """Removes axes of size one."""
        kept = [axis for axis in range(len(value.shape)) if axis not in axes]
        shape = [value.shape[axis] for axis in kept]
        return self.builder.reshape(
            value, shape, unit_groups(len(value.shape), kept)
        )

    # Normalization and elementwise ---------------------------------------

    def import_Softmax(self, attributes, node, x):
        b = self.builder
        rank = len(x.shape)
        axis = attributes.int("axis", -1 if self.opset >= 13 else 1)
        axis += rank if axis < 0 else 0
        shape = x.shape
        # Before opset 13 the axes from `axis` on are normalized together.
        together = self.opset < 13 and axis != rank - 1
        if together:
            if axis == 0:
                raise Unsupported("a flattening Softmax from axis 0")
            groups = [list(range(axis)), list(range(axis, rank))]
            flat = [math.prod(shape[:axis]), math.prod(shape[axis:])]
            x, axis = b.reshape(x, flat, groups), 1
        y = b.named(f"linalg.softmax dimension({axis})", [x], b.empty(x.shape))
        return b.reshape(y, shape, groups) if together else y

    def import_BatchNormalization(
        self, attributes, node, x, scale, bias, mean, var
    ):
        b = self.builder
        if attributes.int("training_mode", 0):
            raise Unsupported("training mode")
        if not attributes.int("spatial", 1):
            raise Unsupported("statistics for every element")
        epsilon = b.scalar(attributes.float("epsilon", 1e-5))
        channel = [(value, ["d1"]) for value in (scale, bias, mean, var)]
        return b.elementwise(
            [(x, dims(len(x.shape)))] + channel,
            x.shape,
            lambda x, scale, bias, mean, var: [
                f"%centered = arith.subf {x}, {mean} : f32",
                f"%shifted = arith.addf {var}, {epsilon} : f32",
                "%inverse = math.rsqrt %shifted : f32",
                "%normal = arith.mulf %centered, %inverse : f32",
                f"%scaled = arith.mulf %normal, {scale} : f32",
                f"%y = arith.addf %scaled, {bias} : f32",
            ],
        )

    def import_Neg(self, attributes, node, x):
        return self.builder.map(x, lambda x: [f"%y = arith.negf {x} : f32"])

    # Shapes and constants ------------------------------------------------

    def import_Constant(self, attributes, node):
        if "value" not in attributes.by_name:
            raise Unsupported("a Constant that is not a tensor")
        return self.tensor(attributes.by_name["value"].t)

    def import_Transpose(self, attributes, node, x):
        rank = len(x.shape)
        perm = attributes.ints("perm", list(reversed(range(rank))))
        init = self.builder.empty([x.shape[axis] for axis in perm])
        return self.builder.op(
            f"linalg.transpose ins({x.name} : {x.type}) "
            f"outs({init.name} : {init.type}) permutation = {perm}",
            init.shape,
        )

    def axes(self, attributes, rank):
        axes = attributes.ints("axes", None)
        if axes is None:
            raise Unsupported("axes that are not an attribute")
        return [axis + rank if axis < 0 else axis for axis in axes]

    def import_Squeeze(self, attributes, node, x):
        return self.drop(x, self.axes(attributes, len(x.shape)))

    def import_Unsqueeze(self, attributes, node, x):
        rank = len(x.shape) + len(attributes.ints("axes", []))
        axes = self.axes(attributes, rank)
        sizes = iter(x.shape)
        shape = [1 if axis in axes else next(sizes) for axis in range(rank)]
        kept = [axis for axis in range(rank) if axis not in axes]
        return self.builder.reshape(x, shape, unit_groups(rank, kept))


def unit_groups(rank, kept):
    """Groups of neighbouring axes, each with one of `kept`; the rest are 1."""
    if not kept:
        return []
    groups = [[] for _ in kept]
    for axis in range(rank):
        index = sum(k <= axis for k in kept) - 1
        groups[max(index, 0)].append(axis)
    return groups


def import_model(model):
    """Returns the module's text and its inputs as (name, shape) pairs."""
    importer = Importer(model)
    text = importer.run()
    return text, importer.inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("-o", "--output", default="/dev/stdout")
    options = parser.parse_args()
    try:
        text, _ = import_model(onnx_proto.read_model(options.model))
    except (Unsupported, ValueError) as error:
        print(f"{options.model}: {error}", file=sys.stderr)
        return 1
    with open(options.output, "w") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
