#!/usr/bin/env bash
# Packs the compiler for a machine that has a GPU and no LLVM: benchmarks/gpu/pack.sh [FOLDER]
#
# Writes FOLDER/libraries.tar.xz, which is made again only where a library is
# newer, and FOLDER/tools.tar.xz (default: build/gpu-pack). run.sh there unpacks
# them where it finds no compiler that runs. Together they take about 60 MB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/lib.sh
out=${1:-build/gpu-pack}
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/tracea-pack.XXXXXX")
trap 'rm -rf "$work"' EXIT
pack_tools "$work" "$out" tracea tracea-numerics

# The machine's own C library serves; it must not be older than this one.
mapfile -t libraries < <(ldd "$work"/bin/* | awk '/=> \//{print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread)\.so')
newest=$(ls -tL "${libraries[@]}" | head -1)
if [[ ! $out/libraries.tar.xz -nt $newest ]]; then
  echo 'packing libraries, which takes minutes' >&2
  mkdir "$work/lib"
  for library in "${libraries[@]}"; do
    # LLVM's reader of XML wants ICU, whose 30 MB of tables nothing here reads,
    # and its static analyser Z3, which nothing here calls. Who loads LLVM when
    # it runs has its names looked up at once.
    stub=''
    case $library in
      */libicudata.*) stub="const char icudt${library##*.}_dat[64];" ;;
      */libz3.*)
        stub=$(nm -D --undefined-only "${libraries[@]}" 2>/dev/null |
          sed -n 's/.* U \(Z3_[A-Za-z0-9_]*\)$/void \1(void) {}/p' | sort -u)
        ;;
    esac
    if [[ $stub ]]; then
      printf '%s\n' "$stub" >"$work/stub.c"
      clang-22 -shared -Wl,-soname,"${library##*/}" -o "$work/lib/${library##*/}" "$work/stub.c"
    else
      cp -L "$library" "$work/lib/"
    fi
  done
  tar -C "$work" -c lib | compress_code >"$work/libraries.tar.xz"
  mv "$work/libraries.tar.xz" "$out/"
fi
du -ch "$out"/*.tar.xz >&2
