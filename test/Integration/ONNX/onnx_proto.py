# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decodes ONNX files with the standard library alone.

Protocol buffers on the wire are (field number, wire type, value) records; a
schema says which fields are kept and how they read.  The numbers are those of
onnx.proto; fields that no importer here asks for are skipped.
"""

import array
import math
import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

# TensorProto.DataType: number -> (name, bytes per value)
DATA_TYPES = {
    1: ("float", 4),
    2: ("uint8", 1),
    3: ("int8", 1),
    6: ("int32", 4),
    7: ("int64", 8),
    9: ("bool", 1),
    10: ("float16", 2),
    11: ("double", 8),
}
FLOAT, INT64 = 1, 7


class Message:
    """Field values as attributes; repeated fields are lists."""


# field number -> (name, how to read it, repeated); a schema as the reader
# means a nested message.
DIMENSION = {1: ("value", "int", False), 2: ("param", "string", False)}
SHAPE = {1: ("dim", DIMENSION, True)}
TENSOR_TYPE = {1: ("elem_type", "int", False), 2: ("shape", SHAPE, False)}
TYPE = {1: ("tensor_type", TENSOR_TYPE, False)}
VALUE_INFO = {1: ("name", "string", False), 2: ("type", TYPE, False)}
TENSOR = {
    1: ("dims", "int", True),
    2: ("data_type", "int", False),
    4: ("float_data", "float", True),
    7: ("int64_data", "int", True),
    8: ("name", "string", False),
    9: ("raw_data", "bytes", False),
}
ATTRIBUTE = {
    1: ("name", "string", False),
    2: ("f", "float", False),
    3: ("i", "int", False),
    4: ("s", "bytes", False),
    5: ("t", TENSOR, False),
    7: ("floats", "float", True),
    8: ("ints", "int", True),
    20: ("type", "int", False),
}
NODE = {
    1: ("input", "string", True),
    2: ("output", "string", True),
    4: ("op_type", "string", False),
    5: ("attribute", ATTRIBUTE, True),
    7: ("domain", "string", False),
}
GRAPH = {
    1: ("node", NODE, True),
    5: ("initializer", TENSOR, True),
    11: ("input", VALUE_INFO, True),
    12: ("output", VALUE_INFO, True),
}
OPSET = {1: ("domain", "string", False), 2: ("version", "int", False)}
MODEL = {7: ("graph", GRAPH, False), 8: ("opset_import", OPSET, True)}

DEFAULTS = {"int": 0, "float": 0.0, "string": "", "bytes": b""}


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("malformed variable-length integer")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def records(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = varint(data, at)
        else:
            if wire == BYTES:
                size, at = varint(data, at)
            elif wire in (FIXED32, FIXED64):
                size = 4 if wire == FIXED32 else 8
            else:
                raise ValueError(f"unsupported wire type {wire}")
            if at + size > len(data):
                raise ValueError("a field runs past the end of its message")
            value, at = data[at : at + size], at + size
        yield number, wire, value


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def scalars(reader, wire, value):
    """The values of one record; a packed record holds many."""
    if reader == "int":
        if wire == VARINT:
            return [signed(value)]
        out, at = [], 0
        while at < len(value):
            item, at = varint(value, at)
            out.append(signed(item))
        return out
    if reader == "float":
        return list(struct.unpack(f"<{len(value) // 4}f", value))
    return [value.decode() if reader == "string" else bytes(value)]


def decode(data, schema):
    message = Message()
    message.present = set()
    for name, reader, repeated in schema.values():
        nested = isinstance(reader, dict)
        empty = [] if repeated else None if nested else DEFAULTS[reader]
        setattr(message, name, empty)
    for number, wire, value in records(data):
        if number not in schema:
            continue
        name, reader, repeated = schema[number]
        message.present.add(name)
        nested = isinstance(reader, dict)
        items = [decode(value, reader)] if nested else scalars(reader, wire, value)
        if repeated:
            getattr(message, name).extend(items)
        elif items:
            setattr(message, name, items[-1])
    return message


def read_model(path):
    with open(path, "rb") as file:
        model = decode(file.read(), MODEL)
    if model.graph is None:
        raise ValueError(f"{path}: no graph")
    return model


def type_name(data_type):
    return DATA_TYPES.get(data_type, (f"data type {data_type}", 0))[0]


def tensor_bytes(tensor):
    """A float or int64 TensorProto's values as little-endian bytes."""
    if tensor.data_type not in (FLOAT, INT64):
        raise ValueError(f"{type_name(tensor.data_type)} tensors are not read")
    data = tensor.raw_data
    if tensor.float_data:
        data = array.array("f", tensor.float_data).tobytes()
    elif tensor.int64_data:
        data = array.array("q", tensor.int64_data).tobytes()
    size = math.prod(tensor.dims) * DATA_TYPES[tensor.data_type][1]
    if len(data) != size:
        raise ValueError(f"expected {size} bytes of data, found {len(data)}")
    return data


def read_tensor(path):
    with open(path, "rb") as file:
        return decode(file.read(), TENSOR)


def shape_of(info):
    """The static shape of a ValueInfo, None for a dimension not given."""
    tensor = info.type.tensor_type if info.type else None
    if tensor is None or tensor.shape is None:
        return None
    return [d.value if "value" in d.present else None for d in tensor.shape.dim]
