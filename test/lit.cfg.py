# The regression test suite. lit.site.cfg.py in the build folder fills in the
# paths and loads this file.
#
# Environment:
#   TRACEA_TEST_ROUNDTRIP=1   every tracea-opt run also prints its input, parses
#                             it back and compares the two.

import os
import shutil
import subprocess

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import FindTool, ToolSubst

config.name = "Tracea"
# Always lit's own shell: no test depends on the system's /bin/sh.
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tracea_obj_root, "test")

# Inputs are read by tests; the ONNX node tests have a runner of their own.
config.excludes = ["Inputs", "ONNX", "CMakeLists.txt"]

tool_dirs = [config.tracea_tools_dir, config.llvm_tools_dir]
for directory in reversed(tool_dirs):
    llvm_config.with_environment("PATH", directory, append_path=True)

llvm_config.use_default_substitutions()

opt_args = []
if os.environ.get("TRACEA_TEST_ROUNDTRIP", "0") not in ("", "0"):
    opt_args.append("--verify-roundtrip")

# Only a command word is a tool: `x.tracea`, `tracea.gemm`, `"tracea"` and
# `--tracea-...` stay as they are. A tool that was not built is left to fail in
# the test that names it.
not_before = ".-^/\\<\"'=:"
tools = [
    ToolSubst(
        "tracea-opt", extra_args=opt_args, pre=not_before, unresolved="ignore"
    )
]
for name in ("tracea-test-opt", "tracea-edit-program", "tracea-translate", "tracea-reduce", "tracea-lsp-server", "tracea-run", "tracea"):
    tools.append(ToolSubst(name, pre=not_before, post="-.=:", unresolved="ignore"))
for name in ("split-file", "mlir-opt"):
    tools.append(ToolSubst(name, pre=not_before, unresolved="ignore"))
llvm_config.add_tool_substitutions(tools, tool_dirs)
config.substitutions.append(("%tracea_src", config.tracea_src_root))
config.substitutions.append(("%tracea_obj", config.tracea_obj_root))
# Libraries that tools load need tools with LLVM as a shared library.
if os.path.exists(os.path.join(config.tracea_obj_root, "lib", "libHeldRows.so")):
    config.available_features.add("plugins")
# What a kernel at the pipeline level has to pass, and what it has to pass on a
# target of any size.
for name, proofs in (
    ("%kernel_proofs", ("protocol", "banks", "coverage", "resources")),
    ("%kernel_order", ("protocol", "banks", "coverage")),
):
    passes = ("tracea-verify-%s{require-proof=true}" % proof for proof in proofs)
    config.substitutions.append(
        (name, "builtin.module(tracea_pipe.kernel(%s))" % ",".join(passes))
    )

# Features for REQUIRES and UNSUPPORTED lines.
config.available_features.add(config.host_arch)
# Whether the build has libcrypto.
if config.tracea_has_signing:
    config.available_features.add("signing")
# Where PTX is assembled for: as `findCUDAAssembler` looks for it.
if any(
    shutil.which("ptxas", path=path)
    for path in (None, "/usr/local/cuda/bin")
    + tuple(
        os.path.join(os.environ[name], "bin")
        for name in ("CUDA_HOME", "CUDA_PATH")
        if name in os.environ
    )
):
    config.available_features.add("ptxas")
# The driver library of the CUDA tests, which runs no kernel of ours but reads
# them as a driver does.
fake_cuda = os.path.join(config.tracea_obj_root, "lib", "libTraceaFakeCUDA.so")
if os.path.exists(fake_cuda):
    config.available_features.add("fake-cuda")
config.substitutions.append(("%fake_cuda", fake_cuda))
for sanitizer in config.tracea_sanitize.split(","):
    if sanitizer:
        config.available_features.add("sanitize-" + sanitizer)
if os.path.exists("/proc/cpuinfo"):
    with open("/proc/cpuinfo") as cpuinfo:
        for line in cpuinfo:
            if line.startswith(("flags", "Features")):
                config.available_features.update(
                    "cpu-" + flag for flag in line.split(":", 1)[1].split()
                )
                break

# Debug output exists where assertions do; tracea-opt has the option then.
opt = os.path.join(config.tracea_tools_dir, "tracea-opt")
if os.path.exists(opt) and "--debug-only" in subprocess.run([opt, "--help-hidden"], capture_output=True, text=True).stdout:
    config.available_features.add("asserts")
