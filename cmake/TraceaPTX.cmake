# tracea_embed_ptx(TARGET NAME SOURCE CPU FEATURES)
#   Compiles a file of LLVM IR to PTX and adds it to TARGET as the function
#   tracea::runtime::test::NAME(). For tests and benchmarks of the CUDA driver.
#   TRACEA_LLC is the compiler; without one there are no such tests.
find_program(TRACEA_LLC NAMES llc-22 llc HINTS ${LLVM_TOOLS_BINARY_DIR}
  DOC "LLVM's static compiler, with the NVPTX target; for tests alone")
mark_as_advanced(TRACEA_LLC)

function(tracea_embed_ptx target NAME SOURCE cpu features)
  set(PTX ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.ptx)
  add_custom_command(OUTPUT ${PTX}
    COMMAND ${TRACEA_LLC} -O2 -mcpu=${cpu} -mattr=${features} ${SOURCE} -o ${PTX}
    DEPENDS ${SOURCE} VERBATIM)
  set(_cpp ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/unittests/Runtime/CUDA/EmbeddedPTX.cpp.in
    ${_cpp} @ONLY)
  set_source_files_properties(${_cpp} PROPERTIES OBJECT_DEPENDS ${PTX})
  target_sources(${target} PRIVATE ${_cpp} ${PTX})
endfunction()
