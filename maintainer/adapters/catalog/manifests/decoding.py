"""Decodes manifests in separate processes, which get raw bytes and return digests.

Each process is a new interpreter that imports only the readers. It ends when its standard input
ends, so no process outlives the daemon.
"""

from __future__ import annotations

import logging
import os
import queue
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from threading import Lock, Timer
from typing import IO, Final, cast

import msgspec

import maintainer
from maintainer.adapters.catalog.limits import MAX_MANIFEST_BYTES, TooLargeError
from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.partition import Spec
from maintainer.domain.inventory import ManifestDigest, SizeClasses
from maintainer.domain.scan_cost import SlowRead

DECODE_TIMEOUT_SECONDS: Final = 300.0  # for one batch; a process that takes longer is ended
IDLE_SECONDS: Final = 300.0  # an idle process is ended after this time; it takes about 70 MB
MAX_LOSSES: Final = 3  # after so many processes in a row end without an answer, none is started
_LENGTH_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
_LOG: Final = logging.getLogger(__name__)


class Batch(msgspec.Struct):
    """Manifests of one table with their bytes."""

    manifests: list[tuple[ListedManifest, bytes]]
    specs: dict[int, Spec]
    classes: SizeClasses


class _Listing(msgspec.Struct):
    """A batch without the bytes of its manifests.

    The bytes follow the listing: copying them into one message takes 7 % of a scan's CPU time.
    """

    manifests: list[ListedManifest]
    specs: dict[int, Spec]
    classes: SizeClasses


class Decoded(msgspec.Struct):
    """The results of a batch in its order: digests, or texts why a manifest cannot be read.

    `slow` counts the manifests that the slow reader has read.
    """

    outcomes: list[ManifestDigest | str]
    slow: dict[SlowRead, int]


_LISTINGS: Final = msgspec.msgpack.Decoder(_Listing)
_DECODED: Final = msgspec.msgpack.Decoder(Decoded)


def decode_batch(batch: Batch, most_bytes: int | None = None) -> Decoded:
    """Make the digests of the manifests in this process.

    TooLargeError if a manifest has more than `most_bytes` decompressed.
    """
    slow: list[SlowRead] = []
    return Decoded(
        [_decode(raw, listed, batch, slow, most_bytes) for listed, raw in batch.manifests],
        Counter(slow),
    )


def _decode(
    raw: bytes, listed: ListedManifest, batch: Batch, slow: list[SlowRead], most_bytes: int | None
) -> ManifestDigest | str:
    try:
        return digest_manifest(
            raw, listed, batch.specs, batch.classes, slow.append, most_bytes or MAX_MANIFEST_BYTES
        )
    except TooLargeError as error:
        if most_bytes is not None:
            raise
        return str(error)
    # If one manifest cannot be read, the others must still be read.
    except Exception as error:  # noqa: BLE001
        return str(error) or type(error).__name__


class DecodingPool:
    """A bounded number of processes that start on demand. Thread-safe."""

    def __init__(self, processes: int) -> None:
        """`processes` is the greatest number; with 0, this process decodes everything."""
        self._slots: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(processes):
            self._slots.put(None)
        self._lock = Lock()
        self._running: set[_Process] = set()
        self._losses = 0
        self.processes = processes

    def ids(self) -> list[int]:
        with self._lock:
            return [process.id for process in self._running]

    def decode(self, batch: Batch) -> Decoded:
        """Make the digests of a batch in the next free process, or in this process if that fails.

        CancelledError if the pool is closed meanwhile.
        """
        if not self.processes or self._losses >= MAX_LOSSES:
            return decode_batch(batch)
        process = self._slots.get()
        try:
            if process is None or process.is_ended:
                process = self._start()
            decoded = process.decode(batch)
        except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
            self._slots.put(None)
            return self._decode_instead(batch, process, error)
        self._losses = 0
        self._slots.put(process)
        return decoded

    def end_idle(self) -> None:
        """End the processes that have been idle for IDLE_SECONDS."""
        for _ in range(self.processes):
            try:
                process = self._slots.get_nowait()
            except queue.Empty:
                return
            if process is not None and time.monotonic() - process.used_at >= IDLE_SECONDS:
                self._end(process)
                process = None
            self._slots.put(process)

    def close(self) -> None:
        """End all processes at once and cancel their batches."""
        with self._lock:
            running = list(self._running)
        for process in running:
            self._end(process)

    def _start(self) -> _Process:
        process = _Process()
        with self._lock:
            self._running.add(process)
        return process

    def _end(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._running.discard(process)

    def _decode_instead(self, batch: Batch, process: _Process | None, error: Exception) -> Decoded:
        if process is not None:
            if process.is_ended:
                raise CancelledError
            self._end(process)
        self._losses += 1
        _LOG.warning(
            "a decoding process was lost, its %d manifests are decoded here: %s",
            len(batch.manifests),
            str(error) or type(error).__name__,
        )
        return decode_batch(batch)


class _Process:
    """One interpreter that decodes batch after batch."""

    def __init__(self) -> None:
        root = str(Path(maintainer.__file__).parents[1])
        paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-P", "-m", f"{__name__}_process"]
        self._popen = subprocess.Popen(  # noqa: S603 - a program of this package
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        self._stdin, self._stdout = (
            cast("IO[bytes]", self._popen.stdin),
            cast("IO[bytes]", self._popen.stdout),
        )
        _widen(self._stdin)
        self.id = self._popen.pid
        self.used_at = time.monotonic()
        self.is_ended = False

    def decode(self, batch: Batch) -> Decoded:
        """Send a batch and wait for its results; OSError or EOFError if the process has ended."""
        watchdog = Timer(DECODE_TIMEOUT_SECONDS, self._popen.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            write_batch(self._stdin, batch)
            return _DECODED.decode(read_message(self._stdout))
        finally:
            watchdog.cancel()
            self.used_at = time.monotonic()

    def end(self) -> None:
        """End the process at once."""
        self.is_ended = True
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):  # the reader of unwritten bytes has ended
                pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """Enlarge the pipe's buffer, if the system allows it, to have fewer context switches."""
    try:
        import fcntl  # noqa: PLC0415 - some systems do not have it

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        return


def write_batch(pipe: IO[bytes], batch: Batch) -> None:
    """Write a batch: its listing, then the bytes of each manifest."""
    listing = _Listing([listed for listed, _ in batch.manifests], batch.specs, batch.classes)
    write_messages(pipe, msgspec.msgpack.encode(listing), *(raw for _, raw in batch.manifests))


def read_batch(pipe: IO[bytes]) -> Batch:
    """Read the next batch; EOFError if the other side has ended."""
    listing = _LISTINGS.decode(read_message(pipe))
    manifests = [(listed, read_message(pipe)) for listed in listing.manifests]
    return Batch(manifests, listing.specs, listing.classes)


def write_messages(pipe: IO[bytes], *messages: bytes) -> None:
    """Write each message after its length."""
    for message in messages:
        pipe.write(len(message).to_bytes(_LENGTH_BYTES, "little"))
        pipe.write(message)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> bytes:
    """Read the next message; EOFError if the other side has ended."""
    length = int.from_bytes(_read_exactly(pipe, _LENGTH_BYTES), "little")
    return _read_exactly(pipe, length)


def _read_exactly(pipe: IO[bytes], length: int) -> bytes:
    found = pipe.read(length)
    if len(found) < length:
        raise EOFError(f"a message of {length} bytes ends after {len(found)} bytes")
    return found


def serve_batches(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer each batch until the source ends or the sink is closed."""
    while True:
        try:
            decoded = decode_batch(read_batch(source))
            write_messages(sink, msgspec.msgpack.encode(decoded))
        except (EOFError, BrokenPipeError):
            return
