"""artifact(): hands a file back beside the value."""

DIRECTORY = "/tmp/out/"


def artifact(name, content, /):
    """Hands content back as a file called name, beside the value of the call.

    content is bytes, or a str, which is written as UTF-8. It is the same as
    writing /tmp/out/name, which works too. The name's ending says what it is.
    """
    if type(name) is not str:
        raise TypeError("the name of an artifact is a str")
    if not name or "/" in name or "\0" in name or name.startswith("."):
        raise ValueError("the name of an artifact is a plain file name: no slash, and no dot at its start")
    if isinstance(content, str):
        content = content.encode()
    elif not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"the content of an artifact is bytes or str, not {type(content).__name__}")
    with open(DIRECTORY + name, "wb") as file:
        file.write(content)


artifact.__module__ = "mayfly"
