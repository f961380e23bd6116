"""Turns an exception into the error object of a response.

An exception is data of the code that raised it: its class, its text and its
chain may be anything. Whatever goes wrong while one is described, a simpler
description takes its place.
"""

from itertools import islice
from linecache import getline

import _mayfly_shim as shim

# In bytes of UTF-8. The host cuts there too, but cannot say so.
MAX_MESSAGE = 16 * 1024
MAX_TRACEBACK = 64 * 1024
MAX_FRAMES = 50  # of one exception, after repeated ones are folded
MAX_CHAIN = 16
MAX_TREE = 100  # exceptions of all groups, their causes and contexts included
MAX_NOTES = 50
MAX_LINE = 2000
MAX_SOURCE = 400

# Attributes as the interpreter stores them, not as a subclass presents them.
module_of = type.__dict__["__module__"].__get__
qualname_of = type.__dict__["__qualname__"].__get__
traceback_of = BaseException.__dict__["__traceback__"].__get__
cause = BaseException.__dict__["__cause__"]
context = BaseException.__dict__["__context__"]
suppress_of = BaseException.__dict__["__suppress_context__"].__get__
members_of = BaseExceptionGroup.__dict__["exceptions"].__get__
bases_of = type.__dict__["__mro__"].__get__
dict_of = type.__dict__["__dict__"].__get__

# Stands in a stack for frames that are left out. No code can have this name.
LEFT_OUT = "\0left out"

source_name = "main.py"
traceback = None


def set_name(name):
    global source_name
    source_name = name


def install(module):
    """Binds a private copy of the traceback module to this one's ideas."""
    global traceback
    traceback = module
    module["linecache"] = Lines
    module["_safe_string"] = text_of
    module["_walk_tb_with_full_positions"] = lambda tb: fold(user_frames(tb))


class Lines:
    """What the traceback module asks of linecache."""

    @staticmethod
    def getline(filename, number, module_globals=None):
        # Another name is that of a file which the code made itself, or of none.
        line = source_line(number) if filename == source_name else getline(filename, number)
        return line if len(line) <= MAX_LINE else ""

    @staticmethod
    def _getline_from_code(code, number):
        return ""

    @staticmethod
    def checkcache(filename=None):
        pass

    @staticmethod
    def lazycache(filename, module_globals):
        return True


def source_line(number):
    lines = shim.source().splitlines()
    return lines[number - 1] if type(number) is int and 0 < number <= len(lines) else ""


def type_name(kind):
    module, name = module_of(kind), qualname_of(kind)
    name = name if type(name) is str else "?"
    if type(module) is not str or module in ("builtins", "__main__"):
        return clean(name, 200)
    return clean(f"{module}.{name}", 200)


def clean(text, limit):
    """Valid text of at most limit bytes as UTF-8, and marked where it was longer."""
    data = text[:limit].encode("utf-8", "backslashreplace")
    if len(text) <= limit and len(data) <= limit:
        return data.decode()
    mark = f"… [cut: {len(text)} characters in all]"
    return data[:limit - len(mark.encode())].decode("utf-8", "ignore") + mark


def text_of(value, what, func=str):
    try:
        return clean(str.__str__(func(value)), MAX_MESSAGE)
    except BaseException:
        return f"<{what} {func.__name__}() failed>"


def message_of(exception):
    if issubclass(type(exception), SyntaxError) and type(exception.msg) is str:
        return clean(exception.msg, MAX_MESSAGE)
    message = text_of(exception, "exception")
    if not message and issubclass(type(exception), MemoryError):
        return "the call has used up its memory"
    return message


def user_frames(tb):
    """(frame, code, instruction, line) of each frame that is not the library's."""
    while tb is not None:
        code = tb.tb_frame.f_code
        if not code.co_filename.startswith("<frozen "):
            yield tb.tb_frame, code, tb.tb_lasti, tb.tb_lineno
        tb = tb.tb_next


def fold(frames):
    """Frames as the traceback module wants them, repeated ones counted and the
    middle of a long rest left out."""
    kept, skipped, last, times = [], 0, None, 0

    def flush():
        if times > 3:
            kept.append((LEFT_OUT, f"Previous line repeated {times - 3} more time{'s' if times > 4 else ''}", 0))

    for frame, code, instruction, line in frames:
        if last == (code, instruction):
            times += 1
            if times > 3:
                continue
        else:
            flush()
            last, times = (code, instruction), 1
        kept.append((frame, instruction, line))
        if len(kept) > 2 * MAX_FRAMES:
            skipped += MAX_FRAMES
            del kept[MAX_FRAMES // 2:MAX_FRAMES // 2 + MAX_FRAMES]
    flush()
    if skipped:
        kept.insert(MAX_FRAMES // 2, (LEFT_OUT, f"{skipped} frames left out", 0))
    for frame, instruction, line in kept:
        if frame is LEFT_OUT:
            yield Gap(instruction), (0, 0, None, None)
        else:
            yield frame, position_of(frame.f_code, instruction, line)


def position_of(code, instruction, line):
    """Where an instruction stands in the source. A traceback and a table of
    lines can be made by hand, and then say nothing or anything."""
    positions = (None,) * 4
    if instruction >= 0:
        positions = next(islice(code.co_positions(), instruction // 2, None), positions)
    if positions[0] is None:
        return (line or code.co_firstlineno, None, None, None)
    return positions


class Gap:
    """Looks enough like a frame to pass through the traceback module."""

    def __init__(self, text):
        self.f_code = self
        self.co_filename = LEFT_OUT
        self.co_name = text
        self.f_globals = {}
        self.f_locals = {}


def shorten_chain(exception):
    """Cuts the chain of causes and contexts behind the first few."""
    for _ in range(MAX_CHAIN):
        following = cause.__get__(exception)
        if following is None and not suppress_of(exception):
            following = context.__get__(exception)
        if following is None:
            return False
        exception = following
    cause.__set__(exception, None)
    context.__set__(exception, None)
    return True


def shows_members(kind):
    """Whether a group's class leaves it to BaseExceptionGroup what is in it."""
    return all(base is BaseExceptionGroup or "exceptions" not in dict_of(base) for base in bases_of(kind))


def is_large(exception):
    """Whether more exceptions hang on this one, by every way to reach one, than
    are worth a line. A group of groups can hold 2 ** 60 in 60 objects."""
    waiting, count = [exception], 0
    while waiting:
        exception = waiting.pop()
        count += 1
        waiting += [one for one in (cause.__get__(exception), context.__get__(exception)) if one is not None]
        if issubclass(type(exception), BaseExceptionGroup):
            members = members_of(exception)
            if count + len(members) > MAX_TREE or not shows_members(type(exception)):
                return True
            waiting += members
        if count > MAX_TREE:
            return True
    return False


def shorten_notes(report):
    """Cuts the notes of everything in a report to the first few."""
    waiting, seen = [report], set()
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        notes = part.__notes__
        if issubclass(type(notes), (list, tuple)):
            part.__notes__ = list(islice((list if issubclass(type(notes), list) else tuple).__iter__(notes), MAX_NOTES))
            if len(part.__notes__) == MAX_NOTES:
                part.__notes__.append("[further notes are left out]")
        waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]


def format_chain(exception):
    cut = shorten_chain(exception)
    # Without a class that is a group, groups are exceptions like any other.
    large = is_large(exception)
    traceback["BaseExceptionGroup"] = () if large else BaseExceptionGroup
    report = traceback["TracebackException"](
        type(exception), exception, traceback_of(exception), limit=None, compact=True
    )
    shorten_notes(report)
    lines = list(report.format(colorize=False))
    text = "".join(lines).replace(f'  File "{LEFT_OUT}", line 0, in ', f"  [{LEFT_OUT}")
    if LEFT_OUT in text:
        text = "\n".join(
            f"  [{line.partition(LEFT_OUT)[2]}]" if LEFT_OUT in line else line for line in text.split("\n")
        )
    if large and issubclass(type(exception), BaseExceptionGroup):
        text += f"[what is in this group of {len(members_of(exception))} is left out]\n"
    if cut:
        text = "[earlier exceptions of this chain are left out]\n\n" + text
    return text


def format_simply(exception):
    """For exceptions that the traceback module cannot handle."""
    lines = ["Traceback (most recent call last):"]
    for frame, (number, *_) in fold(user_frames(traceback_of(exception))):
        if frame.f_code.co_filename == LEFT_OUT:
            lines.append(f"  [{frame.f_code.co_name}]")
        else:
            code = frame.f_code
            lines.append(f'  File "{code.co_filename}", line {number}, in {code.co_name}')
    lines.append(f"{type_name(type(exception))}: {message_of(exception)}")
    return "\n".join(lines) + "\n"


def bound(text):
    """The beginning and the end of a long traceback, the end being what matters."""
    if len(text) <= MAX_TRACEBACK:
        data = text.encode("utf-8", "backslashreplace")
        if len(data) <= MAX_TRACEBACK:
            return data.decode()
    quarter = MAX_TRACEBACK // 4
    head = text[:quarter].encode("utf-8", "backslashreplace")[:quarter].decode("utf-8", "ignore")
    rest = text[-3 * quarter:].encode("utf-8", "backslashreplace")[-3 * quarter + 100:].decode("utf-8", "ignore")
    return f"{head}\n[the middle of {len(text)} characters is left out]\n{rest}"


def place_of(exception):
    """The line of the source that raised, 0 if none did."""
    kind = type(exception)
    if issubclass(kind, SyntaxError) and exception.filename == source_name and type(exception.lineno) is int:
        return exception.lineno
    line, tb = 0, traceback_of(exception)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == source_name:
            line = tb.tb_lineno or line
        tb = tb.tb_next
    return line


def describe(exception):
    error = {"type": type_name(type(exception)), "message": message_of(exception)}
    try:
        line = place_of(exception)
        if line > 0:
            error["line"] = line
            source = source_line(line).rstrip()
            if source:
                error["source"] = clean(source, MAX_SOURCE)
    except BaseException:
        pass
    for form in (format_chain, format_simply):
        try:
            error["traceback"] = bound(form(exception))
            break
        except BaseException:
            continue
    return error
