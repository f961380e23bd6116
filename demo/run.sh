#!/usr/bin/env bash
# The main job on real rows: this machine's packages, analysed by a script such
# as a model writes; then the same call made to misbehave in three ways. Fails
# if one of the four ends in any other way than it should.
#
# usage: demo/run.sh path/to/mayfly
set -euo pipefail

mayfly=$1
here=$(cd "$(dirname "$0")" && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
rows=$temp/rows.tsv

printf 'name\tsection\tsize\n' >"$rows"
if command -v dpkg-query >/dev/null && dpkg-query -W >/dev/null 2>&1; then
	what="packages of this machine (dpkg-query)"
	dpkg-query -W -f '${Package}\t${Section}\t${Installed-Size}\n' >>"$rows"
else
	what="files of this repository"
	(cd "$here/.." && find . -type f -not -path './.git/*' -printf '%P\t%h\t%k\n') >>"$rows"
fi
# What the answer must agree with, counted by somebody else.
items=$(awk -F'\t' 'NR > 1 { n++ } END { print n + 0 }' "$rows")
total=$(awk -F'\t' 'NR > 1 { s += $3 } END { printf "%d", s }' "$rows")

# call MISCHIEF STATUS EXIT-CODE [FLAGS]: makes the call and shows how it ended.
call() {
	local mischief=$1 status=$2 code=$3 got=0
	shift 3
	"$mayfly" exec "$here/report.py" --rows "$rows" --arg "mischief=$mischief" --json "$@" >"$temp/call.json" || got=$?
	if [ "$got" != "$code" ]; then
		echo "demo: exit code $got, want $code" >&2
		cat "$temp/call.json" >&2
		return 1
	fi
	"$mayfly" exec "$here/show.py" --arg-file "call=$temp/call.json" --arg "want=\"$status\"" \
		--arg "items=$items" --arg "total_kib=$total"
}

echo "== $items $what"
call null ok 0
echo "== the same call, then it spins"
call '"spin"' timeout 3 --timeout 2s
echo "== the same call, then it eats memory"
call '"eat"' memory_limit 3
echo "== the same call, then it floods its output"
call '"flood"' output_limit 3
echo "== and once more as at first: nothing is left of the others"
call null ok 0 | tail -n 2
echo "demo: all five calls ended as they should"
