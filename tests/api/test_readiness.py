"""A probe is answered whatever the store does."""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path
from typing import cast

from maintainer.adapters.store import open_store
from maintainer.api.readiness import StoreCheck
from maintainer.ports.store import Store

SECONDS = 10.0


def test_a_store_that_another_program_locks_is_not_ready_in_time(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    store = open_store(f"sqlite:///{file}")
    check = StoreCheck(store, seconds=0.2)
    assert check()[:2] == ("store", True)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    for _ in range(3):
        assert check() == ("store", False, "the store has not answered within 0.2 s")
    assert time.monotonic() - started < SECONDS
    assert [thread.name for thread in threading.enumerate()].count("ready") == 1
    other.execute("ROLLBACK")
    other.close()
    deadline = time.monotonic() + SECONDS
    while not check()[1]:
        assert time.monotonic() < deadline
    store.close()


def test_an_error_that_nobody_expects_is_an_answer_too() -> None:
    class Broken:
        def ensure_writable(self) -> None:
            raise RuntimeError("it broke")

    assert StoreCheck(cast("Store", Broken()))() == ("store", False, "RuntimeError: it broke")
