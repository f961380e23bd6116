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

# take_lock LAYER: waits until no other process makes this layer in this cache.
take_lock() {
	exec 9>"$store/$1.lock"
	flock -n 9 && return
	say "another process is making it; waiting"
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
	use_layer && return
	[ ! -d "$layer_dir" ] || say "$layer_name: the cached copy is damaged; making it again"
	take_lock "$layer_name-$key"
	if use_layer; then # another process made it in the meantime
		exec 9>&-
		return
	fi
	rm -rf "$layer_dir"
	work=$(mktemp -d "$store/tmp.$layer_name.XXXXXXXX")
	trap 'finish_work' EXIT
	mkdir "$work/layer"
	pushd "$work/layer" >/dev/null
	"$make_layer"
	popd >/dev/null
	seal_layer "$work/layer"
	[ "$("$key_function")" = "$key" ] || fail "a source of $layer_name changed while it was built; run it again"
	mv -T "$work/layer" "$layer_dir"
	finish_work
	trap - EXIT
	exec 9>&-
}

# expect_layer NAME KEY-FUNCTION STEPS: counts the steps of a layer that will
# have to be made.
expect_layer() {
	local layer_dir
	layer_dir=$store/$1-$("$2")
	whole_layer || step_total=$((step_total + $3))
}

# use_layer: whether layer_dir is there and whole. The time of its last use is
# what prune_layers goes by.
use_layer() {
	whole_layer || return
	touch "$layer_dir"
	say "$layer_name: from the cache"
}

whole_layer() {
	[ -d "$layer_dir" ] || return
	refuse_shared "$layer_dir"
	verify_layer "$layer_dir"
}

# seal_layer DIR: writes down what is in there, for verify_layer: the names of
# everything with the targets of links, and the digests of files.
seal_layer() {
	(
		cd "$1"
		layer_names >../names
		find . -type f -print0 | sort -z | xargs -0 sha256sum >../digests
	)
	mv "$1/../names" "$1/LAYER.names"
	mv "$1/../digests" "$1/LAYER.sha256"
}

layer_names() {
	find . ! -path './LAYER.*' -printf '%y %p %l\n' | sort
}

verify_layer() {
	(
		cd "$1"
		layer_names | cmp -s - LAYER.names && sha256sum --quiet --strict -c LAYER.sha256 >/dev/null 2>&1
	)
}

# prune_layers: removes what was not used for a month, and what builds that
# were killed left behind.
prune_layers() {
	find "$store" -mindepth 1 -maxdepth 1 ! -name inputs ! -name log -mtime +30 -exec rm -rf {} +
	find "$store" -mindepth 1 -maxdepth 1 -name 'tmp.*' -mmin +1440 -exec rm -rf {} +
}

finish_work() {
	if [ "${MAYFLY_KEEP_BUILD:-}" = 1 ]; then
		say "kept $work"
	else
		rm -rf "$work"
	fi
}
