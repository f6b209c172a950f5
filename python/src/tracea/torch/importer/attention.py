"""Attention, with and without a mask, and its gradients."""

import torch

from .module import TYPES, Unsupported, Value, accumulator, same
from .products import gemm
from .registry import CONVERTERS, converts, number
from .rows import softmax


@converts("tracea.sdpa")
def _(m, node, q, k, v, mask=None, causal=False, scale=None, gqa=False):
    val = node.meta["val"]
    shape, element = m.shape(val), TYPES[val.dtype]
    query, key, value = (m.value(x) for x in (q, k, v))
    _check(query, key, value, causal, gqa)
    if mask is None:
        return attention(m, node, q, k, v, causal, -1, -1, scale, shape, element)
    heads = _Heads(m, query, key, value)
    seen = _Seen(m, query.shape[2], key.shape[2], m.value(mask), causal, -1, -1)
    weights = _weights(m, heads, seen, scale, element)
    return m.module.reshape(
        gemm(m, weights, heads.value, [*heads.query.shape[:3], shape[3]], element), shape
    )


@converts("scaled_dot_product_attention")
def _(m, node, q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    if dropout_p:
        raise Unsupported("attention with dropout")
    return CONVERTERS["tracea.sdpa"](m, node, q, k, v, attn_mask, is_causal, scale, enable_gqa)


def attention(m, node, q, k, v, causal, left, right, scale, shape, element, sums=None):
    """Tracea's: the last query sees the last key. `sums`: the shape of a second result, the
    logarithms of the sums of exponentials."""
    query, key, value = m.value(q), m.value(k), m.value(v)
    into = m.module.empty(shape, element)
    text = (
        f"tracea.attention{_options(query, causal, left, right, scale)} ins({query.name}, {key.name}, {value.name} : {query.type}, "
        f"{key.type}, {value.type}) outs({into.name} : {into.type})"
    )
    if sums is None:
        return Value(m.module.line(f"{text} -> {into.type}"), shape, element)
    second = m.module.empty(sums, accumulator(element))
    names = m.module.lines_of(
        2, f"{text} lse({second.name} : {second.type}) -> {into.type}, {second.type}"
    )
    return Value(names[0], shape, element), Value(names[1], sums, second.element)


def _options(query, causal, left, right, scale):
    """What attention and its gradients say before their operands."""
    options = " causal" if causal else ""
    if left >= 0 or right >= 0:
        options += f" window [{left}, {right}]"
    if scale is not None:
        if not scale > 0:
            raise Unsupported(f"scale {scale}")
        options += f" scale {float(scale):.17e}"
    elif not isinstance(query.shape[3], int):
        raise Unsupported("an open head size")
    return options


def _check(query, key, value, causal, gqa):
    if query.rank != 4:
        raise Unsupported(f"attention of {query.rank} dimensions")
    if not same(query.shape[1], key.shape[1]) and not gqa:
        raise Unsupported("heads that are repeated")
    pairs = ((query.shape[0], key.shape[0]), (key.shape[0], value.shape[0]),
             (key.shape[1], value.shape[1]))
    if not all(same(a, b) for a, b in pairs):
        raise Unsupported("operands that are repeated")
    if causal and not same(query.shape[2], key.shape[2]):
        raise Unsupported("a causal mask that is not square")


@converts(
    "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
)
def _(m, node, q, k, v, *rest, **named):
    """What torch chooses where the call itself is out of sight, within nn.MultiheadAttention."""
    given = _aten_arguments(node, rest, named)
    query, key, value = (m.value(x) for x in (q, k, v))
    _check(query, key, value, given["causal"], True)
    vals = node.meta["val"]
    shape, element = m.shape(vals[0]), TYPES[vals[0].dtype]
    used = m.used(node)
    if given["mask"] is not None:
        if used - {0}:
            raise Unsupported("sums of exponentials under a mask")
        heads = _Heads(m, query, key, value)
        seen = _Seen(m, shape[2], key.shape[2], m.value(given["mask"]), given["causal"], -1, -1)
        weights = _weights(m, heads, seen, given["scale"], element)
        y = gemm(m, weights, value, [*heads.query.shape[:3], shape[3]], element)
        return [m.module.reshape(y, shape)]
    sums = None
    if 1 in used:
        sums = m.shape(vals[1])
        if len(sums) != 3 or not all(same(a, b) for a, b in zip(sums, query.shape)):
            raise Unsupported("sums of exponentials of another shape")
    y = attention(
        m, node, q, k, v, given["causal"], -1, -1, given["scale"], shape, element, sums=sums
    )
    results = list(y) if sums is not None else [y, None]
    if sums is not None:
        results[1] = m.module.convert(results[1], TYPES[vals[1].dtype])
    # The state of the generator, which without dropout nobody reads.
    for i, val in enumerate(vals[2:], 2):
        is_read = i in used and hasattr(val, "dtype")
        results.append(m.module.fill(m.shape(val), TYPES[val.dtype], 0) if is_read else None)
    return results


@converts(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "_scaled_dot_product_flash_attention_backward",
    "_scaled_dot_product_efficient_attention_backward",
    "_scaled_dot_product_cudnn_attention_backward",
)
def _(m, node, grad, q, k, v, *rest, **named):
    given = _aten_arguments(node, rest, named, start=4)
    causal, scale = given["causal"], given["scale"]
    if given["mask"] is None and _is_fused(m, q, v) and _has_row_each(m, q, given["sums"]):
        _check(*(m.value(x) for x in (q, k, v)), causal, True)
        y, sums = m.value(given["out"]), m.value(given["sums"])
        return gradients(m, node, grad, q, k, v, y, sums, causal, -1, -1, scale)
    return backward(m, node, grad, q, k, v, given["mask"], causal, -1, -1, scale)


_NAMES = {"attn_mask": "mask", "attn_bias": "mask", "is_causal": "causal", "scale": "scale",
          "dropout_p": "dropout", "out": "out", "logsumexp": "sums"}


def _aten_arguments(node, rest, named, start=3):
    """By the names of the schema, whose order each of the operations has to itself."""
    found = {"mask": None, "causal": False, "scale": None, "dropout": 0.0, "out": None,
             "sums": None}
    arguments = node.target._schema.arguments
    given = {a.name: value for a, value in zip(arguments[start:], rest)}
    for name, value in {**given, **named}.items():
        if name in _NAMES:
            found[_NAMES[name]] = value
    if found["dropout"]:
        raise Unsupported("attention with dropout")
    return found


class _Heads:
    """Queries as rows of the head of keys that they see: products need no key twice."""

    def __init__(self, m, query, key, value):
        self.m, self.key, self.value = m, key, value
        self.shape = list(query.shape)
        self.query = self.grouped(query)

    def grouped(self, x):
        """[b, heads, i, ..] as [b, key heads, heads of each times i, ..]"""
        b, heads, i, *rest = x.shape
        groups = self.key.shape[1]
        if same(heads, groups):
            return x
        if not isinstance(heads, int) or not isinstance(groups, int):
            raise Unsupported("grouped queries of an open number of heads")
        return self.m.module.reshape(x, [b, groups, heads // groups * i, *rest])

    def apart(self, x):
        """The same back."""
        return self.m.module.reshape(x, [*self.shape[:3], x.shape[3]])


def _swapped(m, x):
    return m.module.transpose(x, [0, 1, 3, 2])


def _scale(query, scale):
    if scale is not None:
        return number(scale)
    if not isinstance(query.shape[3], int):
        raise Unsupported("an open head size")
    return query.shape[3] ** -0.5


class _Seen:
    """Which keys a query sees: by their places, of which the last query's is the last key's, and by
    a mask of truth values or of what is added to scores."""

    def __init__(self, m, queries, keys, mask, causal, left, right):
        self.mask, self.causal, self.left, self.right = mask, causal, left, right
        self.by_place = causal or left >= 0 or right >= 0
        self.is_all = mask is None and not self.by_place
        if self.by_place:
            self.behind = m.module.index(keys - queries)

    def _conditions(self, b, s):
        found = []
        if self.by_place:
            i, j = (b.line(f"linalg.index {d} : index") for d in (2, 3))
            at = b.op("arith.addi", "index", i, self.behind)
            if self.causal:
                found.append(b.op("arith.cmpi sle,", "index", j, at))
            for kind, bound in (("sge", -self.left), ("sle", self.right)):
                if (self.left if kind == "sge" else self.right) >= 0:
                    edge = b.op("arith.addi", "index", at, b.line(f"arith.constant {bound} : index"))
                    found.append(b.op(f"arith.cmpi {kind},", "index", j, edge))
        if self.mask is not None:
            if self.mask.element == "i1":
                found.append(s[1])
            else:
                low = b.constant(float("-inf"), self.mask.element)
                found.append(b.op("arith.cmpf une,", self.mask.element, s[1], low))
        return found

    def choose(self, b, s, value, otherwise, total):
        all_ = None
        for condition in self._conditions(b, s):
            all_ = condition if all_ is None else b.op("arith.andi", "i1", all_, condition)
        return b.line(f"arith.select {all_}, {value}, {b.constant(otherwise, total)} : {total}")


def _weights(m, heads, seen, scale, element):
    """The softmax over the keys. A row that sees no key has zeros, as torch's does."""
    total = accumulator(element)
    query, key = heads.query, heads.key
    scores = gemm(m, query, _swapped(m, key), [*query.shape[:3], key.shape[2]], total,
                  scale=_scale(query, scale))
    if seen.is_all:
        return m.module.convert(softmax(m, scores, 3, total), element)
    scores = heads.apart(scores)
    masks = [] if seen.mask is None else [seen.mask]

    def hide(b, s):
        score = s[0]
        if masks and masks[0].element != "i1":
            score = b.op("arith.addf", total, score, b.convert(s[1], masks[0].element, total))
        # So low, and finite: a row of nothing else is taken apart below.
        return seen.choose(b, s, score, -1e30, total)

    def clear(b, s):
        return b.convert(seen.choose(b, s, s[0], 0, total), total, element)

    scores = m.module.elementwise([scores, *masks], scores.shape, total, hide)
    weights = softmax(m, scores, 3, total)
    return heads.grouped(m.module.elementwise([weights, *masks], weights.shape, element, clear))


def _is_fused(m, q, v):
    """Whether there are kernels for the gradients that keep no scores in memory."""
    query, value = m.value(q), m.value(v)
    depths, heads = (query.shape[3], value.shape[3]), (query.shape[1], value.shape[1])
    return (
        _capability(m.target) >= 80 and query.element in ("f16", "bf16")
        and all(isinstance(n, int) for n in (*depths, *heads)) and max(depths) <= 160
    )


def _capability(target):
    """Of the GPU that a target is, 80 and 90 say; 0 for others."""
    name, _, number = (target or "").replace(":", "_").partition("_")
    if name == "sm":
        return int(number.rstrip("af"))
    if name == "cuda":
        major, minor = torch.cuda.get_device_capability(int(number or 0))
        return 10 * major + minor
    return 0


def _has_row_each(m, q, sums):
    """Whether the forward's logarithms of sums are one a query, without rows to fill up."""
    if sums is None:
        return False
    query, found = m.value(q), m.value(sums)
    return found.rank == 3 and all(same(a, b) for a, b in zip(found.shape, query.shape))


def gradients(m, node, grad, q, k, v, y, sums, causal, left, right, scale):
    """By q, k and v, from the forward's result and its logarithms of sums of exponentials."""
    g, query, key, value = (m.value(x) for x in (grad, q, k, v))
    element = query.element
    total = accumulator(element)
    g, sums = m.module.convert(g, element), m.module.convert(sums, total)

    def multiply(b, s, old):
        product = b.op("arith.mulf", total, *(b.convert(x, element, total) for x in s))
        return b.op("arith.addf", total, old, product)

    # Heads behind rows are read so by kernels: by none a transposition of them.
    delta = m.module.generic(
        [m.module.where_it_lies(x) for x in (g, m.module.convert(y, element))],
        m.module.fill(query.shape[:3], total, 0), multiply, [3],
    )
    operands = (query, key, value, g, sums, delta)
    given = (
        f"{_options(query, causal, left, right, scale)} ins({', '.join(x.name for x in operands)} : "
        f"{', '.join(x.type for x in operands)})"
    )
    into = [m.module.empty(x.shape, element) for x in (query, key, value)]

    def by_query():
        name = m.module.line(
            f"tracea.attention_qgrad{given} outs({into[0].name} : {into[0].type}) -> {into[0].type}"
        )
        return Value(name, query.shape, element)

    used = m.used(node)
    results = [by_query() if 0 in used else None, None, None]
    if used & {1, 2}:
        types = f"{into[1].type}, {into[2].type}"
        names = m.module.lines_of(
            2,
            f"tracea.attention_kvgrad{given} outs({into[1].name}, {into[2].name} : {types}) -> {types}",
        )
        results[1:] = [Value(n, x.shape, element) for n, x in zip(names, (key, value))]
    return results


@converts("tracea.sdpa_with_sums")
def _(m, node, q, k, v, causal, scale, gqa):
    vals = node.meta["val"]
    shape, element = m.shape(vals[0]), TYPES[vals[0].dtype]
    _check(*(m.value(x) for x in (q, k, v)), causal, gqa)
    return list(
        attention(m, node, q, k, v, causal, -1, -1, scale, shape, element, sums=shape[:3])
    )


@converts("tracea.attention_gradients")
def _(m, node, grad, q, k, v, y, sums, causal, left, right, scale):
    _check(*(m.value(x) for x in (q, k, v)), False, True)
    if not _is_fused(m, q, v):
        return backward(m, node, grad, q, k, v, None, causal, left, right, scale)
    return gradients(
        m, node, grad, q, k, v, m.value(y), m.value(sums), causal, left, right, scale
    )


@converts("tracea.attention_backward")
def backward(m, node, grad, q, k, v, mask, causal, left, right, scale):
    g, query, key, value = (m.value(x) for x in (grad, q, k, v))
    _check(query, key, value, False, True)
    element = query.element
    if mask is None and _is_fused(m, q, v):
        # The forward again is less than all scores in memory.
        y, sums = attention(
            m, node, q, k, v, causal, left, right, scale, g.shape, element, sums=query.shape[:3]
        )
        return gradients(m, node, grad, q, k, v, y, sums, causal, left, right, scale)
    total = accumulator(element)
    heads = _Heads(m, query, key, value)
    mask = None if mask is None else m.value(mask)
    seen = _Seen(m, query.shape[2], key.shape[2], mask, causal, left, right)
    weights = _weights(m, heads, seen, scale, element)
    g = heads.grouped(g)
    factor = _scale(query, scale)

    # Of weights by scores: w (dw - sum of dw w).
    by_weights = gemm(m, g, _swapped(m, value), weights.shape, total)
    dims = list(range(4))

    def multiply(b, s, old):
        product = b.op("arith.mulf", total, b.convert(s[0], element, total), s[1])
        return b.op("arith.addf", total, old, product)

    sums = m.module.generic(
        [(weights, dims), (by_weights, dims)], m.module.fill(weights.shape[:3], total, 0), multiply,
        [3],
    )

    def by_score(b, s, old):
        d = b.op("arith.subf", total, s[1], s[2])
        d = b.op("arith.mulf", total, d, b.convert(s[0], element, total))
        return b.convert(b.op("arith.mulf", total, d, b.constant(factor, total)), total, element)

    by_scores = m.module.generic(
        [(weights, dims), (by_weights, dims), (sums, dims[:3])],
        m.module.empty(weights.shape, element), by_score,
    )
    return m.pick(
        node,
        lambda: heads.apart(gemm(m, by_scores, key, heads.query.shape, element)),
        lambda: gemm(m, _swapped(m, by_scores), heads.query, key.shape, element),
        lambda: gemm(m, _swapped(m, weights), g, value.shape, element),
    )
