"""Runs one request in a Python process and prints its answer as the last line.

The request is JSON in the first argument; rows, if it has any, are JSON on
standard input.
"""

import json
import sys
import time

request = json.loads(sys.argv[1])
scope = {"__name__": "__main__"}
begin = time.perf_counter()
try:
    if request["input"]:
        scope["rows"] = json.loads(sys.stdin.buffer.read())
    exec(compile(request["body"], "main.py", "exec"), scope)
    answer = {"status": "ok", "value": json.dumps(eval(request["expr"], scope))}
except BaseException as e:
    answer = {"status": "error", "error": {"type": type(e).__name__, "message": str(e)[:2000]}}
answer["run_ms"] = (time.perf_counter() - begin) * 1000
sys.stdout.flush()
sys.stdout.write("\n\x1e" + json.dumps(answer) + "\n")
