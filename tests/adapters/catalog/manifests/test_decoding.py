from __future__ import annotations

import gzip
import json
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

from maintainer.adapters.catalog.limits import MAX_DOCUMENT_BYTES, CostlyFileError
from maintainer.adapters.catalog.manifests import decoding
from maintainer.adapters.catalog.manifests.container import open_container
from maintainer.adapters.catalog.manifests.decoding import (
    Batch,
    DecodingBounds,
    DecodingPool,
    DocumentKind,
    decode_batch,
    read_listed,
)
from maintainer.adapters.catalog.manifests.fast_reader import _sample, read_manifest_list
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.metadata import MetadataError, accept_metadata
from maintainer.domain.inventory import ManifestContent, ManifestDigest, SizeClasses
from maintainer.domain.scan_cost import SlowRead
from maintainer.domain.units import MIB
from tests.adapters.catalog.avro_bytes import avro, block, deflated, listing
from tests.adapters.catalog.manifests.test_fast_reader import write_tree

RAW = _sample()
SCHEMA_OF_RAW = open_container(RAW).schema
SLOW: list[SlowRead] = []
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


def test_batches_are_answered_in_their_order_and_one_that_breaks_off_is_noticed() -> None:
    pipe, answers = BytesIO(), BytesIO()
    for count in (3, 0, 1):
        decoding.write_batch(pipe, batch(count))
    pipe.seek(0)
    for _ in range(3):
        decoding.answer(pipe, answers, 64 * MIB)
    with pytest.raises(EOFError):
        decoding.answer(pipe, answers, 64 * MIB)
    with pytest.raises(EOFError):
        decoding.answer(BytesIO(pipe.getvalue()[: len(RAW)]), answers, 64 * MIB)
    answers.seek(0)
    found = [decoding._DECODED.decode(decoding.read_message(answers)) for _ in range(3)]
    assert found == [decode_batch(batch(count)) for count in (3, 0, 1)]


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


def test_what_a_killed_process_was_to_decode_is_decoded_by_another(
    pool: DecodingPool, caplog: pytest.LogCaptureFixture
) -> None:
    pool.decode(batch())
    [first] = pool.ids()
    os.kill(first, signal.SIGKILL)
    assert pool.decode(batch()) == decode_batch(batch())
    assert "the process that decodes the file ended (-9)" in caplog.text
    [second] = pool.ids()
    assert second != first
    assert not is_alive(first)


def test_processes_that_do_not_start_are_not_tried_for_ever(
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
    for _ in range(decoding.MAX_FAILED_STARTS + 3):
        assert pool.decode(batch()) == decode_batch(batch())
    assert starts == decoding.MAX_FAILED_STARTS
    assert pool.ids() == []


def never_here(*_arguments: object) -> None:
    message = "this process must not decode what another one could not"
    raise AssertionError(message)


def stuffed(snapshots: int) -> bytes:
    """A metadata.json of so many snapshots, which compresses to next to nothing."""
    item = json.dumps({"snapshot-id": 1, "timestamp-ms": 1})
    many = ",".join([item] * snapshots)
    return gzip.compress(
        f'{{"format-version": 2, "location": "s3://a/b", "snapshots": [{many}]}}'.encode()
    )


def reduce(pool: DecodingPool, raw: bytes) -> bytes:
    return pool.decode_document(DocumentKind.METADATA, raw, SLOW.append, MAX_DOCUMENT_BYTES)


def test_metadata_that_needs_too_much_memory_is_refused_and_not_decoded_here(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.bounds = DecodingBounds(memory_bytes=32 * MIB)
    monkeypatch.setattr(decoding, "decode_document", never_here)
    with pytest.raises(CostlyFileError, match=r"more memory to decode than scan\.decode_memory"):
        reduce(pool, stuffed(1_000_000))
    assert accept_metadata(reduce(pool, stuffed(2))).format_version == 2, "another one is read"


def test_a_manifest_that_needs_too_much_memory_does_not_hide_the_others(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.bounds = DecodingBounds(memory_bytes=48 * MIB)
    monkeypatch.setattr(decoding, "decode_batch", never_here)
    bomb = avro(json.loads(SCHEMA_OF_RAW), block(1, deflated(bytes(60 * MIB))), codec=b"deflate")
    found = pool.decode(
        Batch([(listed("a"), RAW), (listed("b", bomb), bomb), (listed("c"), RAW)], {}, CLASSES)
    )
    assert [type(outcome) for outcome in found.outcomes] == [ManifestDigest, str, ManifestDigest]
    assert found.costly == [1]
    assert "more memory to decode than scan.decode_memory" in str(found.outcomes[1])


def test_a_manifest_that_costs_its_process_twice_is_refused(
    pool: DecodingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = decoding._Process.decode

    def die_of_b(self: decoding._Process, batch: Batch) -> decoding.Decoded:
        if any(manifest.path == "b" for manifest, _ in batch.manifests):
            os.kill(self.id, signal.SIGKILL)
        return decode(self, batch)

    monkeypatch.setattr(decoding._Process, "decode", die_of_b)
    monkeypatch.setattr(decoding, "decode_batch", never_here)
    found = pool.decode(
        Batch([(listed("a"), RAW), (listed("b"), RAW), (listed("c"), RAW)], {}, CLASSES)
    )
    assert found.outcomes[1] == "the process that decodes the file ended (-9)"
    assert found.costly == [1]
    assert isinstance(found.outcomes[0], ManifestDigest)
    assert isinstance(found.outcomes[2], ManifestDigest)


@pytest.mark.parametrize(
    ("document", "error", "reason"),
    [
        (b"{", MetadataError, "cannot be decoded"),
        (b'{"format-version": 9}', MetadataError, "is not among 1 to 3|no location"),
        (gzip.compress(bytes(9 * MIB)), CostlyFileError, "the bound is 8 MiB"),
        (
            json.dumps({"format-version": 2, "location": "a", "properties": {}})[:-2].encode()
            + b",".join(b'"p%d": 1' % number for number in range(10_001))
            + b"}}",
            CostlyFileError,
            "metadata.json has 10,001 properties; the bound is 10,000",
        ),
    ],
)
def test_a_process_refuses_a_document_as_this_process_does(
    pool: DecodingPool, document: bytes, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        accept_metadata(pool.decode_document(DocumentKind.METADATA, document, SLOW.append, 8 * MIB))
    assert len(pool.ids()) == 1, "it goes on"


def test_a_list_is_decoded_as_this_process_does(pool: DecodingPool) -> None:
    raw = listing(3)
    content = pool.decode_document(DocumentKind.MANIFEST_LIST, raw, SLOW.append, 8 * MIB)
    assert read_listed(content) == read_manifest_list(raw)


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
def test_a_process_that_takes_too_long_is_ended(pool: DecodingPool) -> None:
    pool.bounds = DecodingBounds(seconds=5.0)
    pool.decode(batch())
    [process_id] = pool.ids()
    os.kill(process_id, signal.SIGSTOP)
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
