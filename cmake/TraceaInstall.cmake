# Installs the libraries, the headers and the package that
# find_package(Tracea) finds.
#
# Two export sets, so that a program that only runs ahead-of-time compiled
# kernels needs no LLVM on its machine:
#   TraceaRuntimeTargets    libraries made by add_tracea_runtime_library
#   TraceaCompilerTargets   libraries made by add_tracea_library
include(CMakePackageConfigHelpers)

set(_tracea_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Tracea")

get_property(_tracea_runtime GLOBAL PROPERTY TRACEA_RUNTIME_EXPORTS)
if(_tracea_runtime)
  install(TARGETS ${_tracea_runtime} EXPORT TraceaRuntimeTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT TraceaRuntimeTargets NAMESPACE Tracea::
          DESTINATION ${_tracea_package_dir})
endif()

get_property(_tracea_compiler GLOBAL PROPERTY TRACEA_EXPORTS)
if(_tracea_compiler)
  install(TARGETS ${_tracea_compiler} EXPORT TraceaCompilerTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT TraceaCompilerTargets NAMESPACE Tracea::
          DESTINATION ${_tracea_package_dir})
endif()

# The C interface: a shared library that needs nothing of the others, and the
# compiler that it loads.
install(TARGETS TraceaC EXPORT TraceaRuntimeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TRACEA_BUILD_COMPILER)
  install(TARGETS TraceaCompilerLibrary
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/include/tracea.h
              ${PROJECT_SOURCE_DIR}/include/tracea.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/tracea.pc.in
               ${PROJECT_BINARY_DIR}/tracea.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tracea.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Headers: written by hand and, for the dialects, generated. A runtime-only
# build carries what compiles without LLVM.
if(TRACEA_BUILD_COMPILER)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tracea
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/tracea
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
else()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tracea/Algebra
                    ${PROJECT_SOURCE_DIR}/include/tracea/Runtime
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tracea
          FILES_MATCHING PATTERN "*.h")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tracea/Analysis/Protocol
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tracea/Analysis
          FILES_MATCHING PATTERN "*.h")
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/TraceaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/TraceaConfig.cmake
  INSTALL_DESTINATION ${_tracea_package_dir})
# Before 1.0 a minor release may break its users.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/TraceaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TraceaConfig.cmake
              ${PROJECT_BINARY_DIR}/TraceaConfigVersion.cmake
        DESTINATION ${_tracea_package_dir})
if(TRACEA_BUILD_COMPILER AND TRACEA_STATIC)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/TraceaStaticLLVM.cmake
          DESTINATION ${_tracea_package_dir})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
