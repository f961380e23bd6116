"""Calls Mayfly's tools over HTTP with the standard library alone.

    MAYFLY_TOKEN=... APPROVER_TOKEN=... python3 http_client.py http://127.0.0.1:8787

It prints a line of JSON for each step. The tools are those of ../harness. The
approver's token is somebody else's: nobody answers for their own calls.
"""

import json
import os
import sys
import urllib.error
import urllib.request


def ask(url, token, body=None):
    """Sends a request and gives the status and the answer, whichever it is."""
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def show(step, status, **what):
    print(json.dumps({"step": step, "status": status, **what}), flush=True)


def main():
    server, agent, approver = sys.argv[1].rstrip("/"), os.environ["MAYFLY_TOKEN"], os.environ["APPROVER_TOKEN"]
    status, answer = ask(server + "/v1/tools", agent)
    show("tools", status, names=sorted(tool["name"] for tool in answer["tools"]))

    status, run = ask(server + "/v1/runs", agent, {})
    show("run", status)
    status, answer = ask(server + "/v1/tools/python/call", agent, {"run": run["id"], "args": {"code": "6 * 7"}})
    show("called", status, outcome=answer["outcome"], output=answer["output"])
    status, answer = ask(server + "/v1/tools/python/call", agent, {"run": run["id"], "args": {"program": "6 * 7"}})
    show("refused", status, outcome=answer["outcome"], code=answer["decision"]["code"])

    pay = {"run": run["id"], "args": {"to": "ada", "usd": 250}}
    status, answer = ask(server + "/v1/tools/pay/call", agent, pay)
    show("waits", status, outcome=answer["outcome"])
    path = server + "/v1/approvals/" + answer["approval"]
    status, answer = ask(path + "/approve", agent, {})
    show("own", status, code=answer["code"])
    status, question = ask(path, approver)
    status, answer = ask(path + "/approve", approver, {"reason": "seen", "call_hash": question["call_hash"]})
    show("approved", status, args=question["args"], accepted=answer["accepted"])
    status, answer = ask(server + "/v1/tools/pay/call", agent, {**pay, "approval": question["id"]})
    show("paid", status, outcome=answer["outcome"])


if __name__ == "__main__":
    main()
