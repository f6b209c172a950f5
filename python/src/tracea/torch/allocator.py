"""Temporary memory of GPU runs from torch's caching allocator, where torch counts it and takes it
back."""

import torch

from .. import _native

_is_set = False


def _allocate(size, device, stream):
    return torch.cuda.caching_allocator_alloc(size, device, stream)


def use_caching_allocator():
    """For what is loaded from now on. The backend and the operators' gradients do it by themselves
    before their first program for a GPU."""
    global _is_set
    if not _is_set:
        _native.set_allocator(_allocate, torch.cuda.caching_allocator_delete)
        _is_set = True
