"""Decodes metadata files in separate processes, which get raw bytes and return what is needed.

Each process is a new interpreter that imports only the readers. It has a limit of memory, and of
time for each request: a file that passes a limit costs its table, and never the daemon. A process
ends when its standard input ends, so none outlives the daemon.
"""

from __future__ import annotations

import logging
import os
import queue
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock, Timer
from typing import IO, Final, TypeVar, cast

import msgspec

from maintainer.adapters.catalog.limits import (
    DECODE_TIMEOUT_SECONDS,
    LASTING,
    MAX_DECODING_BYTES,
    MAX_MANIFEST_BYTES,
    CostlyFileError,
    ImplausibleError,
    TooLargeError,
    UnreadableFileError,
)
from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.metadata import MetadataError, reduce_metadata
from maintainer.adapters.catalog.manifests.partition import Spec
from maintainer.adapters.own_process import start_program
from maintainer.domain.inventory import FaultKind, ManifestDigest, SizeClasses
from maintainer.domain.scan_cost import SlowRead

START_TIMEOUT_SECONDS: Final = 60.0
ENDING_SECONDS: Final = 1.0  # from the end of a process's answers to its own end
IDLE_SECONDS: Final = 300.0  # an idle process is ended after this time; it takes about 70 MB
# After so many processes in a row that do not start, this process decodes everything.
MAX_FAILED_STARTS: Final = 3
OUT_OF_MEMORY: Final = 3  # the exit code of a process that has reached its limit
_READY: Final = b"ready"
_LENGTH_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
_LOG: Final = logging.getLogger(__name__)

T = TypeVar("T")


class Batch(msgspec.Struct):
    """Manifests of one table with their bytes."""

    manifests: list[tuple[ListedManifest, bytes]]
    specs: dict[int, Spec]
    classes: SizeClasses


class _Listing(msgspec.Struct, tag=True):
    """A batch without the bytes of its manifests.

    The bytes follow the listing: copying them into one message takes 7 % of a scan's CPU time.
    """

    manifests: list[ListedManifest]
    specs: dict[int, Spec]
    classes: SizeClasses


class DocumentKind(StrEnum):
    """A metadata file that is decoded as a whole."""

    METADATA = "metadata.json"
    MANIFEST_LIST = "manifest list"


class _Document(msgspec.Struct, tag=True):
    """A document without its bytes, which follow."""

    kind: DocumentKind
    most_bytes: int


class Decoded(msgspec.Struct):
    """The results of a batch in its order: digests, or texts why a manifest cannot be read.

    `slow` counts the manifests that the slow reader has read. `costly` are the positions of the
    manifests that pass a limit, so that reading them again gives the same.
    """

    outcomes: list[ManifestDigest | str]
    slow: dict[SlowRead, int]
    costly: list[int] = []


class _Refused(msgspec.Struct):
    """Why a document cannot be decoded."""

    reason: str
    is_costly: bool = False  # it passes a limit
    kind: FaultKind | None = None  # of a MetadataError


class _Outcome(msgspec.Struct):
    """The answer to a document; if it is not refused, its content follows."""

    refused: _Refused | None = None
    slow: list[SlowRead] = []
    is_spent: bool = False  # the process needs so much memory now that it should end


_REQUESTS: Final = msgspec.msgpack.Decoder(_Listing | _Document)
_DECODED: Final = msgspec.msgpack.Decoder(Decoded)
_OUTCOMES: Final = msgspec.msgpack.Decoder(_Outcome)
_LISTED: Final = msgspec.msgpack.Decoder(tuple[ListedManifest, ...])


def decode_batch(batch: Batch, most_bytes: int | None = None) -> Decoded:
    """Make the digests of the manifests in this process.

    TooLargeError if a manifest has more than `most_bytes` decompressed.
    """
    slow: list[SlowRead] = []
    costly: list[int] = []
    outcomes: list[ManifestDigest | str] = []
    for position, (listed, raw) in enumerate(batch.manifests):
        try:
            outcomes.append(
                digest_manifest(
                    raw,
                    listed,
                    batch.specs,
                    batch.classes,
                    slow.append,
                    most_bytes or MAX_MANIFEST_BYTES,
                )
            )
        except (TooLargeError, ImplausibleError) as error:
            if most_bytes is not None and isinstance(error, TooLargeError):
                raise
            outcomes.append(str(error))
            costly.append(position)
        except MemoryError:
            outcomes.append(NEEDS_MEMORY)
            costly.append(position)
        # If one manifest cannot be read, the others must still be read.
        except Exception as error:  # noqa: BLE001
            outcomes.append(str(error) or type(error).__name__)
    return Decoded(outcomes, Counter(slow), costly)


NEEDS_MEMORY: Final = "the file needs more memory to decode than scan.decode_memory allows"


@dataclass(frozen=True, slots=True)
class DecodingBounds:
    """What one process may take: memory beyond what it has when it starts, time for one request."""

    memory_bytes: int = MAX_DECODING_BYTES
    seconds: float = DECODE_TIMEOUT_SECONDS


def decode_document(
    kind: DocumentKind, raw: bytes, on_slow: Callable[[SlowRead], None], most_bytes: int
) -> bytes:
    """Decode a document in this process, and write what `DecodingPool.decode_document` returns."""
    if kind is DocumentKind.METADATA:
        return reduce_metadata(raw, most_bytes)
    return msgspec.msgpack.encode(read_manifest_list(raw, on_slow, most_bytes))


def read_listed(content: bytes) -> tuple[ListedManifest, ...]:
    """Read the content of a manifest list as `decode_document` writes it."""
    return _LISTED.decode(content)


class LostProcessError(Exception):
    """A decoding process has ended before its answer.

    `is_costly` is True if the request has passed a limit of the process.
    """

    def __init__(self, reason: str, *, is_costly: bool) -> None:
        super().__init__(reason)
        self.is_costly = is_costly


class DecodingPool:
    """A bounded number of processes that start on demand. Thread-safe."""

    def __init__(self, processes: int, bounds: DecodingBounds | None = None) -> None:
        """`processes` is the greatest number; with 0, this process decodes everything."""
        self._slots: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(processes):
            self._slots.put(None)
        self._lock = Lock()
        self._running: set[_Process] = set()
        self._failed_starts = 0
        self.processes = processes
        self.bounds = bounds or DecodingBounds()

    def ids(self) -> list[int]:
        with self._lock:
            return [process.id for process in self._running]

    def decode(self, batch: Batch) -> Decoded:
        """Make the digests of a batch in the next free process.

        If that process is lost, each manifest is decoded alone, and one that costs another process
        is refused. CancelledError if the pool is closed meanwhile.
        """
        try:
            return self._decode_once(batch)
        except LostProcessError as error:
            if len(batch.manifests) == 1 and error.is_costly:
                return Decoded([str(error)], {}, [0])
        merged = Decoded([], {}, [])
        for position, one in enumerate(batch.manifests):
            decoded = self._decode_alone(Batch([one], batch.specs, batch.classes))
            merged.outcomes += decoded.outcomes
            merged.slow = dict(Counter(merged.slow) + Counter(decoded.slow))
            merged.costly += [position] * len(decoded.costly)
        return merged

    def _decode_once(self, batch: Batch) -> Decoded:
        return self._ask(lambda process: process.decode(batch), lambda: decode_batch(batch))

    def _decode_alone(self, batch: Batch) -> Decoded:
        try:
            return self._decode_once(batch)
        except LostProcessError as error:
            return Decoded([str(error)], {}, [0])

    def decode_document(
        self,
        kind: DocumentKind,
        raw: bytes,
        on_slow: Callable[[SlowRead], None],
        most_bytes: int,
    ) -> bytes:
        """Decode a document in the next free process: JSON for `accept_metadata`, or `read_listed`.

        MetadataError or UnreadableFileError as of the readers; CostlyFileError if it passes a
        limit of the process. CancelledError if the pool is closed meanwhile.
        """

        def ask(process: _Process) -> bytes:
            return process.decode_document(kind, raw, on_slow, most_bytes)

        def do() -> bytes:
            return decode_document(kind, raw, on_slow, most_bytes)

        try:
            return self._ask(ask, do)
        except LostProcessError as error:
            if error.is_costly:
                raise CostlyFileError(str(error)) from error
        try:
            return self._ask(ask, do)
        except LostProcessError as error:
            raise CostlyFileError(str(error)) from error

    def _ask(self, ask: Callable[[_Process], T], do: Callable[[], T]) -> T:
        """Ask a process; only if none can be started, this process does it."""
        if not self.processes or self._failed_starts >= MAX_FAILED_STARTS:
            return do()
        process = self._slots.get()
        if process is None or process.is_ended:
            try:
                process = self._start()
            except (OSError, EOFError, ValueError) as error:
                self._slots.put(None)
                self._failed_starts += 1
                _LOG.warning("no decoding process starts: %s", str(error) or type(error).__name__)
                return do()
        try:
            return ask(process)
        except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
            if process.is_ended:
                raise CancelledError from error
            raise self._lose(process) from error
        finally:
            if process.is_spent:
                self._end(process)
            self._slots.put(None if process.is_ended else process)

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
        """End all processes at once and cancel their requests."""
        with self._lock:
            running = list(self._running)
        for process in running:
            self._end(process)

    def _start(self) -> _Process:
        process = _Process(self.bounds)
        self._failed_starts = 0
        with self._lock:
            self._running.add(process)
        return process

    def _end(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._running.discard(process)

    def _lose(self, process: _Process) -> LostProcessError:
        process.wait_for_end()
        self._end(process)
        lost = process.describe_loss()
        _LOG.warning("a decoding process was lost: %s", lost)
        return lost


class _Process:
    """One interpreter that answers request after request."""

    def __init__(self, bounds: DecodingBounds) -> None:
        self._seconds = bounds.seconds
        self._popen = start_program(f"{__name__}_process", str(bounds.memory_bytes))
        self._stdin, self._stdout = (
            cast("IO[bytes]", self._popen.stdin),
            cast("IO[bytes]", self._popen.stdout),
        )
        _widen(self._stdin)
        self.id = self._popen.pid
        self.used_at = time.monotonic()
        self.is_ended = False
        self.is_spent = False  # it has been close to its limit of memory
        self._is_late = False
        try:
            with self._in_time(START_TIMEOUT_SECONDS):
                _expect_ready(self._stdout)
        except (OSError, EOFError, ValueError):
            self.end()
            raise

    def decode(self, batch: Batch) -> Decoded:
        """Send a batch and wait for its results; OSError or EOFError if the process has ended."""
        with self._in_time(self._seconds):
            write_batch(self._stdin, batch)
            decoded = _DECODED.decode(read_message(self._stdout))
        self.is_spent = bool(decoded.costly)
        return decoded

    def decode_document(
        self,
        kind: DocumentKind,
        raw: bytes,
        on_slow: Callable[[SlowRead], None],
        most_bytes: int,
    ) -> bytes:
        """Send a document and wait for its content; raises the error that the process reports.

        OSError or EOFError if the process has ended.
        """
        with self._in_time(self._seconds):
            request = msgspec.msgpack.encode(_Document(kind, most_bytes))
            write_messages(self._stdin, request, raw)
            outcome = _OUTCOMES.decode(read_message(self._stdout))
            content = b"" if outcome.refused is not None else read_message(self._stdout)
        self.is_spent = outcome.is_spent
        for reason in outcome.slow:
            on_slow(reason)
        if outcome.refused is None:
            return content
        refused = outcome.refused
        if refused.kind is not None:
            raise MetadataError(refused.kind, refused.reason)
        raise (CostlyFileError if refused.is_costly else UnreadableFileError)(refused.reason)

    def describe_loss(self) -> LostProcessError:
        """Say why the process has ended; only after its end."""
        if self._is_late:
            reason = f"the file takes longer than {self._seconds:g} s to decode"
            return LostProcessError(reason, is_costly=True)
        if self._popen.returncode == OUT_OF_MEMORY:
            return LostProcessError(NEEDS_MEMORY, is_costly=True)
        return LostProcessError(
            f"the process that decodes the file ended ({self._popen.returncode})", is_costly=False
        )

    def wait_for_end(self) -> None:
        """Wait a moment for an end that has begun: the exit code says why."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(ENDING_SECONDS)

    def end(self) -> None:
        """End the process at once."""
        self.is_ended = True
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):  # the reader of unwritten bytes has ended
                pipe.close()

    @contextmanager
    def _in_time(self, seconds: float) -> Iterator[None]:
        """Kill the process if it does not answer within this time."""

        def kill() -> None:
            self._is_late = True
            self._popen.kill()

        watchdog = Timer(seconds, kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()
            self.used_at = time.monotonic()


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


def write_messages(pipe: IO[bytes], *messages: bytes) -> None:
    """Write each message after its length."""
    for message in messages:
        pipe.write(len(message).to_bytes(_LENGTH_BYTES, "little"))
        pipe.write(message)
    pipe.flush()


def _expect_ready(pipe: IO[bytes]) -> None:
    """Wait for a process to start; ValueError if it begins with anything else."""
    found = read_message(pipe)
    if found != _READY:
        raise ValueError(f"a decoding process begins with {found[:100]!r}")


def read_message(pipe: IO[bytes]) -> bytes:
    """Read the next message; EOFError if the other side has ended."""
    length = int.from_bytes(_read_exactly(pipe, _LENGTH_BYTES), "little")
    return _read_exactly(pipe, length)


def _read_exactly(pipe: IO[bytes], length: int) -> bytes:
    found = pipe.read(length)
    if len(found) < length:
        raise EOFError(f"a message of {length} bytes ends after {len(found)} bytes")
    return found


def serve(source: IO[bytes], sink: IO[bytes], memory_bytes: int) -> None:
    """Answer each request until the source ends or the sink is closed.

    `memory_bytes` is what the process may take beyond what it had when it started.
    """
    try:
        write_messages(sink, _READY)
        while True:
            answer(source, sink, memory_bytes)
    except (EOFError, BrokenPipeError):
        return


def answer(source: IO[bytes], sink: IO[bytes], memory_bytes: int) -> None:
    """Read the next request and answer it; EOFError if the other side has ended."""
    request = _REQUESTS.decode(read_message(source))
    if isinstance(request, _Listing):
        manifests = [(listed, read_message(source)) for listed in request.manifests]
        decoded = decode_batch(Batch(manifests, request.specs, request.classes))
        write_messages(sink, msgspec.msgpack.encode(decoded))
        return
    slow: list[SlowRead] = []
    refused, content = None, b""
    try:
        content = decode_document(
            request.kind, read_message(source), slow.append, request.most_bytes
        )
    except MetadataError as error:
        refused = _Refused(error.reason, kind=error.kind)
    except MemoryError:
        refused = _Refused(NEEDS_MEMORY, is_costly=True)
    except UnreadableFileError as error:
        refused = _Refused(str(error), is_costly=isinstance(error, LASTING))
    except Exception as error:  # noqa: BLE001 - a library's error makes the document unreadable
        refused = _Refused(f"{type(error).__name__}: {error}")
    outcome = _Outcome(refused, slow, resident_bytes() > memory_bytes // 2)
    contents = [content] if refused is None else []
    write_messages(sink, msgspec.msgpack.encode(outcome), *contents)


def resident_bytes() -> int:
    """Return this process's resident memory; 0 if the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
