"""What Mayfly offers to the code it runs."""

import json as _json

import _mayfly_shim as _shim
from _mayfly.artifact import artifact
from _mayfly.sql import Table, sql

__all__ = ["Table", "ToolError", "artifact", "call_tool", "sql"]

_decode = _json.JSONDecoder().decode


class ToolError(Exception):
    """A host tool refused or failed; the text is the host's."""


def call_tool(name, /, **args):
    """Calls a tool of the host and returns its result.

    The arguments must have a JSON form, as a result must. Raises ToolError
    when the tool fails, and PermissionError when this call was not given the
    right to call tools.
    """
    if not _shim.granted():
        raise PermissionError("this call may not call host tools")
    if type(name) is not str:
        raise TypeError("the name of a tool is a str")
    ok, text = _shim.host_call({"tool": name, "args": args})
    if ok is None:
        reason, path = text
        raise TypeError(f"argument {path.removeprefix('/args')}: {reason}")
    if not ok:
        raise ToolError(text)
    return _decode(text)
