"""Pooling, the places of the maxima, and the gradients.

Windows are affine expressions of a result's pixel and a tap. A gradient asks the other way round:
which windows a pixel lies in, which has a remainder where windows step.
"""

from .module import TYPES, Unsupported, Value, accumulator, is_float
from .movement import pad
from .registry import converts, number


class _Windows:
    def __init__(self, kernel, stride, padding, dilation):
        self.kernel, self.stride, self.padding, self.dilation = (
            [number(n) for n in (list(v) * 2 if len(v) == 1 else v)]
            for v in (kernel, stride or kernel, padding, dilation)
        )

    def padded(self, m, source, shape, start):
        """The image with its border, and with what the last windows of `shape` need behind it."""
        pads, padded = [], list(source.shape)
        for i in (1, 0):
            size, behind = source.shape[2 + i], self.padding[i]
            if isinstance(size, int) and isinstance(shape[2 + i], int):
                last = (shape[2 + i] - 1) * self.stride[i] + self.dilation[i] * (self.kernel[i] - 1) + 1
                behind = max(behind, last - size - self.padding[i])
            pads += [self.padding[i], behind]
            padded[2 + i] = size + self.padding[i] + behind
        return pad(m, source, pads, start, padded)

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
    padded = windows.padded(m, source, shape, start)
    window = m.module.empty(windows.kernel, source.element)
    into = m.module.fill(shape, source.element, start)
    name = m.module.line(
        f"linalg.pooling_nchw_{kind} {{strides = dense<{windows.stride}> : tensor<2xi64>, "
        f"dilations = dense<{windows.dilation}> : tensor<2xi64>}} ins({padded.name}, {window.name} : "
        f"{padded.type}, {window.type}) outs({into.name} : {into.type}) -> {into.type}"
    )
    return Value(name, shape, source.element)


def _image(m, x):
    """Of a batch, which an image by itself is one of."""
    source = m.value(x)
    if not is_float(source.element):
        raise Unsupported(f"elements of type {source.element}")
    if source.rank not in (3, 4):
        raise Unsupported(f"windows of {source.rank} dimensions")
    return _batch(m, source)


def _batch(m, value):
    return value if value.rank == 4 else m.module.reshape(value, [1, *value.shape])


def _batch_shape(shape):
    return list(shape) if len(shape) == 4 else [1, *shape]


@converts("max_pool2d_with_indices", "max_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    source, val = _image(m, x), node.meta["val"]
    first = val[0] if isinstance(val, (tuple, list)) else val
    windows, shape = _Windows(kernel, stride, padding, dilation), _batch_shape(m.shape(first))
    y = _pool(m, source, "max", windows, shape, float("-inf"))
    result = m.module.reshape(y, m.shape(first))

    def indices():
        """The first pixel that is as great as the greatest, or that is no number."""
        padded = windows.padded(m, source, shape, float("-inf"))
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
        found = m.module.generic(inputs, into, first_of, [4, 5])
        return [m.module.reshape(found, m.shape(first))]

    return m.results(node, result, indices) if isinstance(val, (tuple, list)) else result


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
    source = _image(m, x)
    windows = _Windows(kernel, stride, padding, dilation)
    grad, indices = _batch(m, m.value(grad)), _batch(m, m.value(indices))
    y = m.module.convert(_backward(m, windows, grad, source.shape, indices), source.element)
    return m.module.reshape(y, m.shape(node.meta["val"]))


def _divisor(windows, ceil_mode, count_include_pad, divisor):
    if not divisor and (ceil_mode or (any(windows.padding) and not count_include_pad)):
        raise Unsupported("windows of uneven numbers")
    return divisor or windows.kernel[0] * windows.kernel[1]


def _scaled(m, value, factor, val):
    """In the type and the shape of a result."""
    element, total = TYPES[val.dtype], accumulator(value.element)

    def write(b, s):
        part = b.convert(s[0], value.element, total)
        return b.convert(b.op("arith.mulf", total, part, b.constant(factor, total)), total, element)

    y = m.module.elementwise([value], value.shape, element, write)
    return m.module.reshape(y, m.shape(val))


@converts("avg_pool2d")
def _(m, node, x, kernel, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor=None):
    source, val = _image(m, x), node.meta["val"]
    windows = _Windows(kernel, stride, padding, [1, 1])
    count = _divisor(windows, ceil_mode, count_include_pad, divisor)
    wide = m.module.convert(source, accumulator(source.element))
    y = _pool(m, wide, "sum", windows, _batch_shape(m.shape(val)), 0.0)
    return _scaled(m, y, 1 / count, val)


@converts("avg_pool2d_backward")
def _(m, node, grad, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    source = _image(m, x)
    windows = _Windows(kernel, stride, padding, [1, 1])
    count = _divisor(windows, ceil_mode, count_include_pad, divisor)
    y = _backward(m, windows, _batch(m, m.value(grad)), source.shape)
    return _scaled(m, y, 1 / count, node.meta["val"])


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
    source, val = _image(m, x), node.meta["val"]
    windows = _adaptive(source.shape, m.shape(val)[-2:])
    wide = m.module.convert(source, accumulator(source.element))
    y = _pool(m, wide, "sum", windows, _batch_shape(m.shape(val)), 0.0)
    return _scaled(m, y, 1 / (windows.kernel[0] * windows.kernel[1]), val)


@converts("_adaptive_avg_pool2d_backward")
def _(m, node, grad, x):
    source = _image(m, x)
    windows = _adaptive(source.shape, m.value(grad).shape[-2:])
    y = _backward(m, windows, _batch(m, m.value(grad)), source.shape)
    return _scaled(m, y, 1 / (windows.kernel[0] * windows.kernel[1]), node.meta["val"])
