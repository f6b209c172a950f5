#!/usr/bin/env python3
"""Writes a matrix product C = A * B (or A * B^T) at the pipeline level.

One role copies blocks of A and B, teams of four warps multiply 64 rows each and
write the result through staged memory. Every choice that a schedule makes is an
option, so that tests can go through them.
"""

import argparse

BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "i32": 4}
SWIZZLE = {
    128: "swizzle = [4, 7, 5, 8, 6, 9]",
    64: "swizzle = [4, 7, 5, 8]",
    32: "swizzle = [4, 7]",
    0: "",
}


def staged(swizzle, panel):
    parts = [SWIZZLE[swizzle], f"panel = {panel}" if panel else ""]
    parts = [part for part in parts if part]
    return "#tracea_pipe.staged" + (f"<{', '.join(parts)}>" if parts else "")


def lanes(columns):
    """What the matrix unit leaves: a power of two of columns, repeated."""
    linear = columns & -columns
    registers, step = [[0, 1], [8, 0]], 8
    while step < linear:
        registers.append([0, step])
        step *= 2
    return (
        f"#tracea_pipe.lanes<reg = {registers}, "
        "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], "
        f"warp = [[16, 0], [32, 0]], outer = [1, {columns // linear}]>"
    )


def write_out(o):
    """The result leaves in parts of `o.part` columns."""
    result = ""
    for first in range(0, o.n, o.part):
        value = o.value
        result += "          tracea_pipe.wait_group copy pending 0\n"
        if o.part != o.n:
            value = f"%part{first}"
            result += (
                f"          {value} = tracea_pipe.slice {o.value}[0, {first}]"
                " : !out -> !part\n"
            )
        result += f"""\
          tracea_pipe.store {value}, %staging[%c0, %c0] map #id : !part, !staging
          tracea_pipe.sync
          %first{first} = arith.constant {first} : index
          %n{first} = arith.addi %n, %first{first} : index
          %w{first} = arith.subi %N, %n{first} : index
          tracea_pipe.copy_out %staging to %C[%m, %n{first}] map #id limits(%h, %w{first})
            : !staging, memref<?x?x{o.out}>
          tracea_pipe.commit_group copy
"""
    return result


def product(o):
    integer = o.type == "i8"
    o.sum = "i32" if integer else "f32"
    o.out = o.out or {"i8": "i32", "f8E4M3FN": "bf16", "f8E5M2": "bf16"}.get(o.type, o.type)
    size = BYTES[o.type]
    o.k = o.k or 128 // size
    o.part = o.part or (128 if o.n == 256 else o.n)
    row = (o.swizzle or 16) // size
    k_panel = row if row != o.k else 0
    a_space = staged(o.swizzle, k_panel)
    b_space = staged(o.swizzle, row if o.rows_of_b else k_panel)
    b_shape = f"{o.k}x{o.n}" if o.rows_of_b else f"{o.n}x{o.k}"
    b_strides = f"{o.n}, 1" if o.rows_of_b else f"1, {o.k}"
    b_map, b_at = ("#id", "%k, %n") if o.rows_of_b else ("#transposed", "%n, %k")
    out_row = 128 // BYTES[o.out]
    c_space = staged(0, 0)
    if o.part % out_row == 0:
        c_space = staged(128, out_row if out_row != o.part else 0)
    narrow = BYTES[o.out] < 4
    o.value = "%narrow" if narrow else "%sum"
    narrowed = "          %narrow = arith.truncf %sum : !sum to !out\n" if narrow else ""
    zero = "0" if integer else "0.0"
    views = lambda slot, tag: f"""\
            %a{tag} = tracea_pipe.view %{slot}#0[%mt, %c0] map #id : !a -> !a_team
            %b{tag} = tracea_pipe.view %{slot}#1[%c0, %c0] map {b_map} : !b -> !b_team
"""
    return f"""\
#a = {a_space}
#b = {b_space}
#c = {c_space}
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#acc = {lanes(o.n)}
#acc_part = {lanes(o.part)}
!a = memref<{64 * o.teams}x{o.k}x{o.type}, #a>
!b = memref<{b_shape}x{o.type}, #b>
!a_team = memref<64x{o.k}x{o.type}, strided<[{o.k}, 1], offset: ?>, #a>
!b_team = memref<{o.k}x{o.n}x{o.type}, strided<[{b_strides}], offset: ?>, #b>
!staging = memref<64x{o.part}x{o.out}, #c>
!ring = !tracea_pipe.channel<{o.slots} x (!a, !b)>
!phase = !tracea_pipe.phase<{o.slots}>
!sum = tensor<64x{o.n}x{o.sum}, #acc>
!out = tensor<64x{o.n}x{o.out}, #acc>
!part = tensor<64x{o.part}x{o.out}, #acc_part>
!flight = !tracea_pipe.in_flight<!sum>

tracea_pipe.kernel @product(%A: memref<?x?x{o.type}>, %B: memref<?x?x{o.type}>,
                            %C: memref<?x?x{o.out}>, %workgroups: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bm = arith.constant {64 * o.teams} : index
  %bn = arith.constant {o.n} : index
  %bk = arith.constant {o.k} : index
  %M = memref.dim %C, %c0 : memref<?x?x{o.out}>
  %N = memref.dim %C, %c1 : memref<?x?x{o.out}>
  %K = memref.dim %A, %c1 : memref<?x?x{o.type}>
  %rows = arith.ceildivsi %M, %bm : index
  %columns = arith.ceildivsi %N, %bn : index
  %steps = arith.ceildivsi %K, %bk : index
  %count = arith.muli %rows, %columns : index
  tracea_pipe.tiles (%w) in (%workgroups) {{
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    tracea_pipe.roles {{
      tracea_pipe.role "producer" warps [0, 4] registers {o.registers[0]} {{
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start) -> (!phase) {{
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m = arith.muli %i, %bm : index
          %n = arith.muli %j, %bn : index
          %e = scf.for %step = %c0 to %steps step %c1 iter_args(%q = %p) -> (!phase) {{
            %k = arith.muli %step, %bk : index
            %s:2 = tracea_pipe.acquire %ring[%q] : !ring, !phase -> !a, !b
            tracea_pipe.copy %A[%m, %k] map #id padded [0, 1] to %s#0 : memref<?x?x{o.type}>, !a
            tracea_pipe.copy %B[{b_at}] map #id padded [0, 1] to %s#1 : memref<?x?x{o.type}>, !b
            tracea_pipe.commit %ring[%q] : !ring, !phase
            %next = tracea_pipe.advance %q : !phase
            scf.yield %next : !phase
          }}
          scf.yield %e : !phase
        }}
      }}
      tracea_pipe.role "consumer" warps [4, {4 + 4 * o.teams}] copies {o.teams} registers {o.registers[1]} (%team) {{
        %staging = tracea_pipe.scratch : !staging
        %mt = arith.muli %team, %c64 : index
        scf.for %t = %w to %count step %workgroups iter_args(%p = %start) -> (!phase) {{
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %some = arith.cmpi slt, %c0, %steps : index
          %sum, %e = scf.if %some -> (!sum, !phase) {{
            %s:2 = tracea_pipe.wait %ring[%p] : !ring, !phase -> !a, !b
{views("s", "")}\
            %d = tracea_pipe.mma_async %a, %b : !a_team, !b_team -> !flight
            tracea_pipe.commit_group mma
            %p1 = tracea_pipe.advance %p : !phase
            %l:3 = scf.for %step = %c1 to %steps step %c1 iter_args(%dl = %d, %old = %p, %q = %p1)
                -> (!flight, !phase, !phase) {{
              %sl:2 = tracea_pipe.wait %ring[%q] : !ring, !phase -> !a, !b
{views("sl", "l")}\
              %dn = tracea_pipe.mma_async %al, %bl onto %dl : !a_team, !b_team, !flight -> !flight
              tracea_pipe.commit_group mma
              tracea_pipe.wait_group mma pending 1
              tracea_pipe.release %ring[%old] : !ring, !phase
              %q1 = tracea_pipe.advance %q : !phase
              scf.yield %dn, %q, %q1 : !flight, !phase, !phase
            }}
            %done = tracea_pipe.wait_group mma pending 0 (%l#0 : !flight)
            tracea_pipe.release %ring[%l#1] : !ring, !phase
            scf.yield %done, %l#2 : !sum, !phase
          }} else {{
            %zero = arith.constant dense<{zero}> : !sum
            scf.yield %zero, %p : !sum, !phase
          }}
          %m0 = arith.muli %i, %bm : index
          %m = arith.addi %m0, %mt : index
          %n = arith.muli %j, %bn : index
          %h = arith.subi %M, %m : index
{narrowed}{write_out(o)}\
          scf.yield %e : !phase
        }}
        tracea_pipe.wait_group copy pending 0
      }}
    }}
  }}
  tracea_pipe.end
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", default="bf16", help="of A and B")
    parser.add_argument("--out", help="type of C")
    parser.add_argument("--teams", type=int, default=2, help="of 64 rows")
    parser.add_argument("--n", type=int, default=256, help="columns of a tile")
    parser.add_argument("--k", type=int, help="depth of a slot; default: 128 bytes")
    parser.add_argument("--part", type=int, help="columns that leave together")
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--swizzle", type=int, default=128, help="bytes of a row, or 0")
    parser.add_argument("--rows-of-b", action="store_true", help="B is K x N")
    parser.add_argument("--registers", type=int, nargs=2, default=[40, 232])
    print(product(parser.parse_args()), end="")


if __name__ == "__main__":
    main()
