"""Operations on elements."""

import math

from .module import FLOATS, TYPES, Unsupported, is_float, wider
from .registry import converts, is_node, number

# What reads and writes one element: function(body, element type, *operands).


def _binary(for_floats, for_integers):
    def apply(b, t, x, y):
        return b.op(for_floats if is_float(t) else for_integers, t, x, y)

    return apply


def _unary(op):
    return lambda b, t, x: b.op(op, t, x)


_add = _binary("arith.addf", "arith.addi")
_sub = _binary("arith.subf", "arith.subi")
_mul = _binary("arith.mulf", "arith.muli")
_div = _binary("arith.divf", "arith.divsi")
_max = _binary("arith.maximumf", "arith.maxsi")
_min = _binary("arith.minimumf", "arith.minsi")
_exp = _unary("math.exp")


def const(b, t, value):
    return b.constant(value, t)


def _neg(b, t, x):
    return b.op("arith.negf", t, x) if is_float(t) else _sub(b, t, const(b, t, 0), x)


def _abs(b, t, x):
    return b.op("math.absf" if is_float(t) else "math.absi", t, x)


def _sign(b, t, x):
    zero = const(b, t, 0)
    kinds = ("arith.cmpf ogt,", "arith.cmpf olt,") if is_float(t) else ("arith.cmpi sgt,", "arith.cmpi slt,")
    above, below = (b.op(kind, t, x, zero) for kind in kinds)
    low = b.line(f"arith.select {below}, {const(b, t, -1)}, {zero} : {t}")
    return b.line(f"arith.select {above}, {const(b, t, 1)}, {low} : {t}")


def sigmoid(b, t, x):
    one = const(b, t, 1)
    return _div(b, t, one, _add(b, t, one, _exp(b, t, _neg(b, t, x))))


def _silu(b, t, x):
    return _div(b, t, x, _add(b, t, const(b, t, 1), _exp(b, t, _neg(b, t, x))))


def _gelu(b, t, x, approximate="none"):
    half = _mul(b, t, const(b, t, 0.5), x)
    if approximate == "tanh":
        cube = _mul(b, t, _mul(b, t, x, x), x)
        inner = _add(b, t, x, _mul(b, t, const(b, t, 0.044715), cube))
        inner = b.op("math.tanh", t, _mul(b, t, const(b, t, math.sqrt(2 / math.pi)), inner))
    else:
        inner = b.op("math.erf", t, _mul(b, t, const(b, t, math.sqrt(0.5)), x))
    return _mul(b, t, half, _add(b, t, const(b, t, 1), inner))


def _clamp(b, t, x, low=None, high=None):
    if low is not None:
        x = _max(b, t, x, const(b, t, low))
    return x if high is None else _min(b, t, x, const(b, t, high))


def _hardsigmoid(b, t, x):
    x = _clamp(b, t, _add(b, t, x, const(b, t, 3)), 0, 6)
    return _div(b, t, x, const(b, t, 6))


def _select_positive(b, t, x, otherwise):
    positive = b.op("arith.cmpf ogt,", t, x, const(b, t, 0))
    return b.line(f"arith.select {positive}, {x}, {otherwise} : {t}")


def _leaky_relu(b, t, x, slope=0.01):
    return _select_positive(b, t, x, _mul(b, t, x, const(b, t, slope)))


def _elu(b, t, x, alpha=1, scale=1, input_scale=1):
    grown = b.op("math.expm1", t, _mul(b, t, x, const(b, t, input_scale)))
    low = _mul(b, t, const(b, t, alpha), grown)
    return _mul(b, t, const(b, t, scale), _select_positive(b, t, x, low))


def softplus(b, t, x, beta=1, threshold=20):
    scaled = _mul(b, t, x, const(b, t, beta))
    soft = _div(b, t, b.op("math.log1p", t, _exp(b, t, scaled)), const(b, t, beta))
    far = b.op("arith.cmpf ogt,", t, scaled, const(b, t, threshold))
    return b.line(f"arith.select {far}, {x}, {soft} : {t}")


def _mish(b, t, x):
    return _mul(b, t, x, b.op("math.tanh", t, softplus(b, t, x)))


def _pow(b, t, x, exponent):
    if exponent == 0.5:
        return b.op("math.sqrt", t, x)
    if exponent == -0.5:
        return b.op("math.rsqrt", t, x)
    if exponent in (-1, -2, 0, 1, 2, 3, 4):
        result = const(b, t, 1)
        for i in range(abs(int(exponent))):
            result = x if i == 0 else _mul(b, t, result, x)
        return result if exponent >= 0 else _div(b, t, const(b, t, 1), result)
    return b.op("math.powf", t, x, const(b, t, exponent))


# name: (function, whether integers become floats, numbers that follow the tensors)
_FLOAT_UNARY = {
    "sigmoid": sigmoid,
    "silu": _silu,
    "gelu": _gelu,
    "exp": _exp,
    "log": _unary("math.log"),
    "log1p": _unary("math.log1p"),
    "expm1": _unary("math.expm1"),
    "sqrt": _unary("math.sqrt"),
    "rsqrt": _unary("math.rsqrt"),
    "tanh": _unary("math.tanh"),
    "erf": _unary("math.erf"),
    "sin": _unary("math.sin"),
    "cos": _unary("math.cos"),
    "floor": _unary("math.floor"),
    "ceil": _unary("math.ceil"),
    "reciprocal": lambda b, t, x: _div(b, t, const(b, t, 1), x),
    "hardsigmoid": _hardsigmoid,
    "hardswish": lambda b, t, x: _mul(b, t, x, _hardsigmoid(b, t, x)),
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "softplus": softplus,
    "mish": _mish,
    "celu": lambda b, t, x, alpha=1: _elu(b, t, x, alpha, 1, 1 / alpha),
}
_ANY_UNARY = {
    "relu": lambda b, t, x: _max(b, t, x, const(b, t, 0)),
    "relu6": lambda b, t, x: _clamp(b, t, x, 0, 6),
    "hardtanh": lambda b, t, x, low=-1, high=1: _clamp(b, t, x, low, high),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": lambda b, t, x, high: _clamp(b, t, x, None, high),
    "neg": _neg,
    "abs": _abs,
    "sign": _sign,
    "sgn": _sign,
}
# Epilogues of Tracea's own operators.
ACTIVATIONS = {
    "none": lambda b, t, x: x,
    "relu": _ANY_UNARY["relu"],
    "relu6": _ANY_UNARY["relu6"],
    "silu": _silu,
    "gelu": _gelu,
    "gelu_tanh": lambda b, t, x: _gelu(b, t, x, "tanh"),
    "sigmoid": sigmoid,
    "tanh": _FLOAT_UNARY["tanh"],
}
_BINARY = {"add": _add, "sub": _sub, "mul": _mul, "maximum": _max, "minimum": _min}
_COMPARE = {"eq": "oeq eq", "ne": "une ne", "lt": "olt slt", "le": "ole sle", "gt": "ogt sgt"}
_COMPARE["ge"] = "oge sge"
_LOGIC = {"and": "arith.andi", "or": "arith.ori", "xor": "arith.xori"}


def emit(m, node, operands, body, element=None):
    """operands: nodes or numbers. The arithmetic is in f32 at least, and in `element` where given."""
    val = node.meta["val"]
    result = TYPES[val.dtype]
    values = [m.value(o) if is_node(o) else None for o in operands]
    tensors = [v for v in values if v is not None]
    if element is None:
        element = result
        for v in tensors:
            element = wider(element, v.element) if result != "i1" else element
        if result == "i1":
            element = tensors[0].element
            for v in tensors[1:]:
                element = wider(element, v.element)
            if not is_float(element) and any(isinstance(o, float) for o in operands):
                element = "f32"
    if is_float(element) and FLOATS[element] < 32:
        element = "f32"

    def write(b, scalars):
        names, left = [], list(scalars)
        for operand, value in zip(operands, values):
            if value is None:
                names.append(b.constant(number(operand), element))
            else:
                names.append(b.convert(left.pop(0), value.element, element))
        stored, stored_type = body(b, element, *names)
        return b.convert(stored, stored_type, result)

    return m.module.elementwise(tensors, m.shape(val), result, write)


def _plain(function, *numbers, **named):
    return lambda b, t, *x: (function(b, t, *x, *numbers, **named), t)


@converts(*_FLOAT_UNARY)
def _(m, node, x, *numbers, **named):
    function = _FLOAT_UNARY[m.name(node)]
    numbers = [number(n) for n in numbers]
    element = TYPES[node.meta["val"].dtype]
    if not is_float(element):
        raise Unsupported(f"elements of type {element}")
    return emit(m, node, [x], _plain(function, *numbers, **named))


def _clamp_to_tensors(m, node, x, low=None, high=None, **named):
    """Limits may be tensors."""
    low, high = named.get("min", low), named.get("max", high)
    limits = [(f, n) for f, n in ((_max, low), (_min, high)) if n is not None]

    def body(b, t, x, *bounds):
        for (function, _), bound in zip(limits, bounds):
            x = function(b, t, x, bound)
        return x, t

    return emit(m, node, [x, *(n for _, n in limits)], body)


@converts(*_ANY_UNARY)
def _(m, node, x, *numbers, **named):
    if m.name(node) == "clamp" and any(map(is_node, (*numbers, *named.values()))):
        return _clamp_to_tensors(m, node, x, *numbers, **named)
    numbers = [n if n is None else number(n) for n in numbers]
    named = {{"min": "low", "max": "high"}.get(k, k): number(v) for k, v in named.items() if v is not None}
    if m.name(node) == "clamp_min" and numbers:
        named, numbers = {"low": numbers[0]}, []
    return emit(m, node, [x], _plain(_ANY_UNARY[m.name(node)], *numbers, **named))


@converts(*_BINARY)
def _(m, node, a, b, *, alpha=1):
    function = _BINARY[m.name(node)]
    if TYPES[node.meta["val"].dtype] == "i1":
        raise Unsupported("arithmetic of truth values")
    if alpha == 1:
        return emit(m, node, [a, b], _plain(function))
    return emit(
        m, node, [a, b], lambda s, t, x, y: (function(s, t, x, _mul(s, t, y, const(s, t, alpha))), t)
    )


@converts("rsub")
def _(m, node, a, b, alpha=1):
    return emit(
        m, node, [a, b], lambda s, t, x, y: (_sub(s, t, y, _mul(s, t, x, const(s, t, alpha))), t)
    )


@converts("div")
def _(m, node, a, b, *, rounding_mode=None):
    element = TYPES[node.meta["val"].dtype]
    if rounding_mode is not None or not is_float(element):
        raise Unsupported(f"rounding mode {rounding_mode}")
    return emit(m, node, [a, b], _plain(_div))


@converts("fmod")
def _(m, node, a, b):
    # Both have the sign of the dividend, as C's have.
    return emit(m, node, [a, b], _plain(_binary("arith.remf", "arith.remsi")))


@converts("pow")
def _(m, node, a, b):
    element = TYPES[node.meta["val"].dtype]
    if not is_float(element):
        raise Unsupported("integers")
    if is_node(a) and not is_node(b):
        return emit(m, node, [a], _plain(_pow, number(b)))
    return emit(m, node, [a, b], lambda s, t, x, y: (s.op("math.powf", t, x, y), t))


@converts(*_COMPARE)
def _(m, node, a, b):
    floats, integers = _COMPARE[m.name(node)].split()

    def body(s, t, x, y):
        if t == "i1" and integers not in ("eq", "ne"):
            raise Unsupported("an order of truth values")
        kind = f"arith.cmpf {floats}," if is_float(t) else f"arith.cmpi {integers},"
        return s.op(kind, t, x, y), "i1"

    return emit(m, node, [a, b], body)


@converts("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
def _(m, node, a, b):
    kind, _, name = m.name(node).partition("_")
    element = "i1" if kind == "logical" else None
    op = _LOGIC[name]
    return emit(m, node, [a, b], lambda s, t, x, y: (s.op(op, t, x, y), t), element)


@converts("logical_not", "bitwise_not")
def _(m, node, a):
    if TYPES[node.meta["val"].dtype] != "i1":
        raise Unsupported("integers")
    return emit(
        m, node, [a], lambda s, t, x: (s.op("arith.xori", t, x, s.constant(1, t)), t), "i1"
    )


@converts("masked_fill")
def _(m, node, x, mask, value):
    return where(m, node, mask, value, x)


@converts("where")
def where(m, node, condition, a, b):
    val = node.meta["val"]
    result = TYPES[val.dtype]
    operands = [condition, a, b]
    values = [m.value(o) if is_node(o) else None for o in operands]

    def write(s, scalars):
        left, names = list(scalars), []
        for operand, value, element in zip(operands, values, ("i1", result, result)):
            names.append(
                s.constant(number(operand), element)
                if value is None
                else s.convert(left.pop(0), value.element, element)
            )
        return s.line(f"arith.select {', '.join(names)} : {result}")

    return m.module.elementwise([v for v in values if v is not None], m.shape(val), result, write)


@converts("_to_copy", "convert_element_type")
def _(m, node, x, *_, **named):
    if named.get("device") is not None and node.args[0].meta["val"].device != node.meta["val"].device:
        raise Unsupported("a copy to another device")
    return m.module.convert(m.value(x), TYPES[node.meta["val"].dtype])


@converts("full", "full_like", "zeros", "ones", "zeros_like", "ones_like", "scalar_tensor", "new_zeros",
          "new_ones", "new_full")
def _(m, node, *args, **named):
    name = m.name(node).removeprefix("new_").removesuffix("_like")
    if name == "scalar_tensor":
        value = args[0]
    elif name == "full":
        value = args[-1]
    else:
        value = 0 if name == "zeros" else 1
    val = node.meta["val"]
    return m.module.fill(m.shape(val), TYPES[val.dtype], number(value))


@converts("arange")
def _(m, node, *args, **named):
    start, step = (0, 1) if len(args) == 1 else (args[0], args[2] if len(args) > 2 else 1)
    val = node.meta["val"]
    result = TYPES[val.dtype]
    start, step = number(start), number(step)

    def write(b, scalars, old):
        at = b.line("linalg.index 0 : index")
        at = b.op("arith.index_cast", "index to i64", at)
        at = b.convert(at, "i64", result)
        return _add(b, result, _mul(b, result, at, b.constant(step, result)), b.constant(start, result))

    return m.module.generic([], m.module.empty(m.shape(val), result), write)

