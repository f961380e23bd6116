"""An MCP server over stdio that does what its first argument says."""

import json
import os
import sys

how = sys.argv[1]


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if how == "dies at once":
    sys.exit("a word before the end")

for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    if method == "initialize":
        if how == "says nothing":
            continue
        if how == "talks nonsense":
            print("hello, I am a server")
            sys.stdout.flush()
        say({"id": number, "result": {
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "far", "version": "1"}}})
    elif method == "tools/list":
        description = "Look something up." if how != "has changed" else "Look something up!"
        say({"id": number, "result": {"tools": [{
            "name": "lookup", "description": description,
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}]}})
    elif method == "tools/call":
        if how == "dies on the call":
            os._exit(0)
        if how == "hangs on the call":
            continue
        if how == "floods":
            while True:
                sys.stdout.write("x" * 65536)
        if how == "says where":
            say({"id": number, "result": {"content": [], "structuredContent": {
                "parent": message["params"].get("_meta", {}).get("traceparent"), "state": message["params"].get("_meta", {}).get("tracestate")}}})
            continue
        reached = []
        for path in ["/etc/passwd", "/etc/shadow", __file__]:
            try:
                with open(path) as file:
                    reached.append([path, len(file.read()) > 0])
            except OSError as e:
                reached.append([path, type(e).__name__])
        try:
            import socket
            socket.create_connection(("127.0.0.1", 1), 1)
            network = "connected"
        except OSError as e:
            network = type(e).__name__
        say({"id": number, "result": {"content": [], "structuredContent": {
            "id": message["params"]["arguments"].get("id"), "key": os.environ["MAYFLY_IDEMPOTENCY_KEY"],
            "shadow": dict(reached)["/etc/shadow"], "network": network}}})
        if how == "stays":
            while True:
                pass
