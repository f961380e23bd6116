# The stdlib layer: modules as code objects, and the time zones. Sourced by
# recipe.sh; make_stdlib runs in the new layer's directory.

make_stdlib() {
	step "freeze the standard library and the time zones" freeze_stdlib
}

freeze_stdlib() {
	cp -R "$here/freeze/modules" "$work/modules"
	sed -i "s/@IANA_VERSION@/$TZDATA_VERSION/" "$work/modules/tzdata/__init__.py"
	guest_python "$here/freeze/config_vars.py" "$base_dir/include/pyconfig.h" "$work/modules/_sysconfigdata__wasi_wasm32-wasi.py"
	guest_python "$here/freeze/freeze.py" pack stdlib "$here/freeze/skip.txt" "$base_dir/Lib" "$work/modules"
	guest_python "$here/freeze/zones.py" zones "$base_dir/zoneinfo"
}
