//===- Passes.td - Proofs over kernels -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_PASSES_TD
#define TRACEA_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyProtocol : Pass<"tracea-verify-protocol", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prove the synchronisation of a kernel for every trip count";
  let description = [{
    Extracts from each role its channel operations, loops and branches, and
    decides for every trip count, zero and one included: no deadlock, no slot
    overwritten while it is read, no read of a slot that is not filled, no
    parity that is mistaken for another phase's, as many bytes copied as
    expected, as many arrivals as counted, nothing left at exit, channels
    initialised once (Rule A), static roles within their register budget
    (Rule B). A violation is an error at the operation, with the other places
    and a short run as notes. What is outside of the method is a warning that
    says why. A kernel that passes gets the certificate `protocol` in its
    attribute `tracea_pipe.certificates`, with the protocol as text. See
    docs/Proofs/Protocol.md.
  }];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel that is not decided is an error">,
    Option<"registerFile", "register-file", "int64_t", "65536",
           "Registers that the threads of a workgroup share">,
    Option<"threadsPerWarp", "threads-per-warp", "int64_t", "32",
           "Threads of a warp">,
    Option<"maxStates", "max-states", "int64_t", "200000",
           "Gives up beyond so many states">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels with channels">,
    Statistic<"numProved", "proved", "Kernels proved">,
    Statistic<"numStates", "states", "States of the searches">,
    Statistic<"numMicroseconds", "microseconds", "Time of the searches">
  ];
}

def VerifyTargetProtocol
    : Pass<"tracea-verify-target-protocol", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Prove the synchronisation of a lowered kernel";
  let description = [{
    The same proof as `tracea-verify-protocol`, of the kernel as it leaves the
    compiler: an `llvm.func` with `nvvm.kernel`, of nvvm, llvm, arith and scf,
    or of blocks and jumps, as it is translated to LLVM IR. Roles are read from
    branches on the thread's number, rings from the addresses of barriers and
    buffers in shared memory, slots and parities from the arithmetic that walks
    them, which is executed as it stands. Tensor maps
    do not say how many bytes they copy: the kernel's `#tracea_pipe.interface`
    does. What the kernel relies on, say at least one step along
    K, is an `llvm.intr.assume` at its top.

    A violation is an error at the operation, with the other places and a short
    run as notes. What is outside of the method is a warning that says why. A
    kernel that passes gets a certificate `target-protocol`. See
    docs/Proofs/Protocol.md.
  }];
  // Blocks become loops and branches, in a copy.
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel that is not decided is an error">,
    Option<"registerFile", "register-file", "int64_t", "65536",
           "Registers of a multiprocessor">,
    Option<"maxStates", "max-states", "int64_t", "200000",
           "Gives up beyond so many states">,
    Option<"printPrograms", "print-programs", "bool", "false",
           "Prints the recovered programs of roles">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels with barriers in shared memory">,
    Statistic<"numProved", "proved", "Kernels proved">,
    Statistic<"numStates", "states", "States of the searches">
  ];
}

def VerifyBanks : Pass<"tracea-verify-banks", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prove how many cycles accesses to staged memory take";
  let description = [{
    Each `tracea_pipe.load` and `tracea_pipe.store` of a register tile in staged
    memory is executed as instructions of the widest vector that registers,
    alignment and the buffer's swizzle allow, in phases of lanes that the
    target's table lists. Lanes that want different words of one bank in one
    phase wait for each other. The number of cycles a phase, the conflict
    degree, is decided exactly, for every register, every warp and every window
    that the indices may select: by rank over F2 where addresses are linear, by
    enumeration of one period of the swizzle where they are not (padded rows,
    extents that are no powers of two). Masks only remove lanes; a masked
    access is checked as if it had none.

    A degree above `max-degree` is an error at the operation, with a note at
    the buffer that names the lanes and the bank. What is outside of the method
    (dynamic strides, a target whose banks nobody knows) is a remark that says
    why. A kernel that passes gets the certificate `banks` in its attribute
    `tracea_pipe.certificates`, with its accesses as text. A CPU has no banks.
    How a matrix unit reads staged operands is up to the lowering; these are
    counted as well. See docs/Proofs/Banks.md.
  }];
  let options = [
    Option<"maxDegree", "max-degree", "int64_t", "1",
           "Cycles that a phase may take">,
    Option<"requireProof", "require-proof", "bool", "false",
           "An access that is not decided is an error">,
    Option<"maxAddresses", "max-addresses", "int64_t", "4194304",
           "Gives up on an access whose period has more addresses">
  ];
  let statistics = [
    Statistic<"numAccesses", "accesses", "Accesses of register tiles to banked memory">,
    Statistic<"numDecided", "decided", "Accesses whose degree is known">,
    Statistic<"numWithoutBanks", "without-banks", "Accesses on targets that have no banks">,
    Statistic<"numUnitOperands", "unit-operands", "Staged operands that matrix units read">
  ];
}

def VerifyCoverage : Pass<"tracea-verify-coverage", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prove that each element is written once and no access is out of bounds";
  let description = [{
    Extracts from a kernel who writes which element: tiles of the grid, teams,
    iterations and elements of register tiles, as expressions in the sizes that
    a launch brings. It decides for all sizes: every element of each memref that
    is stored to is written by exactly one tile, once in each iteration of loops
    that write everything again; every load, store, copy, prefetch and operand
    of a multiply is in bounds or masked; a multiply reads staged memory where a
    copy has filled it. What the host compares before a launch is known.

    A fault is an error at the operation, with sizes and an element for which it
    happens. What is outside of the method (indices from data, strides that are
    not static) is a remark that says why. A kernel that passes gets the
    certificate `coverage`. See docs/Proofs/Coverage.md.
  }];
  // Whether the operation that a kernel was made for defines its sums.
  let dependentDialects = ["::mlir::tracea::TraceaDialect"];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel that is not decided is an error">,
    Option<"maxMilliseconds", "max-milliseconds", "double", "1000",
           "Asks no new query of a problem after that time; 0: no limit">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels">,
    Statistic<"numProved", "proved", "Kernels proved">,
    Statistic<"numQueries", "queries", "Systems of inequalities">,
    Statistic<"numMicroseconds", "microseconds", "Time of the decisions">
  ];
}

def VerifyLaunches : Pass<"tracea-verify-launches", "::mlir::func::FuncOp"> {
  let summary = "Check that the host reads and returns what a launch has written";
  let description = [{
    Memory that a function allocates holds nothing until a launch has it under
    `outs`, or another operation writes it. A launch that has it under `ins`
    before, and a `return` of it, are errors with `require-proof` and warnings
    without. Windows count as the memory that they look into: whether launches
    that write parts of it together write all is not looked at. What a kernel
    does with its results is the matter of `tracea-verify-coverage`.
  }];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "Memory that nothing has written is an error">
  ];
}

def RequireProof : Pass<"tracea-require-proof", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Refuse kernels that lack a certificate";
  let description = [{
    An error for each certificate that the kernel lacks, with the reason that
    the check gave, where it gave one. A kernel that has changed since it was
    proved has none. Runs after the checks; changes nothing.
  }];
  let options = [
    ListOption<"checks", "checks", "std::string",
               "The certificates to ask for; all that the compiler makes if "
               "none is named">
  ];
}

def SolveSwizzle : Pass<"tracea-solve-swizzle", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Choose the cheapest swizzles that avoid bank conflicts";
  let description = [{
    Gives each staged buffer without a swizzle the one that lets all loads and
    stores of register tiles in it, and contiguous copies, run free of bank
    conflicts, with the least address arithmetic: fewest shifts, then fewest
    addresses that lanes keep, then fewest bits. When no swizzle can, a remark
    gives the proof, and the buffer gets the swizzle of the least total cycles.

    ```mlir
    %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged>
    ```
    written by rows and read as fragments becomes
    ```mlir
    %s = tracea_pipe.scratch
         : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
    ```

    A buffer is left alone, with a remark, when something else than tile
    operations uses it or when an access is not linear over F2. See
    docs/Proofs/Banks.md.
  }];
  let options = [
    Option<"maxCandidates", "max-candidates", "int64_t", "400000",
           "Swizzles that are tried for the least cost">
  ];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Staged buffers with accesses">,
    Statistic<"numSwizzled", "swizzled", "Buffers that got a swizzle">,
    Statistic<"numImpossible", "impossible", "Buffers for which none avoids conflicts">,
    Statistic<"numSkipped", "skipped", "Buffers left alone">
  ];
}

def VerifyResources : Pass<"tracea-verify-resources", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prove that a kernel fits its target";
  let description = [{
    Adds up what a kernel needs and compares it with the target's table: shared
    memory (the slots of its channels with their alignment, scratch tiles,
    barriers, what each team of a role has for itself), threads and warps,
    registers of live tiles in each role against its budget and against what the
    launch leaves, named barriers. On a CPU: the workspace, and the vectors that
    are alive at a time against those of the processor.

    An excess is an error that names what is needed, what there is and who needs
    most. A limit that nobody knows leaves the kernel undecided, with a remark.
    What fits but is slow (vectors that will be spilled) is a remark of the
    category `tracea-verify-resources`. A kernel that fits gets the certificate
    `resources`, whose model is enough to decide it again. See
    docs/Proofs/Resources.md.
  }];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel that is not decided is an error">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels">,
    Statistic<"numProved", "proved", "Kernels that fit">,
    Statistic<"numWarnings", "warnings", "Kernels, or roles, that fit but are slow">
  ];
}

def ClassifyNumerics : Pass<"tracea-classify-numerics", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Derive how an element is computed, and the class of equal bits";
  let description = [{
    Follows one element from the store that writes it back to the kernel's
    arguments, and writes down how it is computed: inputs at coordinates, the
    order of sums, where values are rounded, constants, choices by coordinates.
    Tiles, lanes, slots, roles, copies and the order of the grid do not occur in
    that normal form. Two kernels of one normal form compute the same bits for
    the same inputs, NaNs apart, whose sign and payload are nobody's; the class
    is a digest of it, in the certificate `numerics`, whose model is the normal
    form itself. Different classes may still compute the same bits.

    What is not understood leaves the kernel without a class, with a remark of
    the category `tracea-classify-numerics` that says why. See
    docs/Proofs/Numerics.md.
  }];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel without a class is an error">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels">,
    Statistic<"numClassified", "classified", "Kernels with a class">
  ];
}

#endif // TRACEA_ANALYSIS_PASSES_TD
