# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs on PyTorch's device memory and streams, through gemm/Contender.cpp."""

import ctypes
import os

import torch

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64,
         "i8": torch.int8, "f8E4M3FN": torch.float8_e4m3fn}


class Program:
    """A compiled program on device memory of PyTorch's."""

    library = None

    def __init__(self, path, overlap=False):
        if not Program.library:
            library = ctypes.CDLL(os.path.join(ROOT, "build/dev/lib/libtracea-gpu-contender.so"))
            library.tracea_contender_open.restype = ctypes.c_void_p
            library.tracea_contender_error.restype = ctypes.c_char_p
            Program.library = library
        self.handle = Program.library.tracea_contender_open(path.encode(), 0, int(overlap))
        if not self.handle:
            raise RuntimeError(Program.library.tracea_contender_error().decode())

    def check(self, status):
        if status:
            raise RuntimeError(Program.library.tracea_contender_error().decode())

    def bind(self, inputs, outputs, constant=()):
        """What launches the program; inputs that are constant are given once, to its first launch."""
        extents = [extent for tensor in inputs for extent in tensor.shape]
        self.check(Program.library.tracea_contender_prepare(
            ctypes.c_void_p(self.handle), (ctypes.c_int64 * len(extents))(*extents)))
        pointers = (ctypes.c_void_p * len(inputs))(*[tensor.data_ptr() for tensor in inputs])
        later = (ctypes.c_void_p * len(inputs))(
            *[None if number < len(constant) and constant[number] else tensor.data_ptr() for number, tensor in enumerate(inputs)])
        given = [pointers]
        target = (ctypes.c_void_p * len(outputs))(*[tensor.data_ptr() for tensor in outputs])

        def launch():
            self.check(Program.library.tracea_contender_enqueue(
                ctypes.c_void_p(self.handle), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), given[0], target))
            given[0] = later
        return launch

    def close(self):
        Program.library.tracea_contender_close(ctypes.c_void_p(self.handle))
