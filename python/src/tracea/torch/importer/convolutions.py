"""Convolutions, transposed ones, and the gradients of both.

A transposed convolution is the gradient of a convolution by its image, and the other way round; so
three operations of Tracea are all that there is.
"""

from .module import TYPES, Unsupported, Value, accumulator, is_float
from .products import epilogue
from .registry import converts, number
from .rows import reduce


class Convolution:
    """The numbers of a convolution, and images of one or two dimensions as such of two."""

    def __init__(self, rank, stride, padding, dilation, groups):
        if rank not in (3, 4):
            raise Unsupported(f"a convolution of {rank - 2} dimensions")
        self.is_flat, self.groups = rank == 3, groups
        stride, padding, dilation = ([number(v) for v in v_] for v_ in (stride, padding, dilation))
        if self.is_flat:
            # Of one row.
            stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
        self.stride, padding, self.dilation = (
            v * 2 if len(v) == 1 else v for v in (stride, padding, dilation)
        )
        # For each dimension, or before and behind all of them.
        self.pads = padding if len(padding) == 4 else padding * 2

    def shape(self, shape):
        return [*shape[:2], 1, shape[2]] if self.is_flat else list(shape)

    def image(self, m, value):
        """An image or a filter, of two dimensions."""
        return m.module.reshape(value, self.shape(value.shape))

    def write(self, m, name, a, b, shape, element, added=()):
        """tracea.`name` of two tensors; `shape` is the caller's."""
        if not is_float(a.element) or a.element != b.element:
            raise Unsupported(f"a convolution of {a.element} with {b.element}")
        a, b = self.image(m, a), self.image(m, b)
        into = m.module.empty(self.shape(shape), element)
        line = m.module.line(
            f"tracea.{name} layout nchw filter kcrs strides {self.stride} pads {self.pads} "
            f"dilations {self.dilation} groups {self.groups} ins({a.name}, {b.name} : "
            f"{a.type}, {b.type}) outs({into.name} : {into.type})"
            + epilogue(4, a.element, element, added)
        )
        return m.module.reshape(Value(line, into.shape, element), shape)


def _static(filter_):
    if not all(isinstance(s, int) for s in filter_.shape):
        raise Unsupported("a filter of open sizes")
    return filter_


@converts("convolution")
def convolution(m, node, x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    val = node.meta["val"]
    image, filter_ = m.value(x), _static(m.value(w))
    conv = Convolution(image.rank, stride, padding, dilation, groups)
    added = [] if bias is None else [(m.value(bias), [1])]
    name = "conv2d_dgrad" if transposed else "conv2d"
    return conv.write(m, name, image, filter_, m.shape(val), TYPES[val.dtype], added)


@converts("convolution_backward")
def _(m, node, grad, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
      mask):
    g, image, filter_ = m.value(grad), m.value(x), _static(m.value(w))
    conv = Convolution(image.rank, stride, padding, dilation, groups)

    def by_image():
        name = "conv2d" if transposed else "conv2d_dgrad"
        return conv.write(m, name, g, filter_, image.shape, image.element)

    def by_filter():
        # Of a transposed one the gradient is the image, and the image the gradient.
        pair = (g, image) if transposed else (image, g)
        return conv.write(m, "conv2d_wgrad", *pair, filter_.shape, filter_.element)

    def by_bias():
        sums = reduce(m, g, [i for i in range(g.rank) if i != 1], "sum", accumulator(g.element))
        return m.module.convert(sums, g.element)

    return m.pick(node, by_image, by_filter, by_bias)
