"""An asyncio event loop for a world without sockets, signals and threads.

Nothing but time can wake a program here, so the selector only sleeps.
"""

import asyncio
import asyncio.base_events
import asyncio.events
import time

Runner = asyncio.Runner
sleep = time.sleep


class Selector:
    """Sleeps where a real one would wait for a descriptor."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("deadlock: every task waits, and nothing is left that could wake one")
        if timeout > 0:
            sleep(timeout)
        return ()

    def close(self):
        pass


def no_network(*args, **kwargs):
    raise PermissionError("there is no network here")


class Loop(asyncio.base_events.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = Selector()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        # Called by call_soon_threadsafe(), to wake a loop that sleeps. Whoever
        # calls it here runs, so the loop does not sleep.
        pass

    def run_in_executor(self, executor, function, *args):
        raise RuntimeError("threads do not exist here; call the function directly")

    async def _refuse_network(self, *args, **kwargs):
        no_network()

    create_connection = create_server = create_datagram_endpoint = _refuse_network
    create_unix_connection = create_unix_server = getaddrinfo = getnameinfo = _refuse_network
    sock_connect = sock_accept = sock_recv = sock_sendall = _refuse_network

    async def _refuse_process(self, *args, **kwargs):
        raise PermissionError("there are no processes here to start or to talk to")

    subprocess_exec = subprocess_shell = _refuse_process


class Policy(asyncio.events.BaseDefaultEventLoopPolicy):
    _loop_factory = Loop


def install():
    asyncio.set_event_loop_policy(Policy())
    for name in ("SelectorEventLoop", "EventLoop"):
        setattr(asyncio, name, Loop)
        setattr(asyncio.unix_events, name, Loop)
    asyncio.DefaultEventLoopPolicy = Policy


def drive(coroutine):
    """Runs the coroutine that source with a top-level await is."""
    with Runner(loop_factory=Loop) as runner:
        return runner.run(coroutine)
