//===- TraceaPipeInterface.td - What a launch knows -------*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEINTERFACE_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEINTERFACE_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.td"

def TraceaPipe_TensorMapAttr : TraceaPipe_Attr<"TensorMap", "tensor_map"> {
  let summary = "How a launch makes the tensor map of an argument";
  let description = [{
    A tensor map describes the memref `argument` to a copy unit, which moves
    boxes of it. Dimension i of the map (0 is the contiguous one) has the extent
    and the stride of dimension `dims[i]` of the argument, and boxes of `box[i]`
    elements of type `element`. `swizzle` is the width in bytes of the swizzled
    rows, 0 for none; `tf32` asks for elements rounded to TF32. What lies
    outside is read as zero, and not written. A launch is possible where the
    address and the strides of all dimensions but the contiguous one are
    multiples of 16 bytes; where something is `written`, the contiguous extent
    as well. Neighbours in a box are `steps` apart in memory, one for each
    dimension; none are ones.

    With corners the map is one for im2col mode: the outermost dimension counts
    images, the ones in between are the image's, and a box is so many channels
    of so many pixels. Pixels follow each other in row-major order, `steps`
    apart, from `lower` to as far from the image's last pixel as `upper` says
    (both may be negative), in the next image from `lower` again. Offsets that a
    copy gives, none of them negative, are added to all its pixels.
    ```mlir
    #tracea_pipe.tensor_map<argument = 0, element = bf16, dims = [1, 0],
                            box = [64, 128], swizzle = 128>
    // The taps of a window of 3 by 3, with a border of one and a stride of 2,
    // of images of 56 by 56.
    #tracea_pipe.tensor_map<argument = 0, element = bf16, dims = [3, 2, 1, 0],
                            box = [64, 128], steps = [1, 2, 2, 1],
                            lower = [-1, -1], upper = [-2, -2], swizzle = 128>
    ```
  }];
  let parameters = (ins
    "int64_t":$argument, "::mlir::Type":$element,
    ArrayRefParameter<"int64_t", "dimensions of the argument">:$dims,
    ArrayRefParameter<"int64_t", "elements of a box">:$box,
    OptionalArrayRefParameter<"int64_t", "elements in memory">:$steps,
    OptionalArrayRefParameter<"int64_t", "corners of im2col mode">:$lower,
    OptionalArrayRefParameter<"int64_t", "corners of im2col mode">:$upper,
    DefaultValuedParameter<"int64_t", "0", "bytes of a swizzled row">:$swizzle,
    DefaultValuedParameter<"bool", "false">:$tf32,
    DefaultValuedParameter<"bool", "false">:$written
  );
  let assemblyFormat = [{
    `<` struct($argument, $element, custom<Integers>($dims),
               custom<Integers>($box), custom<Integers>($steps),
               custom<Integers>($lower), custom<Integers>($upper), $swizzle, $tf32, $written) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isIm2col() const { return !getLower().empty(); }
    /// How many elements further the neighbour in a box is, along dimension
    /// `dim` of the map.
    int64_t getStep(unsigned dim) const {
      return getSteps().empty() ? 1 : getSteps()[dim];
    }
    /// Bytes that one copy through the map moves.
    int64_t getBoxBytes() const;
  }];
}

def TraceaPipe_KernelInterfaceAttr : TraceaPipe_Attr<"KernelInterface", "interface"> {
  let summary = "What a launch of a lowered kernel knows of it";
  let description = [{
    The function of a kernel for a GPU carries it as `tracea_pipe.interface`. A
    memref among the `arguments` of the kernel is a pointer and its dynamic
    extents, an index an integer; one parameter for each of the tensor `maps`
    follows. Memory, and each run of its last dimension, begins at multiples of
    the bytes that an argument is `aligned` to. A workgroup has `threads`, and
    `shared` bytes of memory; `cluster` workgroups with numbers in a row run at
    the same time. A kernel that `waits` touches no memory of the caller before
    the launches before its own have ended, so that it may begin earlier.

    Behind the tensor maps stand two integers for each of the `divisors`, by
    which lanes divide: the multiplier and the shift that the host makes of it.
    The symbols of this map are the parameters in front of them, of which a
    divisor takes those that are numbers.

    A kernel with `assertions`, here their texts, takes one pointer more, behind
    all others: to its record of three words for each of them, which hold zeros.
    Where one fails the first word becomes 1; the second the greatest number
    that was found, the third the complement of the least that it was compared
    with, both taken as numbers without a sign.
    ```mlir
    #tracea_pipe.interface<(memref<?x?xbf16> aligned 16, index), threads = 384,
                           shared = 65536, waits = true>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Type">:$arguments,
    ArrayRefParameter<"int64_t", "bytes, by argument">:$aligned,
    "int64_t":$threads,
    DefaultValuedParameter<"int64_t", "1", "workgroups of a cluster">:$cluster,
    DefaultValuedParameter<"int64_t", "0", "bytes of a workgroup">:$shared,
    OptionalArrayRefParameter<"::mlir::tracea_pipe::TensorMapAttr">:$maps,
    DefaultValuedParameter<"bool", "false">:$waits,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$assertions,
    OptionalParameter<"::mlir::AffineMapAttr">:$divisors
  );
  let assemblyFormat = [{
    `<` custom<Arguments>($arguments, $aligned) `,`
        struct($threads, $cluster, $shared, custom<TensorMaps>($maps), $waits,
               custom<Assertions>($assertions), $divisors) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Parameters of the function, and the number of the first tensor map's.
    unsigned getNumParameters() const { 
      return getFirstMap() + getMaps().size() + 2 * getNumDivisors() +
             !getAssertions().empty();
    }
    unsigned getNumDivisors() const {
      return getDivisors() ? getDivisors().getValue().getNumResults() : 0;
    }
    unsigned getFirstMap() const;
    /// The tensor map of a parameter; null where it is another.
    TensorMapAttr getMapOf(unsigned parameter) const;
  }];
}

#endif
