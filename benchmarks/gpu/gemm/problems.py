# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The products that are measured, and their modules."""

from dataclasses import dataclass


# Steps of an epilogue that reduce its value along a row or a column.
ROWS, COLUMNS = ("rowsq", "rowmax"), ("colsum",)


@dataclass(frozen=True)
class Problem:
    """One product: result[m, n] = epilogue(sum over k), `batch` times."""

    group: str
    m: int
    n: int
    k: int
    dtype: str = "bf16"
    # Whether operands are stored transposed: lhs as [k, m], rhs as [n, k].
    transposes: str = "nt"
    result: str = ""
    epilogue: str = ""
    batch: int = 0

    @property
    def name(self):
        shape = f"{self.m}x{self.n}x{self.k}"
        if self.batch:
            shape = f"{self.batch}x{shape}"
        return "_".join(filter(None, [self.group, shape, self.dtype, self.transposes, self.epilogue]))

    @property
    def output(self):
        return self.result or {"f8E4M3FN": "bf16", "i8": "i32", "tf32": "f32", "tf32x3": "f32"}.get(self.dtype, self.dtype)

    @property
    def stored(self):
        return "f32" if self.dtype in ("tf32", "tf32x3") else self.dtype

    def shape(self, rows, columns):
        return ([self.batch] if self.batch else []) + [rows, columns]

    @property
    def lhs(self):
        return self.shape(*((self.k, self.m) if self.transposes[0] == "t" else (self.m, self.k)))

    @property
    def rhs(self):
        return self.shape(*((self.n, self.k) if self.transposes[1] == "t" else (self.k, self.n)))

    @property
    def inputs(self):
        """Element type and shape of each argument."""
        found = [(self.stored, self.lhs), (self.stored, self.rhs)]
        if "bias" in self.epilogue:
            found.append((self.output, [self.n]))
        if "rowscale" in self.epilogue:
            found.append(("f32", [self.m]))
        if "residual" in self.epilogue:
            found.append((self.output, [self.m, self.n]))
        return found

    @property
    def outputs(self):
        """Element type and shape of each result."""
        shape = self.shape(self.m, self.n)
        found = [(self.output, shape)]
        for step in self.epilogue.split("+"):
            if step == "aux":
                found.append((self.output, shape))
            elif step in ROWS:
                found.append(("f32", shape[:-1]))
            elif step in COLUMNS:
                found.append(("f32", shape[:-2] + shape[-1:]))
        return found

    @property
    def flops(self):
        return 2 * max(self.batch, 1) * self.m * self.n * self.k

    @property
    def bytes(self):
        sizes = {"f64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "i8": 1}
        total = 0
        for element, shape in self.outputs + self.inputs:
            count = sizes[element]
            for extent in shape:
                count *= extent
            total += count
        return total


def tensor(element, shape):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


def epilogue_of(problem):
    """The extras with their maps, the body from %acc to a value, and what else is stored."""
    extras, body, value, kept = [], [], "%acc", []
    f32 = problem.output == "f32"

    def emit(text):
        nonlocal value
        name = f"%v{len(body)}"
        body.append(f"{name} = {text.replace('$', value)}")
        value = name
        return name

    def constant(number):
        name = f"%c{len(body)}"
        body.append(f"{name} = arith.constant {number} : f32")
        return name

    def widen(name):
        if f32:
            return name
        wide = f"{name}_f32"
        body.append(f"{wide} = arith.extf {name} : {problem.output} to f32")
        return wide

    for step in problem.epilogue.split("+") if problem.epilogue else []:
        if step == "bias":
            extras.append(("%bias", "(i, j) -> (j)", tensor(problem.output, [problem.n]), "%bias_0", problem.output))
            emit(f"arith.addf $, {widen('%bias_0')} : f32")
        elif step == "rowscale":
            extras.append(("%scale", "(i, j) -> (i)", tensor("f32", [problem.m]), "%scale_0", "f32"))
            emit("arith.mulf $, %scale_0 : f32")
        elif step == "residual":
            extras.append(("%residual", "(i, j) -> (i, j)", tensor(problem.output, [problem.m, problem.n]), "%residual_0", problem.output))
            emit(f"arith.addf $, {widen('%residual_0')} : f32")
        elif step == "relu":
            emit(f"arith.maximumf $, {constant('0.0')} : f32")
        elif step == "silu":
            x, one = value, constant("1.0")
            emit("arith.negf $ : f32")
            emit("math.exp $ : f32")
            emit(f"arith.addf $, {one} : f32")
            emit(f"arith.divf {x}, $ : f32")
        elif step == "gelu":
            x, one, half, root = value, constant("1.0"), constant("0.5"), constant("0.70710678118654757")
            emit(f"arith.mulf $, {root} : f32")
            emit("math.erf $ : f32")
            emit(f"arith.addf $, {one} : f32")
            emit(f"arith.mulf $, {half} : f32")
            emit(f"arith.mulf $, {x} : f32")
        elif step == "aux":
            name = value
            if not f32:
                name = f"%k{len(body)}"
                body.append(f"{name} = arith.truncf {value} : f32 to {problem.output}")
            kept.append(("", "(i, j) -> (i, j)", problem.output, name))
        elif step == "rowsq":
            name = f"%k{len(body)}"
            body.append(f"{name} = arith.mulf {value}, {value} : f32")
            kept.append(("add ", "(i, j) -> (i)", "f32", name))
        elif step == "rowmax":
            kept.append(("max ", "(i, j) -> (i)", "f32", value))
        elif step == "colsum":
            kept.append(("add ", "(i, j) -> (j)", "f32", value))
        else:
            raise ValueError(f"no epilogue '{step}'")
    return extras, body, value, kept


def module(problem, schedule=""):
    """The module of a problem, as text; `schedule` is what it is told to do."""
    lhs, rhs = tensor(problem.stored, problem.lhs), tensor(problem.stored, problem.rhs)
    outs = [tensor(*output) for output in problem.outputs]
    out = outs[0]
    extras, body, value, kept = epilogue_of(problem)
    arguments = [f"%a: {lhs}", f"%b: {rhs}"] + [f"{name}: {type_}" for name, _, type_, _, _ in extras]
    flags = ("transpose_lhs " if problem.transposes[0] == "t" else "") + ("transpose_rhs " if problem.transposes[1] == "t" else "")
    region = ""
    if extras or body:
        if problem.output != "f32":
            body.append(f"%result = arith.truncf {value} : f32 to {problem.output}")
            value = "%result"
        names = ", ".join(f"{name} by affine_map<{map_}>" for name, map_, _, _, _ in extras)
        types = ", ".join(type_ for _, _, type_, _, _ in extras)
        scalars = "".join(f", {scalar}: {element}" for _, _, _, scalar, element in extras)
        lines = "\n".join(f"      {line}" for line in body)
        head = f" epilogue({names} : {types})" if extras else " epilogue"
        region = f"{head} {{\n    ^bb0(%acc: f32{scalars}):\n{lines}\n      tracea.yield "
        region += ", ".join([value] + [name for _, _, _, name in kept])
        region += " : " + ", ".join([problem.output] + [element for _, _, element, _ in kept]) + "\n    }"
    tf32 = f" attributes {{tracea.allow_{problem.dtype}}}" if problem.dtype in ("tf32", "tf32x3") else ""
    empties = "\n".join(f"  %d{i} = tensor.empty() : {type_}" for i, type_ in enumerate(outs))
    aux = ""
    if kept:
        names = ", ".join(f"{kind}%d{i + 1} by affine_map<{map_}>" for i, (kind, map_, _, _) in enumerate(kept))
        aux = f" aux({names} : {', '.join(outs[1:])})"
    count = f":{len(outs)}" if kept else ""
    results = ", ".join(f"%0#{i}" for i in range(len(outs))) if kept else "%0"
    types = ", ".join(outs)
    return f"""func.func @main({', '.join(arguments)}) -> ({types}){tf32} {{
{empties}
  %0{count} = tracea.gemm {flags}ins(%a, %b : {lhs}, {rhs}) outs(%d0 : {out}){aux}{schedule and " schedule " + schedule}{region}
  return {results} : {types}
}}
"""


def problems():
    found = []
    square = [(s, s, s) for s in (1024, 1536, 2048, 3072, 4096, 8192)]
    plain = square + [(16384, 4096, 1024), (4096, 11008, 4096), (5120, 13824, 5120), (8192, 8192, 512)]
    for dtype in ("bf16", "f16"):
        for transposes in ("nt", "nn", "tn", "tt"):
            found += [Problem("plain", *shape, dtype, transposes) for shape in plain]
    for size in (4096, 8192):
        found += [Problem("skinny", m, size, size) for m in (1, 4, 16, 64, 128, 256)]
    for shape in ((512, 512, 16384), (256, 256, 65536), (1024, 1024, 8192)):
        found.append(Problem("split", *shape))
    for shape in ((4095, 4095, 4095), (4097, 4095, 4099), (1000, 1000, 1000), (2047, 3001, 1023)):
        found.append(Problem("odd", *shape))
    found.append(Problem("types", 4096, 4096, 4096, "tf32"))
    found += [Problem("types", size, size, size, "f8E4M3FN") for size in (4096, 8192)]
    found.append(Problem("types", 4096, 4096, 4096, "i8"))
    # Single precision that is not rounded, or split into parts.
    for transposes in ("nt", "nn", "tn", "tt"):
        found.append(Problem("single", 4096, 4096, 4096, "f32", transposes))
    for shape in ((1024, 1024, 1024), (1000, 1001, 1003), (64, 4096, 4096)):
        found.append(Problem("single", *shape, "f32"))
    for transposes in ("nt", "nn"):
        found.append(Problem("single", 4096, 4096, 4096, "tf32x3", transposes))
    for shape in ((1024, 1024, 1024), (1000, 1001, 1003)):
        found.append(Problem("single", *shape, "tf32x3"))
    found.append(Problem("single", 2048, 2048, 2048, "f64"))
    for shape in ((4096, 4096, 4096), (16384, 4096, 1024)):
        for epilogue in ("", "bias+silu", "bias+relu+residual", "bias+gelu"):
            found.append(Problem("epilogue", *shape, epilogue=epilogue))
        # The error function is another where results are f16.
        found.append(Problem("epilogue", *shape, "f16", epilogue="bias+gelu"))
        found.append(Problem("epilogue", *shape, epilogue="rowscale", result="f8E4M3FN"))
    for shape in ((4096, 4096, 4096), (16384, 4096, 1024)):
        for epilogue in ("bias+aux+gelu", "bias+rowsq", "bias+colsum"):
            found.append(Problem("results", *shape, epilogue=epilogue))
    # Sizes that no tile divides.
    for shape in ((1000, 1000, 1000), (129, 257, 65), (1, 300, 64), (300, 1, 64)):
        found.append(Problem("results", *shape, epilogue="bias+aux+gelu+rowsq+rowmax+colsum"))
    found.append(Problem("batched", 1024, 1024, 128, batch=64))
    return found
