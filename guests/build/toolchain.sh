# The compiler and the other programs that a build runs. Sourced by main.sh;
# run with "install" it installs what is missing (make setup).

toolchain_llvm=22
# package, and a program or file that shows that it is there
toolchain_packages() {
	cat <<-END
		clang-$toolchain_llvm /usr/bin/clang-$toolchain_llvm
		lld-$toolchain_llvm /usr/bin/wasm-ld-$toolchain_llvm
		llvm-$toolchain_llvm /usr/bin/llvm-ar-$toolchain_llvm
		libclang-rt-$toolchain_llvm-dev-wasm32 /usr/lib/llvm-$toolchain_llvm/lib/clang/$toolchain_llvm/lib/wasi/libclang_rt.builtins-wasm32.a
		make /usr/bin/make
		gcc /usr/bin/gcc
		libc6-dev /usr/include/stdio.h
		patch /usr/bin/patch
		tcl /usr/bin/tclsh
		xz-utils /usr/bin/xz
		bzip2 /usr/bin/bzip2
		zstd /usr/bin/zstd
	END
}

toolchain_missing() {
	local package file
	toolchain_packages | while read -r package file; do
		[ -e "$file" ] || echo "$package"
	done
}

# toolchain_install: installs the missing packages from the machine's own apt.
toolchain_install() {
	local missing as_root=()
	missing=$(toolchain_missing)
	[ -n "$missing" ] || return 0
	if ! command -v apt-get >/dev/null; then
		echo "mayfly guests: the build needs a Debian machine (apt-get is missing)" >&2
		return 1
	fi
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "mayfly guests: as root, run: apt-get install --no-install-recommends" $missing >&2
			return 1
		fi
		as_root=(sudo)
	fi
	echo "installing what the build needs:" $missing
	"${as_root[@]}" apt-get -q=2 update
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q=2 install --no-install-recommends -y $missing >/dev/null
	missing=$(toolchain_missing)
	if [ -n "$missing" ]; then
		echo "mayfly guests: still missing after the installation:" $missing >&2
		return 1
	fi
}

# toolchain_check: fails unless everything is there, in the version that the
# recipe is pinned to.
toolchain_check() {
	local missing have
	[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] ||
		fail "a guest is built on Linux x86-64 only; elsewhere, copy guests/artefacts from such a machine"
	missing=$(toolchain_missing)
	[ -z "$missing" ] || fail "missing packages: $(echo $missing). Run: make setup"
	have=$("clang-$toolchain_llvm" -dumpversion)
	[ "$have" = "$LLVM_VERSION" ] ||
		fail "clang is $have and the recipe is pinned to $LLVM_VERSION; see guests/$name/README.md, \"Upgrading\""
}

# toolchain_id: what of the toolchain can change the bytes of a build.
toolchain_id() {
	"clang-$toolchain_llvm" --version | head -n 1
	"wasm-ld-$toolchain_llvm" --version | head -n 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -euo pipefail
	[ "${1:-}" = install ] || { echo "usage: toolchain.sh install" >&2; exit 2; }
	toolchain_install
fi
