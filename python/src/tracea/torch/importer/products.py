"""Products of matrices."""

from .module import Body, TYPES, Unsupported, Value, accumulator, affine_map, is_float, product
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
    shape, addend, beta = m.shape(val), m.value(bias), number(beta)
    if beta not in (0, 1):
        total = accumulator(addend.element)
        addend = m.module.elementwise(
            [addend], addend.shape, total, lambda s, e: s.op(
                "arith.mulf", total, s.convert(e[0], addend.element, total), s.constant(beta, total)
            ),
        )
    added = [m.module.broadcast(addend, shape)] if beta else []
    return gemm(m, m.value(a), m.value(b), shape, TYPES[val.dtype], added, number(alpha))


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
