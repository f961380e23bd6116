# Calls one Python function with the arguments on standard input. {"value": …} or
# {"raised": the exception's type} goes to descriptor 3, so that what the function
# prints does no harm.
import importlib, inspect, json, os, sys

module, function, key, secrets = sys.argv[1:5]
sys.path[:0] = sys.argv[5:]
del sys.argv[1:]
if secrets:
    # Into the mapping, and not by putenv: what the function starts does not inherit
    # them unless it passes them on.
    with os.fdopen(int(secrets), encoding="utf-8") as handed:
        for name, value in json.load(handed).items():
            os.environ._data[os.environ.encodekey(name)] = os.environ.encodevalue(value)
    import subprocess

    subprocess._USE_POSIX_SPAWN = False  # which would pass the mapping on
args = json.load(sys.stdin)
out = os.fdopen(3, "w", encoding="utf-8")
ended = False
try:
    call = getattr(importlib.import_module(module), function)
    if "idempotency_key" in inspect.signature(call).parameters:
        args["idempotency_key"] = key
    value = call(**args)
    if inspect.isawaitable(value):
        import asyncio

        async def wait():
            return await value

        value = asyncio.run(wait())
    # It has done its work: a value that has no JSON form does not undo that.
    ended = True
    text = json.dumps({"value": value}, allow_nan=False)
except BaseException as error:
    import traceback

    traceback.print_exc()
    text = "" if ended else json.dumps({"raised": type(error).__name__})
out.write(text)
out.close()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
