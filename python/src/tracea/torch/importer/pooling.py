"""Pooling, the places of the maxima, and the gradients.

Windows are affine expressions of a result's pixel and a tap. A gradient asks the other way round:
which windows a pixel lies in, which has a remainder where windows step.
"""

from .module import TYPES, Unsupported, Value, accumulator, is_float, same
from .movement import pad
from .registry import converts, number


class _Windows:
    def __init__(self, kernel, stride, padding, dilation):
        self.kernel, self.stride, self.padding, self.dilation = (
            [number(n) for n in (list(v) * 2 if len(v) == 1 else v)]
            for v in (kernel, stride or kernel, padding, dilation)
        )

    def check(self, image, shape):
        """Whether all windows lie within the padded image."""
        for i in range(2):
            size = image[2 + i]
            if isinstance(size, int):
                room = size + 2 * self.padding[i] - self.dilation[i] * (self.kernel[i] - 1) - 1
                if not same(room // self.stride[i] + 1, shape[2 + i]):
                    raise Unsupported("windows that reach beyond the padding")

    def padded(self, m, source, start):
        padding = self.padding
        shape = [*source.shape[:2], *(source.shape[2 + i] + 2 * padding[i] for i in range(2))]
        return pad(m, source, [padding[1]] * 2 + [padding[0]] * 2, start, shape)

    def places(self):
        """Of loops over n, c, p, q and the taps r, s."""
        rows, columns = (
            f"d{2 + i} * {self.stride[i]} + d{4 + i} * {self.dilation[i]}" for i in range(2)
        )
        return [0, 1, rows, columns]

    def above(self, b, i, sizes):
        """Of loops over n, c, h, w and the taps r, s: the window that sees the pixel with the tap,
        one that exists, and whether it is that one. `sizes` are values of type index."""
        at, tap = (b.line(f"linalg.index {d} : index") for d in (2 + i, 4 + i))

        def index(number_):
            return b.line(f"arith.constant {number_} : index")

        at = b.op("arith.addi", "index", at, index(self.padding[i]))
        at = b.op("arith.subi", "index", at,
                  b.op("arith.muli", "index", tap, index(self.dilation[i])))
        zero, stride = index(0), index(self.stride[i])
        real = b.op("arith.cmpi sge,", "index", at, zero)
        at = b.op("arith.maxsi", "index", at, zero)
        window = b.op("arith.divui", "index", at, stride)
        if self.stride[i] != 1:
            rest = b.op("arith.remui", "index", at, stride)
            real = b.op("arith.andi", "i1", real, b.op("arith.cmpi eq,", "index", rest, zero))
        real = b.op("arith.andi", "i1", real, b.op("arith.cmpi ult,", "index", window, sizes[i]))
        last = b.op("arith.subi", "index", sizes[i], index(1))
        return b.op("arith.minui", "index", window, last), real


def _pool(m, source, kind, windows, shape, start):
    windows.check(source.shape, shape)
    padded = windows.padded(m, source, start)
    window = m.module.empty(windows.kernel, source.element)
    into = m.module.fill(shape, source.element, start)
    name = m.module.line(
        f"linalg.pooling_nchw_{kind} {{strides = dense<{windows.stride}> : tensor<2xi64>, "
        f"dilations = dense<{windows.dilation}> : tensor<2xi64>}} ins({padded.name}, {window.name} : "
        f"{padded.type}, {window.type}) outs({into.name} : {into.type}) -> {into.type}"
    )
    return Value(name, shape, source.element)


def _image(m, x, ceil_mode):
    source = m.value(x)
    if not is_float(source.element):
        raise Unsupported(f"elements of type {source.element}")
    if source.rank != 4 or ceil_mode:
        raise Unsupported("windows of other ranks, or with ceil_mode")
    return source


@converts("max_pool2d_with_indices", "max_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    source, val = _image(m, x, ceil_mode), node.meta["val"]
    first = val[0] if isinstance(val, (tuple, list)) else val
    windows, shape = _Windows(kernel, stride, padding, dilation), m.shape(first)
    y = _pool(m, source, "max", windows, shape, float("-inf"))

    def indices():
        """The first pixel that is as great as the greatest, or that is no number."""
        padded = windows.padded(m, source, float("-inf"))
        width = m.module.index(source.shape[3])
        # Behind every pixel.
        none = 2**62

        def first_of(b, s, old):
            places = []
            for i in range(2):
                p, tap = (b.line(f"linalg.index {d} : index") for d in (2 + i, 4 + i))
                step, gap, before = (
                    b.line(f"arith.constant {n} : index")
                    for n in (windows.stride[i], windows.dilation[i], windows.padding[i])
                )
                at = b.op("arith.addi", "index", b.op("arith.muli", "index", p, step),
                          b.op("arith.muli", "index", tap, gap))
                places.append(b.op("arith.subi", "index", at, before))
            at = b.op("arith.addi", "index", b.op("arith.muli", "index", places[0], width), places[1])
            at = b.op("arith.index_cast", "index to i64", at)
            found = b.op("arith.cmpf ueq,", source.element, s[0], s[1])
            # The border is as great as a pixel of -inf, and is none.
            zero = b.line("arith.constant 0 : index")
            for i in range(2):
                if windows.padding[i]:
                    size = m.module.index(source.shape[2 + i])
                    for kind, bound in (("sge", zero), ("slt", size)):
                        inside = b.op(f"arith.cmpi {kind},", "index", places[i], bound)
                        found = b.op("arith.andi", "i1", found, inside)
            at = b.line(f"arith.select {found}, {at}, {b.constant(none, 'i64')} : i64")
            return b.op("arith.minsi", "i64", old, at)

        for i in range(2):
            m.module.index(source.shape[2 + i])
        taps = m.module.empty(windows.kernel, source.element)
        inputs = [(padded, windows.places()), (y, [0, 1, 2, 3]), (taps, [4, 5])]
        into = m.module.fill(shape, "i64", none)
        return [m.module.generic(inputs, into, first_of, [4, 5])]

    return m.results(node, y, indices) if isinstance(val, (tuple, list)) else y


def _backward(m, windows, grad, shape, indices=None):
    """Sums of the gradients of the windows that a pixel lies in, or of those alone of which it is
    the maximum."""
    total = accumulator(grad.element)
    sizes = [m.module.index(s) for s in grad.shape[2:]]
    width = m.module.index(shape[3])

    def add(b, s, old):
        n, c, h, w = (b.line(f"linalg.index {d} : index") for d in range(4))
        (p, rows), (q, columns) = (windows.above(b, i, sizes) for i in range(2))
        real = b.op("arith.andi", "i1", rows, columns)
        at = ", ".join((n, c, p, q))
        if indices is not None:
            chosen = b.line(f"tensor.extract {indices.name}[{at}] : {indices.type}")
            pixel = b.op("arith.addi", "index", b.op("arith.muli", "index", h, width), w)
            pixel = b.op("arith.index_cast", "index to i64", pixel)
            real = b.op("arith.andi", "i1", real, b.op("arith.cmpi eq,", "i64", chosen, pixel))
        part = b.line(f"tensor.extract {grad.name}[{at}] : {grad.type}")
        part = b.convert(part, grad.element, total)
        part = b.line(f"arith.select {real}, {part}, {b.constant(0, total)} : {total}")
        return b.op("arith.addf", total, old, part)

    if any(s == 0 for s in grad.shape):
        return m.module.fill(shape, grad.element, 0)
    taps = m.module.empty(windows.kernel, grad.element)
    into = m.module.fill(shape, total, 0)
    return m.module.generic([(taps, [4, 5])], into, add, [4, 5])


@converts("max_pool2d_with_indices_backward")
def _(m, node, grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    source = _image(m, x, ceil_mode)
    windows = _Windows(kernel, stride, padding, dilation)
    y = _backward(m, windows, m.value(grad), source.shape, m.value(indices))
    return m.module.convert(y, source.element)


def _divisor(kernel, padding, count_include_pad, divisor):
    if any(padding) and not count_include_pad:
        raise Unsupported("windows of uneven numbers")
    return divisor or kernel[0] * kernel[1]


def _scaled(m, value, factor, element):
    total = accumulator(value.element)

    def write(b, s):
        part = b.convert(s[0], value.element, total)
        return b.convert(b.op("arith.mulf", total, part, b.constant(factor, total)), total, element)

    return m.module.elementwise([value], value.shape, element, write)


@converts("avg_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor=None):
    source, val = _image(m, x, ceil_mode), node.meta["val"]
    windows = _Windows(kernel, stride, padding, [1, 1])
    count = _divisor(windows.kernel, windows.padding, count_include_pad, divisor)
    wide = m.module.convert(source, accumulator(source.element))
    y = _pool(m, wide, "sum", windows, m.shape(val), 0.0)
    return _scaled(m, y, 1 / count, TYPES[val.dtype])


@converts("avg_pool2d_backward")
def _(m, node, grad, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    source = _image(m, x, ceil_mode)
    windows = _Windows(kernel, stride, padding, [1, 1])
    count = _divisor(windows.kernel, windows.padding, count_include_pad, divisor)
    y = _backward(m, windows, m.value(grad), source.shape)
    return _scaled(m, y, 1 / count, source.element)


def _adaptive(image, size):
    """Windows side by side, where they are all of one size."""
    step = []
    for whole, parts in zip(image[2:], size):
        if not isinstance(whole, int) or not isinstance(parts, int) or parts == 0 or whole % parts:
            raise Unsupported("windows of uneven sizes")
        step.append(whole // parts)
    return _Windows(step, step, [0, 0], [1, 1])


@converts("_adaptive_avg_pool2d")
def _(m, node, x, size):
    source, val = _image(m, x, False), node.meta["val"]
    windows = _adaptive(source.shape, m.shape(val)[2:])
    wide = m.module.convert(source, accumulator(source.element))
    y = _pool(m, wide, "sum", windows, m.shape(val), 0.0)
    return _scaled(m, y, 1 / (windows.kernel[0] * windows.kernel[1]), TYPES[val.dtype])


@converts("_adaptive_avg_pool2d_backward")
def _(m, node, grad, x):
    source = _image(m, x, False)
    windows = _adaptive(source.shape, m.value(grad).shape[2:])
    y = _backward(m, windows, m.value(grad), source.shape)
    return _scaled(m, y, 1 / (windows.kernel[0] * windows.kernel[1]), source.element)
