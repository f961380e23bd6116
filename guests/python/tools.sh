# How the tools are called, in all layers. Sourced by recipe.sh.

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
