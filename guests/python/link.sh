# The guest layer: shim and bootstrap, linked with the layers below. Sourced by
# recipe.sh; make_guest runs in the new layer's directory.

make_guest() {
	step "compile the shim, freeze the bootstrap, link" link_guest
	if [ "$fast" = 1 ]; then
		step "skip the optimiser (MAYFLY_GUEST_FAST)" cp "$work/linked.wasm" python.wasm
	else
		step "optimise with wasm-opt" optimise_guest
	fi
	step "check, compress, describe" describe_guest
}

link_guest() {
	local file objects=()
	guest_python "$here/freeze/freeze.py" pack "$work/bootstrap" - "$here/bootstrap"
	guest_python "$here/freeze/freeze.py" table "$work/table.c" "$stdlib_dir/zones" "$packages_dir/packages" "$packages_dir/files" \
		"$stdlib_dir/stdlib" "$work/bootstrap"
	for file in "$guests"/shim/*.c "$here"/shim/*.c "$here/freeze/frozen.c" "$work/table.c"; do
		wasm_cc "$base_dir" -std=gnu23 -Wall -Wextra -Wno-unused-parameter -Werror $CFLAGS_SHIM $emulation -ffile-prefix-map="$guests=." \
			-ffile-prefix-map="$work=." -I"$guests/shim" -I"$here/shim" -I"$here/freeze" -isystem "$base_dir/include" -isystem "$base_dir/include/internal" \
			-c "$file" -o "$work/$(basename "$file" .c).o"
		objects+=("$work/$(basename "$file" .c).o")
	done
	wasm_cc "$base_dir" -mexec-model=reactor --no-wasm-opt -o "$work/linked.wasm" "${objects[@]}" \
		"$base_dir"/lib/{libpython3.13,libHacl_Hash_SHA2,libmpdec,libexpat,libsqlite3,libz,libbz2,liblzma}.a \
		-ldl -lm -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -lwasi-emulated-mman \
		$LDFLAGS -Wl,--export=__stack_pointer -Wl,--strip-all
}

# The features that clang's default uses; the list of them in the module is
# stripped with the names.
wasm_features="--enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int
	--enable-mutable-globals --enable-multivalue --enable-reference-types"

optimise_guest() {
	"$base_dir/native/wasm-opt" $WASM_OPT $wasm_features "$work/linked.wasm" -o python.wasm
}

describe_guest() {
	local level=19 # in two parts, so that two processors share the work
	[ "$fast" = 0 ] || level=3
	zstd -q -$level --no-progress -T2 -B9000000 python.wasm -o python.wasm.zst
	describe python Python -build "$(guest_key)" -optimised="$((1 - fast))" \
		-native-modules "$base_dir/modules.txt" -frozen-modules "$stdlib_dir/stdlib.idx" -time-zones "$stdlib_dir/zones.idx" \
		-packages "$here/packages/packages.tsv" \
		-component "CPython=$PYTHON_SOURCE" -component "SQLite=$SQLITE_SOURCE" -component "bzip2=$BZIP2_VERSION" \
		-component "tzdata=$TZDATA_VERSION" -component "wasi-libc=$WASI_LIBC_VERSION" -component "xz=$XZ_VERSION" \
		-component "zlib=$ZLIB_VERSION" -flag "CFLAGS_EVAL=$CFLAGS_EVAL" -flag "CFLAGS_CPYTHON=$CFLAGS_CPYTHON" \
		-flag "CFLAGS_SQLITE=$CFLAGS_SQLITE" -flag "CFLAGS_LIBS=$CFLAGS_LIBS" -flag "CFLAGS_SHIM=$CFLAGS_SHIM" \
		-flag "LDFLAGS=$LDFLAGS" -flag "WASM_OPT=$WASM_OPT"
	rm python.wasm
}
