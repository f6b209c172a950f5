//===- Epilogue.h - Assembly of epilogues -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_DIALECT_TRACEA_IR_EPILOGUE_H
#define TRACEA_LIB_DIALECT_TRACEA_IR_EPILOGUE_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::tracea {

/// custom<Epilogue>: nothing for an empty region, otherwise
///   epilogue(%x by affine_map<...>, ... : type, ...) { ^bb0(...): ... }
/// with the parentheses left out when there is no extra operand.
ParseResult
parseEpilogue(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &extras,
              SmallVectorImpl<Type> &types, ArrayAttr &maps, Region &epilogue);
void printEpilogue(OpAsmPrinter &printer, Operation *op, OperandRange extras,
                   TypeRange types, ArrayAttr maps, Region &epilogue);

/// custom<Prologue>: the same with another keyword.
ParseResult
parsePrologue(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
              SmallVectorImpl<Type> &types, ArrayAttr &maps, Region &prologue);
void printPrologue(OpAsmPrinter &printer, Operation *op, OperandRange operands,
                   TypeRange types, ArrayAttr maps, Region &prologue);

/// custom<AuxResults>: nothing without auxiliary results, otherwise
///   aux(%x by affine_map<...>, add %y by affine_map<...>, ... : type, ...)
/// with the kind of the reduction before a destination that lacks dimensions.
ParseResult parseAuxResults(
    OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inits,
    SmallVectorImpl<Type> &types, ArrayAttr &maps, ArrayAttr &kinds);
void printAuxResults(OpAsmPrinter &printer, Operation *op, OperandRange inits,
                     TypeRange types, ArrayAttr maps, ArrayAttr kinds);

/// custom<Finish>: nothing for an empty region, otherwise
///   finish [max, add] { ^bb0(...): ... }
ParseResult parseFinish(OpAsmParser &parser, ArrayAttr &kinds, Region &finish);
void printFinish(OpAsmPrinter &printer, Operation *op, ArrayAttr kinds,
                 Region &finish);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DIALECT_TRACEA_IR_EPILOGUE_H
