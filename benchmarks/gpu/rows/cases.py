# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows, elementwise chains, movement and reductions that are measured.

A case has its module as text, types and shapes of inputs and results, and one
function of PyTorch's tensors that means the same: what a peer runs, and in
float64 what results are compared with.
"""

from dataclasses import dataclass


@dataclass
class Case:
    name: str
    inputs: list
    outputs: list
    module: str
    # The name of a function in run.py, and what it is given beside the inputs.
    meaning: str
    options: dict
    # Whether all proofs are demanded.
    proved: bool = True

    @property
    def bytes(self):
        """What has to be read and written, each once."""
        total = 0
        for element, shape in self.inputs + self.outputs:
            size = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "i8": 1, "f8E4M3FN": 1}.get(element, 2)
            for extent in shape:
                size *= extent
            total += size
        return total


def tensor(element, shape):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


def function(inputs, outputs, body, results):
    """A module of one function; `%i` of the inputs, `%e` of the results' memory."""
    types = [tensor(*output) for output in outputs]
    given = ", ".join(f"%{i}: {tensor(*spec)}" for i, spec in enumerate(inputs))
    empties = "".join(f"  %e{i} = tensor.empty() : {kind}\n" for i, kind in enumerate(types))
    return (f"func.func @main({given}) -> ({', '.join(types)}) {{\n{empties}{body}"
            f"  return {', '.join(results)} : {', '.join(types)}\n}}\n")


def generic(maps, iterators, ins, outs, arguments, body):
    """A linalg.generic; ins and outs are pairs of a value and its type."""
    def listed(pairs):
        return ", ".join(v for v, _ in pairs) + " : " + ", ".join(t for _, t in pairs)
    dims = ", ".join(f"d{i}" for i in range(len(iterators)))
    text = ", ".join(f"affine_map<({dims}) -> ({m})>" for m in maps)
    kinds = ", ".join(f'"{i}"' for i in iterators)
    taken = f"ins({listed(ins)}) " if ins else ""
    results = ", ".join(t for _, t in outs)
    return (f"linalg.generic {{indexing_maps = [{text}], iterator_types = [{kinds}]}} {taken}outs({listed(outs)}) {{\n"
            f"  ^bb0({arguments}):\n{body}  }} -> {results if len(outs) == 1 else f'({results})'}\n")


def softmax(rows, columns, element="bf16"):
    spec = (element, (rows, columns))
    kind = tensor(*spec)
    body = f"  %y = tracea.softmax dim 1 ins(%0 : {kind}) outs(%e0 : {kind})\n"
    return Case(f"softmax_{rows}x{columns}_{element}", [spec], [spec], function([spec], [spec], body, ["%y"]), "softmax", {})


def log_softmax(rows, columns, element="bf16"):
    """log(softmax(x)), the logarithm in f32."""
    spec = (element, (rows, columns))
    kind = tensor(*spec)
    inside = "    %l = math.log %a : f32\n"
    inside += "" if element == "f32" else f"    %t = arith.truncf %l : f32 to {element}\n"
    body = (f"  %y = tracea.softmax dim 1 ins(%0 : {kind}) outs(%e0 : {kind}) epilogue {{\n  ^bb0(%a: f32):\n{inside}"
            f"    tracea.yield %{'l' if element == 'f32' else 't'} : {element}\n  }}\n")
    return Case(f"log_softmax_{rows}x{columns}_{element}", [spec], [spec], function([spec], [spec], body, ["%y"]),
                "log_softmax", {})


def norm(kind, rows, columns, element="bf16"):
    spec, weights = (element, (rows, columns)), (element, (columns,))
    row, one = tensor(*spec), tensor(*weights)
    inputs = [spec, weights] + ([weights] if kind == "layer" else [])
    body = f"  %y = tracea.{kind}_norm axis 1 epsilon 1.0e-5 ins(%0 : {row}) scale(%1 : {one}) "
    body += f"bias(%2 : {one}) " if kind == "layer" else ""
    body += f"outs(%e0 : {row})\n"
    return Case(f"{kind}_norm_{rows}x{columns}_{element}", inputs, [spec], function(inputs, [spec], body, ["%y"]),
                f"{kind}_norm", {})


def image_norm(images, shape):
    """Layer norm over all of an image."""
    spec, weights = ("bf16", (images, *shape)), ("bf16", shape)
    inputs, kind, one = [spec, weights, weights], tensor(*spec), tensor(*weights)
    body = (f"  %y = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%0 : {kind}) scale(%1 : {one}) bias(%2 : {one}) "
            f"outs(%e0 : {kind})\n")
    return Case(f"image_norm_{images}x{'x'.join(map(str, shape))}", inputs, [spec], function(inputs, [spec], body, ["%y"]),
                "image_norm", {})


def residual(rows, columns, quantised=False):
    """x + y is a result of its own; its rms norm another, in bf16 or times a given scale in e4m3."""
    spec, weights = ("bf16", (rows, columns)), ("bf16", (columns,))
    row, one, wide = tensor(*spec), tensor(*weights), tensor("f32", (rows, columns))
    last = ("f8E4M3FN", (rows, columns)) if quantised else spec
    body = "  %h = " + generic(["d0, d1"] * 3, ["parallel"] * 2, [("%0", row), ("%1", row)], [("%e0", row)],
                               "%a: bf16, %b: bf16, %o: bf16", "    %s = arith.addf %a, %b : bf16\n    linalg.yield %s : bf16\n")
    inputs, outputs = [spec, spec, weights], [spec, last]
    norm_of = "  %{} = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%h : " + row + ") scale(%2 : " + one + ") outs(%{} : {})\n"
    if not quantised:
        body += norm_of.format("y", "e1", row)
        return Case(f"residual_rms_{rows}x{columns}", inputs, outputs, function(inputs, outputs, body, ["%h", "%y"]),
                    "residual_rms", {})
    inputs.append(("f32", (1,)))
    inside = ("    %p = arith.mulf %a, %b : f32\n    %m = arith.constant 448.0 : f32\n    %l = arith.constant -448.0 : f32\n"
              "    %q = arith.minimumf %p, %m : f32\n    %r = arith.maximumf %q, %l : f32\n"
              "    %s = arith.truncf %r : f32 to f8E4M3FN\n    linalg.yield %s : f8E4M3FN\n")
    body += f"  %w = tensor.empty() : {wide}\n" + norm_of.format("n", "w", wide)
    body += "  %y = " + generic(["d0, d1", "0", "d0, d1"], ["parallel"] * 2, [("%n", wide), ("%3", "tensor<1xf32>")],
                               [("%e1", tensor(*last))], "%a: f32, %b: f32, %o: f8E4M3FN", inside)
    return Case(f"residual_rms_e4m3_{rows}x{columns}", inputs, outputs, function(inputs, outputs, body, ["%h", "%y"]),
                "residual_quantised", {})


def own_scale(rows, columns, kind="e4m3"):
    """The rms norm of x + y, each row by a scale of its own: the greatest element becomes 448 (e4m3) or 127 (i8).

    Results are the sum, the quantised norm and the scales, as front ends write it: absolute values, their maxima along
    rows that stay a dimension of one, the scales, then all elements once more.
    """
    spec, weights = ("bf16", (rows, columns)), ("bf16", (columns,))
    last = ("f8E4M3FN" if kind == "e4m3" else "i8", (rows, columns))
    scales = ("f32", (rows, 1))
    inputs, outputs = [spec, spec, weights], [spec, last, scales]
    row, one, wide, column = tensor(*spec), tensor(*weights), tensor("f32", (rows, columns)), tensor(*scales)
    both, own = ["d0, d1"] * 2, ["d0, d1", "d0, 0"]
    body = "  %h = " + generic(["d0, d1"] * 3, ["parallel"] * 2, [("%0", row), ("%1", row)], [("%e0", row)],
                               "%a: bf16, %b: bf16, %o: bf16", "    %s = arith.addf %a, %b : bf16\n    linalg.yield %s : bf16\n")
    most = {"e4m3": 448.0, "i8": 127.0}[kind]
    body += (f"  %least = arith.constant 1.0e-12 : f32\n  %most = arith.constant {most} : f32\n  %low = arith.constant {-most} : f32\n"
             f"  %start = arith.constant 0xFF800000 : f32\n  %w = tensor.empty() : {wide}\n"
             f"  %n = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%h : {row}) scale(%2 : {one}) outs(%w : {wide})\n"
             f"  %f = linalg.fill ins(%start : f32) outs(%e2 : {column}) -> {column}\n")
    body += "  %z = " + generic(both, ["parallel"] * 2, [("%n", wide)], [("%w", wide)], "%a: f32, %o: f32",
                               "    %s = math.absf %a : f32\n    linalg.yield %s : f32\n")
    body += "  %m = " + generic(own, ["parallel", "reduction"], [("%z", wide)], [("%f", column)], "%a: f32, %o: f32",
                               "    %s = arith.maximumf %a, %o : f32\n    linalg.yield %s : f32\n")
    body += "  %k = " + generic(both, ["parallel"] * 2, [("%m", column)], [("%e2", column)], "%a: f32, %o: f32",
                               "    %s = arith.maximumf %a, %least : f32\n    %t = arith.divf %s, %most : f32\n    linalg.yield %t : f32\n")
    quantise = {"e4m3": "    %x = arith.truncf %r : f32 to f8E4M3FN\n    linalg.yield %x : f8E4M3FN\n",
                "i8": "    %v = math.roundeven %r : f32\n    %x = arith.fptosi %v : f32 to i8\n    linalg.yield %x : i8\n"}[kind]
    body += "  %y = " + generic([*own, "d0, d1"], ["parallel"] * 2, [("%n", wide), ("%k", column)], [("%e1", tensor(*last))],
                               f"%a: f32, %b: f32, %o: {last[0]}",
                               "    %p = arith.divf %a, %b : f32\n    %q = arith.minimumf %p, %most : f32\n"
                               "    %r = arith.maximumf %q, %low : f32\n" + quantise)
    return Case(f"residual_rms_own_{kind}_{rows}x{columns}", inputs, outputs,
                function(inputs, outputs, body, ["%h", "%y", "%k"]), "own_scale", {"most": most})


def chain(elements):
    """silu(a * b + c) * a: five operations of three inputs."""
    spec = ("bf16", (elements,))
    kind = tensor(*spec)
    inside = ("    %w = arith.extf %a : bf16 to f32\n    %x = arith.extf %b : bf16 to f32\n    %z = arith.extf %c : bf16 to f32\n"
              "    %1 = arith.mulf %w, %x : f32\n    %2 = arith.addf %1, %z : f32\n    %3 = arith.negf %2 : f32\n"
              "    %4 = math.exp %3 : f32\n    %one = arith.constant 1.0 : f32\n    %5 = arith.addf %4, %one : f32\n"
              "    %6 = arith.divf %2, %5 : f32\n    %7 = arith.mulf %6, %w : f32\n    %8 = arith.truncf %7 : f32 to bf16\n"
              "    linalg.yield %8 : bf16\n")
    body = "  %y = " + generic(["d0"] * 4, ["parallel"], [(f"%{i}", kind) for i in range(3)], [("%e0", kind)],
                               "%a: bf16, %b: bf16, %c: bf16, %o: bf16", inside.replace("%1 ", "%t1 ").replace("%1,", "%t1,")
                               .replace("%2 ", "%t2 ").replace("%2,", "%t2,"))
    return Case(f"chain_{elements}", [spec] * 3, [spec], function([spec] * 3, [spec], body, ["%y"]), "chain", {})


def broadcast(rows, columns):
    """x + row + column."""
    specs = [("bf16", (rows, columns)), ("bf16", (columns,)), ("bf16", (rows,))]
    out = [specs[0]]
    kinds = [tensor(*spec) for spec in specs]
    inside = ("    %s = arith.addf %a, %b : bf16\n    %t = arith.addf %s, %c : bf16\n    linalg.yield %t : bf16\n")
    body = "  %y = " + generic(["d0, d1", "d1", "d0", "d0, d1"], ["parallel"] * 2,
                               [(f"%{i}", kind) for i, kind in enumerate(kinds)], [("%e0", kinds[0])],
                               "%a: bf16, %b: bf16, %c: bf16, %o: bf16", inside)
    return Case(f"broadcast_{rows}x{columns}", specs, out, function(specs, out, body, ["%y"]), "broadcast", {})


def transpose(shape, order, element, name):
    spec = (element, shape)
    out = (element, tuple(shape[i] for i in order))
    # Dimensions are those of the result.
    place = {source: position for position, source in enumerate(order)}
    read = ", ".join(f"d{place[i]}" for i in range(len(shape)))
    write = ", ".join(f"d{i}" for i in range(len(shape)))
    body = "  %y = " + generic([read, write], ["parallel"] * len(shape), [("%0", tensor(*spec))], [("%e0", tensor(*out))],
                               f"%a: {element}, %o: {element}", f"    linalg.yield %a : {element}\n")
    return Case(f"transpose_{name}_{element}", [spec], [out], function([spec], [out], body, ["%y"]), "permute",
                {"order": order})


def concat(rows, columns):
    spec, out = ("bf16", (rows, columns)), ("bf16", (rows, 2 * columns))
    kind = tensor(*spec)
    body = f"  %y = tensor.concat dim(1) %0, %1 : ({kind}, {kind}) -> {tensor(*out)}\n"
    return Case(f"concat_{rows}x{columns}", [spec, spec], [out], function([spec, spec], [out], body, ["%y"]), "concat", {})


def sums(shape, dims, name):
    """Sums of bf16 in f32 over `dims`."""
    spec = ("bf16", shape)
    kept = [i for i in range(len(shape)) if i not in dims]
    out = ("f32", tuple(shape[i] for i in kept))
    iterators = ["reduction" if i in dims else "parallel" for i in range(len(shape))]
    read = ", ".join(f"d{i}" for i in range(len(shape)))
    write = ", ".join(f"d{i}" for i in kept)
    body = (f"  %zero = arith.constant 0.0 : f32\n  %z = linalg.fill ins(%zero : f32) outs(%e0 : {tensor(*out)}) -> {tensor(*out)}\n"
            "  %y = " + generic([read, write], iterators, [("%0", tensor(*spec))], [("%z", tensor(*out))],
                                "%a: bf16, %o: f32", "    %w = arith.extf %a : bf16 to f32\n    %s = arith.addf %o, %w : f32\n"
                                "    linalg.yield %s : f32\n"))
    return Case(f"sum_{name}", [spec], [out], function([spec], [out], body, ["%y"]), "total", {"dims": dims})


def embedding(words, width, rows):
    table, index, out = ("bf16", (words, width)), ("i32", (rows,)), ("bf16", (rows, width))
    inside = ("    %i = linalg.index 1 : index\n    %r = arith.index_cast %a : i32 to index\n"
              f"    %v = tensor.extract %0[%r, %i] : {tensor(*table)}\n    linalg.yield %v : bf16\n")
    body = "  %y = " + generic(["d0", "d0, d1"], ["parallel"] * 2, [("%1", tensor(*index))], [("%e0", tensor(*out))],
                               "%a: i32, %o: bf16", inside)
    return Case(f"embedding_{words}x{width}_{rows}", [table, index], [out], function([table, index], [out], body, ["%y"]),
                "embedding", {})


def pool(shape, channels_last):
    """Maxima of windows of 3x3 in steps of 2, with a border."""
    n, c, h, w = shape
    given = (n, h, w, c) if channels_last else shape
    out = (n, h // 2, w // 2, c) if channels_last else (n, c, h // 2, w // 2)
    padded = (n, h + 2, w + 2, c) if channels_last else (n, c, h + 2, w + 2)
    border = "0, 1, 1, 0" if channels_last else "0, 0, 1, 1"
    kind, wide, small = tensor("bf16", given), tensor("bf16", padded), tensor("bf16", out)
    order = "nhwc" if channels_last else "nchw"
    body = ("  %low = arith.constant 0xFF80 : bf16\n"
            f"  %p = tensor.pad %0 low[{border}] high[{border}] {{\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n"
            f"    tensor.yield %low : bf16\n  }} : {kind} to {wide}\n"
            "  %window = tensor.empty() : tensor<3x3xbf16>\n"
            f"  %f = linalg.fill ins(%low : bf16) outs(%e0 : {small}) -> {small}\n"
            f"  %y = linalg.pooling_{order}_max {{strides = dense<2> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}} "
            f"ins(%p, %window : {wide}, tensor<3x3xbf16>) outs(%f : {small}) -> {small}\n")
    return Case(f"max_pool_{order}_{'x'.join(map(str, shape))}", [("bf16", given)], [("bf16", out)],
                function([("bf16", given)], [("bf16", out)], body, ["%y"]), "max_pool", {"channels_last": channels_last})


def bilinear(shape, channels_last):
    """Twice as many rows and columns: of the nearest two each, 3/4 and 1/4; at the border one alone."""
    n, c, h, w = shape
    given = (n, h, w, c) if channels_last else shape
    out = (n, 2 * h, 2 * w, c) if channels_last else (n, c, 2 * h, 2 * w)
    kind = tensor("bf16", given)
    down, along = (1, 2) if channels_last else (2, 3)
    lines = [f"%d{i} = linalg.index {i} : index" for i in range(4)]
    for name, dim, extent in (("r", f"%d{down}", h), ("s", f"%d{along}", w)):
        # Twice the place in the operand is (2 i - 1) / 2: the near number is i / 2, the far one beside it.
        lines += [f"%{name}near = arith.divui {dim}, %two : index", f"%{name}odd = arith.remui {dim}, %two : index",
                  f"%{name}twice = arith.muli %{name}odd, %two : index", f"%{name}step = arith.subi %{name}twice, %one : index",
                  f"%{name}beside = arith.addi %{name}near, %{name}step : index",
                  f"%{name}least = arith.maxsi %{name}beside, %zero : index",
                  f"%{name}last = arith.constant {extent - 1} : index",
                  f"%{name}far = arith.minsi %{name}least, %{name}last : index"]
    for a in ("near", "far"):
        for b in ("near", "far"):
            at = ["%d0", f"%r{a}", f"%s{b}", "%d3"] if channels_last else ["%d0", "%d1", f"%r{a}", f"%s{b}"]
            lines += [f"%x{a}{b} = tensor.extract %0[{', '.join(at)}] : {kind}",
                      f"%w{a}{b} = arith.extf %x{a}{b} : bf16 to f32"]
    for a in ("near", "far"):
        lines += [f"%m{a}0 = arith.mulf %w{a}near, %most : f32", f"%m{a}1 = arith.mulf %w{a}far, %least : f32",
                  f"%m{a} = arith.addf %m{a}0, %m{a}1 : f32"]
    lines += ["%n0 = arith.mulf %mnear, %most : f32", "%n1 = arith.mulf %mfar, %least : f32", "%n = arith.addf %n0, %n1 : f32",
              "%t = arith.truncf %n : f32 to bf16", "linalg.yield %t : bf16"]
    constants = "".join(f"  %{name} = arith.constant {value}\n" for name, value in
                        (("zero", "0 : index"), ("one", "1 : index"), ("two", "2 : index"), ("most", "0.75 : f32"),
                         ("least", "0.25 : f32")))
    body = constants + "  %y = " + generic(["d0, d1, d2, d3"], ["parallel"] * 4, [], [("%e0", tensor("bf16", out))], "%o: bf16",
                                           "".join(f"    {line}\n" for line in lines))
    order = "nhwc" if channels_last else "nchw"
    return Case(f"bilinear_{order}_{'x'.join(map(str, shape))}", [("bf16", given)], [("bf16", out)],
                function([("bf16", given)], [("bf16", out)], body, ["%y"]), "bilinear", {"channels_last": channels_last})


def pad(shape, channels_last):
    """A border of zeros."""
    n, c, h, w = shape
    given = (n, h, w, c) if channels_last else shape
    out = (n, h + 2, w + 2, c) if channels_last else (n, c, h + 2, w + 2)
    border = "0, 1, 1, 0" if channels_last else "0, 0, 1, 1"
    body = ("  %zero = arith.constant 0.0 : bf16\n"
            f"  %y = tensor.pad %0 low[{border}] high[{border}] {{\n  ^bb0(%a: index, %b: index, %c: index, %d: index):\n"
            f"    tensor.yield %zero : bf16\n  }} : {tensor('bf16', given)} to {tensor('bf16', out)}\n")
    order = "nhwc" if channels_last else "nchw"
    return Case(f"pad_{order}_{'x'.join(map(str, shape))}", [("bf16", given)], [("bf16", out)],
                function([("bf16", given)], [("bf16", out)], body, ["%y"]), "pad", {"channels_last": channels_last})


def heads(tokens, count, width):
    """The keys of a joined product, by heads, along tokens."""
    spec, out = ("bf16", (tokens, 3 * count * width)), ("bf16", (count, width, tokens))
    part, split = tensor("bf16", (tokens, count * width)), tensor("bf16", (tokens, count, width))
    body = (f"  %s = tensor.extract_slice %0[0, {count * width}] [{tokens}, {count * width}] [1, 1] : {tensor(*spec)} to {part}\n"
            f"  %h = tensor.expand_shape %s [[0], [1, 2]] output_shape [{tokens}, {count}, {width}] : {part} into {split}\n"
            f"  %y = linalg.transpose ins(%h : {split}) outs(%e0 : {tensor(*out)}) permutation = [1, 2, 0]\n")
    return Case(f"heads_{tokens}x{count}x{width}", [spec], [out], function([spec], [out], body, ["%y"]), "heads",
                {"count": count, "width": width})


def argmax(rows, columns, element="f32"):
    """The greatest elements of rows, and the first of their numbers."""
    spec, values, numbers = (element, (rows, columns)), (element, (rows,)), ("i64", (rows,))
    kinds = [tensor(*values), tensor(*numbers)]
    low = {"f32": "0xFF800000", "bf16": "0xFF80"}[element]
    inside = (f"    %j = linalg.index 1 : index\n    %k = arith.index_cast %j : index to i64\n    %c = arith.cmpf ogt, %a, %m : {element}\n"
              f"    %u = arith.select %c, %a, %m : {element}\n    %w = arith.select %c, %k, %n : i64\n    linalg.yield %u, %w : {element}, i64\n")
    body = (f"  %low = arith.constant {low} : {element}\n  %zero = arith.constant 0 : i64\n"
            f"  %f = linalg.fill ins(%low : {element}) outs(%e0 : {kinds[0]}) -> {kinds[0]}\n"
            f"  %g = linalg.fill ins(%zero : i64) outs(%e1 : {kinds[1]}) -> {kinds[1]}\n"
            "  %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], "
            'iterator_types = ["parallel", "reduction"]} '
            f"ins(%0 : {tensor(*spec)}) outs(%f, %g : {', '.join(kinds)}) {{\n  ^bb0(%a: {element}, %m: {element}, %n: i64):\n{inside}"
            f"  }} -> ({', '.join(kinds)})\n")
    return Case(f"argmax_{rows}x{columns}" + ("" if element == "f32" else f"_{element}"), [spec], [values, numbers],
                function([spec], [values, numbers], body, ["%y#0", "%y#1"]), "argmax", {})


def loops(constants):
    return "".join(f"  %c{value} = arith.constant {value} : index\n" for value in sorted({0, 1, *constants}))


def cumsum(shape, dim, element="f32"):
    """Sums so far along a dimension, as loops over tensors."""
    spec = (element, shape)
    kind = tensor(*spec)
    rest = [i for i in range(len(shape)) if i != dim]
    body = loops(shape) + "  %zero = arith.constant 0.0 : f32\n"
    held, at = "%e0", ", ".join(f"%i{i}" for i in range(len(shape)))
    for i in rest:
        body += f"  %l{i} = scf.for %i{i} = %c0 to %c{shape[i]} step %c1 iter_args(%t{i} = {held}) -> ({kind}) {{\n"
        held = f"%t{i}"
    widen = "" if element == "f32" else f"    %w = arith.extf %x : {element} to f32\n"
    narrow = "" if element == "f32" else f"    %r = arith.truncf %a : f32 to {element}\n"
    body += (f"  %l{dim}:2 = scf.for %i{dim} = %c0 to %c{shape[dim]} step %c1 iter_args(%t{dim} = {held}, %s = %zero) -> ({kind}, f32) {{\n"
             f"    %x = tensor.extract %0[{at}] : {kind}\n{widen}    %a = arith.addf %s, {'%w' if widen else '%x'} : f32\n{narrow}"
             f"    %n = tensor.insert {'%r' if narrow else '%a'} into %t{dim}[{at}] : {kind}\n"
             f"    scf.yield %n, %a : {kind}, f32\n  }}\n")
    last = f"%l{dim}#0"
    for i in reversed(rest):
        body += f"    scf.yield {last} : {kind}\n  }}\n"
        last = f"%l{i}"
    name = "x".join(map(str, shape))
    return Case(f"cumsum{dim}_{name}_{element}", [spec], [spec], function([spec], [spec], body, [last]), "cumsum", {"dim": dim})


def topk(rows, columns, count):
    """The greatest elements of rows in their order, and their numbers: each round finds one and takes it out."""
    spec, values, numbers = ("f32", (rows, columns)), ("f32", (rows, count)), ("i64", (rows, count))
    kind, some, places = tensor(*spec), tensor(*values), tensor(*numbers)
    one, place = tensor("f32", (rows,)), tensor("i64", (rows,))
    compared = ("      %j = linalg.index 1 : index\n      %jj = arith.index_cast %j : index to i64\n")
    body = loops((count,)) + "  %low = arith.constant 0xFF800000 : f32\n  %zero = arith.constant 0 : i64\n"
    body += f"  %ev = tensor.empty() : {one}\n  %en = tensor.empty() : {place}\n"
    body += (f"  %r:3 = scf.for %k = %c0 to %c{count} step %c1 iter_args(%a = %0, %vv = %e0, %nn = %e1) -> ({kind}, {some}, {places}) {{\n"
             f"    %fv = linalg.fill ins(%low : f32) outs(%ev : {one}) -> {one}\n"
             f"    %fn = linalg.fill ins(%zero : i64) outs(%en : {place}) -> {place}\n")
    body += "    %y:2 = " + generic(["d0, d1", "d0", "d0"], ["parallel", "reduction"], [("%a", kind)], [("%fv", one), ("%fn", place)],
                                   "%e: f32, %m: f32, %q: i64", compared + "      %c = arith.cmpf ogt, %e, %m : f32\n"
                                   "      %u = arith.select %c, %e, %m : f32\n      %w = arith.select %c, %jj, %q : i64\n"
                                   "      linalg.yield %u, %w : f32, i64\n")
    body += "    %b = " + generic(["d0", "d0, d1"], ["parallel"] * 2, [("%y#1", place)], [("%a", kind)], "%q: i64, %old: f32",
                                 compared + "      %s = arith.cmpi eq, %jj, %q : i64\n      %t = arith.select %s, %low, %old : f32\n"
                                 "      linalg.yield %t : f32\n")
    body += (f"    %v2 = tensor.insert_slice %y#0 into %vv[0, %k] [{rows}, 1] [1, 1] : {one} into {some}\n"
             f"    %n2 = tensor.insert_slice %y#1 into %nn[0, %k] [{rows}, 1] [1, 1] : {place} into {places}\n"
             f"    scf.yield %b, %v2, %n2 : {kind}, {some}, {places}\n  }}\n")
    return Case(f"topk{count}_{rows}x{columns}", [spec], [values, numbers],
                function([spec], [values, numbers], body, ["%r#1", "%r#2"]), "topk", {"count": count})


def scatter(words, width, rows):
    """Rows are added to those of a table that data names, in their order."""
    table, index, given = ("f32", (words, width)), ("i32", (rows,)), ("f32", (rows, width))
    kind = tensor(*table)
    body = loops((rows, width)) + (
        f"  %l = scf.for %i = %c0 to %c{rows} step %c1 iter_args(%t = %0) -> ({kind}) {{\n"
        f"    %k = tensor.extract %1[%i] : {tensor(*index)}\n    %r = arith.index_cast %k : i32 to index\n"
        f"    %m = scf.for %j = %c0 to %c{width} step %c1 iter_args(%u = %t) -> ({kind}) {{\n"
        f"      %a = tensor.extract %2[%i, %j] : {tensor(*given)}\n      %b = tensor.extract %u[%r, %j] : {kind}\n"
        f"      %s = arith.addf %b, %a : f32\n      %n = tensor.insert %s into %u[%r, %j] : {kind}\n"
        f"      scf.yield %n : {kind}\n    }}\n    scf.yield %m : {kind}\n  }}\n")
    return Case(f"scatter_{words}x{width}_{rows}", [table, index, given], [table],
                function([table, index, given], [table], body, ["%l"]), "scatter", {}, proved=False)


def philox(count):
    """Numbers from 0 to 1 of counters, by Philox4x32 of ten rounds: four results."""
    key, out = ("i32", (2,)), ("f32", (count,))
    lines = ["%i = linalg.index 0 : index", "%c0 = arith.index_cast %i : index to i32"]
    counter, keys = ["%c0", "%none", "%none", "%none"], ["%k0", "%k1"]
    for r in range(10):
        lines += [f"%lo{r}a, %hi{r}a = arith.mului_extended {counter[0]}, %m0 : i32",
                  f"%lo{r}b, %hi{r}b = arith.mului_extended {counter[2]}, %m1 : i32",
                  f"%x{r} = arith.xori %hi{r}b, {counter[1]} : i32", f"%n{r}a = arith.xori %x{r}, {keys[0]} : i32",
                  f"%y{r} = arith.xori %hi{r}a, {counter[3]} : i32", f"%n{r}b = arith.xori %y{r}, {keys[1]} : i32",
                  f"%k{r}a = arith.addi {keys[0]}, %w0 : i32", f"%k{r}b = arith.addi {keys[1]}, %w1 : i32"]
        counter, keys = [f"%n{r}a", f"%lo{r}b", f"%n{r}b", f"%lo{r}a"], [f"%k{r}a", f"%k{r}b"]
    for i, word in enumerate(counter):
        # The upper 24 bits are exact in single precision.
        lines += [f"%b{i} = arith.shrui {word}, %eight : i32", f"%f{i} = arith.uitofp %b{i} : i32 to f32",
                  f"%u{i} = arith.mulf %f{i}, %step : f32"]
    lines.append("linalg.yield %u0, %u1, %u2, %u3 : f32, f32, f32, f32")
    body = "".join(f"  %{name} = arith.constant {value}\n" for name, value in (
        ("m0", "0xD2511F53 : i32"), ("m1", "0xCD9E8D57 : i32"), ("w0", "0x9E3779B9 : i32"), ("w1", "0xBB67AE85 : i32"),
        ("none", "0 : i32"), ("eight", "8 : i32"), ("step", "5.9604644775390625e-08 : f32"), ("at0", "0 : index"), ("at1", "1 : index")))
    body += "".join(f"  %k{i} = tensor.extract %0[%at{i}] : {tensor(*key)}\n" for i in range(2))
    body += "  %y:4 = " + generic(["d0"] * 4, ["parallel"], [], [(f"%e{i}", tensor(*out)) for i in range(4)],
                                 ", ".join(f"%o{i}: f32" for i in range(4)), "".join(f"    {line}\n" for line in lines))
    return Case(f"philox_{4 * count}", [key], [out] * 4, function([key], [out] * 4, body, [f"%y#{i}" for i in range(4)]),
                "philox", {"count": count})


def cases():
    found = []
    for rows, columns in ((16384, 4096), (8192, 8192), (100000, 128), (64, 262144), (100, 100000), (16384, 4095), (4096, 1000)):
        found += [softmax(rows, columns), norm("rms", rows, columns), norm("layer", rows, columns)]
    found += [image_norm(8192, (64, 8, 16))]
    found += [log_softmax(16384, 4096), log_softmax(8192, 8192), log_softmax(16384, 4096, "f32")]
    found += [softmax(16384, 4096, "f32"), norm("rms", 16384, 4096, "f32")]
    found += [residual(16384, 4096), residual(8192, 8192), residual(100000, 128)]
    found += [residual(16384, 4096, True), residual(8192, 8192, True), residual(100000, 128, True)]
    found += [own_scale(16384, 4096), own_scale(8192, 8192), own_scale(100000, 128), own_scale(16384, 4096, "i8"),
              own_scale(16384, 4095)]
    found += [chain(1 << 26), broadcast(8192, 8192), concat(8192, 4096)]
    found += [transpose((8192, 8192), (1, 0), "bf16", "8192"), transpose((8192, 8192), (1, 0), "f32", "8192"),
              transpose((32, 64, 56, 56), (0, 2, 3, 1), "bf16", "nchw"),
              transpose((32, 56, 56, 64), (0, 3, 1, 2), "bf16", "nhwc")]
    found += [sums((1 << 28,), (0,), "all"), sums((65536, 1024), (0,), "columns"), sums((16384, 4096), (1,), "rows"),
              sums((4, 4096, 32, 10), (1, 3), "groups")]
    found += [embedding(50257, 4096, 8192)]
    found += [argmax(16384, 4096), argmax(16384, 4096, "bf16"), argmax(1000, 1000), heads(16384, 16, 128)]
    found += [cumsum((16384, 4096), 1), cumsum((4096, 4096), 0), cumsum((16384, 4096), 1, "bf16"), cumsum((1 << 24,), 0)]
    found += [topk(4096, 32000, 4), scatter(50257, 1024, 8192), philox(1 << 24)]
    for channels_last in (True, False):
        found += [pool((32, 64, 112, 112), channels_last), bilinear((32, 64, 56, 56), channels_last),
                  pad((32, 64, 112, 112), channels_last)]
    return found
