"""What definitions of operators have in common."""

import torch


def define(name):
    return torch.library.custom_op(f"tracea::{name}", mutates_args=())


def like(x, shape, dtype=None):
    return torch.empty(shape, dtype=dtype or x.dtype, device=x.device)


def is_last(x):
    """As the native functions see it: channels innermost, and not row-major as well."""
    return (
        x.dim() == 4
        and not x.is_contiguous()
        and x.is_contiguous(memory_format=torch.channels_last)
    )


def like_image(x, shape, layout, operands, dtype=None):
    """What a convolution makes of these operands: channels stay innermost."""
    if layout == "nchw" and any(map(is_last, operands)):
        n, c, h, w = shape
        return like(x, (n, h, w, c), dtype).permute(0, 3, 1, 2)
    return like(x, shape, dtype)
