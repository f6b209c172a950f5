"""The package's one exception."""

import enum


class Status(enum.IntEnum):
    """What a call of tracea.h returned."""

    SUCCESS = 0
    INVALID_PARAMS = 1
    UNSUPPORTED_CONFIG = 2
    CUDA_ERROR = 3
    CPU_ERROR = 4
    HIP_ERROR = 5
    METAL_ERROR = 6
    OUT_OF_MEMORY = 7
    IO_ERROR = 8
    NO_COMPILER = 9
    INTERNAL_ERROR = 10


class Error(RuntimeError):
    """A call that failed: `status` says of which kind, the text says why."""

    def __init__(self, message, status=Status.INTERNAL_ERROR):
        super().__init__(message)
        try:
            self.status = Status(status)
        except ValueError:  # a library newer than this list
            self.status = Status.INTERNAL_ERROR

    def __reduce__(self):
        return type(self), (self.args[0], int(self.status))
