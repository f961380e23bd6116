# What a build tells its user. Sourced by main.sh.

build_started=$SECONDS
step_number=0
step_total=0
running=

# interrupted: ends the command of the current step with the build.
interrupted() {
	[ -z "$running" ] || kill -TERM -- "-$running" 2>/dev/null || true
	fail "interrupted"
}
trap interrupted INT TERM HUP

say() { printf '[%3ds] %s\n' $((SECONDS - build_started)) "$*"; }

fail() {
	printf 'mayfly guests: %s\n' "$*" >&2
	exit 1
}

# step TEXT COMMAND...: runs a command with its output in a log file and says
# so. While it runs, a line every 15 seconds shows that it is alive; a function
# called progress_COMMAND, if there is one, says how far it is.
step() {
	local text=$1 began=$SECONDS log pid progress
	shift
	step_number=$((step_number + 1))
	say "step $step_number of $step_total: $text"
	log=$work/log/$step_number-$1
	mkdir -p "$work/log"
	# In a process group of its own, so that an interrupt ends all of it.
	set -m
	("$@") >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	running=$pid
	progress=progress_$1
	local ticks=0
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		ticks=$((ticks + 1))
		if [ $((ticks % 75)) = 0 ]; then
			say "  … $((SECONDS - began)) s$(declare -F "$progress" >/dev/null && "$progress" "$log" || true)"
		fi
	done
	running=
	if ! wait "$pid"; then
		tail -n 25 "$log" >&2
		keep_log "$log"
		fail "step \"$text\" failed; its last lines are above, all of them in $kept_log"
	fi
}

# keep_log FILE: moves a log to where it outlives the build's directory.
keep_log() {
	kept_log=$store/log/$name-$(basename "$1").txt
	mkdir -p "$store/log"
	cp "$1" "$kept_log"
}
