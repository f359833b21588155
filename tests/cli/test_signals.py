from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from maintainer.cli.setup.serve import _Signals
from tests.adapters.spark.lakes import wait_until


@pytest.mark.timeout(30)
def test_a_signal_at_any_moment_ends_the_wait() -> None:
    for _ in range(100):
        signals = _Signals()
        with signals.caught():
            thread = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM))
            thread.start()
            signals.wait()
            thread.join()
        assert not signals.is_urgent


@pytest.mark.timeout(30)
def test_a_signal_that_the_system_gives_to_another_thread_ends_the_wait() -> None:
    """Python runs the handler in the main thread alone, which such a signal does not wake."""
    signals, main = _Signals(), threading.main_thread().ident
    is_over = threading.Event()

    def take_signal() -> None:
        def waits() -> bool:
            frame = sys._current_frames()[main or 0]
            return frame.f_code is _Signals.wait.__code__

        wait_until(waits, 20)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        is_over.wait()

    thread = threading.Thread(target=take_signal)
    with signals.caught():
        thread.start()
        signals.wait()
    is_over.set()
    thread.join()
    assert signals.is_asked


def test_a_handler_that_runs_in_the_middle_of_the_wait_does_not_wait_for_itself() -> None:
    signals = _Signals()
    signals._handle(signal.SIGTERM, None)
    signals._handle(signal.SIGINT, None)
    signals.wait()
    assert signals.is_urgent


def test_the_handlers_of_before_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _Signals().caught():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
