#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the ONNX importer where ONNX's own tests do not reach.

Models are encoded here, imported, run with stock MLIR and compared with loops
written in Python from the operators' definitions.
"""

import itertools
import math
import pathlib
import random
import struct
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import import_onnx
import npy
import onnx_proto
import stock


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, shape, kind=onnx_proto.FLOAT):
    sizes = b"".join(
        field(1, field(2, size) if isinstance(size, str) else field(1, size))
        for size in shape
    )
    tensor = field(1, kind) + field(2, sizes)
    return field(1, name) + field(2, field(1, tensor))


def attribute(name, value):
    out = field(1, name)
    if isinstance(value, list):
        return out + b"".join(field(8, item) for item in value) + field(20, 7)
    if isinstance(value, str):
        return out + field(4, value) + field(20, 3)
    if isinstance(value, float):
        return out + field(2, value) + field(20, 1)
    return out + field(3, value) + field(20, 2)


def model(op, shapes, result, opset=13, **attributes):
    """A model of one operator."""
    names = [f"x{index}" for index in range(len(shapes))]
    node = b"".join(field(1, name) for name in names) + field(2, "y")
    node += field(4, op)
    for name, value in attributes.items():
        node += field(5, attribute(name, value))
    graph = field(1, node)
    for name, shape in zip(names, shapes):
        graph += field(11, value_info(name, shape))
    graph += field(12, value_info("y", result))
    data = field(1, 8) + field(7, graph) + field(8, field(2, opset))
    return onnx_proto.decode(data, onnx_proto.MODEL)


class Array:
    """A tensor that is read with an index tuple."""

    def __init__(self, shape, values):
        self.shape, self.values = list(shape), list(values)

    def __getitem__(self, index):
        at = 0
        for size, i in zip(self.shape, index):
            assert 0 <= i < size
            at = at * size + i
        return self.values[at]


def indices(shape):
    return itertools.product(*map(range, shape))


class OperatorTest(unittest.TestCase):
    def check(self, op, shapes, result, reference, opset=13, **attributes):
        """`reference` maps a result index and the inputs to a value."""
        rng = random.Random(7)
        inputs = []
        for shape in shapes:
            values = [rng.uniform(-2, 2) for _ in range(math.prod(shape))]
            rounded = struct.unpack(
                f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values)
            )
            inputs.append(Array(shape, rounded))
        text, _ = import_onnx.import_model(
            model(op, shapes, result, opset, **attributes)
        )
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "model.mlir"
            source.write_text(text)
            tensors = [
                npy.Tensor(
                    "<f4",
                    array.shape,
                    struct.pack(f"<{len(array.values)}f", *array.values),
                )
                for array in inputs
            ]
            found = stock.run(source, tensors, len(result))
        self.assertEqual(list(found.shape), list(result))
        for index, value in zip(indices(result), found.values()):
            expected = reference(index, *inputs)
            self.assertAlmostEqual(value, expected, 4, msg=f"at {index}")


class MatMulTest(OperatorTest):
    def test_vector_vector(self):
        self.check(
            "MatMul", [[5], [5]], [],
            lambda _, a, b: sum(a[k,] * b[k,] for k in range(5)),
        )

    def test_vector_matrix(self):
        self.check(
            "MatMul", [[4], [4, 3]], [3],
            lambda i, a, b: sum(a[k,] * b[k, i[0]] for k in range(4)),
        )

    def test_matrix_vector(self):
        self.check(
            "MatMul", [[3, 4], [4]], [3],
            lambda i, a, b: sum(a[i[0], k] * b[k,] for k in range(4)),
        )

    def test_batch_vector(self):
        self.check(
            "MatMul", [[2, 3, 4], [4]], [2, 3],
            lambda i, a, b: sum(a[i[0], i[1], k] * b[k,] for k in range(4)),
        )

    def test_vector_batch(self):
        self.check(
            "MatMul", [[4], [2, 4, 3]], [2, 3],
            lambda i, a, b: sum(a[k,] * b[i[0], k, i[1]] for k in range(4)),
        )

    def test_batches_broadcast(self):
        self.check(
            "MatMul", [[2, 1, 3, 4], [5, 4, 2]], [2, 5, 3, 2],
            lambda i, a, b: sum(
                a[i[0], 0, i[2], k] * b[i[1], k, i[3]] for k in range(4)
            ),
        )

    def test_inner_sizes_differ(self):
        with self.assertRaises(ValueError):
            import_onnx.import_model(model("MatMul", [[3, 4], [5, 2]], [3, 2]))


class SoftmaxTest(OperatorTest):
    def test_old_opsets_flatten(self):
        def reference(i, x):
            row = [math.exp(x[i[0], j, k]) for j in range(3) for k in range(4)]
            return math.exp(x[i]) / sum(row)

        self.check("Softmax", [[2, 3, 4]], [2, 3, 4], reference, opset=11)

    def test_new_opsets_take_one_axis(self):
        def reference(i, x):
            return math.exp(x[i]) / sum(math.exp(x[i[0], i[1], k]) for k in range(4))

        self.check("Softmax", [[2, 3, 4]], [2, 3, 4], reference, opset=13)


class PoolTest(OperatorTest):
    SIZES, KERNEL, STRIDES, PADS = (7, 6), (3, 2), (3, 2), [1, 0, 0, 1]

    def window(self, index, x, include_pad):
        """The padding and the values under one window, without dilation."""
        values, count = [], 0
        for r in range(self.KERNEL[0]):
            for s in range(self.KERNEL[1]):
                h = index[2] * self.STRIDES[0] + r - self.PADS[0]
                w = index[3] * self.STRIDES[1] + s - self.PADS[1]
                inside = 0 <= h < self.SIZES[0] and 0 <= w < self.SIZES[1]
                padded = (
                    h < self.SIZES[0] + self.PADS[2]
                    and w < self.SIZES[1] + self.PADS[3]
                )
                if inside:
                    values.append(x[index[0], index[1], h, w])
                count += inside or (include_pad and padded)
        return values, count

    def pool(self, op, reference, **attributes):
        # Rounding up: ceil((7 + 1 - 3) / 3) + 1 by ceil((6 + 1 - 2) / 2) + 1,
        # where the last column starts in the padding on the right and goes.
        self.check(
            op, [[2, 2, *self.SIZES]], [2, 2, 3, 3], reference,
            kernel_shape=list(self.KERNEL), strides=list(self.STRIDES),
            pads=self.PADS, ceil_mode=1, **attributes,
        )

    def test_maximum(self):
        self.pool("MaxPool", lambda i, x: max(self.window(i, x, False)[0]))

    def test_average_without_padding(self):
        def reference(i, x):
            values, count = self.window(i, x, False)
            return sum(values) / count

        self.pool("AveragePool", reference)

    def test_average_with_padding(self):
        def reference(i, x):
            values, count = self.window(i, x, True)
            return sum(values) / count

        self.pool("AveragePool", reference, count_include_pad=1)


class ConvTest(OperatorTest):
    def test_groups_dilations_and_pads(self):
        def reference(i, x, w, b):
            n, k, p, q = i
            total = b[k,]
            for c in range(2):
                for r in range(3):
                    for s in range(2):
                        h, v = p * 2 + r * 2 - 2, q + s * 3 - 1
                        if 0 <= h < 7 and 0 <= v < 8:
                            total += x[n, k // 3 * 2 + c, h, v] * w[k, c, r, s]
            return total

        self.check(
            "Conv", [[2, 4, 7, 8], [6, 2, 3, 2], [6]], [2, 6, 3, 6], reference,
            group=2, strides=[2, 1], dilations=[2, 3], pads=[2, 1, 0, 0],
        )


class RefusalTest(unittest.TestCase):
    def refuses(self, reason, *arguments, **attributes):
        with self.assertRaisesRegex(import_onnx.Unsupported, reason):
            import_onnx.import_model(model(*arguments, **attributes))

    def test_operator(self):
        self.refuses("operator Erf", "Erf", [[2]], [2])

    def test_dynamic_shape(self):
        self.refuses("dynamic shape of x0", "Neg", [["n", 2]], ["n", 2])

    def test_three_spatial_axes(self):
        self.refuses(
            "3 spatial axes", "MaxPool", [[1, 1, 4, 4, 4]], [1, 1, 3, 3, 3],
            kernel_shape=[2, 2, 2],
        )

    def test_training_mode(self):
        self.refuses(
            "training mode", "BatchNormalization",
            [[2, 3], [3], [3], [3], [3]], [2, 3], training_mode=1,
        )


class ProtoTest(unittest.TestCase):
    def test_packed_and_unpacked(self):
        packed = field(1, varint(2) + varint(300)) + field(2, 1)
        loose = field(1, 2) + field(1, 300) + field(2, 1)
        for data in (packed, loose):
            tensor = onnx_proto.decode(data, onnx_proto.TENSOR)
            self.assertEqual(tensor.dims, [2, 300])

    def test_negative_integer(self):
        read = onnx_proto.decode(attribute("axis", -3), onnx_proto.ATTRIBUTE)
        self.assertEqual(read.i, -3)

    def test_unknown_fields_are_skipped(self):
        data = field(99, "text") + field(98, 1.5) + field(97, 3) + field(8, "name")
        self.assertEqual(onnx_proto.decode(data, onnx_proto.TENSOR).name, "name")

    def test_truncated(self):
        data = field(8, "a name") + field(1, 300)
        boundaries = {0, len(field(8, "a name"))}
        for length in range(len(data)):
            if length in boundaries:
                continue
            with self.assertRaises(ValueError):
                onnx_proto.decode(data[:length], onnx_proto.TENSOR)

    def test_data_of_the_wrong_size(self):
        data = field(1, 3) + field(2, onnx_proto.FLOAT) + field(9, b"\0" * 8)
        with self.assertRaisesRegex(ValueError, "expected 12 bytes"):
            onnx_proto.tensor_bytes(onnx_proto.decode(data, onnx_proto.TENSOR))


if __name__ == "__main__":
    unittest.main()
