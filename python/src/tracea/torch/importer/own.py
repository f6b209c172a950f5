"""Tracea's own operators: products with what follows them."""

from .attention import attention
from .convolutions import Convolution, convolution
from .module import TYPES, accumulator
from .pointwise import ACTIVATIONS
from .products import gemm, linear
from .registry import converts


def _finish(m, node, y, residual, epilogue):
    """epilogue(y + residual)"""
    if residual is None and epilogue == "none":
        return y
    result = TYPES[node.meta["val"].dtype]
    total = accumulator(result)
    values = [y] + ([] if residual is None else [m.value(residual)])

    def write(b, s):
        parts = [b.convert(x, v.element, total) for x, v in zip(s, values)]
        value = parts[0] if len(parts) == 1 else b.op("arith.addf", total, *parts)
        return b.convert(ACTIVATIONS[epilogue](b, total, value), total, result)

    return m.module.elementwise(values, y.shape, result, write)


@converts("tracea.gemm")
def _(m, node, a, b, bias, residual, transpose_a, transpose_b, alpha, epilogue, precision):
    shape, left, right = m.shape(node.meta["val"]), m.value(a), m.value(b)

    def turned(x):
        return m.module.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])

    left = turned(left) if transpose_a else left
    right = turned(right) if transpose_b else right
    added = [] if bias is None else [(m.value(bias), [len(shape) - 1])]
    y = gemm(m, left, right, shape, TYPES[node.meta["val"].dtype], added, alpha)
    return _finish(m, node, y, residual, epilogue)


@converts("tracea.linear")
def _(m, node, x, weight, bias, residual, epilogue, precision):
    return _finish(m, node, linear(m, node, x, weight, bias), residual, epilogue)


@converts("tracea.conv2d")
def _(m, node, x, weight, bias, residual, stride, padding, dilation, groups, layout, epilogue,
      precision):
    if layout == "nchw":
        y = convolution(m, node, x, weight, bias, stride, padding, dilation, False, [0, 0], groups)
        return _finish(m, node, y, residual, epilogue)
    image, filter_ = (_image_order(m, m.value(v), layout) for v in (x, weight))
    val = node.meta["val"]
    sizes = [m.shape(val)[i] for i in (0, 3, 1, 2)]
    conv = Convolution(4, stride, padding, dilation, groups)
    added = [] if bias is None else [(m.value(bias), [1])]
    y = conv.write(m, "conv2d", image, filter_, sizes, TYPES[val.dtype], added)
    return _finish(m, node, m.module.transpose(y, [0, 2, 3, 1]), residual, epilogue)


@converts("tracea.attention")
def _(m, node, q, k, v, causal, left, right, scale, precision):
    val = node.meta["val"]
    return attention(
        m, node, q, k, v, causal, left, right, scale, m.shape(val), TYPES[val.dtype]
    )


def _image_order(m, value, layout):
    return value if layout == "nchw" else m.module.transpose(value, [0, 3, 1, 2])


@converts("tracea.conv2d_dgrad", "tracea.conv2d_wgrad")
def _(m, node, a, b, shape, stride, padding, dilation, groups, layout, precision="exact"):
    """shape: of the image, or of the filter."""
    val = node.meta["val"]
    first, second = (_image_order(m, m.value(x), layout) for x in (a, b))
    sizes = m.shape(val)
    sizes = sizes if layout == "nchw" else [sizes[i] for i in (0, 3, 1, 2)]
    conv = Convolution(4, stride, padding, dilation, groups)
    name = m.name(node).removeprefix("tracea.")
    y = conv.write(m, name, first, second, sizes, TYPES[val.dtype])
    return y if layout == "nchw" else m.module.transpose(y, [0, 2, 3, 1])
