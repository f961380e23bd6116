# The base layer: everything that does not depend on our own code. Sourced by
# recipe.sh; make_base runs in the new layer's directory.
#
#   lib/       archives for the guest     include/  headers of CPython
#   sysroot/   WASI's C library           native/   python and wasm-opt that run here
#   Lib/       CPython's standard library zoneinfo/ the time zone database
#   modules.txt  the modules that are written in C

make_base() {
	base=$PWD
	src=$work/src
	step "fetch the sources and tools" fetch_inputs
	step "unpack them and apply Debian's fixes" unpack_base
	step "configure CPython; compile SQLite, zlib, bzip2, xz" prepare_base
	step "compile CPython (the longest step)" compile_cpython
	step "collect what the next steps need" collect_base
}

unpack_base() {
	local package
	xz -d -c "$here/profile/python.profdata.xz" >"$work/python.profdata"
	mkdir -p native sysroot lib include "$src" "$work/tz"
	for package in python3.13-minimal libpython3.13-minimal libpython3.13-stdlib libc6 zlib1g libexpat1 \
		binaryen libstdc++6 libgcc-s1; do
		dpkg-deb -x "$(input "${package}_")" native
	done
	rm -rf native/usr/share native/etc native/usr/lib/binfmt.d
	install -m 755 "$here/cross/python.sh" native/python
	install -m 755 "$here/cross/wasm-opt.sh" native/wasm-opt
	dpkg-deb -x "$(input wasi-libc_)" sysroot
	rm -rf sysroot/usr/share
	dpkg-deb -x "$(input tzdata_)" "$work/tz"
	dpkg-deb -x "$(input tzdata-legacy_)" "$work/tz"

	unpack_source cpython "python3.13_$LANGUAGE_VERSION.orig"
	unpack_source sqlite "sqlite3_$SQLITE_VERSION.orig"
	unpack_source zlib "zlib_"
	unpack_source bzip2 "bzip2_$BZIP2_VERSION"
	unpack_source xz "xz-utils_$XZ_VERSION"
	apply_fixes cpython "python3.13_$PYTHON_SOURCE.debian"
	apply_fixes sqlite "sqlite3_$SQLITE_SOURCE.debian"
}

unpack_source() {
	mkdir "$src/$1"
	tar -x -f "$(input "$2")" -C "$src/$1" --strip-components=1 --no-same-owner
}

apply_fixes() {
	local fix
	mkdir "$src/$1-debian"
	tar -x -f "$(input "$2")" -C "$src/$1-debian" --strip-components=1 --no-same-owner
	grep -v '^#' "$here/patches/$1.txt" | while read -r fix; do
		patch -d "$src/$1" -p1 --no-backup-if-mismatch -s <"$src/$1-debian/patches/$fix"
	done
}

# prepare_base: configure is one process and mostly waits; the libraries are
# compiled beside it.
prepare_base() {
	local configure status=0
	configure_cpython >"$work/log/configure" 2>&1 &
	configure=$!
	compile_libraries
	wait "$configure" || status=$?
	cat "$work/log/configure"
	return "$status"
}

# with_profile prints flags for what is compiled by the recorded profile.
with_profile() {
	echo "$* $CFLAGS_PROFILE -fprofile-use=$work/python.profdata -ffile-prefix-map=$work=."
}

guest_cc() {
	wasm_cc "$base" -ffile-prefix-map="$work=." "$@"
}

archive() {
	rm -f "$1"
	"llvm-ar-$toolchain_llvm" rcsD "$@"
}

configure_cpython() {
	mkdir "$src/build"
	cd "$src/build"
	# The path of the sources is compiled in, so it is a relative one. Headers of
	# the libraries are found where they will be before anything is compiled.
	cpython_source=../cpython CONFIG_SITE=$here/cross/config.site \
		HOSTRUNNER=/bin/false PKG_CONFIG=/bin/false PKG_CONFIG_LIBDIR=/nonexistent \
		CC="clang-$toolchain_llvm --target=wasm32-wasip1 --sysroot=$base/sysroot/usr" \
		AR="llvm-ar-$toolchain_llvm" RANLIB="llvm-ranlib-$toolchain_llvm" \
		OPT="$CFLAGS_CPYTHON -ffile-prefix-map=$work=." LDFLAGS=--no-wasm-opt \
		ZLIB_CFLAGS="-I$src/zlib" ZLIB_LIBS=-lz \
		BZIP2_CFLAGS="-I$src/bzip2" BZIP2_LIBS=-lbz2 \
		LIBLZMA_CFLAGS="-I$src/xz/src/liblzma/api" LIBLZMA_LIBS=-llzma \
		LIBSQLITE3_CFLAGS="-I$base/include" LIBSQLITE3_LIBS=-lsqlite3 \
		../cpython/configure --host=wasm32-unknown-wasip1 --build=x86_64-pc-linux-gnu \
		--with-build-python="$base/native/python" --prefix=/usr \
		--disable-test-modules --without-ensurepip --disable-ipv6 \
		--with-pymalloc --without-mimalloc --enable-big-digits=30
}

compile_libraries() {
	local file object xz=$src/xz/src/liblzma
	mkdir -p "$work/o/zlib" "$work/o/bzip2" "$work/o/xz"
	compile_sqlite
	for file in adler32 crc32 deflate infback inffast inflate inftrees trees zutil compress uncompr; do
		guest_cc $CFLAGS_LIBS -c "$src/zlib/$file.c" -o "$work/o/zlib/$file.o"
	done
	archive lib/libz.a "$work"/o/zlib/*.o

	for file in blocksort huffman crctable randtable compress decompress bzlib; do
		guest_cc $CFLAGS_LIBS -DBZ_NO_STDIO -c "$src/bzip2/$file.c" -o "$work/o/bzip2/$file.o"
	done
	guest_cc $CFLAGS_LIBS -c "$here/cross/bz_internal_error.c" -o "$work/o/bzip2/internal_error.o"
	archive lib/libbz2.a "$work"/o/bzip2/*.o

	cp "$here/cross/xz-config.h" "$work/o/xz/config.h"
	for file in "$xz"/check/{check,crc32_fast,crc64_fast,sha256}.c \
		"$xz"/{common,delta,lz,lzma,rangecoder,simple}/*.c "$src/xz/src/common/tuklib_physmem.c"; do
		case $file in *_mt.c | *tablegen.c | */hardware_*.c | */outqueue.c | */tuklib_physmem.c) continue ;; esac
		object=${file#"$xz"/}
		object=${object%.c}
		guest_cc $CFLAGS_LIBS -DHAVE_CONFIG_H -I"$work/o/xz" -I"$xz/api" -I"$xz/common" -I"$xz/check" -I"$xz/lz" \
			-I"$xz/rangecoder" -I"$xz/lzma" -I"$xz/delta" -I"$xz/simple" -I"$src/xz/src/common" \
			-c "$file" -o "$work/o/xz/${object//\//_}.o"
	done
	archive lib/liblzma.a "$work"/o/xz/*.o
}

# compile_sqlite: no threads, no loadable extensions, no shared memory; files
# are private to a call, so they are not locked either.
compile_sqlite() {
	(
		cd "$src/sqlite"
		./configure
		make sqlite3.c
	)
	cp "$src/sqlite/sqlite3.h" "$src/sqlite/sqlite3ext.h" include/
	guest_cc $(with_profile $CFLAGS_SQLITE) $emulation \
		-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_WAL -DSQLITE_OMIT_SHARED_CACHE \
		-DSQLITE_TEMP_STORE=3 -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_DEFAULT_UNIX_VFS='"unix-none"' \
		-DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_DQS=0 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS \
		-c "$src/sqlite/sqlite3.c" -o "$work/o/sqlite3.o"
	archive lib/libsqlite3.a "$work/o/sqlite3.o"
}

# The archives of CPython; all but the first are prerequisites of its final
# link only, so they have to be named.
cpython_archives=(
	libpython3.13.a
	Modules/_hacl/libHacl_Hash_SHA2.a
	Modules/_decimal/libmpdec/libmpdec.a
	Modules/expat/libexpat.a
)

cpython_make() {
	make -C "$src/build" -f Makefile -f "$here/cross/eval.mk" \
		OPT="$(with_profile $CFLAGS_CPYTHON)" EVAL_OPT="$(with_profile $CFLAGS_EVAL)" ARFLAGS=rcsD "$@" "${cpython_archives[@]}"
}

compile_cpython() {
	cpython_make -n 2>/dev/null | grep -c -- ' -c ' >"$work/compilations"
	cpython_make -j "$jobs"
}

progress_compile_cpython() {
	[ -s "$work/compilations" ] || return 0
	echo ", $(grep -c -- ' -c ' "$1") of $(cat "$work/compilations") files"
}

collect_base() {
	local archive
	for archive in "${cpython_archives[@]}"; do
		cp "$src/build/$archive" lib/
	done
	cp -R "$src/cpython/Include/." include/
	cp "$src/build/pyconfig.h" include/
	sed -n 's/^MODBUILT_NAMES= *//p' "$src/build/Makefile" | tr -s ' ' '\n' | sort >modules.txt
	mkdir Lib
	tar -c -C "$src/cpython/Lib" --exclude=./test --exclude=./idlelib --exclude=./ensurepip \
		--exclude=./turtledemo --exclude=__pycache__ . | tar -x -C Lib --no-same-owner
	cp -RL "$work/tz/usr/share/zoneinfo" zoneinfo
	rm -rf zoneinfo/right zoneinfo/posix
}
