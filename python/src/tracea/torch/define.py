"""What definitions of operators have in common."""

import torch


def define(name):
    return torch.library.custom_op(f"tracea::{name}", mutates_args=())


def like(x, shape, dtype=None):
    return torch.empty(shape, dtype=dtype or x.dtype, device=x.device)
