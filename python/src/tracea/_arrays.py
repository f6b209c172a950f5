"""What the extension asks of libraries that have no C functions for it.

Each function is given one of the library's own arrays.
"""


def _library(prototype):
    return type(prototype).__module__.partition(".")[0].removesuffix("lib")


def empty(prototype, shape, dtype):
    """An array for a result."""
    name = _library(prototype)
    if name == "numpy" and dtype != "bfloat16" and not dtype.startswith("float8"):
        import numpy

        return numpy.empty(shape, dtype)
    if name == "cupy":
        import cupy

        with prototype.device:
            return cupy.empty(shape, dtype)
    if name not in ("numpy", "jax", "NoneType", "builtins") and hasattr(
        prototype, "__array_namespace__"
    ):
        namespace = prototype.__array_namespace__()
        return namespace.empty(
            shape, dtype=getattr(namespace, dtype), device=prototype.device
        )
    if hasattr(prototype, "__dlpack_device__") and int(prototype.__dlpack_device__()[0]) != 1:
        from ._error import Error, Status

        raise Error(
            f"results on the device of {name}'s arrays cannot be made: give one as `out`",
            Status.UNSUPPORTED_CONFIG,
        )
    import numpy

    try:
        return numpy.empty(shape, dtype)
    except TypeError:
        from ._error import Error, Status

        raise Error(
            f"NumPy has no type '{dtype}': give tensors of a library that has, or `out`",
            Status.UNSUPPORTED_CONFIG,
        ) from None


def finish(prototype, result):
    """A result as the caller's library has it: JAX's arrays cannot be written."""
    if _library(prototype) == "jax":
        import jax

        return jax.numpy.asarray(result)
    return result


def current_stream(prototype):
    """The stream that the library's work goes to, as a number."""
    if _library(prototype) == "cupy":
        import cupy

        with prototype.device:
            return cupy.cuda.get_current_stream().ptr
    return 0
