"""Modules built by calls."""

from . import _native
from ._error import Error, Status


class Value:
    """A tensor of a graph. `a + b`, `a - b`, `a * b`, `a / b`, `-a` and `a @ b` add to its graph."""

    __slots__ = ("graph", "_id", "shape", "dtype")

    def __init__(self, graph, number, shape=None, dtype=None):
        self.graph, self._id = graph, number
        # Of inputs alone; the library checks and knows the rest.
        self.shape, self.dtype = shape, dtype

    def __add__(self, other):
        return self.graph.binary("add", self, other)

    def __sub__(self, other):
        return self.graph.binary("subtract", self, other)

    def __mul__(self, other):
        return self.graph.binary("multiply", self, other)

    def __truediv__(self, other):
        return self.graph.binary("divide", self, other)

    def __neg__(self):
        return self.graph.unary("negate", self)

    def __matmul__(self, other):
        return self.graph.add_gemm(self, other)

    def __repr__(self):
        return f"<tracea.Value {self._id}>"


class Graph:
    """Operations on tensors, to be compiled as one program.

    Each `add_…` takes values and gives one. `add_gemm` and `add_conv2d` make the inputs that they
    are not given from sizes: graph.add_gemm(m=512, n=512, k=512). Values that nothing uses are the
    results, unless `output` names them.
    """

    def __init__(self):
        self._native = _native.Graph()
        self._inputs = []
        self._unused = {}
        self._outputs = []
        self._ended = False

    # ---- values

    def _id(self, name, value, optional=False):
        if value is None and optional:
            return 0
        if not isinstance(value, Value) or value.graph is not self:
            what = "a value of another graph" if isinstance(value, Value) else type(value).__name__
            raise TypeError(f"{name}: expected a value of this graph, found {what}")
        self._unused.pop(value._id, None)
        return value._id

    def _made(self, number):
        value = Value(self, number)
        self._unused[number] = value
        return value

    def input(self, name="", shape=(), dtype="float32", *, constant=False) -> Value:
        """An argument. Sizes that are None, or -1, are any. `constant` marks weights, which are
        given once."""
        sizes = [-1 if s is None else int(s) for s in shape]
        number = self._native.input(str(name), dtype, sizes, constant)
        value = Value(self, number, tuple(sizes), dtype)
        self._inputs.append(value)
        return value

    def output(self, *values) -> None:
        """Results, in this order."""
        for value in values:
            number = self._id("value", value)
            self._outputs.append(value)
            self._native.output(number)

    # ---- operations

    def add_gemm(
        self,
        a=None,
        b=None,
        bias=None,
        *,
        m=None,
        n=None,
        k=None,
        batch=None,
        dtype="float32",
        residual=None,
        transpose_a=False,
        transpose_b=False,
        alpha=1.0,
        epilogue=None,
        precision=None,
    ) -> Value:
        """epilogue(alpha a b + bias + residual). Without a and b, of sizes m, n, k, and `batch`
        where it is given; bias=True makes a bias of n numbers."""
        if a is None:
            self._need(add_gemm={"m": m, "k": k})
            a = self.input("a", _batched(batch, (k, m) if transpose_a else (m, k)), dtype)
        if b is None:
            self._need(add_gemm={"n": n, "k": k})
            b = self.input("b", _batched(batch, (n, k) if transpose_b else (k, n)), dtype)
        if bias is True:
            self._need(add_gemm={"n": n})
            bias = self.input("bias", (n,), dtype)
        return self._made(
            self._native.gemm(
                self._id("a", a),
                self._id("b", b),
                self._id("bias", bias, True),
                self._id("residual", residual, True),
                transpose_a,
                transpose_b,
                alpha,
                epilogue,
                precision,
            )
        )

    def add_conv2d(
        self,
        x=None,
        weight=None,
        bias=None,
        *,
        n=None,
        c=None,
        h=None,
        w=None,
        k=None,
        r=None,
        s=None,
        dtype="float32",
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        layout="nchw",
        residual=None,
        epilogue=None,
        precision=None,
        kernel_size=None,
    ) -> Value:
        """epilogue(convolution of x with weight + bias + residual). Without x and weight: n images
        of c channels, h rows and w columns, k filters of r x s taps."""
        last = layout == "nhwc"
        if x is None:
            self._need(add_conv2d={"n": n, "c": c, "h": h, "w": w})
            x = self.input("x", (n, h, w, c) if last else (n, c, h, w), dtype)
        if weight is None:
            if kernel_size is not None:
                r, s = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
            s = r if s is None else s
            self._need(add_conv2d={"k": k, "r": r, "c": c})
            weight = self.input(
                "weight", (k, r, s, c // groups) if last else (k, c // groups, r, s), dtype
            )
        if bias is True:
            self._need(add_conv2d={"k": k})
            bias = self.input("bias", (k,), dtype)
        taps = [1, 1]
        if isinstance(weight, Value) and weight.shape is not None and len(weight.shape) == 4:
            taps = [max(0, t) for t in (weight.shape[1:3] if last else weight.shape[2:])]
        elif padding == "same":
            raise Error(
                "padding: 'same' needs a weight that is an input of the graph",
                Status.INVALID_PARAMS,
            )
        return self._made(
            self._native.conv2d(
                self._id("x", x),
                self._id("weight", weight),
                self._id("bias", bias, True),
                self._id("residual", residual, True),
                stride,
                padding,
                dilation,
                groups,
                layout,
                taps,
                epilogue,
                precision,
            )
        )

    def add_attention(
        self, q, k, v, *, causal=False, window=(-1, -1), scale=None, precision=None
    ) -> Value:
        """Scaled dot-product attention: q [B, H, I, D], k [B, G, J, D], v [B, G, J, E]."""
        return self._made(
            self._native.attention(
                self._id("q", q),
                self._id("k", k),
                self._id("v", v),
                causal,
                *window,
                0.0 if scale is None else scale,
                precision,
            )
        )

    def add_softmax(self, x, dim=-1, *, log=False) -> Value:
        return self._made(self._native.softmax(self._id("x", x), dim, log))

    def add_layer_norm(self, x, weight=None, bias=None, eps=1e-5) -> Value:
        return self._made(
            self._native.layer_norm(
                self._id("x", x),
                self._id("weight", weight, True),
                self._id("bias", bias, True),
                eps,
            )
        )

    def add_rms_norm(self, x, weight=None, eps=1e-5) -> Value:
        return self._made(
            self._native.rms_norm(self._id("x", x), self._id("weight", weight, True), eps)
        )

    def unary(self, function, x) -> Value:
        """relu, relu6, silu, gelu, gelu_tanh, sigmoid, tanh, negate, abs, exp, log, sqrt, rsqrt."""
        return self._made(self._native.unary(function, self._id("x", x)))

    def binary(self, function, a, b) -> Value:
        """add, subtract, multiply, divide, maximum, minimum."""
        return self._made(self._native.binary(function, self._id("a", a), self._id("b", b)))

    def cast(self, x, dtype) -> Value:
        return self._made(self._native.cast(self._id("x", x), dtype))

    def transpose(self, x, order) -> Value:
        """Dimension i of the result is dimension order[i] of x."""
        return self._made(self._native.transpose(self._id("x", x), list(order)))

    def reshape(self, x, shape) -> Value:
        """At most one size may be -1: the one that the others leave."""
        return self._made(self._native.reshape(self._id("x", x), list(shape)))

    @staticmethod
    def _need(**sizes):
        for function, named in sizes.items():
            missing = [name for name, size in named.items() if size is None]
            if missing:
                raise TypeError(
                    f"{function}: expected values, or the sizes "
                    f"{', '.join(named)}; {', '.join(missing)} is missing"
                )

    # ---- the module

    def _end(self):
        if not self._ended:
            if not self._outputs:
                for value in list(self._unused.values()):
                    self.output(value)
            self._ended = True

    def text(self) -> str:
        """The graph as a module of one function, `main`."""
        self._end()
        return self._native.text()

    def compile(
        self, *, target="cpu", fuse="safe", threads=0, require_proof=False, cache=True
    ):
        """The program of the graph; see `tracea.compile`."""
        from .program import Program

        self._end()
        native = self._native.compile(
            target=target, fuse=fuse, threads=threads, require_proof=require_proof, cache=cache
        )
        return Program(native, device=target if str(target).startswith("cuda") else None)

    def __repr__(self):
        return f"<tracea.Graph: {len(self._inputs)} inputs>"


def _batched(batch, sizes):
    return sizes if batch is None else (batch, *sizes)
