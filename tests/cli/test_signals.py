from __future__ import annotations

import os
import signal
import threading

import pytest

from maintainer.cli.serve import _Signals


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
