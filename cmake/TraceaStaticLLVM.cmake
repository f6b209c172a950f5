# Static LLVM and MLIR: tools that need no libLLVM or libMLIR where they run.
# Included by the project when TRACEA_STATIC is on, and by its package config
# when it was. Defines the imported target tracea_static_llvm.
#
# Debian's packages are configured for the shared libraries: the static MLIR and
# LLD targets still name the LLVM dylib. Linking both copies would register every
# command line option twice, so each mention of a dylib is replaced first.
#
# Everything static goes on the link line; an archive contributes only the
# members that something refers to.
if(TARGET tracea_static_llvm)
  return()
endif()

find_package(LLD REQUIRED CONFIG HINTS "${LLVM_DIR}/../lld")

# The static libraries among the targets given, less those that stand, directly
# or through others, on an imported target this machine does not have (LibEdit,
# CURL: nothing in a compiler needs them).
function(_tracea_static_archives out)
  set(archives)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND archives ${target})
      endif()
    endif()
  endforeach()
  set(changed TRUE)
  set(dropped)
  while(changed)
    set(changed FALSE)
    foreach(target IN LISTS archives)
      get_target_property(libs ${target} INTERFACE_LINK_LIBRARIES)
      string(REGEX MATCHALL "[A-Za-z0-9_]+::[A-Za-z0-9_]+|[A-Za-z0-9_]+" names "${libs}")
      foreach(name IN LISTS names)
        if((name MATCHES "::" AND NOT TARGET ${name}) OR name IN_LIST dropped)
          list(REMOVE_ITEM archives ${target})
          list(APPEND dropped ${target})
          set(changed TRUE)
          break()
        endif()
      endforeach()
    endforeach()
  endwhile()
  if(dropped)
    list(JOIN dropped ", " names)
    message(STATUS "Not linked, for want of a library they use: ${names}")
  endif()
  set(${out} "${archives}" PARENT_SCOPE)
endfunction()

# Link-time optimization would start Polly, which lives in a package of its own;
# TraceaNoPolly stands in for it (see cmake/NoPolly.cpp).
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)
set(_tracea_llvm_archives ${LLVM_AVAILABLE_LIBS})
# Exegesis is the inside of a measuring tool and wants libpfm.
list(FILTER _tracea_llvm_archives EXCLUDE REGEX "Polly|Exegesis")
_tracea_static_archives(_tracea_llvm_archives ${_tracea_llvm_archives})
_tracea_static_archives(_tracea_mlir_archives ${MLIR_EXPORTED_TARGETS})
_tracea_static_archives(_tracea_lld_archives ${LLD_EXPORTED_TARGETS})
# The C API repeats what the C++ libraries hold.
list(FILTER _tracea_mlir_archives EXCLUDE REGEX "^MLIRCAPI")

add_library(tracea_static_llvm_only INTERFACE IMPORTED)
set_target_properties(tracea_static_llvm_only PROPERTIES
  INTERFACE_LINK_LIBRARIES "${_tracea_llvm_archives}")

foreach(_target IN LISTS _tracea_mlir_archives _tracea_lld_archives)
  get_target_property(_libs ${_target} INTERFACE_LINK_LIBRARIES)
  if(_libs)
    list(TRANSFORM _libs REPLACE "^LLVM$" "tracea_static_llvm_only")
    list(TRANSFORM _libs REPLACE "LINK_ONLY:LLVM>" "LINK_ONLY:tracea_static_llvm_only>")
    list(TRANSFORM _libs REPLACE "^MLIR$" "MLIRTargetLLVMIRExport")
    list(TRANSFORM _libs REPLACE "LINK_ONLY:MLIR>" "LINK_ONLY:MLIRTargetLLVMIRExport>")
    set_target_properties(${_target} PROPERTIES INTERFACE_LINK_LIBRARIES "${_libs}")
  endif()
endforeach()

add_library(tracea_static_llvm INTERFACE IMPORTED)
set_target_properties(tracea_static_llvm PROPERTIES
  INTERFACE_LINK_LIBRARIES "${_tracea_mlir_archives};tracea_static_llvm_only")
unset(_tracea_llvm_archives)
unset(_tracea_mlir_archives)
unset(_tracea_lld_archives)
