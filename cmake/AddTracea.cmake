# add_tracea_library(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...] [EXCEPTIONS])
#   One component library of the compiler. It sees LLVM and MLIR, shares the
#   project's precompiled header, and TraceaNAME is exported as
#   Tracea::NAME.
#   EXCEPTIONS opts out of -fno-exceptions and of the precompiled header.
#
# add_tracea_runtime_library(NAME sources... [LINK_LIBS libs...])
#   A library that may not see LLVM: the runtime and the plain C++ algebra.
#   Exported as Tracea::NAME in the part of the package that needs no LLVM.
#
# add_tracea_tool(NAME sources... [LINK_LIBS libs...] [EXCEPTIONS] [PLUGINS])
#   PLUGINS lets libraries that it loads use the compiler's symbols. A tool that
#   LLVM is linked into statically has only what it needs itself, and no plugins.
# add_tracea_unittest(NAME sources... [LINK_LIBS libs...] [COMPILER] [OPTIMIZED])
#   GoogleTest. COMPILER is for tests that include the compiler's headers,
#   OPTIMIZED for those that search for long.

# Installed tools find the LLVM libraries where the build found them.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Installed sets: what needs LLVM and what does not (see TraceaInstall.cmake).
set_property(GLOBAL PROPERTY TRACEA_EXPORTS "")
set_property(GLOBAL PROPERTY TRACEA_RUNTIME_EXPORTS "")

# TraceaFoo is Tracea::Foo, in the build as in the installed package.
function(tracea_set_public_name target)
  set(_public ${target})
  if(NOT target MATCHES "[a-z]To[A-Z]") # a conversion's name stays whole
    string(REGEX REPLACE "^Tracea" "" _public "${target}")
  endif()
  add_library(Tracea::${_public} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${_public})
endfunction()

function(tracea_compiler_settings target)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "" ${ARGN})
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}> $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(${target} PRIVATE ${_tracea_llvm_defs})
  if(NOT LLVM_ENABLE_ASSERTIONS)
    target_compile_options(${target} PRIVATE
      "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/LLVMStatistics.h")
  endif()
  get_target_property(_type ${target} TYPE)
  if(_type STREQUAL "EXECUTABLE" AND TRACEA_SANITIZE MATCHES "address")
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${target} PRIVATE -fno-exceptions)
    if(TRACEA_ENABLE_PCH AND NOT target STREQUAL "TraceaPCH")
      target_precompile_headers(${target} REUSE_FROM TraceaPCH)
      # The header was compiled with -fPIC; a program's own -fPIE would not match.
      if(_type STREQUAL "EXECUTABLE")
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(${target} PRIVATE -fPIC)
      endif()
    endif()
  endif()
endfunction()

# Most of the time that a source takes goes into headers' templates, which those
# compiled with it share.
function(tracea_unity_build target)
  if(TRACEA_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
      UNITY_BUILD_CODE_AFTER_INCLUDE "#undef DEBUG_TYPE")
  endif()
endfunction()

function(add_tracea_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  tracea_unity_build(${name})
  tracea_set_public_name(${name})
  if(ARG_EXCEPTIONS)
    tracea_compiler_settings(${name} EXCEPTIONS)
  else()
    tracea_compiler_settings(${name})
  endif()
  add_dependencies(${name} tracea-headers ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} tracea_mlir)
  set_property(GLOBAL APPEND PROPERTY TRACEA_EXPORTS ${name})
endfunction()

function(add_tracea_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  tracea_unity_build(${name})
  tracea_set_public_name(${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY TRACEA_RUNTIME_EXPORTS ${name})
endfunction()

function(add_tracea_tool name)
  cmake_parse_arguments(ARG "EXCEPTIONS;PLUGINS" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tracea_unity_build(${name})
  if(ARG_EXCEPTIONS)
    tracea_compiler_settings(${name} EXCEPTIONS)
  else()
    tracea_compiler_settings(${name})
  endif()
  add_dependencies(${name} tracea-headers)
  if(ARG_PLUGINS AND NOT TRACEA_STATIC)
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} tracea_mlir)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(add_tracea_unittest name)
  cmake_parse_arguments(ARG "COMPILER;OPTIMIZED" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tracea_unity_build(${name})
  if(ARG_COMPILER) # optimised, as the precompiled header is
    tracea_compiler_settings(${name})
    target_link_libraries(${name} PRIVATE tracea_mlir)
  elseif(ARG_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O2)
  else()
    # To optimise what runs once would double the time that it takes to compile.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main GTest::gmock)
  set_property(GLOBAL APPEND PROPERTY TRACEA_UNITTESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

if(TRACEA_BUILD_COMPILER)
  # What every compiler library links: the dylib pair, or the static closure.
  add_library(tracea_mlir INTERFACE)
  set_property(GLOBAL APPEND PROPERTY TRACEA_EXPORTS tracea_mlir)
  if(NOT TRACEA_STATIC)
    target_link_libraries(tracea_mlir INTERFACE MLIR LLVM)
  else()
    include(TraceaStaticLLVM)
    add_library(TraceaNoPolly STATIC ${PROJECT_SOURCE_DIR}/cmake/NoPolly.cpp)
    target_include_directories(TraceaNoPolly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
    set_property(GLOBAL APPEND PROPERTY TRACEA_EXPORTS TraceaNoPolly)
    target_link_libraries(tracea_mlir INTERFACE tracea_static_llvm TraceaNoPolly)
    # The tools carry the C++ runtime along as well, and no symbols.
    add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed -s)
  endif()
  if(TRACEA_ENABLE_PCH)
    add_library(TraceaPCH OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
    tracea_compiler_settings(TraceaPCH)
    add_dependencies(TraceaPCH tracea-headers)
    target_precompile_headers(TraceaPCH PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  endif()
endif()
