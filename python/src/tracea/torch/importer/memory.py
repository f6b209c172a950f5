"""How tensors lie in memory."""

from .module import size_of


def dense_order(val):
    """The dimensions in the order of their memory, outermost first, where the tensor is dense; None
    where it has gaps or repetitions."""
    strides = [size_of(s) for s in val.stride()]
    sizes = [size_of(s) for s in val.shape]
    if any(not isinstance(s, int) for s in strides + sizes):
        # Strides of open sizes: symbols are taken for large, by their hints.
        strides = [s if isinstance(s, int) else s_.node.hint for s, s_ in zip(strides, val.stride())]
        sizes = [s if isinstance(s, int) else s_.node.hint for s, s_ in zip(sizes, val.shape)]
        if any(s is None for s in strides + sizes):
            return None
    return order_of(sizes, strides)


def order_of(sizes, strides):
    """The same of numbers."""
    keys, before = [], float("inf")
    for size, stride in zip(sizes, strides):
        before = before if size == 1 else stride
        keys.append(before)
    order = sorted(range(len(sizes)), key=lambda i: -keys[i])
    inside = 1
    for i in reversed(order):
        if sizes[i] != 1 and strides[i] != inside:
            return None
        inside *= sizes[i]
    return order
