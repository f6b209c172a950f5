//===- TraceaInterfaces.td - What passes may ask of a semantic operation -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAINTERFACES_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tracea_ScheduledOpInterface : OpInterface<"ScheduledOpInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    An operation that the decision level attaches a schedule to. The schedule
    is an inherent attribute, so that no rewrite drops it silently.
  }];
  let methods = [
    InterfaceMethod<"The schedule, or null before the decision level.",
      "::mlir::tracea::ScheduleAttr", "getScheduleAttr">,
    InterfaceMethod<"Sets the schedule.", "void", "setScheduleAttr",
      (ins "::mlir::tracea::ScheduleAttr":$schedule)>
  ];
}

/// Kernels of the operation that multiply say which elements they multiply
/// (`#tracea_pipe.definition`): one that does not has lost it.
def Tracea_DefinesSums : NativeOpTrait<"DefinesSums"> {
  let cppNamespace = "::mlir::tracea";
}

def Tracea_EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    An operation with a scalar epilogue: a region that maps the accumulator and
    one scalar of each extra operand to the scalar stored. Extra operands are
    indexed by an affine map from the result's dimensions. An empty region
    stands for the conversion of the accumulator to the result's element type.

    An operation may have auxiliary results beside the first: the region yields
    one more scalar for each. An auxiliary result has a destination, an affine
    map from the first result's dimensions to its own, and the kind of the
    reduction over the dimensions that it lacks.
  }];
  let verifyWithRegions = 1;
  let verify = [{ return ::mlir::tracea::detail::verifyEpilogue($_op); }];
  let methods = [
    InterfaceMethod<"The region; may be empty.", "::mlir::Region &", "getEpilogue">,
    InterfaceMethod<"The extra operands.", "::mlir::Operation::operand_range", "getExtras">,
    InterfaceMethod<"The extra operands, to be changed.",
      "::mlir::MutableOperandRange", "getExtrasMutable">,
    InterfaceMethod<"One affine map per extra operand.", "::mlir::ArrayAttr",
      "getEpilogueMaps">,
    InterfaceMethod<"Sets the maps.", "void", "setEpilogueMapsAttr",
      (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"The type of the accumulator, the region's first argument.",
      "::mlir::Type", "getAccumulatorType">,
    InterfaceMethod<"The result that the epilogue writes.", "::mlir::Value",
      "getEpilogueResult">,
    InterfaceMethod<"The destination operand of that result.",
      "::mlir::OpOperand &", "getEpilogueInit">,
    InterfaceMethod<"The auxiliary results.", "::mlir::ResultRange",
      "getAuxResults", (ins), /*methodBody=*/"", /*defaultImplementation=*/[{
        return $_op->getResults().drop_front($_op->getNumResults());
      }]>,
    InterfaceMethod<"The destinations of the auxiliary results.",
      "::mlir::MutableOperandRange", "getAuxInitsMutable", (ins), "", [{
        return ::mlir::MutableOperandRange($_op.getOperation(), 0, 0);
      }]>,
    InterfaceMethod<"One affine map per auxiliary result.", "::mlir::ArrayAttr",
      "getAuxMaps", (ins), "", [{
        return ::mlir::ArrayAttr::get($_op->getContext(), {});
      }]>,
    InterfaceMethod<"One kind of reduction per auxiliary result.",
      "::mlir::ArrayAttr", "getAuxKinds", (ins), "", [{
        return ::mlir::ArrayAttr::get($_op->getContext(), {});
      }]>
  ];
}

def Tracea_ConvolutionOpInterface : OpInterface<"ConvolutionOpInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    A convolution of images by a filter, or the gradient of one: all three speak
    of the same images, filter and output, and each computes another of them
    from the other two.
  }];
  let methods = [
    InterfaceMethod<"The order of the dimensions of images and outputs.",
      "::mlir::tracea::ImageLayout", "getLayout">,
    InterfaceMethod<"The order of the dimensions of the filter.",
      "::mlir::tracea::FilterLayout", "getFilterLayout">,
    InterfaceMethod<"Of height and width.", "::llvm::ArrayRef<int64_t>",
      "getStrides">,
    InterfaceMethod<"Zeros at the top, left, bottom and right of the image.",
      "::llvm::ArrayRef<int64_t>", "getPads">,
    InterfaceMethod<"Of height and width.", "::llvm::ArrayRef<int64_t>",
      "getDilations">,
    InterfaceMethod<"The number of groups.", "uint64_t", "getGroups">,
    InterfaceMethod<"What takes which part in the convolution.",
      "::mlir::tracea::ConvolutionParts", "getParts">
  ];
  let extraSharedClassDeclaration = [{
    /// Positions of n, h, w, c in the image and the output.
    unsigned getBatchDim() { return 0; }
    unsigned getHeightDim() {
      return $_op.getLayout() == ::mlir::tracea::ImageLayout::NHWC ? 1 : 2;
    }
    unsigned getWidthDim() {
      return $_op.getLayout() == ::mlir::tracea::ImageLayout::NHWC ? 2 : 3;
    }
    unsigned getChannelDim() {
      return $_op.getLayout() == ::mlir::tracea::ImageLayout::NHWC ? 3 : 1;
    }
    /// Positions of k, r, s, c in the filter.
    unsigned getFilterOutDim() {
      return ::mlir::tracea::detail::getFilterDim($_op.getFilterLayout(), 0);
    }
    unsigned getFilterHeightDim() {
      return ::mlir::tracea::detail::getFilterDim($_op.getFilterLayout(), 1);
    }
    unsigned getFilterWidthDim() {
      return ::mlir::tracea::detail::getFilterDim($_op.getFilterLayout(), 2);
    }
    unsigned getFilterInDim() {
      return ::mlir::tracea::detail::getFilterDim($_op.getFilterLayout(), 3);
    }
  }];
}

def Tracea_AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    Attention, or a gradient of it: all of them weigh the same keys by the same
    scores, under the same masks.
  }];
  let methods = [
    InterfaceMethod<"[b, h, i, d]", "::mlir::Value", "getQuery">,
    InterfaceMethod<"[b, g, j, d]", "::mlir::Value", "getKey">,
    InterfaceMethod<"[b, g, j, e]", "::mlir::Value", "getValue">,
    InterfaceMethod<"Which blocks of keys are shown to which of queries; may be null.",
      "::mlir::Value", "getBlockMask">,
    InterfaceMethod<"How many keys each batch has; may be null.",
      "::mlir::Value", "getLengths">,
    InterfaceMethod<"The scale, where one is given.",
      "::std::optional<::llvm::APFloat>", "getScale">,
    InterfaceMethod<"Whether keys behind a query's place are masked.", "bool",
      "getCausal">,
    InterfaceMethod<"How many keys before and behind its place a query sees.",
      "::std::optional<::llvm::ArrayRef<int64_t>>", "getWindow">,
    InterfaceMethod<"Queries and keys of a block of the block mask.",
      "::std::optional<::llvm::ArrayRef<int64_t>>", "getBlockSize">,
    InterfaceMethod<"The type of sums, where one is given.",
      "::std::optional<::mlir::Type>", "getAcc">
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::Type getAccumulatorType() {
      return ::mlir::tracea::detail::getAccumulatorOf($_op.getAcc(),
                                                      $_op.getQuery());
    }
    /// The given scale, or 1/sqrt(d); nothing when d is dynamic and no scale is given.
    std::optional<double> getStaticScale() {
      return ::mlir::tracea::detail::getAttentionScale(
          $_op.getScale(), $_op.getQuery(), $_op.getKey());
    }
  }];
}

def Tracea_RowOpInterface : OpInterface<"RowOpInterface"> {
  let cppNamespace = "::mlir::tracea";
  let description = [{
    An operation that reduces rows of its input, the elements of which may have
    a scalar prologue: a region that maps the input's element and one scalar of
    each operand of the prologue to the element of the row. An operand is
    indexed by an affine map from the input's dimensions. What else the region
    yields is kept: results of the input's shape. An empty region stands for the
    input as it is.

    Behind the epilogue there may be a finish: a region that maps what the
    epilogue yields of an element, and what the row's further values come to, to
    the result, and to results that a row has one element of each.
  }];
  let verifyWithRegions = 1;
  let verify = [{
    if (::mlir::failed(::mlir::tracea::detail::verifyPrologue($_op)))
      return ::mlir::failure();
    return ::mlir::tracea::detail::verifyFinish($_op);
  }];
  let methods = [
    InterfaceMethod<"The input.", "::mlir::Value", "getInput">,
    InterfaceMethod<"The input, to be changed.", "::mlir::OpOperand &",
      "getInputMutable">,
    InterfaceMethod<"The region; may be empty.", "::mlir::Region &",
      "getPrologue">,
    InterfaceMethod<"The operands of the prologue.",
      "::mlir::Operation::operand_range", "getPrologueOperands">,
    InterfaceMethod<"The operands of the prologue, to be changed.",
      "::mlir::MutableOperandRange", "getPrologueOperandsMutable">,
    InterfaceMethod<"One affine map per operand.", "::mlir::ArrayAttr",
      "getPrologueMaps">,
    InterfaceMethod<"Sets the maps.", "void", "setPrologueMapsAttr",
      (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"The kept results.", "::mlir::ResultRange", "getKept">,
    InterfaceMethod<"The destinations of the kept results.",
      "::mlir::MutableOperandRange", "getKeptInitsMutable">,
    InterfaceMethod<"The region behind the epilogue; may be empty.",
      "::mlir::Region &", "getFinish">,
    InterfaceMethod<"How each further value of the epilogue is reduced.",
      "::mlir::ArrayAttr", "getFinishKinds">,
    InterfaceMethod<"Sets the kinds.", "void", "setFinishKindsAttr",
      (ins "::mlir::ArrayAttr":$kinds)>,
    InterfaceMethod<"The results that a row has one element of each.",
      "::mlir::ResultRange", "getRowResults">,
    InterfaceMethod<"Their destinations.", "::mlir::MutableOperandRange",
      "getRowInitsMutable">
  ];
}

#endif
