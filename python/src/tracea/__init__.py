"""Tracea: tensor kernels, compiled, proved and run.

    import tracea

    y = tracea.ops.linear(x, weight, bias, epilogue="gelu")   # NumPy, torch, …

    graph = tracea.Graph()
    graph.add_gemm(m=512, n=512, k=512, epilogue="relu")
    plan = tracea.Context().optimize_graph(graph)
    print(plan)
    c = plan(a, b)

    program = tracea.compile("model.mlir", target="cuda")

`torch.compile(model, backend="tracea")` needs no import of this package; see
`tracea.torch` for its reports.
"""

from . import _native, ops
from ._error import Error, Status
from ._version import __version__
from .context import Context, Decision, Plan
from .graph import Graph, Value
from .program import Program, compile, load

__all__ = [
    "Context",
    "Decision",
    "Error",
    "Graph",
    "Plan",
    "Program",
    "Status",
    "TraceaConv2d",
    "Value",
    "__version__",
    "cache_clear",
    "cache_directory",
    "compile",
    "load",
    "ops",
    "patch_conv2d",
    "patched_conv2d",
    "set_cache_directory",
    "unpatch_conv2d",
]


def cache_directory() -> str:
    """The folder of compiled programs; empty where there is none."""
    return _native.cache_directory()


def set_cache_directory(path) -> None:
    """Uses another folder from now on; None is none."""
    _native.cache_set_directory("" if path is None else str(path))


def cache_clear() -> None:
    """Deletes the programs in the folder."""
    _native.cache_clear()


_FROM_TORCH = ("TraceaConv2d", "patch_conv2d", "patched_conv2d", "unpatch_conv2d")


def __getattr__(name):
    # What needs torch imports it when it is first asked for.
    if name == "torch" or name in _FROM_TORCH:
        import importlib

        module = importlib.import_module("tracea.torch")
        return module if name == "torch" else getattr(module, name)
    raise AttributeError(f"module 'tracea' has no attribute '{name}'")


def __dir__():
    return sorted([*globals(), *_FROM_TORCH, "torch"])
