"""An event loop in its own thread, and threads for blocking calls that can be abandoned."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, wait
from contextlib import suppress
from functools import partial
from traceback import clear_frames
from typing import Any, Final, ParamSpec, TypeVar

STOP_CHECK_SECONDS: Final = 0.1  # a waiting caller notices a request to stop within this time
# The time for cancelled work to end. Work that does not end continues in daemon threads.
CLOSE_SECONDS: Final = 2.0
# An idle thread waits this long for a call, because starting a thread costs as much as a call.
SPARE_SECONDS: Final = 10.0
_AHEAD: Final = 1000  # items that a thread takes from a stream in advance

T = TypeVar("T")
P = ParamSpec("P")
ShouldStop = Callable[[], bool]


def never() -> bool:
    """Return False, for callers that wait without a limit."""
    return False


class EventLoop:
    """An event loop in a daemon thread. The thread starts with the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start the work on the loop; cancelling the future cancels the work."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run, args=(self._loop,), name="metadata", daemon=True
                ).start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T], should_stop: ShouldStop = never) -> T:
        """Run the work on the loop and wait for it.

        CancelledError if should_stop returns True or the loop is closed.
        """
        return wait_for(self.submit(work), should_stop)

    def close(self) -> None:
        """Cancel all work and end the thread; a later call starts another thread."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(Exception):
                asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(CLOSE_SECONDS)
            loop.call_soon_threadsafe(loop.stop)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def wait_for(future: Future[T], should_stop: ShouldStop = never) -> T:
    """Return the future's result; once should_stop is True, cancel it and raise CancelledError."""
    while not wait([future], None if should_stop is never else STOP_CHECK_SECONDS).done:
        if should_stop():
            future.cancel()
            raise CancelledError
    return future.result()


class _SpareThreads:
    """One daemon thread for each running call.

    A free thread takes the next call, and ends if no call comes for a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free = 0  # threads without a call
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def give(self, call: Callable[[], None]) -> None:
        """Run the call at once in a separate thread."""
        with self._lock:
            is_free = self._free > 0
            self._free -= is_free
        self._calls.put(call)
        if not is_free:
            threading.Thread(target=self._work, name="aside", daemon=True).start()

    def _work(self) -> None:
        # No name keeps a call after its end: its arguments may be a file of many megabytes.
        self._calls.get()()
        while True:
            with self._lock:
                self._free += 1
            try:
                call = self._calls.get(timeout=SPARE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._free:
                        self._free -= 1
                        return
                call = self._calls.get()  # a call arrived at the last moment
            call()
            del call


_SPARE: Final = _SpareThreads()


def begin_aside(work: Callable[[], T]) -> Future[T]:
    """Run blocking code in a daemon thread; the caller may stop waiting for the future."""
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the caller raises the error
            # The error's traceback and the future refer to each other. Until the next collection
            # of garbage they would keep what the work has read.
            clear_frames(error.__traceback__)
            found.set_exception(error)

    _SPARE.give(run)
    return found


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking code in a daemon thread.

    Neither a cancelled caller nor the end of the process waits for the thread.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(found: Future[T]) -> None:
        if not outcome.done():
            error = found.exception()
            if error is None:
                outcome.set_result(found.result())
            else:
                outcome.set_exception(error)

    def tell(found: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is closed, so the result is no longer needed
            loop.call_soon_threadsafe(settle, found)

    begin_aside(partial(work, *args, **kwargs)).add_done_callback(tell)
    return await outcome


class DaemonThreads(Executor):
    """A thread pool for whose threads nothing waits, not even the end of the process."""

    def __init__(self, width: int, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._width = width
        for _ in range(width):
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the call in the next free thread."""
        future: Future[T] = Future()

        def call() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # noqa: BLE001 - the caller raises the error
                    future.set_exception(error)

        self._calls.put(call)
        return future

    # `wait` is ignored.
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Let each thread finish its current call; calls that have not started are dropped."""
        with suppress(queue.Empty):
            while cancel_futures:
                self._calls.get_nowait()
        for _ in range(self._width):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()


class _End:
    """The end of a stream, with the error if the stream has failed."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def iterate_aside(stream: Iterable[T], should_stop: ShouldStop = never) -> Generator[T, None, None]:
    """Yield the items of a stream that a daemon thread reads, a bounded number of items ahead.

    The iteration ends early if should_stop returns True, even while the stream itself waits.
    """
    if should_stop is never:
        yield from stream
        return
    found: queue.Queue[T | _End] = queue.Queue(_AHEAD)
    abandoned = threading.Event()
    threading.Thread(
        target=_take, args=(stream, found, abandoned), name="aside-stream", daemon=True
    ).start()
    try:
        yield from _hand_over(found, should_stop)
    finally:
        abandoned.set()


def _take(stream: Iterable[T], found: queue.Queue[T | _End], abandoned: threading.Event) -> None:
    end = _End()
    try:
        for item in stream:
            if not _put(found, item, abandoned):
                return
    except BaseException as error:  # noqa: BLE001 - the reader of the items raises the error
        end = _End(error)
    _put(found, end, abandoned)


def _put(found: queue.Queue[T | _End], item: T | _End, abandoned: threading.Event) -> bool:
    while not abandoned.is_set():
        with suppress(queue.Full):
            found.put(item, timeout=STOP_CHECK_SECONDS)
            return True
    return False


def _hand_over(found: queue.Queue[T | _End], should_stop: ShouldStop) -> Iterator[T]:
    while not should_stop():
        try:
            item = found.get(timeout=STOP_CHECK_SECONDS)
        except queue.Empty:
            continue
        if isinstance(item, _End):
            if item.error is not None:
                raise item.error
            return
        yield item
