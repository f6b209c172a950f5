# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention that is measured: 16,384 tokens of 2,048 hidden elements, and what inference asks for."""

from dataclasses import dataclass, replace


@dataclass
class Case:
    name: str
    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    depth: int
    element: str = "bf16"
    causal: bool = False
    # Keys before a query that it sees; 0: all.
    window: int = 0
    # Blocks of 128 by 128 that are shown, of a hundred; 0: all.
    shown: int = 0
    # Whether a batch has some of the keys alone, one more share of them than the one before it.
    documents: bool = False
    # Whether heads lie behind queries and keys, as projections leave them.
    behind: bool = False
    # Whether f32 may be rounded to tf32.
    rounds: bool = True
    # What the operation carries beside its meaning; "" leaves it to the compiler.
    schedule: str = ""
    # Whether it is the backward pass: gradients by queries, keys and values; and their schedules.
    backward: bool = False
    schedules: tuple = ("", "")

    @property
    def lengths(self):
        """How many keys each batch has."""
        return [self.keys * (b + 1) // self.batch if self.documents else self.keys for b in range(self.batch)]

    @property
    def flops(self):
        """Of both products, of the scores that are seen."""
        pairs = self.queries * sum(self.lengths) // self.batch
        if self.causal:
            pairs = self.queries * self.keys - self.queries * (self.queries - 1) // 2
        if self.window:
            pairs = self.queries * (self.window + 1) - self.window * (self.window + 1) // 2
        if self.shown:
            pairs = pairs * self.shown // 100
        # Backward passes are counted as five products, however many are computed.
        return (10 if self.backward else 4) * self.batch * self.heads * pairs * self.depth

    @property
    def bytes(self):
        size = (4 if self.element == "f32" else 2) * (2 if self.backward else 1)
        return size * self.depth * 2 * (self.batch * self.heads * self.queries + self.key_heads * sum(self.lengths))

    @property
    def backward_module(self):
        """The numbers that weights have in common, then both gradients."""
        query = f"tensor<{self.batch}x{self.heads}x{self.queries}x{self.depth}x{self.element}>"
        key = f"tensor<{self.batch}x{self.key_heads}x{self.keys}x{self.depth}x{self.element}>"
        rows = f"tensor<{self.batch}x{self.heads}x{self.queries}xf32>"
        words = ("causal " if self.causal else "") + (f"window [{self.window}, -1] " if self.window else "")
        by_query, by_key = (f" schedule {x}" if x else "" for x in self.schedules)
        given = f"ins(%q, %k, %v, %g, %l, %t : {query}, {key}, {key}, {query}, {rows}, {rows})"
        return (f"func.func @main(%q: {query}, %k: {key}, %v: {key}, %y: {query}, %g: {query}, %l: {rows}) -> ({query}, {key}, {key}) {{\n"
                f"  %zero = arith.constant 0.0 : f32\n  %te = tensor.empty() : {rows}\n"
                f"  %tz = linalg.fill ins(%zero : f32) outs(%te : {rows}) -> {rows}\n"
                "  %t = linalg.generic {indexing_maps = [affine_map<(b, h, i, e) -> (b, h, i, e)>, affine_map<(b, h, i, e) -> (b, h, i, e)>, "
                'affine_map<(b, h, i, e) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} '
                f"ins(%g, %y : {query}, {query}) outs(%tz : {rows}) {{\n"
                f"  ^bb0(%a: {self.element}, %b: {self.element}, %sum: f32):\n"
                f"    %x = arith.extf %a : {self.element} to f32\n    %w = arith.extf %b : {self.element} to f32\n"
                "    %p = arith.mulf %x, %w : f32\n    %s = arith.addf %sum, %p : f32\n    linalg.yield %s : f32\n"
                f"  }} -> {rows}\n"
                f"  %qe = tensor.empty() : {query}\n  %ke = tensor.empty() : {key}\n  %ve = tensor.empty() : {key}\n"
                f"  %dq = tracea.attention_qgrad {words}{given} outs(%qe : {query}){by_query} -> {query}\n"
                f"  %dk, %dv = tracea.attention_kvgrad {words}{given} outs(%ke, %ve : {key}, {key}){by_key} -> {key}, {key}\n"
                f"  return %dq, %dk, %dv : {query}, {key}, {key}\n}}\n")

    @property
    def module(self):
        if self.backward:
            return self.backward_module
        query = f"tensor<{self.batch}x{self.heads}x{self.queries}x{self.depth}x{self.element}>"
        key = f"tensor<{self.batch}x{self.key_heads}x{self.keys}x{self.depth}x{self.element}>"
        words = ("causal " if self.causal else "") + (f"window [{self.window}, -1] " if self.window else "")
        schedule = f" schedule {self.schedule}" if self.schedule else ""
        argument = mask = ""
        if self.shown:
            blocks = f"tensor<1x1x{-(-self.queries // 128)}x{-(-self.keys // 128)}xi1>"
            argument, mask = f", %m: {blocks}", f" block_mask(%m : {blocks}) block_size [128, 128]"
        if self.documents:
            ends = f"tensor<{self.batch}xi32>"
            argument, mask = argument + f", %l: {ends}", mask + f" lengths(%l : {ends})"
        allowed = " attributes {tracea.allow_tf32}" if self.element == "f32" and self.rounds else ""
        if not self.behind:
            return (f"func.func @main(%q: {query}, %k: {key}, %v: {key}{argument}) -> {query}{allowed} {{\n"
                    f"  %e = tensor.empty() : {query}\n"
                    f"  %0 = tracea.attention {words}ins(%q, %k, %v : {query}, {key}, {key}){mask} outs(%e : {query}){schedule} -> {query}\n"
                    f"  return %0 : {query}\n}}\n")
        queries = f"tensor<{self.batch}x{self.queries}x{self.heads}x{self.depth}x{self.element}>"
        keys = f"tensor<{self.batch}x{self.keys}x{self.key_heads}x{self.depth}x{self.element}>"

        def transpose(name, source, before, after):
            return (f"  %{name}_to = tensor.empty() : {after}\n"
                    f"  %{name} = linalg.transpose ins(%{source} : {before}) outs(%{name}_to : {after}) permutation = [0, 2, 1, 3]\n")
        return (f"func.func @main(%q: {queries}, %k: {keys}, %v: {keys}{argument}) -> {queries}{allowed} {{\n"
                + transpose("qt", "q", queries, query) + transpose("kt", "k", keys, key) + transpose("vt", "v", keys, key)
                + f"  %e = tensor.empty() : {query}\n"
                f"  %0 = tracea.attention {words}ins(%qt, %kt, %vt : {query}, {key}, {key}){mask} outs(%e : {query}){schedule} -> {query}\n"
                + transpose("r", "0", query, queries) + f"  return %r : {queries}\n}}\n")

    def scheduled(self, queries, keys, rows, slots=2, residents=2, rings=1):
        """The same by this tile of scores, rows of a warp, slots of a ring, workgroups on a multiprocessor and rings."""
        own = "v" if rings == 2 else ""
        return replace(self, name=f"{self.name}@{queries}x{keys}w{rows}s{slots}r{residents}{own}",
                       schedule=f'<variant = "attention.warp", unit = mma_sync, tile = [{queries}, {keys}], '
                                f"registers = [{rows}, {keys}], slots = {slots}, rings = {rings}, residents = {residents}>")

    def few(self, keys, slots, residents, split):
        """The same with heads as rows, by this block of keys, slots, workgroups on a multiprocessor and parts of the keys."""
        return replace(self, name=f"{self.name}@{keys}s{slots}r{residents}p{split}",
                       schedule=f'<variant = "attention.warp", unit = mma_sync, tile = [16, {keys}], registers = [16, {keys}], '
                                f"slots = {slots}, residents = {residents}, pack = 1, split = {split}>")


    def scheduled_backward(self, by_query, by_key):
        """The same by these tiles, rows of a warp, slots, workgroups on a multiprocessor and whether rows are read again."""
        def text(name, rows, others, warp, slots=2, residents=2, reread=0):
            return (f'<variant = "{name}", unit = mma_sync, tile = [{rows}, {others}], registers = [{warp}, {others}], '
                    f"slots = {slots}, residents = {residents}, reread = {reread}>")

        def short(plan):
            return "x".join(str(x) for x in plan)
        return replace(self, name=f"{self.name}@{short(by_query)}_{short(by_key)}",
                       schedules=(text("attention_qgrad.warp", *by_query), text("attention_kvgrad.warp", *by_key)))


def training(depth, length, causal, element="bf16"):
    heads = 2048 // depth
    name = f"{element}_d{depth}_{'causal' if causal else 'full'}_{length}"
    return Case(name, 16384 // length, heads, heads, length, length, depth, element, causal)


def backward(case):
    return replace(case, name=case.name.replace("_", "_backward_", 1), backward=True)


def backwards():
    """Backward passes: of GPT-2, of 4 x 16 heads of 4096 rows, heads that share keys, and odd extents."""
    gpt2 = Case("bf16_gpt2", 8, 12, 12, 1024, 1024, 64, causal=True)
    found = [gpt2] + [Case(f"bf16_d{depth}_{'causal' if causal else 'full'}_4096", 4, 16, 16, 4096, 4096, depth, causal=causal)
                      for depth in (64, 128) for causal in (False, True)]
    found += [Case("bf16_d128_shared_4096", 4, 32, 8, 4096, 4096, 128, causal=True),
              Case("bf16_d64_odd_1021", 8, 12, 12, 1021, 1021, 64, causal=True),
              Case("f16_d64_causal_1024", 16, 16, 16, 1024, 1024, 64, "f16", causal=True)]
    return [backward(case) for case in found]


def cases():
    found = [training(depth, length, causal) for depth in (64, 128) for causal in (False, True) for length in (1024, 4096, 16384)]
    found += [training(128, 4096, True, "f16"), training(64, 1024, False, "f32")]
    wide = training(128, 16384, True)
    found += [
        replace(wide, name="bf16_d128_window_1024", window=1024),
        replace(wide, name="bf16_d128_blocks_10", causal=False, shown=10),
        replace(wide, name="bf16_d128_blocks_30_causal", shown=30),
        replace(training(128, 4096, False), name="bf16_d128_blocks_10_4096", shown=10),
        replace(training(64, 4096, False), name="bf16_d64_blocks_10_4096", shown=10),
        Case("bf16_d128_documents_4096", 8, 16, 16, 4096, 4096, 128, documents=True),
        Case("bf16_d128_decode_documents", 16, 32, 8, 1, 32768, 128, documents=True),
        replace(training(128, 4096, True), name="bf16_d128_behind_4096", behind=True),
        replace(training(64, 1024, False), name="bf16_d64_behind_1024", behind=True),
        Case("bf16_d128_shared_4096", 4, 32, 8, 4096, 4096, 128, causal=True),
        Case("bf16_d80_full_1024", 8, 16, 16, 1024, 1024, 80),
        Case("bf16_d256_causal_4096", 4, 8, 8, 4096, 4096, 256, causal=True),
        Case("bf16_d64_vit_197", 32, 12, 12, 197, 197, 64),
        Case("bf16_d64_odd_1021", 8, 12, 12, 1021, 1021, 64, causal=True),
        replace(training(64, 1024, False, "f32"), name="f32_d64_full_1024_exact", rounds=False),
        replace(training(128, 1024, True, "f32"), name="f32_d128_causal_1024_exact", rounds=False),
        Case("f32_d64_vit_197_exact", 32, 12, 12, 197, 197, 64, "f32", rounds=False),
        Case("bf16_d128_decode_8192", 16, 32, 8, 1, 8192, 128),
        Case("bf16_d128_decode_32768", 16, 32, 8, 1, 32768, 128),
        Case("bf16_d128_decode_alone", 1, 32, 8, 1, 8192, 128),
        Case("bf16_d64_decode_unshared", 8, 32, 32, 1, 4096, 64),
        Case("bf16_d128_decode_four", 16, 32, 8, 4, 8192, 128),
    ]
    return found + backwards()


def plans():
    """Other schedules of some cases, to choose by."""
    d128, d64 = (lambda causal: training(128, 4096, causal)), (lambda causal: training(64, 4096, causal))
    wide = training(128, 16384, True)
    window = replace(wide, name="bf16_d128_window_1024", window=1024)
    blocks = replace(wide, name="bf16_d128_blocks_10", causal=False, shown=10)
    # Tile, rows of a warp, slots, workgroups on a multiprocessor, rings.
    long = [(64, 64, 16), (64, 64, 16, 2, 2, 2), (64, 32, 16, 2, 2, 2), (64, 32, 16, 3, 2, 2), (64, 64, 16, 3), (64, 32, 16, 3),
            (128, 64, 16, 2, 1), (128, 64, 16, 2, 1, 2), (128, 64, 16, 3, 1, 2), (64, 32, 16, 4, 3)]
    short = [(128, 64, 32), (128, 64, 32, 2, 2, 2), (128, 64, 32, 3), (64, 64, 16, 2, 3), (128, 32, 32, 3), (128, 64, 16, 2, 1), (64, 128, 16, 2, 2)]
    edged = [(64, 64, 16), (64, 64, 16, 2, 2, 2), (64, 32, 16, 3), (128, 64, 16, 2, 1, 2), (128, 64, 16, 3, 1)]
    decode = [(32, 3, 4, 4), (32, 4, 3, 4), (64, 3, 2, 2), (64, 2, 3, 3), (16, 4, 6, 6), (32, 3, 4, 8), (32, 3, 4, 16), (32, 6, 2, 2), (64, 3, 1, 1)]
    found = [case.scheduled(*plan) for causal in (False, True) for case, tried in ((d128(causal), long), (d64(causal), short)) for plan in tried]
    found += [case.scheduled(*plan) for case in (window, blocks) for plan in edged]
    documents = Case("bf16_d128_documents_4096", 8, 16, 16, 4096, 4096, 128, documents=True)
    others = [training(128, length, causal) for length in (1024, 16384) for causal in (False, True)]
    found += [case.scheduled(64, 32, 16, 4, 3) for case in (window, blocks, documents, *others)]
    # Of both gradients: tile, rows of a block, rows of a warp, slots, workgroups on a multiprocessor, whether rows are read again.
    narrow = [(128, 64, 16, 2, 1), (64, 64, 16), (64, 64, 16, 3), (64, 32, 16), (128, 32, 32, 2, 2, 1), (128, 16, 32, 2, 2, 1), (64, 64, 16, 2, 2, 1)]
    wider = [(128, 32, 16, 2, 1, 1), (64, 32, 16, 2, 2, 1), (64, 32, 16, 3, 2, 1), (64, 16, 16, 2, 2, 1)]
    for case in backwards()[:5]:
        found += [case.scheduled_backward(plan, plan) for plan in (narrow if case.depth == 64 else wider)]
    return found + [case.few(*plan) for case, tried in (
        (Case("bf16_d128_decode_8192", 16, 32, 8, 1, 8192, 128), decode),
        (Case("bf16_d128_decode_alone", 1, 32, 8, 1, 8192, 128), [(32, 3, 4, 32), (64, 3, 2, 32), (32, 3, 4, 16)]),
    ) for plan in tried]
