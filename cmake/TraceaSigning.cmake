# Ed25519 for signed programs comes from OpenSSL's libcrypto, the runtime's one
# dependency that is a library. A runtime without it refuses signed programs and
# is the same otherwise. Sets TRACEA_HAS_SIGNING.
set(TRACEA_HAS_SIGNING OFF)
if(TRACEA_SIGNING)
  # Tools to carry to other machines carry it along.
  if(TRACEA_STATIC)
    set(OPENSSL_USE_STATIC_LIBS ON)
  endif()
  # 3.0 is the first under the Apache License.
  find_package(OpenSSL 3.0 COMPONENTS Crypto)
  if(OpenSSL_FOUND)
    set(TRACEA_HAS_SIGNING ON)
  elseif(TRACEA_SIGNING STREQUAL "AUTO")
    message(WARNING "OpenSSL 3 was not found (libssl-dev): this build can neither "
                    "sign programs nor run signed ones. TRACEA_SIGNING=OFF says "
                    "that this is meant.")
  else()
    message(FATAL_ERROR "TRACEA_SIGNING=${TRACEA_SIGNING}: OpenSSL 3 was not found (libssl-dev)")
  endif()
endif()
