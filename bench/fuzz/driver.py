"""Runs programs natively: reads JSON texts, one a line, and answers each with
its outcome, one a line."""
import ast, contextlib, io, json, sys

for line in sys.stdin:
    out, value, error = io.StringIO(), None, ""
    try:
        tree = ast.parse(json.loads(line))
        last = tree.body.pop()
        names = {"__name__": "__main__"}
        with contextlib.redirect_stdout(out):
            exec(compile(tree, "main.py", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "main.py", "eval"), names)
    except BaseException as e:
        error = type(e).__qualname__
        if type(e).__module__ not in ("builtins", "__main__"):
            error = type(e).__module__ + "." + error
    # What no text can hold is escaped, as the guest does it.
    text = out.getvalue().encode("utf-8", "backslashreplace").decode()
    json.dump({"stdout": text, "value": value, "error": error}, sys.stdout)
    sys.stdout.write("\n")
    sys.stdout.flush()
