# How the JavaScript guest is built: two layers. Sourced by guests/build/main.sh.
#
#   js-base  QuickJS, compiled with what the shim needs of its inside; tools
#   js       shim and bootstrap, linked with that and optimised

build_guest() {
	fast=${MAYFLY_GUEST_FAST:-0}
	expect_layer js-base base_key 3
	expect_layer js guest_key 3

	layer js-base base_key make_base
	base_dir=$layer_dir
	layer js guest_key make_guest
	guest_dir=$layer_dir
}

base_key() {
	{
		toolchain_id
		printf '%s\n' "$CFLAGS_ENGINE"
	} | hash_of "$here/recipe.sh" "$here/versions.env" "$here/SHA256SUMS" "$here/engine" "$here/patches" "$here/wasm-opt.sh"
}

guest_key() {
	{
		base_key
		printf '%s\n' "$fast" "$CFLAGS_SHIM" "$LDFLAGS" "$WASM_OPT"
	} | hash_of "$here/exports.txt" "$here/shim" "$here/bootstrap" "$guests/shim" "$guests/build/describe/main.go" "$guests/build/describe/check.go"
}

# wasm_cc BASE ARGUMENT...: the compiler for the guest.
wasm_cc() {
	"clang-$toolchain_llvm" --target=wasm32-wasip1 --sysroot="$1/sysroot/usr" -D_GNU_SOURCE "${@:2}"
}

make_base() {
	base=$PWD
	step "fetch the sources and tools" fetch_inputs
	step "unpack and patch them" unpack_base
	step "compile QuickJS" compile_engine
}

unpack_base() {
	local package patch
	mkdir -p native sysroot lib include "$work/quickjs"
	for package in libc6 binaryen libstdc++6 libgcc-s1; do
		dpkg-deb -x "$(input "${package}_")" native
	done
	rm -rf native/usr/share native/etc
	install -m 755 "$here/wasm-opt.sh" native/wasm-opt
	dpkg-deb -x "$(input wasi-libc_)" sysroot
	rm -rf sysroot/usr/share
	tar -x -f "$(input quickjs-ng_)" -C "$work/quickjs" --strip-components=1 --no-same-owner
	for patch in "$here"/patches/*.patch; do
		patch -d "$work/quickjs" -p1 --no-backup-if-mismatch -s <"$patch"
	done
}

# compile_engine: without quickjs-libc.c, which is where the modules std and os
# would come from. The engine's own warnings are the engine's business.
compile_engine() {
	local file
	for file in dtoa libregexp libunicode; do
		wasm_cc "$base" $CFLAGS_ENGINE -w -ffile-prefix-map="$work=." -c "$work/quickjs/$file.c" -o "$work/$file.o"
	done
	wasm_cc "$base" $CFLAGS_ENGINE -w -ffile-prefix-map="$work=." -ffile-prefix-map="$here=." \
		-I"$work/quickjs" -I"$here/engine" -c "$here/engine/engine.c" -o "$work/engine.o"
	"llvm-ar-$toolchain_llvm" rcsD lib/libquickjs.a "$work"/{engine,dtoa,libregexp,libunicode}.o
	cp "$work"/quickjs/{quickjs,dtoa,cutils}.h "$here/engine/engine.h" include/
}

make_guest() {
	step "compile the shim, link" link_guest
	if [ "$fast" = 1 ]; then
		step "skip the optimiser (MAYFLY_GUEST_FAST)" cp "$work/linked.wasm" js.wasm
	else
		step "optimise with wasm-opt" optimise_guest
	fi
	step "check, compress, describe" describe_guest
}

link_guest() {
	local file objects=()
	for file in "$guests"/shim/*.c "$here"/shim/*.c; do
		wasm_cc "$base_dir" -std=gnu23 -Wall -Wextra -Wno-unused-parameter -Werror $CFLAGS_SHIM \
			-DLANGUAGE_VERSION="\"$LANGUAGE_VERSION\"" -ffile-prefix-map="$guests=." -ffile-prefix-map="$work=." \
			-I"$guests/shim" -I"$here/shim" --embed-dir="$here/bootstrap" -isystem "$base_dir/include" \
			-c "$file" -o "$work/$(basename "$file" .c).o"
		objects+=("$work/$(basename "$file" .c).o")
	done
	wasm_cc "$base_dir" -mexec-model=reactor --no-wasm-opt -o "$work/linked.wasm" "${objects[@]}" \
		"$base_dir/lib/libquickjs.a" -lm $LDFLAGS -Wl,--export=__stack_pointer -Wl,--strip-all
}

# The features that clang's default uses; the list of them in the module is
# stripped with the names.
wasm_features="--enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int
	--enable-mutable-globals --enable-multivalue --enable-reference-types"

optimise_guest() {
	"$base_dir/native/wasm-opt" $WASM_OPT $wasm_features "$work/linked.wasm" -o js.wasm
}

describe_guest() {
	local level=19
	[ "$fast" = 0 ] || level=3
	zstd -q -$level --no-progress js.wasm -o js.wasm.zst
	describe js JavaScript -build "$(guest_key)" -optimised="$((1 - fast))" \
		-component "QuickJS-ng=$LANGUAGE_VERSION" -component "wasi-libc=$WASI_LIBC_VERSION" \
		-flag "CFLAGS_ENGINE=$CFLAGS_ENGINE" -flag "CFLAGS_SHIM=$CFLAGS_SHIM" -flag "LDFLAGS=$LDFLAGS" -flag "WASM_OPT=$WASM_OPT"
	rm js.wasm
}
