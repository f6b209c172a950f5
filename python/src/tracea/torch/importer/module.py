"""Writes a module of one function: values, sizes that only the run knows, and loops over elements.

A size is an int or a sympy expression of torch's symbols. Symbols are read from the arguments that
have them; what is computed of them is a value of type index.
"""

import sympy
import torch

TYPES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float64: "f64",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "i1",
}
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
_INFINITY = {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}
_MINUS = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}
_NAN = {"f16": "0x7E00", "bf16": "0x7FC0", "f32": "0x7FC00000", "f64": "0x7FF8000000000000"}


class Unsupported(Exception):
    """What a node has that the importer does not know; the text is the reason that is reported."""


def size_of(value):
    """An int, or the expression of a symbolic size."""
    if isinstance(value, int):
        return value
    expression = value.node.expr if isinstance(value, torch.SymInt) else sympy.sympify(value)
    return int(expression) if expression.is_Integer else expression


def same(a, b):
    return a == b or sympy.simplify(a - b) == 0


def is_float(element):
    return element in FLOATS


def accumulator(element):
    return "f64" if element == "f64" else "f32"


def wider(a, b):
    """The type that both convert to."""
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    table = FLOATS if is_float(a) else INTEGERS
    if a != b and table[a] == table[b]:
        return "f32"
    return a if table[a] >= table[b] else b


class Value:
    """A tensor of the function."""

    def __init__(self, name, shape, element, transposed=None, turned=None):
        self.name, self.shape, self.element = name, list(shape), element
        # What a transposition of the last two dimensions was made of; and of any, with its order.
        self.transposed, self.turned = transposed, turned

    @property
    def rank(self):
        return len(self.shape)

    @property
    def type(self):
        sizes = "".join(f"{s if isinstance(s, int) else '?'}x" for s in self.shape)
        return f"tensor<{sizes}{self.element}>"


class Body:
    """Scalar arithmetic, line by line."""

    def __init__(self, prefix="%s"):
        self.lines, self.prefix = [], prefix

    def line(self, text):
        self.lines.append(f"{self.prefix}{len(self.lines)} = {text}")
        return f"{self.prefix}{len(self.lines) - 1}"

    def op(self, name, element, *operands):
        return self.line(f"{name} {', '.join(operands)} : {element}")

    def constant(self, number, element):
        return self.line(f"arith.constant {number_text(number, element)}" + (
            "" if element == "i1" else f" : {element}"))

    def convert(self, value, source, target):
        if source == target:
            return value
        cast = f"{source} to {target}"
        if target == "i1":
            zero = self.constant(0, source)
            name = "arith.cmpf une," if is_float(source) else "arith.cmpi ne,"
            return self.op(name, source, value, zero)
        if is_float(source) and is_float(target):
            if FLOATS[source] == FLOATS[target]:
                return self.convert(self.convert(value, source, "f32"), "f32", target)
            name = "arith.extf" if FLOATS[source] < FLOATS[target] else "arith.truncf"
        elif is_float(source):
            name = "arith.fptosi"
        elif is_float(target):
            name = "arith.uitofp" if source == "i1" else "arith.sitofp"
        elif INTEGERS[source] < INTEGERS[target]:
            name = "arith.extui" if source == "i1" else "arith.extsi"
        else:
            name = "arith.trunci"
        return self.op(name, cast, value)


def number_text(number, element):
    if element == "i1":
        return "true" if number else "false"
    if not is_float(element):
        return str(int(number))
    number = float(number)
    if number != number:
        return _NAN[element]
    if number in (float("inf"), float("-inf")):
        return (_INFINITY if number > 0 else _MINUS)[element]
    return f"{number:.17e}"


class Module:
    def __init__(self):
        self.lines, self.count = [], 0
        self.arguments, self.results = [], []
        self.symbols, self.indices = {}, {}
        # Of a check without arguments: every symbol is taken for known.
        self.knows_all = False

    # ---- lines

    def line(self, text):
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def lines_of(self, results, text):
        """The names of several results."""
        name = self.line(text)
        self.lines[-1] = self.lines[-1].replace(f"{name} =", f"{name}:{results} =", 1)
        return [f"{name}#{i}" for i in range(results)]

    def constant(self, tensor):
        """A tensor with its contents."""
        tensor = tensor.detach().cpu().contiguous()
        value = Value("", tensor.shape, TYPES[tensor.dtype])
        if value.element == "i1":
            content = str(tensor.tolist()).lower()
        elif tensor.numel() == 0:
            content = ""
        else:
            raw = tensor.reshape(-1).view(torch.uint8).numpy().tobytes()
            content = f'"0x{raw.hex().upper()}"'
        value.name = self.line(f"arith.constant dense<{content}> : {value.type}")
        return value

    def argument(self, shape, element, *, constant=False, least=None, name=None):
        """`least`: bounds below sizes, which are checked and can be built upon."""
        called, name = name, f"%arg{len(self.arguments)}"
        value = Value(name, shape, element)
        marks = [f'tracea.name = "{called or name[1:]}"'] + (["tracea.constant"] if constant else [])
        self.arguments.append(f"{name}: {value.type} {{{', '.join(marks)}}}")
        for i, size in enumerate(shape):
            if isinstance(size, sympy.Symbol) and size not in self.symbols:
                at = self.index(i)
                found = self.symbols[size] = self.line(f"tensor.dim {name}, {at} : {value.type}")
                if least and least[i] > 0:
                    enough = self.line(f"arith.cmpi sge, {found}, {self.index(least[i])} : index")
                    text = f"{called or name[1:]}: expected at least {least[i]} in dimension {i}"
                    self.lines.append(f'    cf.assert {enough}, "{text}"')
        return value

    def text(self):
        types = ", ".join(v.type for v in self.results)
        values = f"{', '.join(v.name for v in self.results)} : {types}" if self.results else ""
        return (
            f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{\n"
            + "\n".join(self.lines)
            + f"\n    return {values}\n}}\n"
        )

    # ---- sizes

    def index(self, size):
        """A value of type index."""
        if isinstance(size, sympy.Integer):
            size = int(size)
        if size in self.indices:
            return self.indices[size]
        if isinstance(size, int):
            name = self.line(f"arith.constant {size} : index")
        elif isinstance(size, sympy.Symbol):
            if size not in self.symbols and not self.knows_all:
                raise Unsupported(f"the size {size} is that of no argument")
            name = self.symbols.get(size, "%unknown")
        else:
            name = self._arithmetic(size)
        self.indices[size] = name
        return name

    def _arithmetic(self, size):
        kinds = {"FloorDiv": "arith.floordivsi", "Mod": "arith.remsi", "PythonMod": "arith.remsi"}
        kinds |= {"Max": "arith.maxsi", "Min": "arith.minsi", "CeilToInt": None}
        name = type(size).__name__
        if isinstance(size, sympy.Add):
            name, op = "Add", "arith.addi"
        elif isinstance(size, sympy.Mul):
            name, op = "Mul", "arith.muli"
        elif isinstance(size, sympy.Pow) and size.exp.is_Integer and size.exp > 0:
            op, size = "arith.muli", sympy.Mul(*[size.base] * int(size.exp), evaluate=False)
        else:
            op = kinds.get(name)
        if op is None or any(not a.is_integer and not a.is_Integer for a in size.args):
            raise Unsupported(f"the size {size}")
        result = self.index(size.args[0])
        for part in size.args[1:]:
            result = self.line(f"{op} {result}, {self.index(part)} : index")
        return result

    def sizes(self, shape):
        """As operands of an operation: numbers as such."""
        return [str(s) if isinstance(s, int) else self.index(s) for s in shape]

    def scalar(self, size, element):
        """A size as a number of a floating-point type, for the bodies of loops."""
        at = self.line(f"arith.index_cast {self.index(size)} : index to i64")
        return self.line(f"arith.sitofp {at} : i64 to {element}")

    # ---- tensors

    def empty(self, shape, element):
        value = Value("", shape, element)
        open_ = ", ".join(self.index(s) for s in shape if not isinstance(s, int))
        value.name = self.line(f"tensor.empty({open_}) : {value.type}")
        return value

    def fill(self, shape, element, number):
        into = self.empty(shape, element)
        number = number_text(number, element)
        at = self.line(f"arith.constant {number}" + ("" if element == "i1" else f" : {element}"))
        into.name = self.line(
            f"linalg.fill ins({at} : {element}) outs({into.name} : {into.type}) -> {into.type}"
        )
        return into

    def generic(self, inputs, into, body, reduced=()):
        """A loop over elements. inputs: values and the dimensions of the loop that theirs are, as
        numbers, or as affine expressions of d0, d1, …; body(Body, scalars, old) gives what is
        stored. The result lacks the dimensions `reduced`."""
        rank = into.rank + len(reduced)
        kept = [i for i in range(rank) if i not in reduced]
        maps = [affine_map(rank, dims) for _, dims in inputs] + [affine_map(rank, kept)]
        kinds = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(rank))
        scalars = [f"%e{i}" for i in range(len(inputs))]
        block = [f"{s}: {v.element}" for s, (v, _) in zip(scalars, inputs)]
        scope = Body()
        stored = body(scope, scalars, "%old")
        text = "".join(f"      {line}\n" for line in scope.lines)
        ins = ""
        if inputs:
            names, types = zip(*((v.name, v.type) for v, _ in inputs))
            ins = f"ins({', '.join(names)} : {', '.join(types)}) "
        name = self.line(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
            f"{ins}outs({into.name} : {into.type}) {{\n"
            f"    ^bb0({', '.join([*block, f'%old: {into.element}'])}):\n{text}"
            f"      linalg.yield {stored} : {into.element}\n    }} -> {into.type}"
        )
        return Value(name, into.shape, into.element)

    def broadcast(self, value, shape):
        """The value without dimensions that are repeated, and which of `shape`'s the others are."""
        offset = len(shape) - value.rank
        kept = [
            i
            for i, size in enumerate(value.shape)
            if not (size == 1 and not (isinstance(shape[i + offset], int) and shape[i + offset] == 1))
        ]
        if len(kept) != value.rank:
            value = self.reshape(value, [value.shape[i] for i in kept])
        return value, [i + offset for i in kept]

    def elementwise(self, operands, shape, element, body):
        inputs = [self.broadcast(v, shape) for v in operands]
        return self.generic(inputs, self.empty(shape, element), lambda b, s, _: body(b, s))

    def convert(self, value, element):
        if value.element == element:
            return value
        return self.elementwise(
            [value], value.shape, element, lambda b, s: b.convert(s[0], value.element, element)
        )

    def transpose(self, value, order):
        if list(order) == list(range(value.rank)):
            return value
        into = self.empty([value.shape[i] for i in order], value.element)
        name = self.line(
            f"linalg.transpose ins({value.name} : {value.type}) outs({into.name} : {into.type}) "
            f"permutation = {list(order)}"
        )
        swapped = list(range(value.rank))
        swapped[-2:] = swapped[:-3:-1]
        source = value if value.rank >= 2 and list(order) == swapped else None
        return Value(
            name, into.shape, into.element, transposed=source, turned=(value, list(order))
        )

    def where_it_lies(self, value):
        """For loops over the value's dimensions: what it is a transposition of, and which of them
        the dimensions of that are."""
        source, order = value.turned or (value, list(range(value.rank)))
        return source, [order.index(d) for d in range(value.rank)]

    def reshape(self, value, shape):
        """Groups of dimensions that become groups of others are collapsed, then expanded."""
        shape = list(shape)
        if len(shape) == value.rank and all(same(a, b) for a, b in zip(shape, value.shape)):
            return value
        groups = match_groups(value.shape, shape)
        if groups is None:
            raise Unsupported("a view whose sizes are not products of the tensor's")
        middle = []
        for source, target in groups:
            one_to_one = len(source) == 1
            middle.append(
                value.shape[source[0]] if one_to_one else shape[target[0]] if len(target) == 1
                else product(value.shape[i] for i in source)
            )
        if any(len(source) != 1 for source, _ in groups) or not groups:
            into = Value("", middle, value.element)
            lists = ", ".join(str(source) for source, _ in groups)
            into.name = self.line(
                f"tensor.collapse_shape {value.name} [{lists}] : {value.type} into {into.type}"
            )
            value = into
        if any(len(target) != 1 for _, target in groups) or len(groups) != len(shape):
            into = Value("", shape, value.element)
            lists = ", ".join(str(target) for _, target in groups)
            into.name = self.line(
                f"tensor.expand_shape {value.name} [{lists}] output_shape "
                f"[{', '.join(self.sizes(shape))}] : {value.type} into {into.type}"
            )
            value = into
        return value

    def slice(self, value, offsets, shape, steps=None, drop=None):
        """A part of a tensor, without the dimension `drop`, of which it has one element."""
        steps = steps or [1] * value.rank
        kept = [s for i, s in enumerate(shape) if i != drop]
        into = Value("", kept, value.element)
        into.name = self.line(
            f"tensor.extract_slice {value.name}[{', '.join(self.sizes(offsets))}] "
            f"[{', '.join(self.sizes(shape))}] [{', '.join(self.sizes(steps))}] : "
            f"{value.type} to {into.type}"
        )
        return into

    def insert(self, part, into, offsets, steps=None, drop=None):
        """`into` with `part` in it, which lacks the dimension `drop`, where it has one element."""
        steps = steps or [1] * into.rank
        shape = list(part.shape)
        if drop is not None:
            shape.insert(drop, 1)
        name = self.line(
            f"tensor.insert_slice {part.name} into {into.name}[{', '.join(self.sizes(offsets))}] "
            f"[{', '.join(self.sizes(shape))}] [{', '.join(self.sizes(steps))}] : "
            f"{part.type} into {into.type}"
        )
        return Value(name, into.shape, into.element)


def affine_map(rank, dims):
    names = ", ".join(f"d{i}" for i in range(rank))
    places = ", ".join(d if isinstance(d, str) else f"d{d}" for d in dims)
    return f"affine_map<({names}) -> ({places})>"


def product(sizes):
    result = 1
    for size in sizes:
        result = result * size
    return result


def match_groups(source, target):
    """Pairs of lists of dimensions whose products are equal; None where there are none such. A
    single element has no group."""
    groups, i, j = [], 0, 0
    while i < len(source) and j < len(target):
        left, right, a, b = [i], [j], source[i], target[j]
        while not same(a, b):
            smaller_left = (
                a < b if isinstance(a, int) and isinstance(b, int) else _divides(a, b)
            )
            if smaller_left:
                if left[-1] + 1 >= len(source):
                    return None
                left.append(left[-1] + 1)
                a = a * source[left[-1]]
            else:
                if right[-1] + 1 >= len(target):
                    return None
                right.append(right[-1] + 1)
                b = b * target[right[-1]]
        groups.append((left, right))
        i, j = left[-1] + 1, right[-1] + 1
    # Ones that are left over belong to the last group.
    rest_left, rest_right = list(range(i, len(source))), list(range(j, len(target)))
    if any(source[k] != 1 for k in rest_left) or any(target[k] != 1 for k in rest_right):
        return None
    if groups:
        groups[-1][0].extend(rest_left)
        groups[-1][1].extend(rest_right)
    return groups


def _divides(a, b):
    """Whether the product `a` has to grow to become `b`."""
    if a == 1:
        return True
    if b == 1:
        return False
    ratio = sympy.simplify(sympy.sympify(b) / a)
    return ratio.as_numer_denom()[1] == 1
