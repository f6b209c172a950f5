"""Batching rules: what torch.func.vmap does with Tracea's operators.

A batch is a leading dimension, rows among rows, or images among images; what is neither, a batch of
weights say, is a call for each element.
"""

import torch

from . import ops


def _front(x, dim):
    return x if dim is None else x.movedim(dim, 0)


def _each(op, size, dims, arguments):
    """A call for each element of the batch."""
    results = []
    for i in range(size):
        results.append(op(*(
            x if dim is None else x.select(dim, i) for x, dim in zip(arguments, dims)
        )))
    if isinstance(results[0], torch.Tensor):
        return torch.stack(results), 0
    return tuple(torch.stack(parts) for parts in zip(*results)), (0,) * len(results[0])


def _dims(in_dims, arguments):
    """None where an argument has no batch, or is no tensor."""
    return [d if isinstance(x, torch.Tensor) else None for d, x in zip(in_dims, arguments)]


def _batched(dims, *numbers):
    """Whether the arguments of these numbers alone have the batch."""
    return all((d is None) != (i in numbers) for i, d in enumerate(dims))


def _rule(op, rule):
    def vmap(info, in_dims, *arguments):
        dims = _dims(in_dims, arguments)
        found = rule(info.batch_size, dims, arguments)
        if found is None:
            return _each(op, info.batch_size, dims, arguments)
        return found, (0,) * len(found) if isinstance(found, tuple) else 0

    op.register_vmap(vmap)


def _rows(op):
    """The operation is on the last dimensions, which `dim` counts from the end where it can."""

    def rule(size, dims, arguments):
        x, *rest = arguments
        if not _batched(dims, 0):
            return None
        if len(rest) == 1 and isinstance(rest[0], int):
            rest = [rest[0] - (x.dim() - 1) if rest[0] >= 0 else rest[0]]
        return op(_front(x, dims[0]), *rest)

    return rule


def _gemm(size, dims, arguments):
    a, b, bias, residual, *rest = arguments
    if dims[2] is not None or a.dim() - (dims[0] is not None) != 2 or (
        b.dim() - (dims[1] is not None) != 2
    ):
        return None
    a, b = _front(a, dims[0]), _front(b, dims[1])
    if a.dim() == b.dim() == 2:
        return None
    if residual is not None:
        residual = _front(residual, dims[3])
        residual = residual.expand(size, *residual.shape[-2:]) if dims[3] is None else residual
    return ops._gemm(a, b, bias, residual, *rest)


def _linear(size, dims, arguments):
    x, weight, bias, residual, *rest = arguments
    if dims[0] is None or dims[1] is not None or dims[2] is not None:
        return None
    if residual is not None:
        if dims[3] is None:
            residual = residual.expand(size, *residual.shape).contiguous()
        residual = _front(residual, dims[3])
    return ops._linear(_front(x, dims[0]), weight, bias, residual, *rest)


def _images(op, count):
    """The first `count` tensors have the batch, which joins their first dimension."""

    def rule(size, dims, arguments):
        if not _batched(dims, *range(count)):
            return None
        joined = [_front(x, d) for x, d in zip(arguments[:count], dims)]
        y = op(*(x.flatten(0, 1) for x in joined), *arguments[count:])
        if isinstance(y, tuple):
            return tuple(part.unflatten(0, (size, -1)) for part in y)
        return y.unflatten(0, (size, -1))

    return rule


def register():
    for op in (ops._softmax, ops._log_softmax, ops._layer_norm, ops._rms_norm):
        _rule(op, _rows(op))
    _rule(ops._gemm, _gemm)
    _rule(ops._linear, _linear)
    _rule(ops._conv2d, _images(ops._conv2d, 1))
    for op in (ops._attention, ops._sdpa, ops._sdpa_with_sums):
        _rule(op, _images(op, 3))


register()
