"""A tracea.gemm with a schedule of the variant gemm.warp, or of gemm.simt.

Extents of `--shape` are m, n, k; 0 stands for one that only the run knows.
"""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--type", default="bf16")
parser.add_argument("--result", default=None)
parser.add_argument("--target", default="sm_80")
parser.add_argument("--shape", type=int, nargs=3, default=[0, 0, 0])
parser.add_argument("--batch", type=int, default=None)
parser.add_argument("--tile", type=int, nargs=3, default=[128, 128, 32])
parser.add_argument("--warp", type=int, nargs=2, default=[64, 32])
parser.add_argument("--variant", default="gemm.warp", help="gemm.warp, gemm.tf32x3 or gemm.simt, of whose lanes --warp is the tile")
parser.add_argument("--slots", type=int, default=4)
parser.add_argument("--transpose", default="rhs", help="none, lhs, rhs or both")
parser.add_argument("--epilogue", action="store_true", help="bias, residual, ReLU")
args = parser.parse_args()


def tensor(extents, element):
    return "tensor<%s>" % "x".join([str(e or "?") for e in extents] + [element])


m, n, k = args.shape
batch = [] if args.batch is None else [args.batch]
lhs_transposed = args.transpose in ("lhs", "both")
rhs_transposed = args.transpose in ("rhs", "both")
integer = args.type in ("i8", "i32")
acc = "i32" if integer else "f64" if args.type == "f64" else "f32"
out = args.result or (acc if args.type in ("i8", "f8E4M3FN", "f8E5M2") else args.type)
lhs = tensor(batch + ([k, m] if lhs_transposed else [m, k]), args.type)
rhs = tensor(batch + ([n, k] if rhs_transposed else [k, n]), args.type)
result = tensor(batch + [m, n], out)
bias = tensor([n], "f32")
words = [word for word, is_set in (("transpose_lhs", lhs_transposed), ("transpose_rhs", rhs_transposed)) if is_set]

print('module attributes {tracea.target = #tracea.target<kind = cuda, name = "%s", '
      'triple = "nvptx64-nvidia-cuda", cpu = "%s", cores = 108>} {' % (args.target, args.target))
extras = ", %%bias: %s, %%skip: %s" % (bias, result) if args.epilogue else ""
print("func.func @main(%%a: %s, %%b: %s%s, %%d: %s) -> %s {" % (lhs, rhs, extras, result, result))
print("  %%0 = tracea.gemm %s ins(%%a, %%b : %s, %s) outs(%%d : %s)" % (" ".join(words), lhs, rhs, result))
print('    schedule <variant = "%s", unit = %s, tile = %s, registers = %s, slots = %d, group = 16>'
      % (args.variant, "vector" if args.variant == "gemm.simt" else "mma_sync", args.tile, args.warp, args.slots))
if args.epilogue:
    dims = ", ".join("d%d" % i for i in range(len(batch) + 2))
    print("    epilogue(%%bias by affine_map<(%s) -> (d%d)>, %%skip by affine_map<(%s) -> (%s)> : %s, %s) {"
          % (dims, len(batch) + 1, dims, dims, bias, result))
    print("    ^bb0(%%acc: f32, %%x: f32, %%y: %s):" % out)
    print("      %zero = arith.constant 0.0 : f32")
    print("      %s = arith.addf %acc, %x : f32")
    wide = "%y"
    if out != "f32":
        print("      %%w = arith.extf %%y : %s to f32" % out)
        wide = "%w"
    print("      %%t = arith.addf %%s, %s : f32" % wide)
    print("      %u = arith.maximumf %t, %zero : f32")
    if out != "f32":
        print("      %%v = arith.truncf %%u : f32 to %s" % out)
    print("      tracea.yield %s : %s\n    }" % ("%u" if out == "f32" else "%v", out))
print("  return %%0 : %s\n}\n}" % result)
