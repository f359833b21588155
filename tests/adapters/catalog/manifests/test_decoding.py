from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest

from maintainer.adapters.catalog.manifests import decoding
from maintainer.adapters.catalog.manifests.decoding import Batch, DecodingPool, decode_batch
from maintainer.adapters.catalog.manifests.fast_reader import _sample
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.domain.inventory import ManifestContent, ManifestDigest, SizeClasses
from maintainer.domain.scan_cost import SlowRead
from tests.adapters.catalog.manifests.test_fast_reader import write_tree

RAW = _sample()
CLASSES = SizeClasses.around(1000)
SECONDS = 10.0


def listed(path: str, raw: bytes = RAW) -> ListedManifest:
    return ListedManifest(path, len(raw), 0, ManifestContent.DATA, 1)


def batch(count: int = 3) -> Batch:
    return Batch([(listed(f"m{number}"), RAW) for number in range(count)], {}, CLASSES)


def is_alive(process_id: int) -> bool:
    """A zombie is dead: it waits for a parent in a container that never asks."""
    try:
        return (
            Path(f"/proc/{process_id}/stat")
            .read_text(encoding="utf-8")
            .rpartition(")")[2]
            .split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"in vain for {SECONDS} s"
        threading.Event().wait(0.01)


@pytest.fixture
def pool() -> Iterator[DecodingPool]:
    made = DecodingPool(1)
    yield made
    made.close()


def test_a_manifest_that_cannot_be_read_does_not_hide_the_others() -> None:
    broken = RAW[: len(RAW) // 2]
    decoded = decode_batch(
        Batch(
            [(listed("a"), RAW), (listed("b"), broken), (listed("c", broken), broken)], {}, CLASSES
        )
    )
    found = decoded.outcomes
    assert isinstance(found[0], ManifestDigest)
    assert found[1] == f"it has {len(broken)} bytes, the manifest list says {len(RAW)}"
    assert isinstance(found[2], str)
    assert decoded.slow == {}, "what no reader can read is not read slowly"


def test_a_batch_is_read_as_it_was_written_and_one_that_breaks_off_is_noticed() -> None:
    pipe = BytesIO()
    for count in (3, 0, 1):
        decoding.write_batch(pipe, batch(count))
    pipe.seek(0)
    assert [decoding.read_batch(pipe) for _ in range(3)] == [batch(3), batch(0), batch(1)]
    with pytest.raises(EOFError):
        decoding.read_batch(pipe)
    with pytest.raises(EOFError):
        decoding.read_batch(BytesIO(pipe.getvalue()[: len(RAW)]))


def test_without_processes_everything_is_decoded_here() -> None:
    pool = DecodingPool(0)
    assert pool.decode(batch()) == decode_batch(batch())
    assert pool.ids() == []


def test_a_process_finds_the_same_and_is_kept_for_the_next_batch(pool: DecodingPool) -> None:
    assert pool.ids() == [], "nothing is started before there is something to do"
    broken = Batch([(listed("a"), RAW), (listed("b"), b"no manifest" * 1000)], {}, CLASSES)
    for one in (batch(), broken, batch(0)):
        assert pool.decode(one) == decode_batch(one)
    [process_id] = pool.ids()
    assert process_id != os.getpid()
    pool.close()
    assert not is_alive(process_id)
    assert pool.decode(batch()) == decode_batch(batch()), "a closed pool serves again"
    assert pool.ids() != [process_id]


def test_a_process_says_how_many_manifests_it_read_slowly(pool: DecodingPool) -> None:
    tree = write_tree()
    odd = Batch(
        [(listed("a", tree), tree), (listed("b"), RAW), (listed("c", tree), tree)], {}, CLASSES
    )
    assert pool.decode(odd) == decode_batch(odd)
    assert pool.decode(odd).slow == {SlowRead.SCHEMA: 2}
    assert len(pool.ids()) == 1


def test_what_a_killed_process_was_to_decode_is_decoded_here_and_another_takes_its_place(
    pool: DecodingPool, caplog: pytest.LogCaptureFixture
) -> None:
    pool.decode(batch())
    [first] = pool.ids()
    os.kill(first, signal.SIGKILL)
    assert pool.decode(batch()) == decode_batch(batch())
    assert "a decoding process was lost, its 3 manifests are decoded here" in caplog.text
    assert pool.decode(batch()) == decode_batch(batch())
    [second] = pool.ids()
    assert second != first
    assert not is_alive(first)


def test_processes_that_never_answer_are_not_started_for_ever(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = 0
    original = pool._start

    def start() -> object:
        nonlocal starts
        starts += 1
        return original()

    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr(pool, "_start", start)
    for _ in range(decoding.MAX_LOSSES + 3):
        assert pool.decode(batch()) == decode_batch(batch())
    assert starts == decoding.MAX_LOSSES
    assert pool.ids() == []


@pytest.mark.slow
def test_closing_cancels_what_is_being_decoded(pool: DecodingPool) -> None:
    pool.decode(batch())
    [process_id] = pool.ids()
    os.kill(process_id, signal.SIGSTOP)  # it hangs
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(pool.decode, batch())
        wait_until(pool._slots.empty)
        pool.close()
        with pytest.raises(CancelledError):
            waiting.result(SECONDS)
    assert not is_alive(process_id)


@pytest.mark.slow
def test_a_process_that_takes_too_long_is_ended(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.decode(batch())
    [process_id] = pool.ids()
    os.kill(process_id, signal.SIGSTOP)
    monkeypatch.setattr(decoding, "DECODE_TIMEOUT_SECONDS", 0.05)
    assert pool.decode(batch()) == decode_batch(batch())
    assert not is_alive(process_id)


@pytest.mark.slow
def test_a_process_that_had_nothing_to_do_is_ended(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.decode(batch())
    pool.end_idle()
    [process_id] = pool.ids()
    monkeypatch.setattr(decoding, "IDLE_SECONDS", 0.0)
    pool.end_idle()
    assert pool.ids() == []
    assert not is_alive(process_id)
    assert pool.decode(batch()) == decode_batch(batch())


@pytest.mark.slow
def test_no_process_is_left_when_the_daemon_is_killed() -> None:
    program = (
        "from tests.adapters.catalog.manifests.test_decoding import DecodingPool, batch\n"
        "import sys\n"
        "pool = DecodingPool(2)\n"
        "from threading import Thread\n"
        "threads = [Thread(target=pool.decode, args=(batch(2000),)) for _ in range(2)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "print(*pool.ids(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    daemon = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert daemon.stdout is not None
    assert daemon.stdin is not None
    processes = [int(text) for text in daemon.stdout.readline().split()]
    assert len(processes) == 2
    assert all(map(is_alive, processes))
    daemon.send_signal(signal.SIGKILL)
    daemon.wait(SECONDS)
    wait_until(lambda: not any(map(is_alive, processes)))
    daemon.stdout.close()
    daemon.stdin.close()
