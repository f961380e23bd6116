# How the Python guest is built: three layers, each from the one before.
# Sourced by guests/build/main.sh.
#
#   python-base    the sources, compiled: archives, headers, build tools
#   python-stdlib  the standard library and the time zones, frozen
#   python         shim and bootstrap, linked with both and optimised

. "$here/base.sh"
. "$here/stdlib.sh"
. "$here/link.sh"

build_guest() {
	local base_key stdlib_key guest_key fast=${MAYFLY_GUEST_FAST:-0}
	base_key=$(
		{
			toolchain_id
			printf '%s\n' "$CFLAGS_EVAL" "$CFLAGS_CPYTHON" "$CFLAGS_SQLITE" "$CFLAGS_LIBS"
		} | hash_of "$here/base.sh" "$here/versions.env" "$here/SHA256SUMS" "$here/cross" "$here/patches"
	)
	stdlib_key=$(hash_of "$here/stdlib.sh" "$here/freeze" <<<"$base_key")
	guest_key=$(
		printf '%s\n' "$stdlib_key" "$fast" "$CFLAGS_SHIM" "$LDFLAGS" "$WASM_OPT" |
			hash_of "$here/link.sh" "$here/describe.py" "$here/exports.txt" "$here/shim" "$here/bootstrap"
	)
	[ -d "$store/python-base-$base_key" ] || step_total=$((step_total + 5))
	[ -d "$store/python-stdlib-$stdlib_key" ] || step_total=$((step_total + 1))
	[ -d "$store/python-$guest_key" ] || step_total=$((step_total + 3))

	layer python-base "$base_key" make_base
	base_dir=$layer_dir
	layer python-stdlib "$stdlib_key" make_stdlib
	stdlib_dir=$layer_dir
	layer python "$guest_key" make_guest
	guest_dir=$layer_dir
}

# wasm_cc BASE ARGUMENT...: the compiler for the guest.
wasm_cc() {
	"clang-$toolchain_llvm" --target=wasm32-wasip1 --sysroot="$1/sysroot/usr" "${@:2}"
}

# Parts of WASI's C library that emulate what WASI lacks; each must be asked for.
emulation="-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS"

# guest_python ARGUMENT...: the guest's own version of Python, on this machine.
# Without column tables, which cost a third of the size of the bytecode.
guest_python() {
	"$base_dir/native/python" -S -s -B -X no_debug_ranges "$@"
}
