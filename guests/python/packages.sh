# The packages layer: what is there besides the standard library. Sourced by
# recipe.sh; make_packages runs in the new layer's directory.
#
#   packages.bin, .idx   their modules, as code objects
#   files.bin, .idx      the data files that they read, and what they are called

make_packages() {
	step "fetch the packages" fetch_packages
	step "unpack and compile them" pack_packages
}

# package_pins: what packages.tsv pins, as SHA256SUMS would.
package_pins() {
	awk -F '\t' '!/^#/ && NF {print $1 "  " $2}' "$here/packages/packages.tsv"
}

fetch_packages() {
	package_pins >"$work/pins"
	fetch_inputs "$work/pins"
}

# pack_packages: a package is only unpacked; nothing in it is run.
pack_packages() {
	local digest path base
	mkdir -p "$work/unpacked/all"
	while read -r digest path; do
		base=$(basename "$path")
		dpkg-deb -x "$store/inputs/$digest/$base" "$work/unpacked/${base%%_*}"
		dpkg-deb -x "$store/inputs/$digest/$base" "$work/unpacked/all"
	done < <(package_pins)
	guest_python "$here/packages/pack.py" "$here/packages" "$work/unpacked" "$base_dir/zoneinfo" "$base_dir/modules.txt" .
}
