# Warnings, sanitizers and link flags common to every target of the project.
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-unknown-warning-option)
  # Keeps ccache's hits across rebuilds of the precompiled header.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Xclang> $<$<COMPILE_LANGUAGE:CXX>:-fno-pch-timestamp>)
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

if(TRACEA_SANITIZE)
  add_compile_options(-fsanitize=${TRACEA_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TRACEA_SANITIZE})
  # The plain LLVM libraries carry no RTTI for the classes that the vptr check walks.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND TRACEA_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()

# Fuzzers of the compiler steer by the coverage of the compiler's own code.
if(TRACEA_BUILD_FUZZERS AND TRACEA_BUILD_COMPILER)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
