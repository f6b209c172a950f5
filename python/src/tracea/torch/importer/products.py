"""Products, convolutions and attention."""

from .module import (
    Body,
    TYPES,
    Unsupported,
    Value,
    accumulator,
    affine_map,
    is_float,
    product,
    same,
)
from .registry import converts, number


def epilogue(rank, source, result, operands=(), scale=1):
    """Text that adds operands, pairs of a Value and the result's dimensions that its own are, to a
    sum, and stores it in the result's type."""
    total = accumulator(source)
    if not operands and scale == 1 and result == total:
        return ""
    b, stored = Body(), "%acc"
    if scale != 1:
        stored = b.op("arith.mulf", total, stored, b.constant(scale, total))
    block = [f"%acc: {total}"]
    for i, (value, _) in enumerate(operands):
        block.append(f"%e{i}: {value.element}")
        stored = b.op("arith.addf", total, stored, b.convert(f"%e{i}", value.element, total))
    stored = b.convert(stored, total, result)
    given = ""
    if operands:
        names = ", ".join(f"{v.name} by {affine_map(rank, dims)}" for v, dims in operands)
        given = f"({names} : {', '.join(v.type for v, _ in operands)})"
    lines = "".join(f"      {line}\n" for line in b.lines)
    return (
        f" epilogue{given} {{\n    ^bb0({', '.join(block)}):\n{lines}"
        f"      tracea.yield {stored} : {result}\n    }}"
    )


def gemm(m, a, b, shape, element, operands=(), scale=1):
    if a.element != b.element or not is_float(a.element):
        raise Unsupported(f"a product of {a.element} and {b.element}")
    flags = ""
    # Transposed factors are read as they lie.
    if a.transposed is not None:
        a, flags = a.transposed, " transpose_lhs"
    if b.transposed is not None:
        b, flags = b.transposed, flags + " transpose_rhs"
    into = m.module.empty(shape, element)
    name = m.module.line(
        f"tracea.gemm{flags} ins({a.name}, {b.name} : {a.type}, {b.type}) "
        f"outs({into.name} : {into.type})"
        + epilogue(len(shape), a.element, element, operands, scale)
    )
    return Value(name, shape, element)


@converts("mm", "bmm")
def _(m, node, a, b, **named):
    val = node.meta["val"]
    return gemm(m, m.value(a), m.value(b), m.shape(val), TYPES[val.dtype])


@converts("addmm", "baddbmm")
def _(m, node, bias, a, b, *, beta=1, alpha=1):
    val = node.meta["val"]
    if beta != 1:
        raise Unsupported(f"beta {beta}")
    shape = m.shape(val)
    added = m.module.broadcast(m.value(bias), shape)
    return gemm(m, m.value(a), m.value(b), shape, TYPES[val.dtype], [added], number(alpha))


@converts("linear")
def linear(m, node, x, weight, bias=None):
    val = node.meta["val"]
    shape, source, factor = m.shape(val), m.value(x), m.value(weight)
    added = [] if bias is None else [(m.value(bias), [1])]
    rows = product(source.shape[:-1])
    flat = m.module.reshape(source, [rows, source.shape[-1]])
    turned = m.module.transpose(factor, [1, 0])
    y = gemm(m, flat, turned, [rows, shape[-1]], TYPES[val.dtype], added)
    return m.module.reshape(y, shape)


@converts("convolution")
def convolution(m, node, x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    """padding: for each dimension, or before and behind all of them."""
    val = node.meta["val"]
    image, filter_, shape = m.value(x), m.value(w), m.shape(val)
    if transposed:
        raise Unsupported("a transposed convolution")
    if image.rank not in (3, 4):
        raise Unsupported(f"a convolution of {image.rank - 2} dimensions")
    if not is_float(image.element) or image.element != filter_.element:
        raise Unsupported(f"a convolution of {image.element} with {filter_.element}")
    stride, padding, dilation = ([number(v) for v in list_] for list_ in (stride, padding, dilation))
    flat = list(shape)
    if image.rank == 3:
        # Of one row.
        image = m.module.reshape(image, [*image.shape[:2], 1, image.shape[2]])
        filter_ = m.module.reshape(filter_, [*filter_.shape[:2], 1, filter_.shape[2]])
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
        flat = [*shape[:2], 1, shape[2]]
    stride, padding, dilation = (v * 2 if len(v) == 1 else v for v in (stride, padding, dilation))
    if not all(isinstance(s, int) for s in filter_.shape):
        raise Unsupported("a filter of open sizes")
    element = TYPES[val.dtype]
    into = m.module.empty(flat, element)
    added = [] if bias is None else [(m.value(bias), [1])]
    pads = padding if len(padding) == 4 else padding * 2
    name = m.module.line(
        f"tracea.conv2d layout nchw filter kcrs strides {stride} pads {pads} "
        f"dilations {dilation} groups {groups} ins({image.name}, {filter_.name} : "
        f"{image.type}, {filter_.type}) outs({into.name} : {into.type})"
        + epilogue(4, image.element, element, added)
    )
    return m.module.reshape(Value(name, flat, element), shape)


@converts("tracea.sdpa")
def _(m, node, q, k, v, mask=None, causal=False, scale=None, gqa=False):
    val = node.meta["val"]
    shape, element = m.shape(val), TYPES[val.dtype]
    query, key, value = m.value(q), m.value(k), m.value(v)
    if query.rank != 4:
        raise Unsupported(f"attention of {query.rank} dimensions")
    if not same(query.shape[1], key.shape[1]) and not gqa:
        raise Unsupported("heads that are repeated")
    if not all(same(a, b) for a, b in ((query.shape[0], key.shape[0]), (key.shape[0], value.shape[0]),
                                       (key.shape[1], value.shape[1]))):
        raise Unsupported("operands that are repeated")
    if causal and not same(query.shape[2], key.shape[2]):
        raise Unsupported("a causal mask that is not square")
    if mask is not None:
        return _masked(m, query, key, value, m.value(mask), scale, shape, element)
    return attention(m, node, q, k, v, causal, -1, -1, scale)


def attention(m, node, q, k, v, causal, left, right, scale):
    """Tracea's: the last query sees the last key."""
    val = node.meta["val"]
    shape, element = m.shape(val), TYPES[val.dtype]
    query, key, value = m.value(q), m.value(k), m.value(v)
    options = " causal" if causal else ""
    if left >= 0 or right >= 0:
        options += f" window [{left}, {right}]"
    if scale is not None:
        if not scale > 0:
            raise Unsupported(f"scale {scale}")
        options += f" scale {float(scale):.17e}"
    elif not isinstance(query.shape[3], int):
        raise Unsupported("an open head size")
    into = m.module.empty(shape, element)
    name = m.module.line(
        f"tracea.attention{options} ins({query.name}, {key.name}, {value.name} : {query.type}, "
        f"{key.type}, {value.type}) outs({into.name} : {into.type}) -> {into.type}"
    )
    return Value(name, shape, element)


def _masked(m, query, key, value, mask, scale, shape, element):
    """Products with a softmax between them. A row that sees no key gives zeros, as torch's does."""
    if not same(query.shape[1], key.shape[1]):
        raise Unsupported("a mask with grouped queries")
    if scale is None:
        if not isinstance(query.shape[3], int):
            raise Unsupported("an open head size")
        scale = query.shape[3] ** -0.5
    total = accumulator(element)
    scores_shape = [*shape[:3], key.shape[2]]
    turned = m.module.transpose(key, [0, 1, 3, 2])
    scores = gemm(m, query, turned, scores_shape, total, scale=scale)
    lowest = -1e30

    def hide(b, s):
        if mask.element == "i1":
            low = b.constant(lowest, total)
            return b.line(f"arith.select {s[1]}, {s[0]}, {low} : {total}")
        added = b.op("arith.addf", total, s[0], b.convert(s[1], mask.element, total))
        return b.op("arith.maximumf", total, added, b.constant(lowest, total))

    def clear(b, s):
        zero = b.constant(0, total)
        if mask.element == "i1":
            kept = b.line(f"arith.select {s[1]}, {s[0]}, {zero} : {total}")
        else:
            low = b.constant(float("-inf"), mask.element)
            hidden = b.op("arith.cmpf oeq,", mask.element, s[1], low)
            kept = b.line(f"arith.select {hidden}, {zero}, {s[0]} : {total}")
        return b.convert(kept, total, element)

    scores = m.module.elementwise([scores, mask], scores_shape, total, hide)
    from .rows import softmax

    weights = softmax(m, scores, 3, total)
    weights = m.module.elementwise([weights, mask], scores_shape, element, clear)
    return gemm(m, weights, value, shape, element)
