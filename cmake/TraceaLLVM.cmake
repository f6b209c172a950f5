# Finds LLVM and MLIR 22, and decides between the shared libraries (development)
# and static linking (release).
if(NOT MLIR_DIR)
  find_program(TRACEA_LLVM_CONFIG NAMES llvm-config-22)
  if(TRACEA_LLVM_CONFIG)
    execute_process(COMMAND ${TRACEA_LLVM_CONFIG} --cmakedir
                    OUTPUT_VARIABLE _llvm_cmakedir OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(MLIR_DIR "${_llvm_cmakedir}/../mlir")
    set(LLVM_DIR "${_llvm_cmakedir}")
  endif()
endif()
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Tracea needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()

# The linker as a library (see lib/Target/CPU/Link.cpp).
find_package(LLD REQUIRED CONFIG HINTS "${LLVM_DIR}/../lld")

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(_tracea_llvm_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
