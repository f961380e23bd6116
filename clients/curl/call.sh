#!/bin/sh
# Calls a tool of ../harness with curl:
#
#     MAYFLY_TOKEN=... ./call.sh http://127.0.0.1:8787
#
# The token goes to curl on its standard input: other users see a command line.
set -eu
echo "header = \"Authorization: Bearer $MAYFLY_TOKEN\"" |
	curl --silent --show-error --config - --max-time 60 --write-out '\nstatus %{http_code}\n' \
		--header 'Content-Type: application/json' --data '{"args":{"code":"6 * 7"}}' \
		"${1%/}/v1/tools/python/call"
