"""Softmax, norms, reductions and pooling."""

from .module import (
    Body,
    TYPES,
    Unsupported,
    Value,
    accumulator,
    is_float,
    product,
    same,
)
from .movement import pad
from .registry import converts, number


def row_epilogue(source, result):
    total = accumulator(source)
    if total == result:
        return ""
    b = Body()
    stored = b.convert("%acc", total, result)
    return (
        f" epilogue {{\n    ^bb0(%acc: {total}):\n      {b.lines[0]}\n"
        f"      tracea.yield {stored} : {result}\n    }}"
    )


def _floats(value):
    if not is_float(value.element):
        raise Unsupported(f"elements of type {value.element}")
    return value


def softmax(m, x, dim, element):
    into = m.module.empty(x.shape, element)
    name = m.module.line(
        f"tracea.softmax dim {dim % x.rank} ins({x.name} : {x.type}) "
        f"outs({into.name} : {into.type})" + row_epilogue(x.element, element)
    )
    return Value(name, x.shape, element)


@converts("_softmax", "softmax", "_safe_softmax", "tracea.softmax")
def _(m, node, x, dim, *rest, **named):
    return softmax(m, _floats(m.value(x)), dim, TYPES[node.meta["val"].dtype])


@converts("_log_softmax", "log_softmax", "tracea.log_softmax")
def _(m, node, x, dim, *rest, **named):
    source = _floats(m.value(x))
    dim %= source.rank
    total = accumulator(source.element)
    most = reduce(m, source, [dim], "max", total)
    dims = [i for i in range(source.rank) if i != dim]
    all_ = list(range(source.rank))

    def add(b, s, old):
        d = b.op("arith.subf", total, b.convert(s[0], source.element, total), s[1])
        return b.op("arith.addf", total, old, b.op("math.exp", total, d))

    sums = m.module.generic(
        [(source, all_), (most, dims)], m.module.fill(most.shape, total, 0), add, [dim]
    )
    result = TYPES[node.meta["val"].dtype]

    def write(b, s, old):
        d = b.op("arith.subf", total, b.convert(s[0], source.element, total), s[1])
        d = b.op("arith.subf", total, d, b.op("math.log", total, s[2]))
        return b.convert(d, total, result)

    return m.module.generic(
        [(source, all_), (most, dims), (sums, dims)], m.module.empty(source.shape, result), write
    )


# ---- norms


def _row_norm(m, name, x, count, weight, bias, eps, result):
    operands = ""
    for label, value in (("scale", weight), ("bias", bias)):
        if value is not None:
            operands += f" {label}({value.name} : {value.type})"
    into = m.module.empty(x.shape, result)
    line = m.module.line(
        f"tracea.{name} axis {x.rank - count} epsilon {float(eps):.17e} ins({x.name} : {x.type})"
        f"{operands} outs({into.name} : {into.type})" + row_epilogue(x.element, result)
    )
    return Value(line, x.shape, result)


def _moments(m, x, dims, eps, shape):
    """Mean, and 1 / sqrt(variance + eps), as a backward wants them."""
    total = accumulator(x.element)
    count = product(x.shape[i] for i in dims)
    if not isinstance(count, int):
        raise Unsupported("a mean over open sizes")
    kept = [i for i in range(x.rank) if i not in dims]
    sums = reduce(m, x, dims, "sum", total)

    def over(b, s):
        return b.op("arith.mulf", total, s[0], b.constant(1 / count, total))

    mean = m.module.elementwise([sums], sums.shape, total, over)

    def square(b, s, old):
        d = b.op("arith.subf", total, b.convert(s[0], x.element, total), s[1])
        return b.op("arith.addf", total, old, b.op("arith.mulf", total, d, d))

    squares = m.module.generic(
        [(x, list(range(x.rank))), (mean, kept)], m.module.fill(sums.shape, total, 0), square, dims
    )

    def root(b, s):
        v = b.op("arith.addf", total, over(b, s), b.constant(eps, total))
        return b.op("math.rsqrt", total, v)

    rstd = m.module.elementwise([squares], sums.shape, total, root)
    return [m.module.reshape(v, shape) for v in (mean, rstd)]


@converts("native_layer_norm")
def _(m, node, x, normalized, weight, bias, eps):
    source, vals = _floats(m.value(x)), node.meta["val"]
    count = len(normalized)
    weight, bias = (None if v is None else m.value(v) for v in (weight, bias))
    y = _row_norm(m, "layer_norm", source, count, weight, bias, eps, TYPES[vals[0].dtype])

    def moments():
        dims = list(range(source.rank - count, source.rank))
        found = _moments(m, source, dims, eps, m.shape(vals[1]))
        return [m.module.convert(v, TYPES[vals[1].dtype]) for v in found]

    return m.results(node, y, moments)


@converts("tracea.rms_norm")
def _(m, node, x, weight=None, eps=1e-5):
    source = _floats(m.value(x))
    weight = None if weight is None else m.value(weight)
    count = 1 if weight is None else weight.rank
    result = TYPES[node.meta["val"].dtype]
    return _row_norm(m, "rms_norm", source, count, weight, None, eps, result)


@converts("tracea.layer_norm")
def _(m, node, x, weight, bias, eps):
    source = _floats(m.value(x))
    weight, bias = (None if v is None else m.value(v) for v in (weight, bias))
    count = next((v.rank for v in (weight, bias) if v is not None), 1)
    result = TYPES[node.meta["val"].dtype]
    return _row_norm(m, "layer_norm", source, count, weight, bias, eps, result)


@converts("native_group_norm")
def _(m, node, x, weight, bias, n, c, hw, groups, eps):
    source, vals = _floats(m.value(x)), node.meta["val"]
    n, c, hw = m.size(n), number(c), m.size(hw)
    rows = m.module.reshape(source, [n, groups, c // groups, *source.shape[2:]])
    count = rows.rank - 2
    y = _row_norm(m, "layer_norm", rows, count, None, None, eps, TYPES[vals[0].dtype])
    y = m.module.reshape(y, source.shape)
    given = [m.value(v) if v is not None else None for v in (weight, bias)]
    if any(v is not None for v in given):
        total = accumulator(source.element)

        def write(b, s, old):
            left, value = list(s[1:]), b.convert(s[0], y.element, total)
            for operand, op in zip(given, ("arith.mulf", "arith.addf")):
                if operand is not None:
                    value = b.op(op, total, value, b.convert(left.pop(0), operand.element, total))
            return b.convert(value, total, y.element)

        inputs = [(y, list(range(y.rank)))] + [(v, [1]) for v in given if v is not None]
        y = m.module.generic(inputs, m.module.empty(y.shape, y.element), write)

    def moments():
        dims = list(range(2, rows.rank))
        return _moments(m, rows, dims, eps, m.shape(vals[1]))

    return m.results(node, y, moments)


@converts("_native_batch_norm_legit_no_training")
def _(m, node, x, weight, bias, mean, variance, momentum, eps):
    source, vals = _floats(m.value(x)), node.meta["val"]
    element = accumulator(source.element)
    channels = [source.shape[1]]
    weight = m.value(weight) if weight is not None else m.module.fill(channels, element, 1)
    bias = m.value(bias) if bias is not None else m.module.fill(channels, element, 0)
    ins = [source, weight, bias, m.value(mean), m.value(variance)]
    result = TYPES[vals[0].dtype]
    into = m.module.empty(source.shape, result)
    name = m.module.line(
        f"tracea.batch_norm axis 1 epsilon {float(eps):.17e} ins({', '.join(v.name for v in ins)} : "
        f"{', '.join(v.type for v in ins)}) outs({into.name} : {into.type})"
        + row_epilogue(source.element, result)
    )

    def statistics():
        # At inference these have no elements.
        if any(v.dim() != 1 or v.shape[0] != 0 for v in vals[1:]):
            raise Unsupported("its statistics are used")
        return [m.module.empty([0], TYPES[v.dtype]) for v in vals[1:]]

    return m.results(node, Value(name, source.shape, result), statistics)


# ---- reductions

_KINDS = {"sum": ("arith.addf", 0.0), "max": ("arith.maximumf", float("-inf"))}
_KINDS["min"] = ("arith.minimumf", float("inf"))


def reduce(m, x, dims, kind, element):
    op, start = _KINDS[kind]
    into = m.module.fill([s for i, s in enumerate(x.shape) if i not in dims], element, start)
    return m.module.generic(
        [(x, list(range(x.rank)))],
        into,
        lambda b, s, old: b.op(op, element, old, b.convert(s[0], x.element, element)),
        dims,
    )


@converts("sum", "mean", "amax", "amin")
def _(m, node, x, dims=None, keepdim=False, **named):
    source, val = m.value(x), node.meta["val"]
    name = m.name(node)
    _floats(source)
    if dims is None or dims == []:
        dims = list(range(source.rank))
    dims = sorted(d % max(1, source.rank) for d in ([dims] if isinstance(dims, int) else dims))
    if source.rank == 0:
        return m.module.convert(source, TYPES[val.dtype])
    total, result = accumulator(source.element), TYPES[val.dtype]
    kind = {"amax": "max", "amin": "min"}.get(name, "sum")
    y = reduce(m, source, dims, kind, total)
    if name == "mean":
        count = product(source.shape[i] for i in dims)
        if not isinstance(count, int) or count == 0:
            raise Unsupported("a mean over open sizes")

        def write(b, s):
            mean = b.op("arith.mulf", total, s[0], b.constant(1 / count, total))
            return b.convert(mean, total, result)

        y = m.module.elementwise([y], y.shape, result, write)
    return m.module.reshape(m.module.convert(y, result), m.shape(val))


@converts("cumsum")
def _(m, node, x, dim, **named):
    source, val = m.value(x), node.meta["val"]
    result = TYPES[val.dtype]
    dim %= max(1, source.rank)
    # Each sum by itself: so much work only where it is little.
    if source.rank == 0 or not isinstance(source.shape[dim], int) or source.shape[dim] > 2048:
        raise Unsupported("a running sum of many or of an open number")
    total = accumulator(result) if is_float(result) else result
    rank = source.rank

    def write(b, s, old):
        last, at = (b.line(f"linalg.index {i} : index") for i in (dim, rank))
        seen = b.op("arith.cmpi ule,", "index", at, last)
        part = b.convert(s[0], source.element, total)
        part = b.line(f"arith.select {seen}, {part}, {b.constant(0, total)} : {total}")
        return b.op("arith.addf" if is_float(total) else "arith.addi", total, old, part)

    # The loop over the elements of a sum comes last.
    places = [rank if i == dim else i for i in range(rank)]
    into = m.module.fill(source.shape, total, 0)
    return m.module.convert(m.module.generic([(source, places)], into, write, [rank]), result)


# ---- pooling


def _pool(m, source, kind, kernel, stride, padding, dilation, shape, start):
    kernel, stride, padding, dilation = (
        [number(n) for n in (v * 2 if len(v) == 1 else v)] for v in (kernel, stride, padding, dilation)
    )
    for i in range(2):
        size = source.shape[2 + i]
        if isinstance(size, int):
            room = size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1
            if not same(room // stride[i] + 1, shape[2 + i]):
                raise Unsupported("windows that reach beyond the padding")
    padded_shape = [*source.shape[:2], *(source.shape[2 + i] + 2 * padding[i] for i in range(2))]
    padded = pad(m, source, [padding[1]] * 2 + [padding[0]] * 2, start, padded_shape)
    window = m.module.empty(kernel, source.element)
    into = m.module.fill(shape, source.element, start)
    name = m.module.line(
        f"linalg.pooling_nchw_{kind} {{strides = dense<{stride}> : tensor<2xi64>, "
        f"dilations = dense<{dilation}> : tensor<2xi64>}} ins({padded.name}, {window.name} : "
        f"{padded.type}, {window.type}) outs({into.name} : {into.type}) -> {into.type}"
    )
    return Value(name, shape, source.element)


@converts("max_pool2d_with_indices", "max_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    source, val = _floats(m.value(x)), node.meta["val"]
    if source.rank != 4 or ceil_mode:
        raise Unsupported("windows of other ranks, or with ceil_mode")
    first = val[0] if isinstance(val, (tuple, list)) else val
    y = _pool(m, source, "max", list(kernel), list(stride or kernel), list(padding), list(dilation),
              m.shape(first), float("-inf"))

    def indices():
        raise Unsupported("the places of the maxima are used")

    return m.results(node, y, indices) if isinstance(val, (tuple, list)) else y


@converts("avg_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor=None):
    source, val = _floats(m.value(x)), node.meta["val"]
    padding = [number(p) for p in padding]
    if source.rank != 4 or ceil_mode or (any(padding) and not count_include_pad):
        raise Unsupported("windows of other ranks, with ceil_mode, or of uneven numbers")
    kernel = list(kernel) * 2 if len(kernel) == 1 else list(kernel)
    total, result = accumulator(source.element), TYPES[val.dtype]
    wide = m.module.convert(source, total)
    y = _pool(m, wide, "sum", kernel, list(stride or kernel), padding, [1, 1], m.shape(val), 0.0)
    count = divisor or kernel[0] * kernel[1]

    def write(b, s):
        return b.convert(b.op("arith.mulf", total, s[0], b.constant(1 / count, total)), total, result)

    return m.module.elementwise([y], y.shape, result, write)

