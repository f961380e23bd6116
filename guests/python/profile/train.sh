#!/usr/bin/env bash
# Makes python.profdata.xz: builds an instrumented guest, runs it on the scripts
# in train/ and on the tests that CPython itself is profiled with, and keeps
# what was counted. train.sh [--cache DIR]
#
# To be run after a change of CPython, SQLite, clang or the scripts. Besides
# what a build needs it takes node (any WASI host would do) and a quarter of an
# hour. TESTS='' leaves CPython's tests out, TESTS='test_re test_json' takes those.
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC PYTHONHASHSEED=0
unset APT_CONFIG CC CXX CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CONFIG_SITE PYTHONHOME PYTHONPATH

cache=${MAYFLY_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mayfly}
[ "${1:-}" != --cache ] || cache=$2
guests=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
name=python
here=$guests/$name
store=$cache/guests
jobs=$(nproc)
for file in log toolchain cache fetch; do . "$guests/build/$file.sh"; done
. "$here/versions.env"
. "$here/flags.env"
. "$here/recipe.sh"
step_total=6

# The base layer as always, but counting instead of being compiled by what was
# counted. The flag is part of the layer's key.
CFLAGS_PROFILE="$CFLAGS_PROFILE -fprofile-generate"
with_profile() {
	echo "$* $CFLAGS_PROFILE -ffile-prefix-map=$work=."
}

# link_program FILE: the instrumented program.
link_program() {
	local file objects=$work/o
	mkdir "$objects"
	guest_python "$here/freeze/freeze.py" table "$work/table.c" "$stdlib_dir/zones" "$stdlib_dir/stdlib"
	for file in "$here"/profile/{main,write}.c "$here/freeze/frozen.c" "$work/table.c"; do
		wasm_cc "$base_dir" -std=gnu23 -O2 $emulation -I"$here/freeze" -isystem "$base_dir/include" -c "$file" \
			-o "$objects/$(basename "$file" .c).o"
	done
	wasm_cc "$base_dir" --no-wasm-opt -o "$1" "$objects"/*.o \
		"$base_dir"/lib/{libpython3.13,libHacl_Hash_SHA2,libmpdec,libexpat,libsqlite3,libz,libbz2,liblzma}.a \
		-ldl -lm -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -lwasi-emulated-mman \
		-Wl,--stack-first -Wl,-z,stack-size=8388608
}

# prepare_root DIR: what the program sees as its root directory.
prepare_root() {
	mkdir -p "$1/lib" "$1/tmp"
	cp -R "$here/profile/train" "$here/profile/train.py" "$1"
	tar -x -f "$(input "python3.13_$LANGUAGE_VERSION.orig")" -C "$1/lib" --strip-components=2 --no-same-owner \
		--wildcards '*/Lib/test/*'
}

toolchain_check
mkdir -p "$store"
refuse_shared "$store"
take_lock "$name"
layer python-base base_key make_base
base_dir=$layer_dir
layer python-stdlib stdlib_key make_stdlib
stdlib_dir=$layer_dir

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
link_program "$work/program.wasm"
prepare_root "$work/root"
tests=${TESTS-$(sed -n "s/^    '\(test_[a-z0-9_]*\)',$/\1/p" "$work/root/lib/test/libregrtest/pgo.py")}
say "run it"
# node's own limit is too low for the deep recursion in some of the tests.
ulimit -s unlimited 2>/dev/null || true
TESTS=$tests node --no-warnings --stack-size=60000 "$here/profile/run.mjs" "$work/program.wasm" "$work/root"
"llvm-profdata-$toolchain_llvm" merge -sparse "$work/root/guest.profraw" -o "$work/python.profdata"
"llvm-profdata-$toolchain_llvm" show "$work/python.profdata"
xz -9e -c "$work/python.profdata" >"$here/profile/python.profdata.xz"
say "$(stat -c %s "$here/profile/python.profdata.xz") bytes, in guests/python/profile/python.profdata.xz"
