# ninja tracea-doc: the reference pages of dialects and passes, generated from
# their TableGen definitions into build/<preset>/docs.
#
# A page fails to build when its definitions do not parse, so the target is part
# of the tests.
set(_tracea_doc_pages)

# tracea_doc_page(PAGE.md DEFINITIONS.td mlir-tblgen arguments...)
function(tracea_doc_page page definitions)
  set(output ${PROJECT_BINARY_DIR}/docs/${page})
  get_filename_component(directory ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(OUTPUT ${output}
    COMMAND mlir-tblgen ${ARGN} -I ${PROJECT_SOURCE_DIR}/include -I ${MLIR_INCLUDE_DIRS}
            ${PROJECT_SOURCE_DIR}/include/tracea/${definitions}
            -o ${output} -d ${output}.d
    DEPENDS ${PROJECT_SOURCE_DIR}/include/tracea/${definitions}
    DEPFILE ${output}.d
    COMMENT "Generating docs/${page}" VERBATIM)
  set(_tracea_doc_pages ${_tracea_doc_pages} ${output} PARENT_SCOPE)
endfunction()

tracea_doc_page(Dialects/Tracea.md Dialect/Tracea/IR/TraceaOps.td
  -gen-dialect-doc -dialect=tracea)
tracea_doc_page(Dialects/TraceaInterfaces.md Dialect/Tracea/IR/TraceaInterfaces.td
  -gen-op-interface-docs)
tracea_doc_page(Dialects/TraceaPipe.md Dialect/TraceaPipe/IR/TraceaPipeOps.td
  -gen-dialect-doc -dialect=tracea_pipe)
tracea_doc_page(Passes/Transforms.md Transforms/Passes.td -gen-pass-doc)
tracea_doc_page(Passes/Conversion.md Conversion/Passes.td -gen-pass-doc)
tracea_doc_page(Passes/Analysis.md Analysis/Passes.td -gen-pass-doc)
tracea_doc_page(Passes/Doctor.md Doctor/Passes.td -gen-pass-doc)
tracea_doc_page(Passes/TraceaPipe.md Dialect/TraceaPipe/Transforms/Passes.td
  -gen-pass-doc)

add_custom_target(tracea-doc DEPENDS ${_tracea_doc_pages})
