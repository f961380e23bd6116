"""Doors that lead nowhere from here, each with a sign.

These exist so that a program, or the model that wrote it, learns at once and
in one sentence that something cannot work. They protect nothing: the sandbox
is the WebAssembly instance, in which there is no thread, process, signal or
socket to reach.
"""

import _signal
import _socket
import _thread
import io
import multiprocessing
import multiprocessing.context
import multiprocessing.process
import os
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request

PROCESSES = "there are no processes here to start or to talk to; do it in Python"
SIGNALS = "no signal ever comes here; use a loop with time.monotonic() for timeouts"
THREADS = "threads do not exist here; call the function directly, or use asyncio"
NETWORK = "there is no network here; everything a program needs must be in its arguments"


def door(name, error):
    """A function that raises what error() makes."""

    def refuse(*args, **kwargs):
        raise error()

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def denied(sentence):
    return lambda: PermissionError(sentence)


def unsupported(sentence):
    # An OSError that is a ValueError too: callers are ready for one of them.
    return lambda: io.UnsupportedOperation(sentence)


def close(place, names, error):
    for name in names.split():
        refuse = door(name, error)
        refuse.__module__ = getattr(place, "__module__", place.__name__)
        setattr(place, name, refuse)


def install():
    close(
        os,
        "fork forkpty execl execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnlp spawnlpe spawnv"
        " spawnve spawnvp spawnvpe posix_spawn posix_spawnp system popen kill killpg wait waitpid abort",
        denied(PROCESSES),
    )
    subprocess.Popen.__init__ = door("__init__", denied(PROCESSES))
    subprocess.Popen.__del__ = lambda self: None
    multiprocessing.process.BaseProcess.start = door("start", denied(PROCESSES))
    for place in (multiprocessing.context.BaseContext, multiprocessing):
        close(
            place,
            "Manager Pipe Lock RLock Condition Semaphore BoundedSemaphore Event Barrier Queue JoinableQueue SimpleQueue"
            " Pool Value Array RawValue RawArray",
            denied(PROCESSES),
        )

    # Programs register handlers in passing, so that works. What a program would
    # wait for in vain does not.
    for module in (signal, _signal):
        close(module, "alarm setitimer pause pthread_kill sigwait siginterrupt", unsupported(SIGNALS))
    raise_signal = _signal.raise_signal

    def raise_handled(signalnum, /):
        """Send a signal to the executing process."""
        # Without a handler it would end the process, which is the interpreter.
        if _signal.getsignal(signalnum) in (_signal.SIG_DFL, None):
            raise io.UnsupportedOperation(PROCESSES)
        raise_signal(signalnum)

    raise_handled.__name__ = raise_handled.__qualname__ = "raise_signal"
    raise_handled.__module__ = "signal"
    signal.raise_signal = _signal.raise_signal = raise_handled
    # With the names that a program gives to setitimer().
    signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF = range(3)
    refuse_kill = os.kill

    def kill(*args):
        """Send a signal to this process, the only one that there is."""
        if len(args) != 2 or args[0] != os.getpid():
            refuse_kill()
        if args[1] != 0:
            raise_handled(args[1])

    kill.__qualname__, kill.__module__ = "kill", "os"
    os.kill = kill
    # As it is set where Python installs its own handlers.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    close(_thread, "start_new_thread start_joinable_thread start_new", lambda: RuntimeError(THREADS))
    threading._start_joinable_thread = _thread.start_joinable_thread

    close(
        socket,
        "create_connection create_server socketpair fromfd getaddrinfo gethostbyname gethostbyname_ex gethostbyaddr"
        " getnameinfo getfqdn",
        denied(NETWORK),
    )
    socket.socket.__init__ = door("__init__", denied(NETWORK))
    socket.socket.__del__ = lambda self: None
    _socket.socket = socket.socket
    socket.gethostname = _socket.gethostname = lambda: "localhost"

    def unknown_open(self, request):
        raise urllib.error.URLError(PermissionError(NETWORK))

    # https has no handler of its own without ssl, and would be called unknown.
    urllib.request.UnknownHandler.unknown_open = unknown_open

    def leave(status=0):
        raise SystemExit(status)

    leave.__name__ = leave.__qualname__ = "_exit"
    os._exit = leave
