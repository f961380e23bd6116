# Fetches pinned files of the Debian archive. Sourced by main.sh.
#
# SHA256SUMS lists each file as "digest  pool/path". A file is taken from the
# cache or from the mirrors that this machine's apt is configured with, whose
# addresses are never written down here; what counts is the digest alone.

# mirrors: the Debian repositories that apt is configured with.
mirrors() {
	local found
	found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian')
	# Before the first "apt-get update" apt does not know whose they are.
	[ -n "$found" ] || found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages')
	sed 's:/*$::' <<<"$found" | awk '!seen[$0]++'
}

# download URI FILE SHA256 [URI FILE SHA256]...: with apt's own downloader, so
# that the proxies and the transports of this machine apply.
download() {
	local arguments=()
	while [ $# -gt 0 ]; do
		arguments+=("${1//+/%2b}" "$2" "SHA256:$3")
		shift 3
	done
	/usr/lib/apt/apt-helper download-file "${arguments[@]}"
}

# fetch_inputs [LIST]: fills $store/inputs with every file of LIST, by default
# SHA256SUMS, under digest/name, and checks each.
fetch_inputs() {
	local list=${1:-$here/SHA256SUMS} inputs=$store/inputs mirror digest path base wanted
	mkdir -p "$inputs"
	for mirror in '' $(mirrors); do
		wanted=()
		while read -r digest path; do
			base=$(basename "$path")
			if [ -f "$inputs/$digest/$base" ]; then
				[ "$(sha256sum <"$inputs/$digest/$base")" = "$digest  -" ] && continue
				echo "$base in the cache is damaged"
				rm -rf "${inputs:?}/$digest"
			fi
			wanted+=("$digest" "$path")
		done <"$list"
		[ ${#wanted[@]} -gt 0 ] || return 0
		[ -n "$mirror" ] && fetch_from "$mirror" "${wanted[@]}"
	done
	while read -r digest path; do
		[ -f "$inputs/$digest/$(basename "$path")" ] ||
			echo "no configured mirror serves $path with the digest that is pinned"
	done <"$list" >"$work/unserved"
	[ -s "$work/unserved" ] || return 0
	cat "$work/unserved"
	echo "If the archive has moved on, see guests/$name/README.md, \"Upgrading\"."
	return 1
}

# fetch_from MIRROR DIGEST PATH [DIGEST PATH]...: tries to get the files. What
# cannot be had, or is not what was pinned, is left out.
fetch_from() {
	local mirror=$1 tmp digest base arguments=()
	shift
	tmp=$(mktemp -d "$work/fetch.XXXXXXXX")
	local list=("$@")
	while [ $# -gt 0 ]; do
		arguments+=("$mirror/$2" "$tmp/$(basename "$2")" "$1")
		shift 2
	done
	echo "from a configured mirror: $((${#list[@]} / 2)) files"
	download "${arguments[@]}" || echo "not all of them were served"
	set -- "${list[@]}"
	while [ $# -gt 0 ]; do
		digest=$1 base=$(basename "$2")
		shift 2
		[ -f "$tmp/$base" ] || continue
		[ "$(sha256sum <"$tmp/$base")" = "$digest  -" ] || { echo "$base: not what is pinned"; continue; }
		mkdir -p "$store/inputs/$digest"
		chmod 644 "$tmp/$base"
		mv "$tmp/$base" "$store/inputs/$digest/$base"
	done
	rm -rf "$tmp"
}

progress_fetch_inputs() { grep -c '^Get:' "$1" | sed 's/.*/, & files/'; }

# input NAME: the path of one fetched file, given by the start of its name.
# Exactly one file of SHA256SUMS must match.
input() {
	local matches
	matches=$(awk -v start="$1" '{n = split($2, p, "/"); if (index(p[n], start) == 1) print $1 "/" p[n]}' "$here/SHA256SUMS")
	[ -n "$matches" ] && [ "$(wc -l <<<"$matches")" = 1 ] ||
		fail "SHA256SUMS must list one file whose name starts with $1"
	printf '%s\n' "$store/inputs/$matches"
}
