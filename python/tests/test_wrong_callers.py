"""The C interface by ctypes, from callers that give anything: a status and a message, no crash."""

import ctypes
import pathlib
import random
import re

import numpy as np
import pytest

import tracea

INVALID, UNSUPPORTED = 1, 2
MAX = 2**63 - 1


class View(ctypes.Structure):
    _fields_ = [
        ("ptr", ctypes.c_void_p), ("rank", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_uint64)), ("stride", ctypes.POINTER(ctypes.c_int64)),
        ("dtype", ctypes.c_int), ("device_id", ctypes.c_int32),
    ]


class GemmParams(ctypes.Structure):
    _fields_ = [
        ("transpose_a", ctypes.c_int32), ("transpose_b", ctypes.c_int32), ("epilogue", ctypes.c_int),
        ("precision", ctypes.c_int), ("alpha", ctypes.c_float), ("reserved0", ctypes.c_uint32),
        ("residual", ctypes.POINTER(View)), ("stream", ctypes.c_void_p),
        ("reserved", ctypes.c_uint64 * 4),
    ]


@pytest.fixture(scope="module")
def library():
    library = ctypes.CDLL(str(pathlib.Path(tracea.__file__).parent / "libtracea-runtime.so.0"))
    library.tracea_gemm.argtypes = [
        View, View, ctypes.POINTER(View), ctypes.POINTER(View), GemmParams]
    library.tracea_get_last_error.restype = ctypes.c_size_t
    return library


def message(library):
    buffer = ctypes.create_string_buffer(1000)
    library.tracea_get_last_error(buffer, ctypes.c_size_t(1000))
    return buffer.value.decode()


def view(array):
    rank = array.ndim
    return View(
        array.ctypes.data, rank, (ctypes.c_uint64 * rank)(*array.shape),
        (ctypes.c_int64 * rank)(*(s // array.itemsize for s in array.strides)), 0, -1)


def test_structs_are_those_of_the_header(library):
    a, b, out = np.eye(4, dtype="f"), np.arange(16, dtype="f").reshape(4, 4), np.zeros((4, 4), "f")
    assert library.tracea_gemm(view(a), view(b), None, view(out), GemmParams(alpha=2)) == 0
    np.testing.assert_array_equal(out, 2 * b)


def set_numbers(kind, *numbers):
    return (kind * len(numbers))(*numbers)


# What a defect does to a view, and what the message says.
DEFECTS = [
    (lambda v: setattr(v, "ptr", None), "expected memory of 64 bytes, found NULL"),
    (lambda v: setattr(v, "ptr", v.ptr + 1), "expected memory aligned"),
    (lambda v: setattr(v, "rank", 9), "at most 8 dimensions, found 9"),
    (lambda v: setattr(v, "rank", 2**32 - 1), "at most 8 dimensions"),
    (lambda v: setattr(v, "rank", 0), "dimensions|f32"),
    (lambda v: setattr(v, "shape", None), "expected a shape of 2 sizes, found NULL"),
    (lambda v: setattr(v, "dtype", -7), "a dtype from 0 to 10, found -7"),
    (lambda v: setattr(v, "dtype", 2**31 - 1), "a dtype from 0 to 10"),
    (lambda v: setattr(v, "device_id", -3), "a device_id of at least -1, found -3"),
    (lambda v: setattr(v, "device_id", 99), "device_id|GPU 99"),
    (lambda v: setattr(v, "stride", set_numbers(ctypes.c_int64, 4, -1)), "strides of at least 0"),
    (lambda v: setattr(v, "stride", set_numbers(ctypes.c_int64, MAX, 1)), "stay within 2\\^63 bytes"),
    (lambda v: setattr(v, "shape", set_numbers(ctypes.c_uint64, 2**64 - 1, 4)), "sizes below 2\\^63"),
    (lambda v: setattr(v, "shape", set_numbers(ctypes.c_uint64, 2**62, 2**62)),
     "can be counted|stay within"),
]


@pytest.mark.parametrize("number", range(len(DEFECTS)))
@pytest.mark.parametrize("operand", ["a", "b", "bias", "residual", "out"])
def test_defects(library, operand, number):
    arrays = {n: np.ones((4, 4), "f") for n in ("a", "b", "residual", "out")}
    arrays["bias"] = np.ones((4, 4), "f")[:1]
    views = {n: view(a) for n, a in arrays.items()}
    views["bias"].rank, views["bias"].shape = 1, set_numbers(ctypes.c_uint64, 4, 4)
    views["bias"].stride = set_numbers(ctypes.c_int64, 1, 1)
    if operand == "bias":
        # With the two dimensions that the defects count on.
        views["bias"] = view(np.ones((4, 4), "f"))
    make, expected = DEFECTS[number]
    make(views[operand])
    params = GemmParams(alpha=1, residual=ctypes.pointer(views["residual"]))
    status = library.tracea_gemm(
        views["a"], views["b"], views["bias"], views["out"], params)
    assert status != 0
    assert re.search(f"tracea_gemm: .*({expected})", message(library)), message(library)
    assert (arrays["out"] == 1).all()


def test_numbers_at_random(library):
    """What they reach is there, or one operand's alone is not and nothing fits to it."""
    rng = random.Random(20261128)
    memory = np.ones((4, 4096), "f")
    refused = 0
    for _ in range(1500):
        wild = rng.randrange(8)
        views = []
        for i in range(4):
            rank = rng.choice([2, 2, 2, 2, 2, 3])
            shape = [rng.choice([1, 3, 4, 4, 4]) for _ in range(rank)]
            strides = [rng.choice([1, 1, 4, 8, 17]) for _ in range(rank)]
            dtype, device = 0, -1
            if i == wild:
                rank = rng.choice([0, 1, 2, 3, 8, 9, 2**32 - 1])
                shape = [rng.choice([0, 2, 7, 2**31, 2**32, 2**62, 2**63, 2**64 - 1]) for _ in range(8)]
                strides = [rng.choice([0, 1, 2**31, 2**62, MAX, -1, -MAX - 1]) for _ in range(8)]
                dtype, device = rng.randrange(-2, 14), rng.choice([-2, -1, -1, -1, 0, 99])
            views.append(View(
                memory[i].ctypes.data, rank, set_numbers(ctypes.c_uint64, *shape),
                set_numbers(ctypes.c_int64, *strides) if rng.random() < 0.6 else None, dtype, device))
        params = GemmParams(
            alpha=1, transpose_a=rng.randrange(2), transpose_b=rng.randrange(2),
            epilogue=rng.randrange(-1, 10) if wild == 4 else 0, precision=rng.randrange(-1, 5) if wild == 5 else 0)
        status = library.tracea_gemm(*views[:2], views[2] if wild == 2 else None, views[3], params)
        refused += status != 0
        assert status == 0 or message(library).startswith("tracea_gemm: ")
    assert 750 < refused < 1500


def test_handles_that_are_none(library):
    for handle in (None, ctypes.addressof(ctypes.create_string_buffer(64))):
        for name in ("tracea_program_explain", "tracea_execution_stats", "tracea_graph_text"):
            length = ctypes.c_size_t()
            status = getattr(library, name)(
                ctypes.c_void_p(handle), None, ctypes.c_size_t(0), ctypes.byref(length))
            assert status == INVALID
            assert re.search("found NULL|expected a handle that lives", message(library))
        for name in ("tracea_program_free", "tracea_execution_free", "tracea_graph_free"):
            getattr(library, name)(ctypes.c_void_p(handle))
