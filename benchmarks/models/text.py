# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model as MLIR: linalg, tensor, arith and math, and tracea's operations as importers use them.

A model is a function of a backend, whose methods are its operations. This
backend writes text; benchmarks/gpu/models/eager.py computes with PyTorch.
Images have their channels last.
"""

import math


def literal(number):
    """MLIR wants a point in a float, which Python leaves out before an exponent."""
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


class Extent:
    """An extent that only the run knows, by the name of its value."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "?"


class Value:
    def __init__(self, name, shape, element):
        self.name = name
        self.shape = tuple(shape)
        self.element = element

    @property
    def type(self):
        return "tensor<" + "x".join([*map(str, self.shape), self.element]) + ">"


class Argument:
    """What a model takes: `fill` says how inputs.py and run.py make it. Weights are constant."""

    def __init__(self, name, shape, element, fill, constant):
        self.name = name
        self.shape = tuple(shape)
        self.element = element
        self.fill = fill
        self.constant = constant


# Scalar functions over f32, each a line of arith or math.
def _gelu(emit, x):
    scaled = emit("arith.mulf", x, emit.constant(math.sqrt(0.5)))
    one = emit("arith.addf", emit("math.erf", scaled), emit.constant(1.0))
    return emit("arith.mulf", emit("arith.mulf", x, emit.constant(0.5)), one)


def _gelu_tanh(emit, x):
    cube = emit("arith.mulf", emit("arith.mulf", x, x), x)
    inner = emit("arith.addf", x, emit("arith.mulf", cube, emit.constant(0.044715)))
    inner = emit("math.tanh", emit("arith.mulf", inner, emit.constant(math.sqrt(2 / math.pi))))
    half = emit("arith.mulf", x, emit.constant(0.5))
    return emit("arith.mulf", half, emit("arith.addf", inner, emit.constant(1.0)))


def _silu(emit, x):
    grown = emit("math.exp", emit("arith.negf", x))
    return emit("arith.divf", x, emit("arith.addf", grown, emit.constant(1.0)))


class Emit:
    """Scalar operations of a body."""

    def __init__(self, indent):
        self.indent = indent
        self.lines = []
        self.count = 0

    def _line(self, text):
        name = f"%s{self.count}"
        self.count += 1
        self.lines.append(f"{self.indent}{name} = {text}")
        return name

    def __call__(self, operation, *operands, element="f32"):
        return self._line(f"{operation} {', '.join(operands)} : {element}")

    def constant(self, value, element="f32"):
        return self._line(f"arith.constant {literal(value)} : {element}")

    def convert(self, name, source, target):
        if source == target:
            return name
        widths = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16, "i8": 8, "i32": 32}
        if source[0] == "i":
            operation = "arith.sitofp"
        elif target[0] == "i":
            operation = "arith.fptosi"
        else:
            operation = "arith.extf" if widths[target] > widths[source] else "arith.truncf"
        return self._line(f"{operation} {name} : {source} to {target}")


class Text:
    def __init__(self, dtype, dynamic=False):
        self.dtype = dtype
        self.dynamic = dynamic
        self.arguments = []
        self.lines = []
        self.count = 0

    # Structure

    def input(self, name, shape, fill, element=None):
        """An argument; with `dynamic` its first extent is that of the run."""
        value = self._argument(name, shape, fill, element, constant=False)
        if self.dynamic:
            axis = self._line("arith.constant 0 : index")
            value.shape = (Extent("%batch"), *value.shape[1:])
            self.lines.append(f"  %batch = tensor.dim {value.name}, {axis} : {value.type}")
        return value

    def weight(self, name, shape, fill, element=None):
        return self._argument(name, shape, fill, element, constant=True)

    def _argument(self, name, shape, fill, element, constant):
        element = element or self.dtype
        self.arguments.append(Argument(name, shape, element, fill, constant))
        return Value(f"%{name}", shape, element)

    def _name(self):
        self.count += 1
        return f"%{self.count - 1}"

    def _line(self, text):
        name = self._name()
        self.lines.append(f"  {name} = {text}")
        return name

    def _empty(self, shape, element=None):
        element = element or self.dtype
        sizes = ", ".join(extent.name for extent in shape if isinstance(extent, Extent))
        result = Value("", shape, element)
        result.name = self._line(f"tensor.empty({sizes}) : {result.type}")
        return result

    def _filled(self, shape, number, element=None):
        out = self._empty(shape, element)
        scalar = self._line(f"arith.constant {number} : {out.element}")
        name = self._line(f"linalg.fill ins({scalar} : {out.element}) outs({out.name} : {out.type}) -> {out.type}")
        return Value(name, out.shape, out.element)

    def _generic(self, operands, maps, iterators, out, body, wide=True):
        """A linalg.generic; `body(emit, names)` gives the name to yield, f32 where `wide`."""
        emit = Emit("      ")
        names = [f"%a{i}" for i in range(len(operands))]
        work = [emit.convert(n, o.element, "f32") if wide else n for n, o in zip(names, operands)]
        if len(maps) > 1 and maps[-1] != "all":
            work.append("%out")
        result = body(emit, work)
        if wide:
            result = emit.convert(result, "f32", out.element)
        emit.lines.append(f"{emit.indent}linalg.yield {result} : {out.element}")
        header = ", ".join(f"{n}: {o.element}" for n, o in zip([*names, "%out"], [*operands, out]))
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        dims = ", ".join(f"d{i}" for i in range(len(iterators)))
        texts = ", ".join(f"affine_map<({dims}) -> ({dims if m == 'all' else m})>" for m in maps)
        ins = ", ".join(o.name for o in operands)
        types = ", ".join(o.type for o in operands)
        ins = f"ins({ins} : {types}) " if operands else ""
        name = self._line(f"linalg.generic {{indexing_maps = [{texts}], iterator_types = [{kinds}]}} "
                          f"{ins}outs({out.name} : {out.type}) {{")
        self.lines.append(f"    ^bb0({header}):")
        self.lines.extend(emit.lines)
        self.lines.append(f"  }} -> {out.type}")
        return Value(name, out.shape, out.element)

    def _pointwise(self, body, *operands, element=None):
        """Elementwise over the first operand's shape; others are aligned to its last dimensions."""
        shape = operands[0].shape
        maps = []
        for operand in operands:
            skipped = len(shape) - len(operand.shape)
            maps.append(", ".join(f"d{i}" for i in range(skipped, len(shape))))
        out = self._empty(shape, element or operands[0].element)
        return self._generic(operands, [*maps, "all"], ["parallel"] * len(shape), out, lambda emit, a: body(emit, *a))

    # Elementwise

    def relu(self, x):
        return self._pointwise(lambda e, a: e("arith.maximumf", a, e.constant(0.0)), x)

    def gelu(self, x):
        return self._pointwise(_gelu, x)

    def gelu_tanh(self, x):
        return self._pointwise(_gelu_tanh, x)

    def silu(self, x):
        return self._pointwise(_silu, x)

    def add(self, x, y):
        return self._pointwise(lambda e, a, b: e("arith.addf", a, b), x, y)

    def mul(self, x, y):
        return self._pointwise(lambda e, a, b: e("arith.mulf", a, b), x, y)

    # Products and convolutions

    def conv2d(self, x, weight, bias=None, stride=1, pad=0):
        """Filters are [k, r, s, c]."""
        k, r, s, _ = weight.shape
        n, h, w, _ = x.shape
        shape = (n, (h + 2 * pad - r) // stride + 1, (w + 2 * pad - s) // stride + 1, k)
        out = self._empty(shape)
        strides = f"strides [{stride}, {stride}] " if stride != 1 else ""
        pads = f"pads [{pad}, {pad}, {pad}, {pad}] " if pad else ""
        name = self._line(f"tracea.conv2d layout nhwc filter krsc {strides}{pads}"
                          f"ins({x.name}, {weight.name} : {x.type}, {weight.type}) outs({out.name} : {out.type})"
                          + self._bias(bias, "(n, p, q, k) -> (k)"))
        return Value(name, shape, self.dtype)

    def linear(self, x, weight, bias=None):
        """Rows of x by the rows of `weight`, [outputs, inputs]."""
        shape = (x.shape[0], weight.shape[0])
        out = self._empty(shape)
        name = self._line(f"tracea.gemm transpose_rhs ins({x.name}, {weight.name} : {x.type}, {weight.type}) "
                          f"outs({out.name} : {out.type})" + self._bias(bias, "(m, n) -> (n)"))
        return Value(name, shape, self.dtype)

    def _bias(self, bias, dims):
        if not bias:
            return ""
        emit = Emit("      ")
        total = emit("arith.addf", "%acc", emit.convert("%b", bias.element, "f32"))
        total = emit.convert(total, "f32", self.dtype)
        body = "\n".join([f"    ^bb0(%acc: f32, %b: {bias.element}):", *emit.lines,
                          f"      tracea.yield {total} : {self.dtype}"])
        return f"\n    epilogue({bias.name} by affine_map<{dims}> : {bias.type}) {{\n{body}\n  }}"

    def quantized_linear(self, x, weight, bias, scale, activate=True, result="i8"):
        """i8 by i8 in i32, plus `bias`, times `scale` of the column, with ReLU or without; to i8 rounded and clamped."""
        shape = (x.shape[0], weight.shape[0])
        product = self._empty(shape, "i32")
        product.name = self._line(f"tracea.gemm transpose_rhs ins({x.name}, {weight.name} : {x.type}, {weight.type}) "
                                  f"outs({product.name} : {product.type})")
        emit_sum = self._generic([product, bias], ["d0, d1", "d1", "all"], ["parallel"] * 2, self._empty(shape, "i32"),
                                 lambda e, a: e("arith.addi", *a, element="i32"), wide=False)

        def rescale(e, total, factor):
            value = e("arith.mulf", total, factor)
            if activate:
                value = e("arith.maximumf", value, e.constant(0.0))
            if result == "i8":
                value = e("math.roundeven", value)
                value = e("arith.maximumf", value, e.constant(-128.0))
                value = e("arith.minimumf", value, e.constant(127.0))
            return value

        return self._pointwise(rescale, emit_sum, scale, element=result)

    def attention(self, q, k, v, causal=False):
        """Of [batch, heads, rows, width]."""
        out = self._empty(q.shape)
        name = self._line(f"tracea.attention {'causal ' if causal else ''}ins({q.name}, {k.name}, {v.name} : "
                          f"{q.type}, {k.type}, {v.type}) outs({out.name} : {out.type}) -> {out.type}")
        return Value(name, out.shape, out.element)

    # Norms and reductions

    def batch_norm(self, x, scale, bias, mean, variance, epsilon=1e-5):
        out = self._empty(x.shape)
        operands = [x, scale, bias, mean, variance]
        name = self._line(f"tracea.batch_norm axis {len(x.shape) - 1} epsilon {literal(epsilon)} "
                          f"ins({', '.join(o.name for o in operands)} : {', '.join(o.type for o in operands)}) "
                          f"outs({out.name} : {out.type})")
        return Value(name, out.shape, out.element)

    def layer_norm(self, x, scale, bias, epsilon=1e-5):
        out = self._empty(x.shape)
        name = self._line(f"tracea.layer_norm axis {len(x.shape) - 1} epsilon {literal(epsilon)} ins({x.name} : {x.type}) "
                          f"scale({scale.name} : {scale.type}) bias({bias.name} : {bias.type}) "
                          f"outs({out.name} : {out.type})")
        return Value(name, out.shape, out.element)

    def rms_norm(self, x, scale, epsilon=1e-5):
        out = self._empty(x.shape)
        name = self._line(f"tracea.rms_norm axis {len(x.shape) - 1} epsilon {literal(epsilon)} ins({x.name} : {x.type}) "
                          f"scale({scale.name} : {scale.type}) outs({out.name} : {out.type})")
        return Value(name, out.shape, out.element)

    def group_norm(self, x, groups, scale, bias, epsilon=1e-5):
        """Of an image: means and variances of the pixels and channels of a group, in f32."""
        n, h, w, c = x.shape
        split = self.unflatten(x, 3, (groups, c // groups))
        count = float(h * w * (c // groups))
        sums = ["parallel", "reduction", "reduction", "parallel", "reduction"]
        total = self._generic([split], ["all", "d0, d3"], sums, self._filled((n, groups), 0.0, "f32"),
                              lambda e, a: e("arith.addf", a[1], a[0]))

        def square(e, a):
            centred = e("arith.subf", a[0], e("arith.divf", a[1], e.constant(count)))
            return e("arith.addf", a[2], e("arith.mulf", centred, centred))

        squares = self._generic([split, total], ["all", "d0, d3", "d0, d3"], sums,
                                self._filled((n, groups), 0.0, "f32"), square)
        scale, bias = (self.unflatten(value, 0, (groups, c // groups)) for value in (scale, bias))

        def normalize(e, a):
            value, total, squares, scale, bias = a
            centred = e("arith.subf", value, e("arith.divf", total, e.constant(count)))
            variance = e("arith.addf", e("arith.divf", squares, e.constant(count)), e.constant(epsilon))
            value = e("arith.mulf", e("arith.mulf", centred, e("math.rsqrt", variance)), scale)
            return e("arith.addf", value, bias)

        out = self._generic([split, total, squares, scale, bias],
                            ["d0, d1, d2, d3, d4", "d0, d3", "d0, d3", "d3, d4", "d3, d4", "all"], ["parallel"] * 5,
                            self._empty(split.shape), normalize)
        return self.flatten(out, 3, 4)

    def max_pool(self, x, size, stride, pad):
        n, h, w, c = x.shape
        padded = Value("", (n, h + 2 * pad, w + 2 * pad, c), x.element)
        lowest = {"f32": "0xFF800000", "bf16": "0xFF80", "f16": "0xFC00"}[x.element]
        border = self._line(f"arith.constant {lowest} : {x.element}")
        padded.name = self._line(f"tensor.pad {x.name} low[0, {pad}, {pad}, 0] high[0, {pad}, {pad}, 0] {{")
        self.lines += ["    ^bb0(%i: index, %j: index, %k: index, %l: index):",
                       f"      tensor.yield {border} : {x.element}", f"  }} : {x.type} to {padded.type}"]
        shape = (n, *((extent - size) // stride + 1 for extent in padded.shape[1:3]), c)
        out = self._filled(shape, lowest, x.element)
        window = self._line(f"tensor.empty() : tensor<{size}x{size}x{x.element}>")
        name = self._line(f"linalg.pooling_nhwc_max {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : "
                          f"vector<2xi64>}} ins({padded.name}, {window} : {padded.type}, tensor<{size}x{size}x{x.element}>) "
                          f"outs({out.name} : {out.type}) -> {out.type}")
        return Value(name, shape, x.element)

    def mean_pixels(self, x):
        """The mean of an image's pixels: [n, c]."""
        n, h, w, c = x.shape
        total = self._generic([x], ["all", "d0, d3"], ["parallel", "reduction", "reduction", "parallel"],
                              self._filled((n, c), 0.0, "f32"), lambda e, a: e("arith.addf", a[1], a[0]))
        return self._pointwise(lambda e, a: e("arith.divf", a, e.constant(float(h * w))), total, element=self.dtype)

    # Movement

    def _regroup(self, rank, first, last):
        groups = [[i] for i in range(first)] + [list(range(first, last + 1))] + [[i] for i in range(last + 1, rank)]
        return str(groups)

    def flatten(self, x, first, last):
        """One dimension in place of `first` to `last`."""
        inner = [extent for extent in x.shape[first:last + 1]]
        fixed = math.prod(extent for extent in inner if not isinstance(extent, Extent))
        open_ = [extent for extent in inner if isinstance(extent, Extent)]
        extent = fixed
        if open_:
            factor = self._line(f"arith.constant {fixed} : index")
            extent = Extent(self._line(f"arith.muli {open_[0].name}, {factor} : index"))
        shape = (*x.shape[:first], extent, *x.shape[last + 1:])
        result = Value("", shape, x.element)
        result.name = self._line(f"tensor.collapse_shape {x.name} {self._regroup(len(x.shape), first, last)} : "
                                 f"{x.type} into {result.type}")
        return result

    def unflatten(self, x, axis, extents):
        """`extents` in place of the dimension `axis`."""
        shape = (*x.shape[:axis], *extents, *x.shape[axis + 1:])
        result = Value("", shape, x.element)
        sizes = ", ".join(extent.name if isinstance(extent, Extent) else str(extent) for extent in shape)
        groups = self._regroup(len(shape), axis, axis + len(extents) - 1)
        result.name = self._line(f"tensor.expand_shape {x.name} {groups} output_shape [{sizes}] : {x.type} into {result.type}")
        return result

    def transpose(self, x, order):
        out = self._empty([x.shape[axis] for axis in order], x.element)
        name = self._line(f"linalg.transpose ins({x.name} : {x.type}) outs({out.name} : {out.type}) "
                          f"permutation = {list(order)}")
        return Value(name, out.shape, out.element)

    def slice(self, x, axis, begin, extent):
        """Elements [begin, begin + extent) of a dimension."""
        shape = (*x.shape[:axis], extent, *x.shape[axis + 1:])
        result = Value("", shape, x.element)
        offsets = ", ".join(str(begin if i == axis else 0) for i in range(len(shape)))
        sizes = ", ".join(e.name if isinstance(e, Extent) else str(e) for e in shape)
        strides = ", ".join("1" for _ in shape)
        result.name = self._line(f"tensor.extract_slice {x.name}[{offsets}] [{sizes}] [{strides}] : "
                                 f"{x.type} to {result.type}")
        return result

    def concat(self, axis, *values):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        result = Value("", shape, values[0].element)
        result.name = self._line(f"tensor.concat dim({axis}) {', '.join(v.name for v in values)} : "
                                 f"({', '.join(v.type for v in values)}) -> {result.type}")
        return result

    def broadcast_batch(self, x, batch):
        """`x` for each of a batch."""
        out = self._empty((batch, *x.shape), x.element)
        name = self._line(f"linalg.broadcast ins({x.name} : {x.type}) outs({out.name} : {out.type}) dimensions = [0]")
        return Value(name, out.shape, out.element)

    def upsample(self, x):
        """Each pixel four times."""
        n, h, w, c = x.shape
        out = self._empty((n, h, 2, w, 2, c), x.element)
        name = self._line(f"linalg.broadcast ins({x.name} : {x.type}) outs({out.name} : {out.type}) dimensions = [2, 4]")
        twice = self.flatten(Value(name, out.shape, out.element), 3, 4)
        return self.flatten(twice, 1, 2)

    def embedding(self, table, tokens):
        """Rows of a table by i64 numbers [n, t]; a number beyond the table is its nearest row."""
        shape = (*tokens.shape, table.shape[1])
        rows = table.shape[0]
        emit = Emit("      ")
        low = emit("arith.maxsi", "%t", emit.constant(0, "i64"), element="i64")
        row = emit("arith.minsi", low, emit.constant(rows - 1, "i64"), element="i64")
        row = emit._line(f"arith.index_cast {row} : i64 to index")
        column = emit._line("linalg.index 2 : index")
        found = emit._line(f"tensor.extract {table.name}[{row}, {column}] : {table.type}")
        out = self._empty(shape, table.element)
        name = self._line("linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) "
                          '-> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} '
                          f"ins({tokens.name} : {tokens.type}) outs({out.name} : {out.type}) {{")
        self.lines += [f"    ^bb0(%t: i64, %out: {out.element}):", *emit.lines,
                       f"      linalg.yield {found} : {out.element}", f"  }} -> {out.type}"]
        return Value(name, shape, table.element)

    # The module

    def module(self, results):
        parameters = []
        for index, argument in enumerate(self.arguments):
            shape = argument.shape
            if self.dynamic and index == 0:
                shape = ("?", *shape[1:])
            mark = " {tracea.constant}" if argument.constant else ""
            parameters.append(f"%{argument.name}: {Value('', shape, argument.element).type}{mark}")
        given = ", ".join(value.name for value in results)
        types = ", ".join(value.type for value in results)
        return "\n".join([f"func.func @main({', '.join(parameters)}) -> ({types}) {{", *self.lines,
                          f"  return {given} : {types}", "}", ""])
