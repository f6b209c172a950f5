"""Gradients of functions of elements, of softmax and of norms."""

import math

from .module import TYPES, accumulator
from .pointwise import const, emit, sigmoid, softplus
from .registry import converts, number
from .rows import divider, floats, moments, root_of_mean_square


# ---- functions of elements: function(body, element type, gradient, x, numbers …)


def _mul(b, t, *factors):
    result = factors[0]
    for factor in factors[1:]:
        result = b.op("arith.mulf", t, result, factor)
    return result


def _add(b, t, *parts):
    result = parts[0]
    for part in parts[1:]:
        result = b.op("arith.addf", t, result, part)
    return result


def _one_minus(b, t, x):
    return b.op("arith.subf", t, const(b, t, 1), x)


def _select(b, t, kind, x, bound, yes, no):
    condition = b.op(f"arith.cmpf {kind},", t, x, const(b, t, bound))
    return b.line(f"arith.select {condition}, {yes}, {no} : {t}")


def _threshold(b, t, g, x, bound):
    return _select(b, t, "ole", x, bound, const(b, t, 0), g)


def _silu(b, t, g, x):
    s = sigmoid(b, t, x)
    return _mul(b, t, g, s, _add(b, t, const(b, t, 1), _mul(b, t, x, _one_minus(b, t, s))))


def _gelu(b, t, g, x, approximate="none"):
    half = const(b, t, 0.5)
    if approximate == "tanh":
        k, cubic = math.sqrt(2 / math.pi), 0.044715
        square = _mul(b, t, x, x)
        inner = _add(b, t, x, _mul(b, t, const(b, t, cubic), square, x))
        y = b.op("math.tanh", t, _mul(b, t, const(b, t, k), inner))
        slope = _add(b, t, const(b, t, 1), _mul(b, t, const(b, t, 3 * cubic), square))
        slope = _mul(b, t, const(b, t, k), slope, _one_minus(b, t, _mul(b, t, y, y)))
        whole = _add(b, t, const(b, t, 1), y, _mul(b, t, x, slope))
        return _mul(b, t, g, half, whole)
    erf = b.op("math.erf", t, _mul(b, t, const(b, t, math.sqrt(0.5)), x))
    left = _mul(b, t, half, _add(b, t, const(b, t, 1), erf))
    density = b.op("math.exp", t, _mul(b, t, const(b, t, -0.5), x, x))
    density = _mul(b, t, const(b, t, 1 / math.sqrt(2 * math.pi)), x, density)
    return _mul(b, t, g, _add(b, t, left, density))


def _hardswish(b, t, g, x):
    inner = _add(b, t, b.op("arith.divf", t, x, const(b, t, 3)), const(b, t, 0.5))
    low = _select(b, t, "ole", x, -3, const(b, t, 0), _mul(b, t, g, inner))
    return _select(b, t, "oge", x, 3, g, low)


def _within(b, t, g, x, low, high):
    inside = _select(b, t, "ole", x, low, const(b, t, 0), g)
    return _select(b, t, "oge", x, high, const(b, t, 0), inside)


def _hardsigmoid(b, t, g, x):
    return b.op("arith.divf", t, _within(b, t, g, x, -3, 3), const(b, t, 6))


def _leaky_relu(b, t, g, x, slope, is_result=False):
    return _select(b, t, "ogt", x, 0, g, _mul(b, t, g, const(b, t, slope)))


def _softplus(b, t, g, x, beta, threshold):
    scaled = _mul(b, t, x, const(b, t, beta))
    return _select(b, t, "ogt", scaled, threshold, g, _mul(b, t, g, sigmoid(b, t, scaled)))


def _mish(b, t, g, x):
    y = b.op("math.tanh", t, softplus(b, t, x))
    slope = _mul(b, t, x, sigmoid(b, t, x), _one_minus(b, t, _mul(b, t, y, y)))
    return _mul(b, t, g, _add(b, t, y, slope))


_FUNCTIONS = {
    "threshold_backward": _threshold,
    "silu_backward": _silu,
    "gelu_backward": _gelu,
    "hardswish_backward": _hardswish,
    "hardsigmoid_backward": _hardsigmoid,
    "hardtanh_backward": _within,
    "leaky_relu_backward": _leaky_relu,
    "softplus_backward": _softplus,
    "mish_backward": _mish,
    "sigmoid_backward": lambda b, t, g, y: _mul(b, t, g, y, _one_minus(b, t, y)),
    "tanh_backward": lambda b, t, g, y: _mul(b, t, g, _one_minus(b, t, _mul(b, t, y, y))),
}


@converts(*_FUNCTIONS)
def _(m, node, grad, x, *numbers, **named):
    floats(m.value(x))
    numbers = [number(n) for n in numbers]
    function = _FUNCTIONS[m.name(node)]
    return emit(m, node, [grad, x], lambda b, t, g, x: (function(b, t, g, x, *numbers, **named), t))


@converts("elu_backward")
def _(m, node, grad, alpha, scale, input_scale, is_result, x):
    alpha, scale, input_scale = (number(n) for n in (alpha, scale, input_scale))

    def function(b, t, g, x):
        grown = x if is_result else b.op("math.exp", t, _mul(b, t, x, const(b, t, input_scale)))
        if is_result:
            low = _add(b, t, grown, const(b, t, alpha * scale))
            low = _mul(b, t, g, const(b, t, input_scale), low)
        else:
            low = _mul(b, t, g, const(b, t, input_scale * alpha * scale), grown)
        return _select(b, t, "ole", x, 0, low, _mul(b, t, g, const(b, t, scale))), t

    return emit(m, node, [grad, x], function)


@converts("native_dropout_backward")
def _(m, node, grad, mask, scale):
    scale = number(scale)
    return emit(
        m, node, [grad, mask], lambda b, t, g, kept: (_mul(b, t, g, kept, const(b, t, scale)), t)
    )


# ---- softmax


def _rows(m, node, grad, y, dim, part, write):
    """write(body, gradient, y, sum of part(body, gradient, y) over the row) for each element."""
    g, y = floats(m.value(grad)), floats(m.value(y))
    total, result = accumulator(y.element), TYPES[node.meta["val"].dtype]
    dim %= max(1, y.rank)
    all_ = list(range(y.rank))
    kept = [i for i in all_ if i != dim]

    def both(b, s):
        return b.convert(s[0], g.element, total), b.convert(s[1], y.element, total)

    def add(b, s, old):
        return b.op("arith.addf", total, old, part(b, total, *both(b, s)))

    into = m.module.fill([y.shape[i] for i in kept], total, 0)
    sums = m.module.generic([(g, all_), (y, all_)], into, add, [dim])
    return m.module.generic(
        [(g, all_), (y, all_), (sums, kept)], m.module.empty(y.shape, result),
        lambda b, s, old: b.convert(write(b, total, *both(b, s), s[2]), total, result),
    )


@converts("_softmax_backward_data", "tracea.softmax_backward")
def _(m, node, grad, y, dim, *rest):
    return _rows(
        m, node, grad, y, dim, _mul,
        lambda b, t, g, y, sum_: _mul(b, t, y, b.op("arith.subf", t, g, sum_)),
    )


@converts("_log_softmax_backward_data", "tracea.log_softmax_backward")
def _(m, node, grad, y, dim, *rest):
    def write(b, t, g, y, sum_):
        return b.op("arith.subf", t, g, _mul(b, t, b.op("math.exp", t, y), sum_))

    return _rows(m, node, grad, y, dim, lambda b, t, g, y: g, write)


# ---- norms


class _Norm:
    """Gradients of w (x - mean) rstd + bias. `kept`: the dimensions of mean and rstd; `weighed`:
    those of the weight."""

    def __init__(self, m, grad, x, mean, rstd, weight, kept, weighed):
        self.m, self.g, self.x, self.mean, self.rstd = m, grad, x, mean, rstd
        self.weight, self.kept, self.weighed = weight, kept, weighed
        self.total = accumulator(x.element)
        self.all = list(range(x.rank))
        self.rest = [i for i in self.all if i not in kept]
        self._by_dims = {}

    def _read(self, operands):
        """Loops' inputs by name, and how a body reads them in the type of sums."""
        dims = {"g": self.all, "x": self.all, "mean": self.kept, "rstd": self.kept,
                "weight": self.weighed}
        values = {n: getattr(self, "g" if n == "g" else n) for n in operands}
        values = {n: v for n, v in values.items() if v is not None}

        def read(b, s):
            return {n: b.convert(x, v.element, self.total) for (n, v), x in zip(values.items(), s)}

        return [(v, dims[n]) for n, v in values.items()], read

    def _normalized(self, b, e):
        """x by itself where the mean is 0."""
        x = b.op("arith.subf", self.total, e["x"], e["mean"]) if "mean" in e else e["x"]
        return _mul(b, self.total, x, e["rstd"])

    def _weighed(self, b, e):
        return _mul(b, self.total, e["g"], e["weight"]) if "weight" in e else e["g"]

    def _sums(self, dims, operands, body):
        """Sums over `dims` of body(b, operands by name)."""
        inputs, read = self._read(operands)
        shape = [self.x.shape[i] for i in self.all if i not in dims]
        return self.m.module.generic(
            inputs, self.m.module.fill(shape, self.total, 0),
            lambda b, s, old: b.op("arith.addf", self.total, old, body(b, read(b, s))), dims,
        )

    def by_input(self, element, centred=True):
        """rstd (g w - mean of g w - normalized x times mean of (g w normalized x))"""
        m, t = self.m, self.total
        operands = ["g", "x", "mean", "rstd", "weight"]
        # A weight for each mean is a factor of the sums, which are those by weight and bias then.
        is_factor = self.kept == self.weighed
        if is_factor:
            added = [(self._scales(self.rest), self.kept)]
            if centred:
                added.append((self._shifts(self.rest), self.kept))
        else:
            scales = self._sums(
                self.rest, operands, lambda b, e: _mul(b, t, self._weighed(b, e), self._normalized(b, e))
            )
            added = [(scales, self.kept)]
            if centred:
                added.append((self._sums(self.rest, ["g", "weight"], self._weighed), self.kept))
        over = divider(m, [self.x.shape[i] for i in self.rest], t)
        inputs, read = self._read(operands)

        def write(b, s, old):
            e = read(b, s)
            means = [over(b, x) for x in s[len(inputs) :]]
            d = e["g"] if is_factor else self._weighed(b, e)
            d = b.op("arith.subf", t, d, _mul(b, t, self._normalized(b, e), means[0]))
            if centred:
                d = b.op("arith.subf", t, d, means[1])
            if is_factor and "weight" in e:
                d = _mul(b, t, d, e["weight"])
            return b.convert(_mul(b, t, d, e["rstd"]), t, element)

        return m.module.generic(inputs + added, m.module.empty(self.x.shape, element), write)

    def by_fixed_input(self, element):
        """Where mean and rstd are no functions of x."""
        inputs, read = self._read(["g", "rstd", "weight"])

        def write(b, s, old):
            e = read(b, s)
            return b.convert(_mul(b, self.total, self._weighed(b, e), e["rstd"]), self.total, element)

        return self.m.module.generic(inputs, self.m.module.empty(self.x.shape, element), write)

    def _over_rows(self):
        return [i for i in self.all if i not in self.weighed]

    def _once(self, name, dims, operands, body):
        """Sums that several gradients take, made once."""
        if (name, *dims) not in self._by_dims:
            self._by_dims[(name, *dims)] = self._sums(dims, operands, body)
        return self._by_dims[(name, *dims)]

    def _scales(self, dims):
        return self._once(
            "scales", dims, ["g", "x", "mean", "rstd"],
            lambda b, e: _mul(b, self.total, e["g"], self._normalized(b, e)),
        )

    def _shifts(self, dims):
        return self._once("shifts", dims, ["g"], lambda b, e: e["g"])

    def by_weight(self, element, shape):
        sums = self._scales(self._over_rows())
        return self.m.module.convert(self.m.module.reshape(sums, shape), element)

    def by_bias(self, element, shape):
        sums = self._shifts(self._over_rows())
        return self.m.module.convert(self.m.module.reshape(sums, shape), element)


def _results(m, node, norm, by_input, weight_shape):
    def element(i):
        return TYPES[node.meta["val"][i].dtype]

    return m.pick(
        node,
        lambda: by_input(element(0)),
        lambda: norm.by_weight(element(1), weight_shape),
        lambda: norm.by_bias(element(2), weight_shape),
    )


@converts("native_layer_norm_backward")
def _(m, node, grad, x, normalized, mean, rstd, weight, bias, mask):
    g, source = floats(m.value(grad)), m.value(x)
    first = source.rank - len(normalized)
    kept, weighed = list(range(first)), list(range(first, source.rank))
    rows = [source.shape[i] for i in kept]
    mean, rstd = (m.module.reshape(m.value(v), rows) for v in (mean, rstd))
    weight = None if weight is None else m.value(weight)
    norm = _Norm(m, g, source, mean, rstd, weight, kept, weighed)
    return _results(m, node, norm, norm.by_input, [source.shape[i] for i in weighed])


@converts("native_group_norm_backward")
def _(m, node, grad, x, mean, rstd, weight, n, c, hw, groups, mask):
    g, source = floats(m.value(grad)), m.value(x)
    n, c = m.size(n), number(c)
    shape = [n, groups, c // groups, *source.shape[2:]]
    g, rows = m.module.reshape(g, shape), m.module.reshape(source, shape)
    mean, rstd = (m.module.reshape(m.value(v), [n, groups]) for v in (mean, rstd))
    if weight is not None:
        weight = m.module.reshape(m.value(weight), shape[1:3])
    norm = _Norm(m, g, rows, mean, rstd, weight, [0, 1], [1, 2])

    def by_input(element):
        return m.module.reshape(norm.by_input(element), source.shape)

    return _results(m, node, norm, by_input, [c])


@converts("native_batch_norm_backward")
def _(m, node, grad, x, weight, running_mean, running_var, mean, rstd, train, eps, mask):
    g, source = floats(m.value(grad)), m.value(x)
    if train:
        mean, rstd = m.value(mean), m.value(rstd)
    else:
        mean, variance = m.value(running_mean), m.value(running_var)

        def root(b, s):
            t = variance.element
            return b.op("math.rsqrt", t, b.op("arith.addf", t, s[0], b.constant(eps, t)))

        rstd = m.module.elementwise([variance], variance.shape, variance.element, root)
    weight = None if weight is None else m.value(weight)
    norm = _Norm(m, g, source, mean, rstd, weight, [1], [1])
    return _results(m, node, norm, norm.by_input if train else norm.by_fixed_input, [source.shape[1]])


@converts("tracea.layer_norm_backward", "tracea.rms_norm_backward")
def _(m, node, grad, x, weight, eps, count=None):
    """From the forward's input: its moments are computed anew."""
    g, source = floats(m.value(grad)), m.value(x)
    weight = None if weight is None else m.value(weight)
    is_centred = m.name(node) == "tracea.layer_norm_backward"
    count = number(count) if count is not None else 1 if weight is None else weight.rank
    first = source.rank - count
    kept, weighed = list(range(first)), list(range(first, source.rank))
    if is_centred:
        mean, _, rstd = moments(m, source, weighed, eps)
    else:
        mean, rstd = None, root_of_mean_square(m, source, weighed, eps)
    norm = _Norm(m, g, source, mean, rstd, weight, kept, weighed)
    return _results(
        m, node, norm, lambda element: norm.by_input(element, is_centred),
        [source.shape[i] for i in weighed],
    )
