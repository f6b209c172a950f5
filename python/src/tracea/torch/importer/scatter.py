"""Sums at places that tensors name: gradients of embeddings and of indexing.

Places along one dimension are a matrix of zeros and ones; the sums are a product with it, whose
order is the same on every run. That costs as much as a layer does where there are many places, so
that beyond a bound it is left to who can add in place.
"""

from .module import TYPES, Unsupported, product
from .products import gemm
from .registry import converts, number

# Elements of the matrix.
_MOST = 1 << 22


def _ones(m, index, size, element):
    """[size, count]: 1 where an index, [count], is the row's number, or that less `size`."""
    count = index.shape[0]
    if not isinstance(size, int) or not isinstance(count, int) or size * count > _MOST:
        raise Unsupported("sums at very many places, or at an open number of them")
    if index.element not in ("i32", "i64"):
        raise Unsupported(f"indices of type {index.element}")

    def write(b, s, old):
        row = b.line("linalg.index 0 : index")
        row = b.op("arith.index_cast", f"index to {index.element}", row)
        behind = b.op("arith.addi", index.element, s[0], b.constant(size, index.element))
        at = b.op("arith.cmpi eq,", index.element, s[0], row)
        at = b.op("arith.ori", "i1", at, b.op("arith.cmpi eq,", index.element, behind, row))
        one, zero = b.constant(1, element), b.constant(0, element)
        return b.line(f"arith.select {at}, {one}, {zero} : {element}")

    return m.module.generic([(index, [1])], m.module.empty([size, count], element), write)


def _sum_at(m, value, dim, index, size):
    """Sums of the value's parts along `dim` for which `index` says the same place."""
    ones = _ones(m, index, size, value.element)
    before, after = value.shape[:dim], value.shape[dim + 1 :]
    rows, columns = product(before), product(after)
    shape = [*before, size, *after]
    if columns == 1:
        # What is contracted lies innermost.
        flat = m.module.reshape(value, [rows, value.shape[dim]])
        turned = m.module.transpose(ones, [1, 0])
        return m.module.reshape(gemm(m, flat, turned, [rows, size], value.element), shape)
    if rows == 1:
        flat = m.module.reshape(value, [value.shape[dim], columns])
        return m.module.reshape(gemm(m, ones, flat, [size, columns], value.element), shape)
    flat = m.module.reshape(value, [rows, value.shape[dim], columns])
    return m.module.reshape(gemm(m, ones, flat, [rows, size, columns], value.element), shape)


@converts("embedding_dense_backward")
def _(m, node, grad, indices, num_weights, padding_idx, scale_by_frequency):
    if scale_by_frequency:
        raise Unsupported("gradients scaled by frequency")
    g, index = m.value(grad), m.value(indices)
    size, padding = number(num_weights), number(padding_idx)
    flat = m.module.reshape(g, [product(index.shape), g.shape[-1]])
    y = _sum_at(m, flat, 0, m.module.reshape(index, [product(index.shape)]), size)
    if padding < 0:
        return y

    def clear(b, s, old):
        row = b.line("linalg.index 0 : index")
        at = b.line(f"arith.constant {padding} : index")
        is_padding = b.op("arith.cmpi eq,", "index", row, at)
        return b.line(f"arith.select {is_padding}, {b.constant(0, y.element)}, {s[0]} : {y.element}")

    return m.module.generic([(y, [0, 1])], m.module.empty(y.shape, y.element), clear)


@converts("index_put", "_unsafe_index_put")
def _(m, node, x, indices, values, accumulate=False):
    """Into zeros, by tensors of which each has a dimension of its own: what the gradient of such an
    indexing is."""
    if not accumulate:
        raise Unsupported("a write in the place of another")
    source, value = m.value(x), m.value(values)
    given = [i for i, index in enumerate(indices) if index is not None]
    if not given or given != list(range(given[0], given[-1] + 1)):
        raise Unsupported("indices that are apart")
    tensors = [m.value(indices[i]) for i in given]
    rank = max(t.rank for t in tensors)
    if rank != len(given) or value.rank != source.rank:
        raise Unsupported("indices that are not of one dimension each")
    for at, (dim, tensor) in enumerate(zip(given, tensors)):
        # Dimension `at` of the indices' common shape is this one's alone.
        own = at - (rank - tensor.rank)
        if own < 0 or any(size != 1 for i, size in enumerate(tensor.shape) if i != own):
            raise Unsupported("indices that are not of one dimension each")
        index = m.module.reshape(tensor, [tensor.shape[own]])
        if not isinstance(index.shape[0], int) or index.shape[0] != value.shape[dim]:
            raise Unsupported("values that are repeated")
        value = _sum_at(m, value, dim, index, source.shape[dim])
    target = node.args[0]
    if target.op == "call_function" and _is_zero(target):
        return value
    element = TYPES[node.meta["val"].dtype]
    return m.module.elementwise(
        [source, value], source.shape, element, lambda b, s: b.op("arith.addf", element, *s)
    )


def _is_zero(node):
    return getattr(node.target, "_opname", "") in ("new_zeros", "zeros", "zeros_like")
