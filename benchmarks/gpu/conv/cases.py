# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The convolutions that are compiled for GPUs: those that are compared with float64, and those that are measured.

`cases`: every stride, border, dilation and layout, groups down to one channel,
extents that divide nothing, all types of operands, epilogues, dynamic extents and
empty images: what a tile, a tap or a walk could get wrong. `layers`: those of
ResNet-50, and what other networks ask for. `graduation`: two rounds of
convolutions with batch norm and ReLU, of usual shapes and of odd ones.
"""

import dataclasses
import math

SUMS = {"f64": "f64", "i8": "i32"}
# The vectors of a batch norm, in the order of arguments, and what is added to a variance.
NORM, EPSILON = ("scale", "shift", "mean", "variance"), 1e-5
BYTES = {"f64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    n: int
    h: int
    w: int
    c: int
    k: int
    r: int = 3
    s: int = 3
    strides: tuple = (1, 1)
    pads: tuple = (1, 1, 1, 1)
    dilations: tuple = (1, 1)
    groups: int = 1
    dtype: str = "f16"
    result: str = ""
    layout: str = "nhwc"
    filter: str = "krsc"
    # Of "n", "h", "w", "c": extents that the program does not know; with "c"
    # neither those of the result's channels.
    dynamic: str = ""
    # "image" or "filter": what the result is the gradient by, in place of the
    # convolution itself.
    by: str = ""
    # Of "bias", "norm" (a batch norm in evaluation), "residual", "relu" or "silu",
    # in this order, joined by "+".
    epilogue: str = ""
    allow: str = ""
    # What the operation carries beside its meaning; "" leaves it to the compiler.
    schedule: str = ""

    @property
    def result_type(self):
        return self.result or ("i32" if self.dtype == "i8" else self.dtype)

    @property
    def steps(self):
        return self.epilogue.split("+") if self.epilogue else []

    def pixels(self, axis):
        extent = (self.h, self.w)[axis] + self.pads[axis] + self.pads[axis + 2]
        reach = ((self.r, self.s)[axis] - 1) * self.dilations[axis] + 1
        return max(0, (extent - reach) // self.strides[axis] + 1)

    def in_layout(self, n, h, w, c):
        return (n, h, w, c) if self.layout == "nhwc" else (n, c, h, w)

    @property
    def image_shape(self):
        return self.in_layout(self.n, self.h, self.w, self.c)

    @property
    def filter_shape(self):
        channels = self.c // self.groups
        return {"krsc": (self.k, self.r, self.s, channels), "kcrs": (self.k, channels, self.r, self.s),
                "rsck": (self.r, self.s, channels, self.k)}[self.filter]

    @property
    def output_shape(self):
        """Of the convolution, and of its gradient."""
        return self.in_layout(self.n, self.pixels(0), self.pixels(1), self.k)

    @property
    def result_shape(self):
        return {"": self.output_shape, "image": self.image_shape, "filter": self.filter_shape}[self.by]

    @property
    def inputs(self):
        """Types and shapes of what the program reads."""
        shapes = {"": (self.image_shape, self.filter_shape), "image": (self.output_shape, self.filter_shape),
                  "filter": (self.image_shape, self.output_shape)}[self.by]
        found = [(self.dtype, shape) for shape in shapes]
        if "bias" in self.steps:
            found.append((self.result_type, (self.k,)))
        if "norm" in self.steps:
            found += [("f32", (self.k,))] * len(NORM)
        if "residual" in self.steps:
            found.append((self.result_type, self.result_shape))
        return found

    @property
    def flops(self):
        return 2 * math.prod(self.output_shape) * self.r * self.s * self.c // self.groups

    @property
    def bytes(self):
        """Of operands and result, each moved once."""
        return sum(BYTES[element] * math.prod(shape) for element, shape in [*self.inputs, (self.result_type, self.result_shape)])

    def scheduled(self, tile, warps, slots, table=0):
        """The same by this tile of pixels, filters and channels, that of a warp, and slots of the ring; with a table of pixels' coordinates."""
        by = "x".join(str(extent) for extent in tile)
        return dataclasses.replace(self, name=f"{self.name}@{by}w{warps[0]}x{warps[1]}s{slots}{'t' * table}", schedule=(
            f'<variant = "conv2d.warp", unit = mma_sync, tile = {list(tile)}, registers = {list(warps)}, slots = {slots}, group = 16, '
            f'table = {table}>'))

    def by_groups(self, tile, pixels, residents):
        """The same by warps with this tile of rows, columns and channels in groups of eight, and the pixels of a warp."""
        by = "x".join(str(extent) for extent in tile)
        return dataclasses.replace(self, name=f"{self.name}@{by}g{pixels}r{residents}", schedule=(
            f'<variant = "conv2d.groups", unit = mma_sync, tile = {list(tile)}, registers = [{pixels}, 8], residents = {residents}>'))

    def by_lanes(self, tile, registers, residents):
        """The same by lanes with this tile of rows, columns and channels, and the pixels and channels of a lane."""
        by = "x".join(str(extent) for extent in tile)
        return dataclasses.replace(self, name=f"{self.name}@{by}l{registers[0]}x{registers[1]}r{residents}", schedule=(
            f'<variant = "conv2d.lanes", unit = vector, tile = {list(tile)}, registers = {list(registers)}, residents = {residents}>'))

    def in_bulk(self, tile, slots, consumers, **more):
        """The same by warpgroups with this tile and ring; `more` are other fields of the schedule."""
        by = "x".join(str(extent) for extent in tile)
        fields = "".join(f", {name} = {value}" for name, value in more.items())
        short = "".join(f"{name[0]}{value}" for name, value in more.items())
        return dataclasses.replace(self, name=f"{self.name}@{by}c{consumers}s{slots}{short}", schedule=(
            f'<variant = "conv2d.warpgroup", unit = wgmma, tile = {list(tile)}, slots = {slots}, producers = 1, '
            f"consumers = {consumers}, group = 16{fields}>"))


def cases():
    point = dict(r=1, s=1, pads=(0, 0, 0, 0))
    in_bulk = '<variant = "wgrad.warpgroup", unit = wgmma, tile = [{}, 64, 64], slots = 4, producers = 1, consumers = {}, split = {}>'
    return [
        # Tiles of every size, sums of one and of many blocks of channels.
        Case("block", 8, 28, 28, 64, 64),
        Case("wide", 4, 28, 28, 128, 256, epilogue="bias+residual+relu"),
        Case("deep", 2, 14, 14, 512, 128),
        Case("tall", 16, 56, 56, 64, 64),
        Case("point", 8, 28, 28, 64, 256, **point),
        Case("point_strided", 8, 29, 27, 64, 128, strides=(2, 2), **point),
        Case("strided", 4, 56, 56, 64, 128, strides=(2, 2)),
        Case("strides_differ", 3, 31, 40, 32, 48, strides=(3, 1)),
        Case("dilated", 4, 30, 31, 64, 96, pads=(2, 2, 2, 2), dilations=(2, 2)),
        Case("dilations_differ", 2, 33, 29, 40, 72, pads=(1, 3, 1, 3), dilations=(1, 3)),
        Case("borders_differ", 2, 15, 9, 48, 40, r=5, s=2, strides=(1, 3), pads=(0, 1, 3, 2), dilations=(2, 1)),
        Case("no_border", 5, 17, 19, 32, 32, pads=(0, 0, 0, 0)),
        Case("wide_border", 2, 6, 7, 32, 32, pads=(4, 5, 4, 5)),
        Case("border_alone", 2, 1, 1, 32, 32, pads=(3, 3, 3, 3)),
        Case("row_of_taps", 3, 20, 21, 32, 64, r=1, s=7, pads=(0, 3, 0, 3)),
        Case("column_of_taps", 3, 20, 21, 32, 64, r=7, s=1, pads=(3, 0, 3, 0)),
        Case("even_taps", 2, 16, 18, 24, 56, r=4, s=2, pads=(1, 0, 2, 1)),
        # Rows that begin anywhere.
        Case("image_of_three", 2, 64, 64, 3, 64, r=7, s=7, strides=(2, 2), pads=(3, 3, 3, 3)),
        Case("odd_channels", 3, 13, 17, 9, 37),
        Case("half_rows", 3, 13, 17, 20, 37, epilogue="bias+relu"),
        Case("one_channel", 2, 12, 12, 1, 1),
        Case("one_pixel", 1, 1, 1, 64, 64),
        # Groups.
        Case("groups", 4, 14, 14, 64, 64, groups=4),
        Case("groups_cut", 4, 14, 14, 48, 60, groups=4, epilogue="bias+residual"),
        Case("depthwise", 4, 14, 15, 32, 32, groups=32),
        Case("depthwise_twice", 2, 14, 15, 16, 32, groups=16, strides=(2, 1)),
        # Groups of 16 bytes of channels, by shallow instructions: rows and columns cut, strides, dilations, dynamic extents.
        Case("eights", 3, 17, 19, 96, 96, groups=12, dtype="bf16", epilogue="bias+residual+relu"),
        Case("eights_strided", 2, 30, 41, 64, 64, groups=8, strides=(2, 2)),
        Case("eights_dilated", 2, 21, 40, 32, 32, r=3, s=5, pads=(2, 4, 2, 4), dilations=(2, 2), groups=4),
        Case("eights_any_size", 3, 15, 22, 64, 64, groups=8, dynamic="nhw", dtype="bf16", epilogue="bias"),
        Case("eights_point", 2, 9, 33, 64, 64, r=1, s=1, pads=(0, 0, 0, 0), groups=8),
        Case("eights_cut", 2, 7, 7, 40, 40, groups=5, result="f32"),
        # One filter for each channel, by lanes: borders, strides and dilations, channels cut and of any alignment, types.
        Case("lanes", 3, 17, 19, 96, 96, groups=96, dtype="bf16", epilogue="bias+residual+relu"),
        Case("lanes_strided", 2, 31, 29, 64, 64, groups=64, strides=(2, 2)),
        Case("lanes_strides_differ", 2, 23, 29, 72, 72, groups=72, strides=(1, 3), dilations=(2, 1)),
        Case("lanes_dilated", 2, 15, 16, 40, 40, r=5, s=5, pads=(4, 6, 4, 6), dilations=(2, 3), groups=40, dtype="bf16"),
        Case("lanes_wide", 2, 14, 14, 32, 32, r=7, s=7, pads=(3, 3, 3, 3), groups=32, dtype="bf16", epilogue="bias+silu"),
        Case("lanes_even_taps", 2, 11, 13, 24, 24, r=4, s=2, pads=(1, 0, 2, 1), groups=24),
        Case("lanes_any_channels", 2, 9, 10, 37, 37, groups=37, epilogue="bias+relu"),
        Case("lanes_one_pixel", 2, 1, 1, 64, 64, groups=64),
        Case("lanes_of_rsck", 2, 12, 9, 48, 48, groups=48, filter="rsck"),
        Case("lanes_of_kcrs", 2, 12, 9, 48, 48, groups=48, filter="kcrs"),
        Case("lanes_any_size", 3, 15, 22, 64, 64, groups=64, dynamic="nhw", strides=(2, 1), epilogue="bias"),
        Case("lanes_no_images", 0, 8, 8, 32, 32, groups=32, dynamic="nhw"),
        Case("lanes_nchw", 2, 15, 18, 72, 72, groups=72, layout="nchw", filter="kcrs", epilogue="bias+residual"),
        Case("lanes_f32", 2, 13, 14, 20, 20, groups=20, dtype="f32", epilogue="bias+residual"),
        Case("lanes_f64", 2, 9, 9, 6, 6, groups=6, dtype="f64"),
        Case("lanes_i8", 2, 13, 11, 48, 48, groups=48, dtype="i8"),
        Case("lanes_to_f32", 2, 10, 9, 32, 32, groups=32, result="f32"),
        # Types.
        Case("bf16", 8, 14, 14, 256, 128, dtype="bf16", epilogue="bias+relu"),
        Case("f16_to_f32", 4, 14, 14, 64, 64, result="f32"),
        Case("i8", 8, 14, 14, 128, 128, dtype="i8"),
        Case("i8_cut", 2, 9, 11, 30, 33, dtype="i8", strides=(2, 2)),
        Case("f32", 4, 14, 14, 128, 128, dtype="f32", epilogue="bias+residual+relu"),
        Case("f32_cut", 3, 13, 11, 21, 19, dtype="f32", strides=(2, 1), dilations=(1, 2)),
        Case("tf32", 4, 28, 28, 128, 128, dtype="f32", allow="tf32"),
        Case("tf32x3", 4, 28, 28, 64, 128, dtype="f32", allow="tf32x3"),
        # Steps of pieces of one channel each, the last one cut, and every border.
        Case("f64_pieces", 1, 11, 30, 31, 48, r=1, s=1, strides=(2, 2), pads=(1, 2, 3, 2), dtype="f64"),
        Case("f64", 2, 14, 14, 32, 32, dtype="f64"),
        # Layouts.
        Case("nchw", 4, 14, 14, 32, 32, layout="nchw", filter="kcrs", epilogue="bias+residual"),
        Case("nchw_f32", 4, 13, 14, 32, 40, layout="nchw", filter="kcrs", dtype="f32"),
        Case("rsck", 4, 14, 14, 64, 64, filter="rsck"),
        Case("kcrs", 4, 14, 14, 64, 64, filter="kcrs"),
        # What only the run knows.
        Case("any_images", 5, 14, 14, 64, 64, dynamic="n", epilogue="bias+residual"),
        Case("any_size", 3, 15, 22, 64, 64, dynamic="nhw", strides=(2, 2)),
        Case("any_size_f32", 3, 15, 22, 16, 24, dynamic="nhw", dtype="f32"),
        Case("any_groups", 3, 14, 15, 32, 48, groups=4, dynamic="nc", epilogue="bias"),
        Case("any_groups_nchw", 3, 9, 8, 20, 10, groups=5, dynamic="hc", dtype="f32", layout="nchw", filter="kcrs"),
        Case("no_images_any_size", 0, 14, 14, 64, 64, dynamic="hw", strides=(2, 2)),
        Case("no_pixels", 1, 2, 4, 64, 128, r=3, s=1, dilations=(2, 1), groups=64, dtype="f32", layout="nchw"),
        Case("no_images", 0, 14, 14, 64, 64, dynamic="n"),
        Case("no_channels", 2, 14, 14, 0, 64, epilogue="bias"),
        Case("no_filters", 2, 14, 14, 64, 0),
        # Gradients by the filter: sums in parts, channels first, rows of taps as channels, groups whose tiles reach into the next one.
        Case("wgrad_block", 16, 28, 28, 64, 96, by="filter"),
        Case("wgrad_nchw", 16, 28, 28, 64, 96, by="filter", layout="nchw", filter="kcrs", dtype="bf16"),
        Case("wgrad_nchw_krsc", 16, 28, 28, 64, 96, by="filter", layout="nchw", strides=(2, 1)),
        Case("wgrad_first", 16, 57, 60, 3, 64, r=7, s=7, strides=(2, 2), pads=(3, 3, 3, 3), by="filter", result="f32"),
        Case("wgrad_first_nchw", 16, 57, 60, 3, 64, r=7, s=7, strides=(2, 2), pads=(3, 3, 3, 3), by="filter", layout="nchw", filter="kcrs"),
        Case("wgrad_groups", 8, 28, 28, 256, 256, groups=4, by="filter"),
        Case("wgrad_groups_cut", 5, 13, 15, 80, 96, groups=2, by="filter", dtype="bf16", schedule=in_bulk.format(64, 1, 3)),
        Case("wgrad_groups_whole", 5, 13, 15, 80, 96, groups=2, by="filter", schedule=in_bulk.format(64, 1, 1)),
        Case("wgrad_groups_strided", 3, 29, 27, 144, 272, strides=(2, 2), groups=2, by="filter", filter="rsck", schedule=in_bulk.format(128, 2, 1)),
        Case("wgrad_groups_narrow", 8, 14, 14, 64, 64, groups=8, by="filter"),
        Case("wgrad_groups_odd", 3, 13, 15, 60, 36, groups=3, by="filter"),
        Case("wgrad_f32", 3, 13, 15, 40, 24, dtype="f32", by="filter"),
        Case("wgrad_tf32", 8, 14, 14, 128, 128, dtype="f32", allow="tf32", by="filter"),
    ]


def square(name, n, extent, c, k, taps=3, stride=1, **more):
    """A layer of square images whose border keeps their extent, up to the stride."""
    border = taps // 2 * more.get("dilations", (1, 1))[0]
    more = {"dtype": "bf16", "pads": (border,) * 4, **more}
    return Case(f"{name}_n{n}", n, extent, extent, c, k, taps, taps, (stride, stride), **more)


def resnet(n):
    return [square(f"r{taps}s{stride}_{c}_{k}_at_{extent}", n, extent, c, k, taps, stride) for taps, stride, c, k, extent in (
        (3, 1, 64, 64, 56), (3, 1, 128, 128, 28), (3, 1, 256, 256, 14), (3, 1, 512, 512, 7),
        (3, 2, 128, 128, 56), (3, 2, 256, 256, 28), (3, 2, 512, 512, 14),
        (1, 1, 256, 64, 56), (1, 1, 64, 256, 56), (1, 1, 1024, 256, 14), (1, 1, 512, 2048, 7), (1, 2, 256, 512, 56))]


def gradients():
    """Of layers, by their images and by their filters."""
    def of(case, by):
        return dataclasses.replace(case, name=f"{'dgrad' if by == 'image' else 'wgrad'}_{case.name}", by=by)

    chosen = [case for n in (32, 128) for case in resnet(n)]
    chosen += [square("first", 32, 224, 3, 64, 7, 2), square("odd", 32, 57, 67, 131), square("nchw", 32, 56, 64, 64, layout="nchw", filter="kcrs"),
               square("dilated", 32, 56, 64, 64, dilations=(2, 2)), square("groups4", 32, 28, 256, 256, groups=4),
               square("tf32", 32, 28, 128, 128, dtype="f32", allow="tf32"), square("f16", 32, 28, 128, 128, dtype="f16")]
    nchw = dict(layout="nchw", filter="kcrs")
    filters = [square("first", 128, 224, 3, 64, 7, 2), square("first_nchw", 32, 224, 3, 64, 7, 2, **nchw),
               square("nchw_deep", 32, 14, 256, 256, **nchw), square("groups4_of_56", 32, 28, 224, 224, groups=4),
               square("groups32", 32, 56, 256, 256, groups=32), square("tf32_deep", 32, 14, 256, 256, dtype="f32", allow="tf32")]
    return [of(case, by) for by in ("image", "filter") for case in chosen] + [of(case, "filter") for case in filters]


def layers():
    found = [case for n in (1, 8, 32, 128) for case in resnet(n)] + gradients()
    nchw = dict(layout="nchw", filter="kcrs")
    found += [
        square("first", 32, 224, 3, 64, 7, 2),
        square("first", 128, 224, 3, 64, 7, 2),
        square("vgg", 1, 224, 64, 128),
        square("vgg", 32, 224, 64, 128),
        square("odd", 32, 57, 67, 131),
        square("depthwise3", 32, 56, 96, 96, groups=96),
        square("depthwise7", 32, 56, 96, 96, 7, groups=96),
        square("depthwise3_wide", 32, 14, 512, 512, groups=512),
        square("depthwise3_strided", 32, 112, 64, 64, 3, 2, groups=64),
        square("depthwise5", 32, 28, 240, 240, 5, groups=240),
        square("depthwise7_small", 32, 7, 768, 768, 7, groups=768),
        square("depthwise7_any_size", 32, 56, 96, 96, 7, groups=96, dynamic="nhw"),
        square("depthwise3_silu", 32, 56, 96, 96, groups=96, epilogue="bias+silu"),
        square("depthwise3_nchw", 32, 56, 96, 96, groups=96, **nchw),
        square("depthwise3_f32", 32, 56, 96, 96, groups=96, dtype="f32"),
        square("groups32", 32, 56, 256, 256, groups=32),
        square("groups32_strided", 32, 56, 256, 256, 3, 2, groups=32),
        square("groups64", 32, 28, 512, 512, groups=64),
        square("groups16_small", 32, 14, 128, 128, groups=16),
        square("nchw", 32, 56, 64, 64, **nchw),
        square("dilated", 32, 56, 64, 64, dilations=(2, 2)),
        square("any_size", 32, 56, 64, 64, dynamic="nhw"),
        *[square(f"any_size_{c}_at_{extent}", n, extent, c, c, dynamic="nhw")
          for n, extent, c in ((1, 56, 64), (128, 56, 64), (32, 28, 128), (32, 14, 256), (32, 7, 512))],
        square("any_size_strided", 32, 56, 128, 128, 3, 2, dynamic="nhw"),
        square("any_size_thin", 32, 56, 64, 256, 1, dynamic="nhw"),
        square("any_size_taps7", 32, 28, 64, 64, 7, dynamic="nhw"),
        square("bias_relu", 32, 56, 64, 64, epilogue="bias+relu"),
        square("bias_silu", 32, 56, 64, 64, epilogue="bias+silu"),
        square("bias_residual_relu", 32, 56, 64, 64, epilogue="bias+residual+relu"),
        square("bias_residual_relu_deep", 32, 14, 256, 256, epilogue="bias+residual+relu"),
        square("f16", 32, 56, 64, 64, dtype="f16"),
        square("tf32", 32, 56, 64, 64, dtype="f32", allow="tf32"),
        square("tf32_deep", 32, 14, 256, 256, dtype="f32", allow="tf32"),
        square("i8", 32, 28, 128, 128, dtype="i8"),
    ]
    return found


def graduation():
    """Convolution, batch norm and ReLU: layers of residual networks, then shapes that fit no tile."""
    fused = dict(epilogue="norm+relu")
    usual = [(64, 64, 56, 3, 1), (128, 128, 28, 3, 1), (256, 256, 14, 3, 1), (512, 512, 7, 3, 1), (128, 128, 56, 3, 2), (64, 256, 56, 1, 1),
             (3, 64, 224, 7, 2)]
    found = [square(f"fused_{c}_{k}_at_{extent}_{dtype}", 32, extent, c, k, taps, stride, dtype=dtype, **more, **fused)
             for dtype, more in (("bf16", {}), ("f16", {}), ("f32", {"allow": "tf32"})) for c, k, extent, taps, stride in usual]
    odd = dict(dtype="bf16", **fused)
    found += [
        Case("odd_channels", 31, 57, 57, 67, 131, **odd),
        Case("odd_rows", 13, 113, 91, 3, 17, 5, 5, (3, 2), (2, 1, 2, 1), **odd),
        Case("odd_stride", 7, 61, 47, 129, 255, strides=(2, 3), **odd),
        Case("odd_taps", 9, 53, 59, 96, 80, 7, 1, (1, 1), (3, 0, 3, 0), **odd),
        Case("odd_dilations", 11, 41, 43, 72, 104, pads=(3, 2, 3, 2), dilations=(3, 2), **odd),
        Case("odd_groups", 5, 37, 39, 99, 33, groups=3, **odd),
        Case("odd_image", 1, 1021, 3, 40, 56, pads=(1, 1, 1, 1), **odd),
        Case("odd_single", 1, 7, 7, 1021, 509, 1, 1, pads=(0, 0, 0, 0), **odd),
        Case("odd_nchw", 17, 29, 31, 65, 63, layout="nchw", filter="kcrs", **odd),
    ]
    return found


def plans():
    """Other schedules of some layers, to choose by."""
    early, deep = resnet(32)[0], resnet(32)[2]
    tried = [(early, [((128, 64, 64), (32, 64), 3), ((128, 64, 64), (64, 32), 3), ((128, 64, 64), (64, 32), 4), ((256, 64, 64), (64, 32), 3)]),
             (deep, [((64, 64, 64), (32, 32), 4), ((64, 64, 64), (32, 32), 3), ((128, 64, 64), (64, 32), 3), ((128, 128, 64), (64, 32), 3)])]
    found = [case.scheduled(*plan) for case, of_case in tried for plan in of_case]
    # Lanes that gather pixels of images of any size: tiles, depths of a step, and slots.
    sizes = [square(name, 32, extent, c, c, dynamic="nhw") for name, extent, c in (("any_size", 56, 64), ("any_size_256_at_14", 14, 256))]
    found += [case.scheduled(*plan) for case in sizes for plan in (
        ((128, 64, 32), (64, 32), 4), ((128, 64, 64), (64, 32), 3), ((128, 64, 64), (32, 32), 3), ((64, 64, 64), (32, 32), 4),
        ((256, 64, 32), (64, 32), 3))]
    # Coordinates of pixels by each lane that copies a piece of one, or once each, in shared memory: of images of any
    # size, and of sizes that the program knows, where LLVM multiplies; of few steps a tile, and of many.
    shared = [square(name, n, extent, c, k, taps, stride, dynamic=dynamic) for dynamic, of in (("nhw", "any_size"), ("", "known_size"))
              for name, n, extent, c, k, taps, stride in (
                  (f"{of}_thin", 32, 56, 64, 256, 1, 1), (f"{of}_thin_strided", 32, 56, 64, 128, 1, 2), (f"{of}_taps3", 32, 56, 64, 64, 3, 1),
                  (f"{of}_deep", 32, 14, 256, 256, 3, 1), (f"{of}_narrow", 32, 112, 32, 32, 1, 1), (f"{of}_single", 1, 56, 64, 64, 3, 1))]
    found += [case.scheduled(tile, warps, slots, table) for case in shared for table in (0, 1)
              for tile, warps, slots in (((128, 64, 32), (64, 32), 4), ((256, 64, 32), (64, 32), 3))]
    first = dict(layout="nchw", filter="kcrs")
    found += [square(name, 32, extent, c, c, dynamic=dynamic, **first).scheduled((128, 64, 32), (64, 32), 4, table)
              for dynamic, of in (("nhw", "any_size"), ("", "known_size")) for table in (0, 1)
              for name, extent, c in ((f"{of}_nchw", 28, 64), (f"{of}_nchw_deep", 14, 128))]
    middle, single = resnet(32)[1], resnet(1)
    for case in (early, middle, deep):
        columns = min(case.k, 128)
        found += [case.in_bulk((128, columns, 64), 5, 2), case.in_bulk((128, columns, 64), 5, 1, ping_pong=2),
                  case.in_bulk((64, columns, 64), 4, 1, residents=2), case.in_bulk((64, 64, 64), 6, 1, residents=2)]
    found.append(square("groups32_any_size", 32, 56, 256, 256, groups=32, dynamic="nhw").by_groups((8, 32, 32), 32, 8))
    found += [square("groups32", 32, 56, 256, 256, groups=32).by_groups(*plan) for plan in (
        ((4, 32, 32), 32, 12), ((4, 64, 64), 32, 4), ((4, 64, 64), 16, 4), ((2, 64, 64), 16, 6), ((2, 64, 64), 32, 7),
        ((4, 32, 64), 16, 7), ((7, 64, 64), 16, 2), ((4, 64, 64), 64, 4))]
    small, large = square("depthwise3", 32, 56, 96, 96, groups=96), square("depthwise7", 32, 56, 96, 96, 7, groups=96)
    found += [small.by_lanes(*plan) for plan in (
        ((8, 8, 32), (8, 8), 8), ((8, 14, 32), (7, 8), 8), ((16, 8, 32), (8, 8), 6), ((8, 28, 32), (7, 8), 6), ((32, 28, 32), (7, 8), 3),
        ((16, 14, 32), (7, 4), 5), ((32, 14, 32), (7, 8), 3), ((16, 14, 32), (7, 8), 6), ((16, 28, 32), (7, 8), 5), ((64, 14, 16), (7, 8), 3),
        ((32, 14, 16), (7, 8), 6), ((16, 14, 32), (7, 4), 4))]
    found += [large.by_lanes(*plan) for plan in (
        ((8, 8, 32), (8, 8), 8), ((8, 14, 32), (7, 8), 8), ((16, 16, 32), (8, 8), 5), ((32, 28, 32), (7, 8), 2), ((16, 14, 32), (7, 4), 5),
        ((64, 14, 16), (7, 8), 3), ((16, 14, 32), (7, 8), 5), ((64, 28, 16), (7, 8), 2), ((32, 14, 16), (7, 8), 6), ((16, 7, 32), (7, 8), 6))]
    tiny = square("depthwise7_small", 32, 7, 768, 768, 7, groups=768)
    found += [tiny.by_lanes(*plan) for plan in (
        ((8, 7, 32), (7, 8), 12), ((8, 7, 64), (7, 4), 5), ((8, 7, 32), (7, 4), 10), ((8, 7, 64), (7, 2), 3))]
    strided = square("depthwise3_strided", 32, 112, 64, 64, 3, 2, groups=64)
    found += [strided.by_lanes(*plan) for plan in (
        ((16, 14, 64), (7, 8), 1), ((16, 7, 64), (7, 8), 2), ((16, 7, 64), (7, 4), 2), ((8, 14, 64), (7, 8), 2), ((8, 7, 64), (7, 4), 5))]
    found += [square("groups16_small", 32, 14, 128, 128, groups=16).by_groups(*plan) for plan in (
        ((2, 16, 64), 16, 8), ((2, 16, 32), 16, 12), ((4, 16, 32), 16, 12), ((7, 16, 32), 16, 12), ((4, 16, 64), 16, 8))]
    for case, splits in ((single[1], (1, 4)), (single[2], (4, 8)), (single[3], (8, 16)), (single[9], (2, 4))):
        found += [case.in_bulk((64, 64, 64), 8, 1, split=split) for split in splits]
    return found


def module(case):
    """The case as a module whose function `main` returns the result."""
    def tensor(shape, element, dynamic=()):
        return "tensor<" + "".join(f"{'?' if at in dynamic else extent}x" for at, extent in enumerate(shape)) + element + ">"

    unknown = [case.in_layout(*"nhwc").index(dim) for dim in case.dynamic]
    element, result, total = case.dtype, case.result_type, SUMS.get(case.dtype, "f32")
    (_, left), (_, right) = case.inputs[:2]
    image = tensor(left, element, unknown)
    weights = tensor(right, element)
    out = tensor(case.result_shape, result, unknown)
    name = {"": "conv2d", "image": "conv2d_dgrad", "filter": "conv2d_wgrad"}[case.by]
    kind = "f" if total[0] == "f" else "i"
    arguments = [f"%x: {image}", f"%w: {weights}"]
    extras, types, values, body, last = [], [], [], [], "%sum"

    def widened(name):
        if result == total:
            return name
        body.append(f"{name}w = arith.extf {name} : {result} to {total}")
        return name + "w"

    for step in case.steps:
        if step == "relu":
            body.append(f"%zero = arith.constant {'0.0' if kind == 'f' else '0'} : {total}")
            body.append(f"%relu = arith.max{'imumf' if kind == 'f' else 'si'} {last}, %zero : {total}")
            last = "%relu"
            continue
        if step == "silu":
            body += [f"%one_sum = arith.constant 1.0 : {total}", f"%minus = arith.negf {last} : {total}", f"%power = math.exp %minus : {total}",
                     f"%under = arith.addf %power, %one_sum : {total}", f"%silu = arith.divf {last}, %under : {total}"]
            last = "%silu"
            continue
        if step == "norm":
            channel = "d" if case.layout == "nhwc" else "b"
            for vector in NORM:
                arguments.append(f"%{vector}: {tensor((case.k,), 'f32')}")
                extras.append(f"%{vector} by affine_map<(a, b, c, d) -> ({channel})>")
                types.append(tensor((case.k,), "f32"))
                values.append(f"%{vector}_value: f32")
            body += [f"%epsilon = arith.constant {EPSILON:e} : f32", "%safe = arith.addf %variance_value, %epsilon : f32",
                     "%root = math.rsqrt %safe : f32", "%gain = arith.mulf %root, %scale_value : f32",
                     f"%centred = arith.subf {last}, %mean_value : f32", "%scaled = arith.mulf %centred, %gain : f32",
                     "%normal = arith.addf %scaled, %shift_value : f32"]
            last = "%normal"
            continue
        place = "a, b, c, d" if step == "residual" else "d" if case.layout == "nhwc" else "b"
        type = out if step == "residual" else tensor((case.k,), result)
        arguments.append(f"%{step}: {type}")
        extras.append(f"%{step} by affine_map<(a, b, c, d) -> ({place})>")
        types.append(type)
        values.append(f"%{step}_value: {result}")
        body.append(f"%{step}_sum = arith.add{kind} {last}, {widened(f'%{step}_value')} : {total}")
        last = f"%{step}_sum"
    epilogue = ""
    if case.steps:
        if result != total:
            body.append(f"%narrow = arith.truncf {last} : {total} to {result}")
            last = "%narrow"
        epilogue = (f" epilogue({', '.join(extras)} : {', '.join(types)})" if extras else " epilogue")
        epilogue += (" {\n  ^bb0(" + ", ".join([f"%sum: {total}"] + values) + "):\n    "
                     + "\n    ".join(body) + f"\n    tracea.yield {last} : {result}\n  }}")
    lines = []
    sizes = []
    if unknown:
        lines.append("%one = arith.constant 1 : index")
    for at, dim in enumerate(case.in_layout(*"nhwc")):
        if dim not in case.dynamic:
            continue
        if dim == "c":
            lines.append(f"%size{at} = arith.constant {case.k} : index")
            sizes.append(f"%size{at}")
            continue
        lines += [f"%at{at} = arith.constant {at} : index", f"%from{at} = tensor.dim %x, %at{at} : {image}"]
        if dim != "n":
            axis = "hw".index(dim)
            reach = ((case.r, case.s)[axis] - 1) * case.dilations[axis] + 1
            lines += [f"%more{at} = arith.constant {case.pads[axis] + case.pads[axis + 2] - reach} : index",
                      f"%stride{at} = arith.constant {case.strides[axis]} : index",
                      f"%room{at} = arith.addi %from{at}, %more{at} : index",
                      f"%last{at} = arith.floordivsi %room{at}, %stride{at} : index",
                      f"%size{at} = arith.addi %last{at}, %one : index"]
        sizes.append(f"%size{at}" if dim != "n" else f"%from{at}")
    lines.append(f"%d = tensor.empty({', '.join(sizes)}) : {out}")
    groups = f" groups {case.groups}" if case.groups > 1 else ""
    schedule = f" schedule {case.schedule}" if case.schedule else ""
    lines.append(f"%y = tracea.{name} layout {case.layout} filter {case.filter} strides {list(case.strides)} "
                 f"pads {list(case.pads)} dilations {list(case.dilations)}{groups} "
                 f"ins(%x, %w : {image}, {weights}) outs(%d : {out}){schedule}{epilogue}")
    lines.append(f"return %y : {out}")
    attributes = f" attributes {{tracea.allow_{case.allow}}}" if case.allow else ""
    return f"func.func @main({', '.join(arguments)}) -> {out}{attributes} {{\n  " + "\n  ".join(lines) + "\n}\n"
