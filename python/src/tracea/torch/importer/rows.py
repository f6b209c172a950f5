"""Softmax, norms and reductions."""

import torch

from .module import Body, TYPES, Unsupported, Value, accumulator, is_float, product
from .pointwise import const
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


def floats(value):
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
    return softmax(m, floats(m.value(x)), dim, TYPES[node.meta["val"].dtype])


@converts("_log_softmax", "log_softmax", "tracea.log_softmax")
def _(m, node, x, dim, *rest, **named):
    source = floats(m.value(x))
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


def divider(m, sizes, element):
    """function(body, x): x over the number of elements."""
    count = product(sizes)
    if isinstance(count, int):
        return lambda b, x: b.op(
            "arith.mulf", element, x, b.constant(1 / count if count else float("nan"), element)
        )
    whole = m.module.scalar(count, element)
    return lambda b, x: b.op("arith.divf", element, x, whole)


def _mean_of(m, x, dims, term):
    """The mean over `dims` of term(body, x)."""
    total = accumulator(x.element)
    kept = [i for i in range(x.rank) if i not in dims]

    def add(b, s, old):
        return b.op("arith.addf", total, old, term(b, b.convert(s[0], x.element, total), *s[1:]))

    def with_(*more):
        into = m.module.fill([x.shape[i] for i in kept], total, 0)
        sums = m.module.generic(
            [(x, list(range(x.rank))), *((v, kept) for v in more)], into, add, dims
        )
        over = divider(m, [x.shape[i] for i in dims], total)
        return m.module.elementwise([sums], sums.shape, total, lambda b, s: over(b, s[0]))

    return with_


def _root(m, x, eps):
    """1 / sqrt(x + eps)"""

    def write(b, s):
        return b.op("math.rsqrt", x.element, b.op("arith.addf", x.element, s[0], const(b, x.element, eps)))

    return m.module.elementwise([x], x.shape, x.element, write)


def moments(m, x, dims, eps):
    """Mean, variance, and 1 / sqrt(variance + eps)."""
    total = accumulator(x.element)
    mean = _mean_of(m, x, dims, lambda b, e: e)()

    def square(b, e, mean):
        d = b.op("arith.subf", total, e, mean)
        return b.op("arith.mulf", total, d, d)

    variance = _mean_of(m, x, dims, square)(mean)
    return mean, variance, _root(m, variance, eps)


def _shift(m, x, dims):
    """A number near those over `dims`: the median of three of them, 0 where that is no number."""
    total = accumulator(x.element)
    if any(x.shape[i] == 0 for i in dims):
        return None
    places = []
    for part in range(3):
        # Open sizes are not 1.
        at = {
            i: (0, x.shape[i] // 2, x.shape[i] - 1)[part]
            if isinstance(x.shape[i], int) else min(part, 1)
            for i in dims
        }
        kept = iter(range(x.rank))
        places.append([str(at[i]) if i in at else next(kept) for i in range(x.rank)])

    def write(b, s, old):
        first, middle, last = (b.convert(v, x.element, total) for v in s)
        low = b.op("arith.minimumf", total, first, middle)
        high = b.op("arith.maximumf", total, first, middle)
        median = b.op("arith.minimumf", total, high, last)
        median = b.op("arith.maximumf", total, low, median)
        size = b.op("math.absf", total, median)
        is_number = b.op("arith.cmpf olt,", total, size, b.constant(float("inf"), total))
        return b.line(
            f"arith.select {is_number}, {median}, {b.constant(0, total)} : {total}"
        )

    into = m.module.empty([s for i, s in enumerate(x.shape) if i not in dims], total)
    return m.module.generic([(x, place) for place in places], into, write)


def batch_moments(m, x, dims, eps):
    """What `moments` gives, of sums that can be made side by side: of differences from one of the
    numbers, and of their squares."""
    total = accumulator(x.element)
    shift = _shift(m, x, dims)
    if shift is None:
        return moments(m, x, dims, eps)
    kept = [i for i in range(x.rank) if i not in dims]

    def sums(term):
        def add(b, s, old):
            d = b.op("arith.subf", total, b.convert(s[0], x.element, total), s[1])
            return b.op("arith.addf", total, old, term(b, d))

        inputs = [(x, list(range(x.rank))), (shift, kept)]
        return m.module.generic(inputs, m.module.fill(shift.shape, total, 0), add, dims)

    first = sums(lambda b, d: d)
    second = sums(lambda b, d: b.op("arith.mulf", total, d, d))
    over = divider(m, [x.shape[i] for i in dims], total)

    def shifted_back(b, s):
        return b.op("arith.addf", total, over(b, s[0]), s[1])

    def without_square(b, s):
        d = over(b, s[0])
        left = b.op("arith.subf", total, over(b, s[1]), b.op("arith.mulf", total, d, d))
        return b.op("arith.maximumf", total, left, b.constant(0, total))

    mean = m.module.elementwise([first, shift], shift.shape, total, shifted_back)
    variance = m.module.elementwise([first, second], shift.shape, total, without_square)
    return mean, variance, _root(m, variance, eps)


def root_of_mean_square(m, x, dims, eps):
    total = accumulator(x.element)
    return _root(m, _mean_of(m, x, dims, lambda b, e: b.op("arith.mulf", total, e, e))(), eps)


def _statistics(m, x, dims, eps, vals):
    """Mean and 1 / sqrt(variance + eps), as a backward wants them."""
    mean, _, rstd = moments(m, x, dims, eps)
    return [
        m.module.convert(m.module.reshape(v, m.shape(val)), TYPES[val.dtype])
        for v, val in zip((mean, rstd), vals)
    ]


@converts("native_layer_norm")
def _(m, node, x, normalized, weight, bias, eps):
    source, vals = floats(m.value(x)), node.meta["val"]
    count = len(normalized)
    weight, bias = (None if v is None else m.value(v) for v in (weight, bias))
    y = _row_norm(m, "layer_norm", source, count, weight, bias, eps, TYPES[vals[0].dtype])

    dims = list(range(source.rank - count, source.rank))
    return m.results(node, y, lambda: _statistics(m, source, dims, eps, vals[1:]))


@converts("tracea.rms_norm")
def _(m, node, x, weight=None, eps=1e-5):
    source = floats(m.value(x))
    weight = None if weight is None else m.value(weight)
    count = 1 if weight is None else weight.rank
    result = TYPES[node.meta["val"].dtype]
    return _row_norm(m, "rms_norm", source, count, weight, None, eps, result)


@converts("rms_norm")
def _(m, node, x, normalized, weight=None, eps=None):
    source = floats(m.value(x))
    if weight is not None:
        weight = m.value(weight)
    result = TYPES[node.meta["val"].dtype]
    eps = torch.finfo(node.args[0].meta["val"].dtype).eps if eps is None else eps
    return _row_norm(m, "rms_norm", source, len(normalized), weight, None, eps, result)


@converts("tracea.layer_norm")
def _(m, node, x, weight, bias, eps):
    source = floats(m.value(x))
    weight, bias = (None if v is None else m.value(v) for v in (weight, bias))
    count = next((v.rank for v in (weight, bias) if v is not None), 1)
    result = TYPES[node.meta["val"].dtype]
    return _row_norm(m, "layer_norm", source, count, weight, bias, eps, result)


@converts("native_group_norm")
def _(m, node, x, weight, bias, n, c, hw, groups, eps):
    source, vals = floats(m.value(x)), node.meta["val"]
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

    dims = list(range(2, rows.rank))
    return m.results(node, y, lambda: _statistics(m, rows, dims, eps, vals[1:]))


@converts("_native_batch_norm_legit_no_training")
def _(m, node, x, weight, bias, mean, variance, momentum, eps):
    source, vals = floats(m.value(x)), node.meta["val"]
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


@converts("_native_batch_norm_legit_functional", "_native_batch_norm_legit")
def _(m, node, x, weight, bias, *rest):
    """At training: by the batch's own moments."""
    source, vals = floats(m.value(x)), node.meta["val"]
    running, (training, momentum, eps) = rest[:-3], rest[-3:]
    if not training:
        raise Unsupported("running moments, with gradients")
    total, result = accumulator(source.element), TYPES[vals[0].dtype]
    dims = [i for i in range(source.rank) if i != 1]
    mean, variance, rstd = batch_moments(m, source, dims, number(eps))
    given = [None if v is None else m.value(v) for v in (weight, bias)]

    def write(b, s, old):
        left = list(s[3:])
        value = b.op("arith.subf", total, b.convert(s[0], source.element, total), s[1])
        value = b.op("arith.mulf", total, value, s[2])
        for operand, op in zip(given, ("arith.mulf", "arith.addf")):
            if operand is not None:
                value = b.op(op, total, value, b.convert(left.pop(0), operand.element, total))
        return b.convert(value, total, result)

    inputs = [(source, list(range(source.rank))), (mean, [1]), (rstd, [1])]
    inputs += [(v, [1]) for v in given if v is not None]

    def moved(old, new, unbiased):
        """momentum of the new one, and the rest of the old one"""
        old, share = m.value(old), number(momentum)
        count = product(source.shape[i] for i in dims)
        if unbiased and not isinstance(count, int):
            # count / (count - 1), which the run knows.
            parts = [m.module.scalar(n, total) for n in (count, count - 1)]
        else:
            factor = share * (count / max(1, count - 1) if unbiased else 1)

        def mix(b, s):
            if unbiased and not isinstance(count, int):
                part = b.op("arith.mulf", total, s[1], b.op("arith.divf", total, *parts))
                part = b.op("arith.mulf", total, part, const(b, total, share))
            else:
                part = b.op("arith.mulf", total, s[1], const(b, total, factor))
            kept = b.convert(s[0], old.element, total)
            kept = b.op("arith.mulf", total, kept, const(b, total, 1 - share))
            return b.convert(b.op("arith.addf", total, kept, part), total, old.element)

        return m.module.elementwise([old, new], old.shape, old.element, mix)

    makers = [
        lambda: m.module.generic(inputs, m.module.empty(source.shape, result), write),
        lambda: m.module.convert(mean, TYPES[vals[1].dtype]),
        lambda: m.module.convert(rstd, TYPES[vals[2].dtype]),
    ]
    if len(vals) == 5:
        makers += [lambda: moved(running[0], mean, False), lambda: moved(running[1], variance, True)]
    elif any(v is not None for v in running):
        raise Unsupported("running moments that are written in place")
    return m.pick(node, *makers)


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
    floats(source)
    if dims is None or dims == []:
        dims = list(range(source.rank))
    dims = sorted(d % max(1, source.rank) for d in ([dims] if isinstance(dims, int) else dims))
    if source.rank == 0:
        return m.module.convert(source, TYPES[val.dtype])
    total, result = accumulator(source.element), TYPES[val.dtype]
    kind = {"amax": "max", "amin": "min"}.get(name, "sum")
    y = reduce(m, source, dims, kind, total)
    if name == "mean":
        over = divider(m, [source.shape[i] for i in dims], total)
        y = m.module.elementwise(
            [y], y.shape, result, lambda b, s: b.convert(over(b, s[0]), total, result)
        )
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
