# Layers: directories that are made once and then only read. Sourced by main.sh.
#
# A layer is finished or absent: it is made in a directory of its own and
# renamed into place, together with a list of the digests of its files, which
# is checked every time the layer is used.

# refuse_shared DIR: fails when others could have changed what is in there.
refuse_shared() {
	local bad
	bad=$(find "$1" -maxdepth 0 \( ! -user "$(id -u)" -o -perm /022 \))
	[ -z "$bad" ] || fail "$1 belongs to somebody else, or others may write to it; a cache must be your own"
}

# take_lock NAME: waits until no other process builds NAME in this cache.
take_lock() {
	exec 9>"$store/$1.lock"
	flock -n 9 && return
	say "another process is building $1 here; waiting for it"
	flock 9
}

# hash_of FILE-OR-DIR...: one digest over the names, below guests/, and the
# contents of files, and over the text on standard input.
hash_of() {
	{
		cat
		local path
		for path in "$@"; do
			find "$path" -type f ! -path '*/__pycache__/*' -printf '%p\n'
		done | LC_ALL=C sort | while read -r path; do
			printf '%s  %s\n' "$(sha256sum <"$path")" "${path#"$guests"/}"
		done
	} | sha256sum | cut -c 1-24
}

# layer NAME KEY-FUNCTION FUNCTION: sets layer_dir to the directory of a layer,
# and makes it by calling FUNCTION in a new directory when it is not there.
layer() {
	local layer_name=$1 key_function=$2 make_layer=$3 key
	key=$("$key_function")
	layer_dir=$store/$layer_name-$key
	if [ -d "$layer_dir" ]; then
		if verify_layer "$layer_dir"; then
			say "$layer_name: from the cache"
			return
		fi
		say "$layer_name: the cached copy is damaged; making it again"
		rm -rf "$layer_dir"
	fi
	work=$(mktemp -d "$store/tmp.$layer_name.XXXXXXXX")
	trap 'finish_work' EXIT
	mkdir "$work/layer"
	pushd "$work/layer" >/dev/null
	"$make_layer"
	popd >/dev/null
	(cd "$work/layer" && find . -type f ! -name LAYER.sha256 -print0 | sort -z | xargs -0 sha256sum >../sums)
	mv "$work/sums" "$work/layer/LAYER.sha256"
	[ "$("$key_function")" = "$key" ] || fail "a source of $layer_name changed while it was built; run it again"
	mv -T "$work/layer" "$layer_dir"
	finish_work
	trap - EXIT
}

verify_layer() {
	refuse_shared "$1"
	(cd "$1" && sha256sum --quiet --strict -c LAYER.sha256) >/dev/null 2>&1
}

finish_work() {
	if [ "${MAYFLY_KEEP_BUILD:-}" = 1 ]; then
		say "kept $work"
	else
		rm -rf "$work"
	fi
}
