#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes kernels in the IR that a lowering to Hopper leaves behind.

    target_kernels.py gemm slots=4 consumers=2 [fault="proxy fence missing"]

The kernels synchronise as real ones do and compute next to nothing. `fault`
breaks one place of a correct kernel.
"""

import contextlib
import dataclasses
import sys

SHARED = "!llvm.ptr<3>"
CLUSTER = "!llvm.ptr<7>"
TICKS = 10000000
SWIZZLE_128 = 1 << 62 | 64 << 32 | 1 << 16  # K-major, groups of 1024 bytes


class Writer:
    """One kernel: constants first, then the body."""

    def __init__(self, fault):
        self.fault = fault
        self.asked = set()
        self.lines = []
        self.constants = {}
        self.indent = 2
        self.count = 0

    def broken(self, fault):
        self.asked.add(fault)
        return self.fault == fault

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def value(self, text):
        self.count += 1
        self.emit(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def constant(self, number, type="i32"):
        name = f"%c{number}_{type}".replace("-", "m")
        self.constants[name] = f"{name} = arith.constant {number} : {type}"
        return name

    def of(self, operand, type="i32"):
        return self.constant(operand, type) if isinstance(operand, int) else operand

    def arith(self, name, a, b, type="i32"):
        return self.value(f"arith.{name} {self.of(a, type)}, {self.of(b, type)} : {type}")

    def add(self, a, b):
        if a == 0 or b == 0:
            return a if b == 0 else b
        return self.arith("addi", a, b)

    def times(self, a, b):
        return self.arith("muli", a, b)

    def compare(self, predicate, a, b):
        return self.value(f"arith.cmpi {predicate}, {self.of(a)}, {self.of(b)} : i32")

    @contextlib.contextmanager
    def region(self, head, tail="}"):
        self.emit(head + " {")
        self.indent += 1
        yield
        self.indent -= 1
        self.emit(tail)

    def when(self, condition):
        return self.region(f"scf.if {condition}")

    def loop(self, lower, upper, step, carried, body, types=None):
        """scf.for; `body` takes and returns the carried values."""
        self.count += 1
        name = f"v{self.count}"
        types = types or ["i32"] * len(carried)
        arguments = [f"%{name}_{i}" for i in range(len(carried))]
        head = (f"scf.for %{name}_k = {self.of(lower)} to {self.of(upper)} "
                f"step {self.of(step)}")
        if carried:
            pairs = ", ".join(f"{a} = {self.of(c, t)}" for a, c, t in
                              zip(arguments, carried, types))
            head = (f"%{name}:{len(carried)} = {head} iter_args({pairs}) -> "
                    f"({', '.join(types)})")
        with self.region(head + " : i32"):
            results = body(f"%{name}_k", arguments)
            if carried:
                self.emit(f"scf.yield {', '.join(results)} : {', '.join(types)}")
        return [f"%{name}#{i}" for i in range(len(carried))]

    # Shared memory.
    def pointer(self, offset):
        return self.value(f"llvm.getelementptr %shared[{self.of(offset)}] : "
                          f"({SHARED}, i32) -> {SHARED}, i8")

    def barrier(self, base, slot):
        return self.pointer(self.add(self.times(slot, 8), base))

    def init(self, address, count):
        self.emit(f"nvvm.mbarrier.init {self.pointer(address)}, "
                  f"{self.constant(count)} : {SHARED}, i32")

    def wait(self, barrier, parity):
        self.emit(f"nvvm.mbarrier.try_wait.parity {barrier}, {self.of(parity)}, "
                  f"{self.constant(TICKS)} : {SHARED}, i32, i32")

    def arrive(self, barrier):
        self.value(f"nvvm.mbarrier.arrive {barrier} : {SHARED} -> i64")

    def expect(self, barrier, bytes):
        self.emit(f"nvvm.mbarrier.arrive.expect_tx {barrier}, "
                  f"{self.constant(bytes)} : {SHARED}, i32")

    def copy(self, tensor, address, barrier, coordinates):
        to = self.value(f"llvm.addrspacecast {self.pointer(address)} : "
                        f"{SHARED} to {CLUSTER}")
        where = ", ".join(self.of(c) for c in coordinates)
        self.emit(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {to}, "
                  f"%{tensor}, {barrier}, box [{where}] : {CLUSTER}, !llvm.ptr")

    def named(self, number, threads, arrive=False):
        self.emit(f"nvvm.barrier{'.arrive' if arrive else ''} id = "
                  f"{self.of(number)} number_of_threads = {self.of(threads)}")

    def advance(self, slot, parity, slots, form="select", flips=True):
        """The next item of a ring, as compilers may write it."""
        if slots == 1 and form == "select":
            return self.constant(0), self.arith("xori", parity, 1)
        next = self.add(slot, 1)
        if form == "mask":
            wrap = self.arith("shrui", next, (slots - 1).bit_length())
            after = self.arith("andi", next, slots - 1)
        elif form == "rem":
            after = self.arith("remui", next, slots)
            wrap = self.arith("divui", next, slots)
        elif form == "branch":
            full = self.compare("uge", next, slots)
            self.count += 1
            name = f"%v{self.count}"
            with self.region(f"{name}:2 = scf.if {full} -> (i32, i32)", "} else {"):
                flipped = self.arith("subi", 1, parity)
                self.emit(f"scf.yield {self.constant(0)}, {flipped} : i32, i32")
            self.indent += 1
            self.emit(f"scf.yield {next}, {parity} : i32, i32")
            self.indent -= 1
            self.emit("}")
            return f"{name}#0", f"{name}#1"
        else:
            full = self.compare("eq", next, slots)
            after = self.value(f"arith.select {full}, {self.constant(0)}, {next} : i32")
            wrap = self.value(f"arith.extui {full} : i1 to i32")
        if not flips:
            return after, parity
        return after, self.arith("xori", parity, wrap)

    # Matrix unit.
    def descriptor(self, offset):
        address = self.add("%window", offset)
        shifted = self.arith("shrui", address, 4)
        wide = self.value(f"arith.extui {shifted} : i32 to i64")
        return self.arith("ori", wide, SWIZZLE_128, "i64")

    def step_descriptor(self, descriptor, slot, units):
        wide = self.value(f"arith.extui {self.times(slot, units)} : i32 to i64")
        return self.arith("addi", descriptor, wide, "i64")

    def multiply(self, a, b, sum, columns, first=False):
        type = struct(columns)
        scale = "zero" if first else "one"
        return self.value(
            f"nvvm.wgmma.mma_async {a}, {b}, {sum}, #nvvm.shape<m = 64, n = {columns}, "
            f"k = 16>, D [<f32>, <{scale}>], A [<bf16>, <one>, <row>], "
            f"B [<bf16>, <one>, <col>] : {type} -> {type}")

    def use(self, sum, columns):
        """Something that reads the sum; returns two registers."""
        fields = [self.value(f"llvm.extractvalue {sum}[{i}] : {struct(columns)}")
                  for i in range(4)]
        packed = []
        for low, high in (fields[:2], fields[2:]):
            pair = self.value(f"nvvm.convert.f32x2.to.bf16x2 {high}, {low} "
                              "{rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>")
            packed.append(self.value(f"llvm.bitcast {pair} : vector<2xbf16> to i32"))
        return packed

    def store_matrix(self, address, registers):
        types = ", ".join(["i32"] * len(registers))
        self.emit(f"nvvm.stmatrix {address}, {', '.join(registers)} "
                  "{layout = #nvvm.mma_layout<row>, shape = "
                  "#nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
                  f"#nvvm.ld_st_matrix_elt_type<b16>}} : {SHARED}, {types}")

    def proxy_fence(self):
        self.emit("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
                  "space = #nvvm.shared_space<cta>}")

    def store_tensor(self, tensor, address, coordinates):
        where = ", ".join(self.of(c) for c in coordinates)
        self.emit(f"nvvm.cp.async.bulk.tensor.global.shared.cta %{tensor}, "
                  f"{self.pointer(address)}, box [{where}] : !llvm.ptr, {SHARED}")
        self.emit("nvvm.cp.async.bulk.commit.group")

    def wait_stores(self, pending=0):
        self.emit(f"nvvm.cp.async.bulk.wait_group {pending} {{read}}")

    def wait_multiplies(self, pending):
        self.emit(f"nvvm.wgmma.wait.group.sync.aligned {pending}")

    # Frame.
    def prologue(self):
        self.emit(f"%shared = llvm.mlir.addressof @shared : {SHARED}")
        self.emit("%tid = nvvm.read.ptx.sreg.tid.x : i32")
        self.emit("%block = nvvm.read.ptx.sreg.ctaid.x : i32")
        self.emit("%blocks = nvvm.read.ptx.sreg.nctaid.x : i32")
        own = self.arith("shrui", "%tid", 5)
        self.emit(f"%warp = nvvm.shfl.sync idx {self.constant(-1)}, {own}, "
                  f"{self.constant(0)}, {self.constant(31)} : i32 -> i32")
        self.emit(f"%group = arith.shrui %warp, {self.constant(2)} : i32")
        self.emit(f"%lane = arith.andi %tid, {self.constant(127)} : i32")
        base = self.value(f"llvm.ptrtoint %shared : {SHARED} to i32")
        self.emit(f"%window = arith.andi {base}, {self.constant(0x3FFFF)} : i32")

    def print(self, name, tensors, scalars, threads):
        if self.fault and self.fault not in self.asked:
            sys.exit(f"no fault '{self.fault}'; there are: {sorted(self.asked)}")
        # Memory and its extent are not used: all copies go through tensor maps.
        arguments = [f"%{tensor}_memory: !llvm.ptr<1>" for tensor in tensors]
        arguments += [f"%{scalar}: i32" for scalar in scalars]
        arguments += [f"%{tensor}: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, "
                      f"nvvm.grid_constant}}" for tensor in tensors]
        types = [f"memref<{bytes}xi8>" for bytes in tensors.values()]
        types += ["i32" for _ in scalars]
        maps = [f"<argument = {number}, element = i8, dims = [0], box = [{bytes}]>"
                for number, bytes in enumerate(tensors.values())]
        print("llvm.mlir.global external @shared() {addr_space = 3 : i32, "
              "alignment = 1024 : i64} : !llvm.array<0 x i8>")
        print(f"llvm.func @{name}({', '.join(arguments)}) attributes {{nvvm.kernel, "
              f"nvvm.reqntid = array<i32: {threads}>, nvvm.minctasm = 1 : i32, "
              f"tracea_pipe.interface = #tracea_pipe.interface<({', '.join(types)}), "
              f"threads = {threads}, maps = [{', '.join(maps)}]>}} {{")
        for line in self.constants.values():
            print("  " + line)
        for line in self.lines:
            print(line[2:])
        print("  llvm.return")
        print("}")


def struct(columns):
    return f"!llvm.struct<({', '.join(['f32'] * (columns // 2))})>"


@dataclasses.dataclass
class Gemm:
    slots: int = 4
    consumers: int = 2
    columns: int = 16
    skew: bool = True
    stages: int = 1  # of the result; 2 alternate
    role: bool = False  # a warp of its own stores
    form: str = "select"
    fault: str = ""


def gemm(p):
    """A persistent product: one producer warp, consumers that store themselves
    or hand their tile to a warp that does."""
    w = Writer(p.fault)
    rows = 64 * p.consumers
    a_bytes, b_bytes = rows * 128, p.columns * 128
    c_bytes = 64 * p.columns * 2
    b_base = p.slots * a_bytes
    c_base = b_base + p.slots * b_bytes
    if w.broken("buffers overlap"):
        b_base -= 1024
    stages = 1 if p.role else p.stages
    full = c_base + p.consumers * stages * c_bytes
    if w.broken("barriers overlap a buffer"):
        full -= 64
    empty = full + 8 * p.slots
    done, free = empty + 8 * p.slots, empty + 8 * p.slots + 8
    threads = 128 * (1 + p.consumers)
    w.prologue()
    w.emit(f"%some = arith.cmpi ugt, %steps, {w.constant(0)} : i32")
    w.emit("llvm.intr.assume %some : i1")

    # Setup.
    def initialise():
        for slot in range(p.slots):
            last = slot == p.slots - 1
            if not (last and w.broken("one barrier not initialised")):
                w.init(full + 8 * slot, 1 + w.broken("full count + 1"))
            count = p.consumers + w.broken("empty count + 1") - w.broken("empty count - 1")
            w.init(empty + 8 * slot, count + (last and w.broken("one slot counts more")))
        if p.role:
            w.init(done, p.consumers)
            w.init(free, 1)
        if w.broken("initialised twice at once"):
            w.init(full, 1)
        if not w.broken("init fence missing"):
            w.emit("nvvm.fence.mbarrier.init")
        if w.broken("initialised twice"):
            w.init(full, 1)
    if w.broken("all threads initialise"):
        initialise()
    else:
        with w.when(w.compare("eq", "%tid", 0)):
            initialise()
    if not w.broken("block barrier missing"):
        w.emit("nvvm.barrier")

    # Producer.
    def produce():
        limit = "%steps"
        if w.broken("producer: one step too many"):
            limit = w.add("%steps", 1)
        if w.broken("producer: one step too few"):
            limit = w.arith("subi", "%steps", 1)
        modulus = p.slots + w.broken("producer modulus + 1")
        start = 1 if w.broken("producer parity") else 0

        def fill(k, state):
            slot, parity = state
            f, e = w.barrier(full, slot), w.barrier(empty, slot)
            if not w.broken("empty not waited for"):
                w.wait(e, w.arith("xori", parity, 1))
            expected = a_bytes + b_bytes
            expected += 16 * (w.broken("expects more") - w.broken("expects less"))
            if w.broken("expect missing"):
                w.arrive(f)
            else:
                w.expect(f, expected)
            k64 = w.times(k, 64)
            a_step = a_bytes + 1024 * w.broken("slots too far apart")
            a_slot = w.constant(0) if w.broken("copies into the first slot") else slot
            w.copy("a", w.times(a_slot, a_step), f, [k64, 0])
            if not w.broken("copy missing"):
                at = w.add(w.times(slot, b_bytes), b_base)
                if w.broken("copies at the other ring's barrier"):
                    f = e
                w.copy("b", at, f, [k64, 0])
            return w.advance(slot, parity, modulus, p.form,
                             not w.broken("producer never flips"))

        def tile(t, state):
            return w.loop(0, limit, 1, state, fill)
        if w.broken("producer: one tile only"):
            tile(None, [w.constant(0), w.constant(start)])
        else:
            w.loop("%block", "%tiles", "%blocks", [0, start], tile)

    def store():
        """The warp that stores finished tiles."""
        def tile(t, state):
            w.wait(w.pointer(done), state[0])
            for i in range(p.consumers):
                w.store_tensor("c", c_base + i * c_bytes, [0, 64 * i])
            if not w.broken("role: store not waited for"):
                w.wait_stores()
            w.arrive(w.pointer(free))
            return [w.arith("xori", state[0], 1)]
        w.loop("%block", "%tiles", "%blocks", [0], tile)

    bound = 1 if not w.broken("role branches overlap") else 2
    with w.region(f"scf.if {w.compare('ult', '%group', bound)}", "} else {"):
        w.emit("nvvm.setmaxregister decrease 40")
        with w.when(w.compare("eq", "%warp", 0)):
            with w.when(w.value("nvvm.elect.sync -> i1")):
                produce()
        if p.role:
            with w.when(w.compare("eq", "%warp", 1)):
                with w.when(w.value("nvvm.elect.sync -> i1")):
                    store()
    w.indent += 1

    # Consumers.
    registers = {1: 216, 2: 232, 3: 152}.get(p.consumers, 112)
    if w.broken("registers over the pool"):
        registers += 16
    w.emit(f"nvvm.setmaxregister increase {registers}")
    me = w.arith("subi", "%group", 1)
    one = w.compare("eq", "%lane", 0)
    a0 = w.descriptor(w.times(me, 64 * 128))
    b0 = w.descriptor(0 if w.broken("reads the other operand's slots") else b_base)
    # Rows of the staged tile, sixteen a warp.
    row = w.add(w.times(w.arith("andi", "%warp", 3), 16), w.arith("andi", "%lane", 15))
    own = w.add(w.times(me, stages * c_bytes), c_base)
    if w.broken("staged into the other consumer's tile"):
        own = w.constant(c_base)
    place = w.add(w.times(row, 2 * p.columns), own)
    number = w.constant(1) if w.broken("wrong barrier number") else w.add(me, 1)
    group = 128 + 128 * w.broken("wrong thread count")
    modulus = p.slots - w.broken("consumer modulus - 1")
    type = struct(p.columns)

    def release(slot):
        if w.broken("release missing"):
            return
        if w.broken("all threads release"):
            w.arrive(w.barrier(empty, slot))
            return
        with w.when(one):
            w.arrive(w.barrier(empty, slot))

    def use(slot, parity, sum, first):
        if w.broken("one lane waits"):
            with w.when(one):
                w.wait(w.barrier(full, slot), parity)
        elif not w.broken("full not waited for"):
            w.wait(w.barrier(full, slot), parity)
        reads = w.broken("sum read between multiplies")
        if not w.broken("multiplies not fenced") and (first or not reads):
            w.emit("nvvm.wgmma.fence.aligned")
        a = w.step_descriptor(a0, slot, a_bytes // 16)
        b = w.step_descriptor(b0, slot, b_bytes // 16)
        for k in range(2):
            sum = w.multiply(w.arith("addi", a, 2 * k, "i64") if k else a,
                             w.arith("addi", b, 2 * k, "i64") if k else b,
                             sum, p.columns, first and k == 0)
        w.emit("nvvm.wgmma.commit.group.sync.aligned")
        return sum

    def tile(t, state):
        slot, parity, stage = state
        sum = w.value(f"llvm.mlir.undef : {type}")
        pending = 1 if p.skew else 0
        flips = not w.broken("consumer never flips")
        late = w.broken("release before the multiply is done")

        def step(k, state):
            slot, parity, before, sum = state
            sum = use(slot, parity, sum, False)
            if w.broken("sum used in the loop"):
                w.use(sum, p.columns)
            if late:
                release(before if p.skew else slot)
            if not w.broken("multiplies not waited for"):
                w.wait_multiplies(pending + w.broken("one more multiply pending"))
            if not late:
                release(before if p.skew else slot)
            if w.broken("sum read between multiplies"):
                w.wait_multiplies(0)
                w.use(sum, p.columns)
            after = w.advance(slot, parity, modulus, p.form, flips)
            return [*after, slot, sum]

        # The first step is peeled, there is at least one.
        sum = use(slot, parity, sum, True)
        if not p.skew:
            w.wait_multiplies(0)
            release(slot)
        next = w.advance(slot, parity, modulus, p.form, flips)
        slot, parity, before, sum = w.loop(
            1, "%steps", 1, [*next, slot, sum], step, ["i32", "i32", "i32", type])
        offset = w.times(stage, c_bytes)
        if p.role:
            w.wait(w.pointer(free), w.arith("xori", stage, 1))
        elif not w.broken("staging reused at once"):
            with w.when(one):
                w.wait_stores(stages - 1)
            w.named(number, group)
        if not w.broken("last multiply in flight"):
            w.wait_multiplies(0)
        if p.skew and not w.broken("last release missing"):
            release(before)
        registers = w.use(sum, p.columns)
        at = place if stages == 1 else w.add(place, offset)
        w.store_matrix(w.pointer(at), registers)
        if not w.broken("proxy fence missing"):
            w.proxy_fence()
        if p.role:
            w.named(number, 128)
            with w.when(one):
                w.arrive(w.pointer(done))
            return [slot, parity, w.arith("xori", stage, 1)]
        if not w.broken("store barrier missing"):
            w.named(number, group)
        with w.when(one):
            w.store_tensor("c", own if stages == 1 else w.add(own, offset), [0, 0])
        stage = w.arith("xori", stage, 1) if stages == 2 else stage
        return [slot, parity, stage]

    start = 1 if w.broken("consumer parity") else 0
    w.loop("%block", "%tiles", "%blocks", [0, start, 0], tile)
    if not p.role and not w.broken("stores not waited for at the end"):
        with w.when(one):
            w.wait_stores()
    w.indent -= 1
    w.emit("}")
    w.print("gemm", {"a": a_bytes, "b": b_bytes, "c": c_bytes}, ["tiles", "steps"], threads)


@dataclasses.dataclass
class Attention:
    slots: int = 2
    turns: bool = True
    fault: str = ""


def attention(p):
    """Rings of Q, K and V; two consumers that take turns; Q is read into
    registers, so that a lane of each warp gives it back."""
    w = Writer(p.fault)
    tile_bytes = 8192
    q_base, k_base = 0, 2 * tile_bytes
    v_base = k_base + p.slots * tile_bytes
    bars = v_base + p.slots * tile_bytes
    q_full, q_empty = bars, bars + 8
    k_full, k_empty = bars + 16, bars + 16 + 8 * p.slots
    v_full, v_empty = k_empty + 8 * p.slots, k_empty + 16 * p.slots
    columns = 16
    w.prologue()
    w.emit(f"%some = arith.cmpi sge, %steps, {w.constant(1)} : i32")
    w.emit("llvm.intr.assume %some : i1")
    with w.when(w.compare("eq", "%tid", 0)):
        w.init(q_full, 1)
        w.init(q_empty, 8 - 6 * w.broken("one arrival a consumer"))
        for slot in range(p.slots):
            for full, empty in ((k_full, k_empty), (v_full, v_empty)):
                w.init(full + 8 * slot, 1)
                w.init(empty + 8 * slot, 2)
        w.emit("nvvm.fence.mbarrier.init")
    w.emit("nvvm.barrier")

    def fill(tensor, base, full, empty, slot, parity):
        f = w.barrier(full, slot)
        w.wait(w.barrier(empty, slot), w.arith("xori", parity, 1))
        w.expect(f, tile_bytes)
        w.copy(tensor, w.add(w.times(slot, tile_bytes), base), f, [0, 0])

    def produce():
        def key(slot, parity):
            fill("k", k_base, k_full, k_empty, slot, parity)

        def value(slot, parity):
            fill("v", v_base, v_full, v_empty, slot, parity)

        def tile(t, state):
            slot, parity, turn = state
            if w.broken("V before K"):
                value(slot, parity)
            else:
                key(slot, parity)
            if not w.broken("Q empty not waited for"):
                w.wait(w.pointer(q_empty), w.arith("xori", turn, 1))
            f = w.pointer(q_full)
            w.expect(f, 2 * tile_bytes)
            for i in range(2):
                w.copy("q", q_base + i * tile_bytes, f, [0, 64 * i])

            def step(i, state):
                slot, parity, old, old_parity = state
                (value if w.broken("V before K") else key)(slot, parity)
                (key if w.broken("V before K") else value)(old, old_parity)
                return [*w.advance(slot, parity, p.slots), slot, parity]
            next = w.advance(slot, parity, p.slots)
            state = w.loop(1, "%steps", 1, [*next, slot, parity], step)
            if not w.broken("last V missing"):
                (key if w.broken("V before K") else value)(*state[2:])
            return [state[0], state[1], w.arith("xori", turn, 1)]
        w.loop("%block", "%tiles", "%blocks", [0, 0, 0], tile)

    with w.region(f"scf.if {w.compare('eq', '%group', 0)}", "} else {"):
        w.emit("nvvm.setmaxregister decrease 24")
        with w.when(w.compare("eq", "%warp", 0)):
            with w.when(w.value("nvvm.elect.sync -> i1")):
                produce()
    w.indent += 1
    w.emit("nvvm.setmaxregister increase 240")
    me = w.arith("subi", "%group", 1)
    one = w.compare("eq", "%lane", 0)
    type = struct(columns)
    k0, v0 = w.descriptor(k_base), w.descriptor(v_base)
    a0 = w.descriptor(w.times(me, tile_bytes))
    row = w.add(w.times(w.arith("andi", "%warp", 3), 16), w.arith("andi", "%lane", 15))
    q_row = w.pointer(w.add(w.times(row, 128), w.times(me, tile_bytes)))
    mine = w.add(me, 8)
    other = w.arith("xori", mine, 1)
    if w.broken("turn to itself"):
        other = mine

    def begin():
        if p.turns:
            w.named(10 if w.broken("turn at another barrier") else mine, 256)

    def end(arrives=True):
        if p.turns and arrives:
            w.named(other, 256 + 128 * w.broken("turn of too many threads"), arrive=True)
    with w.when(w.compare("eq", me, 1)):
        end(not w.broken("no first turn"))

    def release(base, slot):
        with w.when(one):
            w.arrive(w.barrier(base, slot))

    def scores(slot):
        if not w.broken("scores not fenced"):
            w.emit("nvvm.wgmma.fence.aligned")
        sum = w.value(f"llvm.mlir.undef : {type}")
        sum = w.multiply(a0, w.step_descriptor(k0, slot, tile_bytes // 16), sum,
                         columns, True)
        w.emit("nvvm.wgmma.commit.group.sync.aligned")
        return sum

    def values(slot, parity, sum):
        w.wait(w.barrier(v_full, slot), parity)
        w.emit("nvvm.wgmma.fence.aligned")
        sum = w.multiply(a0, w.step_descriptor(v0, slot, tile_bytes // 16), sum, columns)
        w.emit("nvvm.wgmma.commit.group.sync.aligned")
        return sum

    def tile(t, state):
        slot, parity, turn = state
        w.wait(w.pointer(q_full), turn)
        quad = "!llvm.struct<(i32, i32, i32, i32)>"
        w.value(f"nvvm.ldmatrix {q_row} {{layout = #nvvm.mma_layout<row>, num = 4 : i32, "
                "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = "
                f"#nvvm.ld_st_matrix_elt_type<b16>}} : ({SHARED}) -> {quad}")
        w.wait(w.barrier(k_full, slot), parity)
        begin()
        s = scores(slot)
        end(not w.broken("turn not handed on"))
        w.wait_multiplies(0)
        w.use(s, columns)
        release(k_empty, slot)
        zero = w.constant("0.0", "f32")
        o = w.value(f"llvm.mlir.undef : {type}")
        for i in range(columns // 2):
            o = w.value(f"llvm.insertvalue {zero}, {o}[{i}] : {type}")
        next = w.advance(slot, parity, p.slots)

        def step(i, state):
            slot, parity, old, old_parity, o = state
            w.wait(w.barrier(k_full, slot), parity)
            begin()
            s = scores(slot)
            o = values(old, old_parity, o)
            end()
            w.wait_multiplies(1 + w.broken("scores not waited for"))
            release(k_empty, slot)
            w.use(o if w.broken("result used in flight") else s, columns)
            w.wait_multiplies(0)
            release(v_empty, old)
            return [*w.advance(slot, parity, p.slots), slot, parity, o]
        state = w.loop(1, "%steps", 1, [*next, slot, parity, o], step,
                       ["i32"] * 4 + [type])
        o = values(state[2], state[3], state[4])
        w.wait_multiplies(0)
        release(v_empty, state[2])
        w.use(o, columns)
        # Each warp has read Q; one lane of each says so.
        if not w.broken("warps do not meet"):
            w.emit(f"nvvm.bar.warp.sync {w.constant(-1)} : i32")
        lane = w.arith("andi", "%tid", 31)
        first = one if w.broken("one arrival a consumer") else w.compare("eq", lane, 0)
        with w.when(first):
            w.arrive(w.pointer(q_empty))
        return [state[0], state[1], w.arith("xori", turn, 1)]
    w.loop("%block", "%tiles", "%blocks", [0, 0, 0], tile)
    if p.turns and not w.broken("last turn left"):
        with w.when(w.compare("eq", me, 0)):
            w.named(mine, 256)
    w.indent -= 1
    w.emit("}")
    w.print("attention", {"q": tile_bytes, "k": tile_bytes, "v": tile_bytes},
            ["tiles", "steps"], 384)


@dataclasses.dataclass
class Conv:
    filters: int = 4
    patches: int = 2
    taps: int = 9
    fault: str = ""


def conv(p):
    """Two producer warps, one for filters and one for patches; a patch serves
    all taps."""
    w = Writer(p.fault)
    columns = 16
    filter_bytes, patch_bytes = 8192, 4096
    patch_base = p.filters * filter_bytes
    bars = patch_base + p.patches * patch_bytes
    f_full, f_empty = bars, bars + 8 * p.filters
    p_full, p_empty = f_empty + 8 * p.filters, f_empty + 8 * p.filters + 8 * p.patches
    w.prologue()
    with w.when(w.compare("eq", "%tid", 0)):
        for full, empty, slots in ((f_full, f_empty, p.filters), (p_full, p_empty, p.patches)):
            for slot in range(slots):
                w.init(full + 8 * slot, 1)
                w.init(empty + 8 * slot, 1)
        w.emit("nvvm.fence.mbarrier.init")
    w.named(15, 256)

    def produce(tensor, base, bytes, full, empty, slots, times):
        def fill(k, state):
            slot, parity = state
            f = w.barrier(full, slot)
            w.wait(w.barrier(empty, slot), w.arith("xori", parity, 1))
            w.expect(f, bytes)
            w.copy(tensor, w.add(w.times(slot, bytes), base), f, [0, 0])
            return w.advance(slot, parity, slots)

        def chunk(c, state):
            return w.loop(0, times, 1, state, fill) if times > 1 else fill(c, state)
        w.loop("%block", "%tiles", "%blocks", [0, 0],
               lambda t, state: w.loop(0, "%chunks", 1, state, chunk))

    with w.region(f"scf.if {w.compare('eq', '%group', 0)}", "} else {"):
        taps = p.taps - w.broken("one tap too few")
        patch_warp = 0 if w.broken("both producers in one warp") else 1
        with w.when(w.compare("eq", "%warp", 0)):
            with w.when(w.value("nvvm.elect.sync -> i1")):
                produce("f", 0, filter_bytes, f_full, f_empty, p.filters, taps)
        with w.when(w.compare("eq", "%warp", patch_warp)):
            with w.when(w.value("nvvm.elect.sync -> i1")):
                produce("p", patch_base, patch_bytes, p_full, p_empty, p.patches, 1)
    w.indent += 1
    one = w.compare("eq", "%lane", 0)
    type = struct(columns)
    f0, p0 = w.descriptor(0), w.descriptor(patch_base)

    def release(base, slot):
        with w.when(one):
            w.arrive(w.barrier(base, slot))

    def chunk(c, state):
        slot, parity, patch, patch_parity = state
        sum = w.value(f"llvm.mlir.undef : {type}")
        w.wait(w.barrier(p_full, patch), patch_parity)
        before = None
        for tap in range(p.taps):
            w.wait(w.barrier(f_full, slot), parity)
            w.emit("nvvm.wgmma.fence.aligned")
            # The patch is read from another row for each tap.
            b = w.step_descriptor(p0, patch, patch_bytes // 16)
            b = w.arith("addi", b, 8 * tap, "i64") if tap else b
            sum = w.multiply(w.step_descriptor(f0, slot, filter_bytes // 16), b, sum, columns)
            w.emit("nvvm.wgmma.commit.group.sync.aligned")
            w.wait_multiplies(1)
            if before:
                release(f_empty, before)
            before = slot
            slot, parity = w.advance(slot, parity, p.filters)
            if tap == p.taps - 2 and w.broken("patch released early"):
                release(p_empty, patch)
        w.wait_multiplies(0)
        release(f_empty, before)
        if not w.broken("patch released early") and not w.broken("patch not released"):
            release(p_empty, patch)
        modulus = p.patches + w.broken("patch modulus + 1")
        return [slot, parity, *w.advance(patch, patch_parity, modulus)]
    w.loop("%block", "%tiles", "%blocks", [0] * 4,
           lambda t, state: w.loop(0, "%chunks", 1, state, chunk))
    w.indent -= 1
    w.emit("}")
    w.print("conv", {"f": filter_bytes, "p": patch_bytes}, ["tiles", "chunks"], 256)


def main():
    kinds = {"gemm": (Gemm, gemm), "attention": (Attention, attention), "conv": (Conv, conv)}
    parameters, write = kinds[sys.argv[1]]
    chosen = {}
    for argument in sys.argv[2:]:
        name, text = argument.split("=", 1)
        chosen[name] = text if name in ("fault", "form") else int(text)
    write(parameters(**chosen))


if __name__ == "__main__":
    main()
