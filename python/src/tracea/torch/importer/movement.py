"""Operations that move elements, or name them otherwise."""

import torch

from .memory import dense_order, order_of
from .module import TYPES, Unsupported, Value, number_text, product, same
from .registry import converts, number

_SAME = ("clone", "alias", "detach", "lift_fresh_copy", "contiguous", "lift", "_assert_tensor_metadata")


@converts(*_SAME)
def _(m, node, x, **named):
    return m.value(x)


@converts("view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "flatten")
def _(m, node, x, *args, **named):
    return m.module.reshape(m.value(x), m.shape(node.meta["val"]))


@converts("permute")
def _(m, node, x, dims):
    value = m.value(x)
    return m.module.transpose(value, [d % value.rank for d in dims])


@converts("t", "transpose")
def _(m, node, x, a=0, b=1):
    value = m.value(x)
    order = list(range(value.rank))
    if value.rank > 1:
        a, b = a % value.rank, b % value.rank
        order[a], order[b] = order[b], order[a]
    return m.module.transpose(value, order)


@converts("expand")
def _(m, node, x, sizes, **named):
    value, shape = m.value(x), m.shape(node.meta["val"])
    if value.rank == len(shape) and all(same(a, b) for a, b in zip(value.shape, shape)):
        return value
    return m.module.elementwise([value], shape, value.element, lambda b, s: s[0])


def _offset(start, size):
    """Where a slice begins."""
    if start is None:
        return 0
    if isinstance(size, int) and isinstance(start, int):
        return max(0, min(start + size if start < 0 else start, size))
    if isinstance(start, int) and start < 0:
        return size + start
    return start


@converts("slice")
def _(m, node, x, dim=0, start=None, end=None, step=1):
    value, shape = m.value(x), m.shape(node.meta["val"])
    dim %= value.rank
    offsets, steps = [0] * value.rank, [1] * value.rank
    offsets[dim] = _offset(None if start is None else m.size(start), value.shape[dim])
    steps[dim] = number(step)
    if same(shape[dim], value.shape[dim]) and steps[dim] == 1:
        return value
    if not isinstance(value.shape[dim], int) and offsets[dim] != 0 and not m.at_least(
        node.args[0].meta["val"].shape[dim], offsets[dim]
    ):
        raise Unsupported("a slice that may begin behind the end")
    return m.module.slice(value, offsets, shape, steps)


@converts("select")
def _(m, node, x, dim, index):
    value = m.value(x)
    dim %= value.rank
    offsets, shape = [0] * value.rank, list(value.shape)
    at = m.size(index)
    offsets[dim] = at + value.shape[dim] if isinstance(at, int) and at < 0 else at
    shape[dim] = 1
    return m.module.slice(value, offsets, shape, drop=dim)


def _parts(m, x, dim, sizes, drop=False):
    value = m.value(x)
    dim %= value.rank
    parts, at = [], 0
    for size in sizes:
        offsets, shape = [0] * value.rank, list(value.shape)
        offsets[dim], shape[dim] = at, size
        parts.append(m.module.slice(value, offsets, shape, drop=dim if drop else None))
        at = at + size
    return parts


@converts("split_with_sizes", "split", "chunk")
def _(m, node, x, sizes, dim=0):
    rank = node.args[0].meta["val"].dim()
    return _parts(m, x, dim, [m.shape(v)[dim % rank] for v in node.meta["val"]])


@converts("unbind")
def _(m, node, x, dim=0):
    return _parts(m, x, dim, [1] * len(node.meta["val"]), drop=True)


@converts("cat")
def _(m, node, tensors, dim=0):
    val = node.meta["val"]
    shape, dim = m.shape(val), dim % max(1, val.dim())
    values = [m.value(t) for t in tensors if not _is_legacy_empty(t)]
    into = m.module.empty(shape, TYPES[val.dtype])
    at = 0
    for value in values:
        offsets = [0] * len(shape)
        offsets[dim] = at
        into = m.module.insert(m.module.convert(value, into.element), into, offsets)
        at = at + value.shape[dim]
    return into


def _is_legacy_empty(node):
    val = node.meta["val"]
    return val.dim() == 1 and isinstance(val.shape[0], int) and val.shape[0] == 0


@converts("stack")
def _(m, node, tensors, dim=0):
    val = node.meta["val"]
    shape = m.shape(val)
    dim %= len(shape)
    into = m.module.empty(shape, TYPES[val.dtype])
    for i, tensor in enumerate(tensors):
        offsets, part = [0] * len(shape), list(shape)
        offsets[dim], part[dim] = i, 1
        into = m.module.insert(m.module.reshape(m.value(tensor), part), into, offsets)
    return into


def _inserted(m, into, part, dim, start, step, drop):
    offsets, steps = [0] * into.rank, [1] * into.rank
    offsets[dim], steps[dim] = start, step
    return m.module.insert(part, into, offsets, steps, dim if drop else None)


def _start(m, node, start, size):
    if isinstance(size, int) or start in (None, 0):
        return _offset(None if start is None else m.size(start), size)
    raise Unsupported("a slice of an open size that begins behind its first element")


@converts("slice_backward", "slice_scatter")
def _(m, node, x, *args, **named):
    """A slice of zeros, or of another tensor, that is `part`."""
    shape, element = m.shape(node.meta["val"]), TYPES[node.meta["val"].dtype]
    if m.name(node) == "slice_backward":
        part, into = m.value(x), m.module.fill(shape, element, 0)
        dim, start, _, step = args[1:]
    else:
        part, into = m.value(args[0]), m.value(x)
        dim, start, _, step = [*args[1:], *(0, None, None, 1)[len(args) - 1 :]]
        if named:
            dim, start, step = (
                named.get(k, v) for k, v in (("dim", dim), ("start", start), ("step", step))
            )
    dim %= into.rank
    if same(part.shape[dim], shape[dim]):
        return part
    return _inserted(m, into, part, dim, _start(m, node, start, shape[dim]), number(step), False)


@converts("select_backward", "select_scatter")
def _(m, node, x, *args):
    shape, element = m.shape(node.meta["val"]), TYPES[node.meta["val"].dtype]
    dim, index = args[-2] % len(shape), m.size(args[-1])
    if m.name(node) == "select_backward":
        part, into = m.value(x), m.module.fill(shape, element, 0)
    else:
        part, into = m.value(args[0]), m.value(x)
    at = index + shape[dim] if isinstance(index, int) and index < 0 else index
    return _inserted(m, into, part, dim, at, 1, True)


@converts("fill")
def _(m, node, x, value):
    val = node.meta["val"]
    return m.module.fill(m.shape(val), TYPES[val.dtype], number(value))


@converts("constant_pad_nd")
def _(m, node, x, pads, value=0):
    source = m.value(x)
    return pad(m, source, pads, number(value), m.shape(node.meta["val"]))


def pad(m, source, pads, number_, shape):
    """pads: (before, after) of the last dimension first, as torch has them."""
    pads = [number(p) for p in pads]
    low, high = [0] * source.rank, [0] * source.rank
    for i in range(len(pads) // 2):
        low[-1 - i], high[-1 - i] = pads[2 * i], pads[2 * i + 1]
    if min(low + high) < 0:
        # Less than nothing: a part of it.
        cut = [(max(0, -a), max(0, -b)) for a, b in zip(low, high)]
        kept = [size - a - b for size, (a, b) in zip(source.shape, cut)]
        source = m.module.slice(source, [a for a, _ in cut], kept)
        low, high = [max(0, n) for n in low], [max(0, n) for n in high]
    if not any(low + high):
        return source
    into = Value("", shape, source.element)
    at = m.module.line(f"arith.constant {number_text(number_, source.element)} : {source.element}")
    block = ", ".join(f"%p{i}: index" for i in range(source.rank))
    into.name = m.module.line(
        f"tensor.pad {source.name} low{low} high{high} {{\n    ^bb0({block}):\n"
        f"      tensor.yield {at} : {source.element}\n    }} : {source.type} to {into.type}"
    )
    return into


@converts("as_strided")
def _(m, node, x, sizes, strides, offset=None):
    """Where the tensor is all of its memory: a part of that, by an affine place of each element."""
    source, val, target = m.value(x), node.args[0].meta["val"], node.meta["val"]
    order = dense_order(val)
    sizes, strides = [number(n) for n in sizes], [number(n) for n in strides]
    start = number(offset or 0)
    if order is None or not all(isinstance(s, int) for s in source.shape) or val.storage_offset():
        raise Unsupported("elements of memory that is not the tensor's, or of open sizes")
    last = start + sum((n - 1) * s for n, s in zip(sizes, strides))
    if last >= val.numel() and 0 not in sizes:
        raise Unsupported("elements of memory that is not the tensor's, or of open sizes")
    flat = m.module.reshape(m.module.transpose(source, order), [val.numel()])
    out = dense_order(target)
    if out is not None and 0 not in sizes:
        count = target.numel()
        part = flat if count == val.numel() else m.module.slice(flat, [start], [count])
        stored = m.module.reshape(part, [sizes[i] for i in out])
        return m.module.transpose(stored, [out.index(i) for i in range(len(out))])
    place = " + ".join([str(start), *(f"d{i} * {s}" for i, s in enumerate(strides) if s)])
    return m.module.generic(
        [(flat, [place])], m.module.empty(sizes, source.element), lambda b, s, old: s[0]
    )


@converts("as_strided_scatter")
def _(m, node, x, part, sizes, strides, offset=None):
    """Where the part is all of the tensor's memory: the part, by another name."""
    value, val = m.value(part), node.args[0].meta["val"]
    sizes, strides = [number(n) for n in sizes], [number(n) for n in strides]
    order, out = dense_order(val), order_of(sizes, strides)
    if order is None or out is None or number(offset or 0) != val.storage_offset() or (
        product(sizes) != product(m.shape(val))
    ):
        raise Unsupported("elements of a part of the tensor's memory")
    shape = m.shape(val)
    stored = m.module.transpose(value, out)
    stored = m.module.reshape(stored, [product(sizes)])
    stored = m.module.reshape(stored, [shape[i] for i in order])
    return m.module.transpose(stored, [order.index(i) for i in range(len(order))])


@converts("copy")
def _(m, node, x, source, *rest):
    """What `source` holds, in the shape and the type of `x`."""
    value, val = m.value(source), node.meta["val"]
    element = TYPES[val.dtype]
    return m.module.elementwise(
        [value], m.shape(val), element, lambda b, s: b.convert(s[0], value.element, element)
    )


# ---- elements by their numbers


def _wrapped(b, scalar, element, size, m):
    """An index that may count from the end."""
    at = b.op("arith.index_cast", f"{element} to index", scalar)
    zero = b.line("arith.constant 0 : index")
    negative = b.op("arith.cmpi slt,", "index", at, zero)
    behind = b.op("arith.addi", "index", at, m.module.index(size))
    return b.line(f"arith.select {negative}, {behind}, {at} : index")


def _gather(m, source, indexed, shape, wraps=True):
    """The element of `source` at, for each of its dimensions, a dimension of the result (an int), or
    what a tensor (a pair of a Value and the result's dimensions that its own are) says."""
    inputs = [i for i in indexed if not isinstance(i, int)]
    for value, _ in inputs:
        if value.element not in ("i32", "i64"):
            raise Unsupported(f"indices of type {value.element}")
    for size in source.shape:
        m.module.index(size)

    def write(b, scalars, old):
        left, places = list(scalars), []
        for dim, index in enumerate(indexed):
            if isinstance(index, int):
                places.append(b.line(f"linalg.index {index} : index"))
            elif wraps:
                places.append(_wrapped(b, left.pop(0), index[0].element, source.shape[dim], m))
            else:
                places.append(
                    b.op("arith.index_cast", f"{index[0].element} to index", left.pop(0))
                )
        return b.line(f"tensor.extract {source.name}[{', '.join(places)}] : {source.type}")

    return m.module.generic(inputs, m.module.empty(shape, source.element), write)


@converts("embedding")
def _(m, node, weight, indices, *rest, **named):
    index = m.value(indices)
    shape = m.shape(node.meta["val"])
    at = (index, list(range(index.rank)))
    return _gather(m, m.value(weight), [at, index.rank], shape, wraps=False)


@converts("index_select")
def _(m, node, x, dim, indices):
    source = m.value(x)
    dim %= source.rank
    places = list(range(source.rank))
    places[dim] = (m.value(indices), [dim])
    return _gather(m, source, places, m.shape(node.meta["val"]), wraps=False)


@converts("gather")
def _(m, node, x, dim, indices, **named):
    source = m.value(x)
    dim %= source.rank
    places = list(range(source.rank))
    places[dim] = (m.value(indices), list(range(source.rank)))
    return _gather(m, source, places, m.shape(node.meta["val"]), wraps=False)


@converts("index", "_unsafe_index")
def _(m, node, x, indices):
    source, shape = m.value(x), m.shape(node.meta["val"])
    given = [i for i, index in enumerate(indices) if index is not None]
    if given != list(range(given[0], given[-1] + 1)):
        raise Unsupported("indices that are apart")
    if any(indices[i].meta["val"].dtype == torch.bool for i in given):
        raise Unsupported("a mask as index")
    values = [m.value(indices[i]) for i in given]
    rank = max(v.rank for v in values)
    places, first = [], given[0]
    whole = shape[first : first + rank]
    for i in range(source.rank):
        if i < first:
            places.append(i)
        elif i in given:
            value, dims = m.module.broadcast(values[i - first], whole)
            places.append((value, [first + d for d in dims]))
        else:
            places.append(i - len(given) + rank)
    return _gather(m, source, places, shape)

