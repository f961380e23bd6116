"""What a call needs besides running: the name of its source, and its end."""

import atexit
import linecache
import logging
import sys

import _mayfly_shim as shim

set_error_name = None
streams = ()
log_handlers = 0


class SourceLoader:
    """Lets inspect, warnings and pdb find the source of __main__."""

    @staticmethod
    def get_source(name):
        return shim.source()

    @staticmethod
    def is_package(name):
        return False


def install(set_name):
    global set_error_name, streams, log_handlers
    set_error_name = set_name
    main = sys.modules["__main__"]
    main.__loader__ = SourceLoader
    streams = (sys.stdout, sys.stderr)
    # Its own callbacks would cost each call; finish() does what logging's does.
    atexit._clear()
    log_handlers = len(logging._handlerList)
    rename("main.py")


def rename(name):
    sys.argv[:] = [name]
    linecache.cache[name] = (shim.source,)
    set_error_name(name)


def finish():
    """Runs when the code has ended and its value has been written down."""
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass  # already reported through sys.unraisablehook
    if len(logging._handlerList) != log_handlers:
        try:
            logging.shutdown()
        except BaseException:
            pass
    for stream in {sys.stdout, sys.stderr, *streams}:
        try:
            stream.flush()
        except BaseException:
            pass
