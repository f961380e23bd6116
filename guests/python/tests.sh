# The tests layer: Lib/test of the sources that the guest is built from, with the
# same fixes applied, as CPython has it. Sourced by recipe.sh; make_tests runs in
# the new layer's directory.

take_tests() {
	expect_layer python-tests tests_key 2
	layer python-tests tests_key make_tests
	tests_dir=$layer_dir
}

tests_key() {
	printf '%s\n' "$LANGUAGE_VERSION $PYTHON_SOURCE" | hash_of "$here/tests.sh" "$here/SHA256SUMS" "$here/patches/cpython.txt"
}

make_tests() {
	src=$work/src
	mkdir "$src"
	step "fetch the sources" fetch_inputs
	step "unpack them, apply Debian's fixes, take the tests" unpack_tests
}

unpack_tests() {
	unpack_source cpython "python3.13_$LANGUAGE_VERSION.orig"
	apply_fixes cpython "python3.13_$PYTHON_SOURCE.debian"
	mkdir Lib
	cp -R "$src/cpython/Lib/test" Lib/test
}
