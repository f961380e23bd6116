#!/usr/bin/env bash
# Builds a guest: main.sh [--cache DIR] [--out DIR] [--tests LINK] NAME
#
# guests/NAME/recipe.sh says how. What it makes is kept in layers below the
# cache directory, each under a key that is the hash of everything that goes
# into it, so that nothing is built twice on one machine. The finished module
# and its description are copied to the output directory. With --tests it
# builds nothing: it gets the tests that the sources of the interpreter come with
# and makes LINK a symbolic link to their directory.
#
# MAYFLY_CACHE_DIR    where the cache is     (default: $XDG_CACHE_HOME/mayfly)
# MAYFLY_GUEST_FAST   1: skip the optimiser, for work on the shim
# MAYFLY_KEEP_BUILD   1: keep the directory of a build, for debugging
set -euo pipefail
umask 022
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=0 PYTHONHASHSEED=0
unset APT_CONFIG CC CXX CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CONFIG_SITE PYTHONHOME PYTHONPATH

guests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${MAYFLY_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mayfly}
out=$guests/artefacts
tests=
while [ $# -gt 1 ]; do
	case $1 in
	--cache) cache=$2 ;;
	--out) out=$2 ;;
	--tests) tests=$2 ;;
	*) echo "main.sh: unknown option $1" >&2; exit 2 ;;
	esac
	shift 2
done
name=${1:?usage: main.sh [--cache DIR] [--out DIR] [--tests LINK] NAME}
here=$guests/$name
if [ ! -f "$here/recipe.sh" ]; then
	echo "main.sh: there is no guest called $name: $here/recipe.sh is missing" >&2
	exit 2
fi

store=$cache/guests
jobs=$(nproc)
. "$guests/build/log.sh"
. "$guests/build/toolchain.sh"
. "$guests/build/cache.sh"
. "$guests/build/fetch.sh"
. "$here/versions.env"
. "$here/flags.env"
. "$here/recipe.sh"

# describe NAME LANGUAGE FLAG...: checks NAME.wasm in the current directory and
# writes NAME.json about it.
describe() {
	local dir=$PWD tools=()
	while read -r line; do tools+=(-tool "$line"); done < <(toolchain_id)
	CGO_ENABLED=0 "${GO:-go}" -C "$guests" run ./build/describe -recipe "$here" -dir "$dir" -name "$1" -language "$2" \
		"${tools[@]}" "${@:3}"
}

toolchain_check
mkdir -p "$store" "$out"
refuse_shared "$cache"
refuse_shared "$store"
prune_layers
if [ -n "$tests" ]; then
	take_tests
	ln -sfn "$tests_dir" "$tests"
	exit
fi
build_guest

for file in "$name.json" "$name.wasm.zst"; do
	# Others may do the same now.
	install -m 644 "$guest_dir/$file" "$out/$file.new.$$"
	mv -f "$out/$file.new.$$" "$out/$file"
done
say "$name: $(stat -c %s "$guest_dir/$name.wasm.zst") bytes compressed, in $out"
