#!/bin/sh
# Runs Debian's wasm-opt, unpacked beside this file, through its own loader.
usr=$(dirname "$(readlink -f "$0")")/usr
lib=$usr/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/binaryen" "$usr/bin/wasm-opt" "$@"
