"""Calls Mayfly's tools over stdio with the standard library alone.

    python3 client.py mayfly mcp --principal agent --approver ann --approver-role finance

It prints a line of JSON for each step. The tools are those of ../harness.
"""

import itertools
import json
import subprocess
import sys


class Client:
    """One session with an MCP server that a command starts."""

    def __init__(self, command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids = itertools.count(1)
        self.call("initialize", {
            "protocolVersion": "2025-06-18",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "example", "version": "1"},
        })
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.server.stdin.write(line.encode())
        self.server.stdin.flush()

    def receive(self):
        line = self.server.stdout.readline()
        if not line:
            raise SystemExit("the server has gone")
        return json.loads(line)

    def call(self, method, params, on_progress=None):
        """Sends a request and serves the server until it is answered."""
        wanted = next(self.ids)
        self.send({"id": wanted, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("method") == "elicitation/create":
                self.send({"id": message["id"], "result": answer(message["params"])})
            elif message.get("method") == "notifications/progress" and on_progress:
                on_progress(wanted)
                on_progress = None
            elif message.get("id") == wanted and "method" not in message:
                return message

    def tool(self, name, arguments):
        return self.call("tools/call", {"name": name, "arguments": arguments})["result"]

    def close(self):
        """The server ends when its input does."""
        self.server.stdin.close()
        return self.server.wait(timeout=60)


def answer(question):
    # A person would be shown the message, and a form made of requestedSchema.
    show("asked", message=question["message"])
    return {"action": "accept", "content": {"decision": "approve", "reason": "seen"}}


def show(step, **what):
    print(json.dumps({"step": step, **what}, ensure_ascii=False), flush=True)


def main():
    client = Client(sys.argv[1:])
    tools = client.call("tools/list", {})["result"]["tools"]
    show("tools", names=[t["name"] for t in tools], readOnly=[t["name"] for t in tools if t["annotations"]["readOnlyHint"]])

    total = client.tool("python", {"code": "sum(r['n'] for r in rows)", "rows": [{"n": 2}, {"n": 40}]})
    show("called", result=total["structuredContent"])

    refused = client.tool("python", {"rows": []})
    show("refused", isError=refused["isError"], outcome=refused["structuredContent"]["outcome"], next=refused["structuredContent"]["next"])

    paid = client.tool("pay", {"to": "Zoë", "usd": 500})
    show("approved", isError=paid.get("isError", False), result=paid["structuredContent"])

    def give_up(request):
        client.send({"method": "notifications/cancelled", "params": {"requestId": request, "reason": "seen enough"}})

    ended = client.call("tools/call", {
        "name": "python", "arguments": {"code": "while True: pass"}, "_meta": {"progressToken": "spin"},
    }, on_progress=give_up)
    show("cancelled", ended=ended.get("result", ended.get("error")))
    show("closed", code=client.close())


main()
