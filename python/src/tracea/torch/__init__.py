"""Tracea in PyTorch: a backend of torch.compile, operators with gradients, and nn.Conv2d.

    fast = torch.compile(model, backend="tracea")
    print(tracea.torch.report())
"""

from . import ops, vmap as _vmap  # noqa: F401  (it registers its rules)
from .allocator import use_caching_allocator
from .backend import backend
from .conv2d import TraceaConv2d, patch_conv2d, patched_conv2d, unpatch_conv2d
from .export import compile_exported, export_text
from .report import Report, report, reset

__all__ = [
    "Report",
    "TraceaConv2d",
    "backend",
    "compile_exported",
    "export_text",
    "ops",
    "patch_conv2d",
    "patched_conv2d",
    "report",
    "reset",
    "unpatch_conv2d",
    "use_caching_allocator",
]
