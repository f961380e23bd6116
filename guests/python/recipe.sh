# How the Python guest is built: four layers, each from those before.
# Sourced by guests/build/main.sh.
#
#   python-base      the sources, compiled: archives, headers, build tools
#   python-stdlib    the standard library and the time zones, frozen
#   python-packages  the packages of packages/packages.tsv, compiled
#   python           shim and bootstrap, linked with all of them and optimised
#
# And one beside them, of which nothing is built:
#
#   python-tests   CPython's own tests

. "$here/tools.sh"
. "$here/base.sh"
. "$here/stdlib.sh"
. "$here/packages.sh"
. "$here/link.sh"
. "$here/tests.sh"

build_guest() {
	fast=${MAYFLY_GUEST_FAST:-0}
	expect_layer python-base base_key 5
	expect_layer python-stdlib stdlib_key 1
	expect_layer python-packages packages_key 2
	expect_layer python guest_key 3

	layer python-base base_key make_base
	base_dir=$layer_dir
	layer python-stdlib stdlib_key make_stdlib
	stdlib_dir=$layer_dir
	layer python-packages packages_key make_packages
	packages_dir=$layer_dir
	layer python guest_key make_guest
	guest_dir=$layer_dir
}

base_key() {
	{
		toolchain_id
		printf '%s\n' "$CFLAGS_EVAL" "$CFLAGS_CPYTHON" "$CFLAGS_SQLITE" "$CFLAGS_LIBS" "$CFLAGS_PROFILE"
	} | hash_of "$here/tools.sh" "$here/base.sh" "$here/versions.env" "$here/SHA256SUMS" "$here/cross" "$here/patches" \
		"$here/profile/python.profdata.xz"
}

stdlib_key() {
	base_key | hash_of "$here/stdlib.sh" "$here/freeze"
}

packages_key() {
	base_key | hash_of "$here/packages.sh" "$here/packages/packages.tsv" "$here/packages/pack.py" "$here/packages/edits.txt" "$here/packages/own"
}

guest_key() {
	{
		stdlib_key
		packages_key
		printf '%s\n' "$fast" "$CFLAGS_SHIM" "$LDFLAGS" "$WASM_OPT"
	} | hash_of "$here/link.sh" "$here/exports.txt" "$here/shim" "$here/bootstrap" "$guests/shim" "$guests/build/describe/main.go" "$guests/build/describe/check.go" "$guests/packages.go" "$guests/info.go"
}
