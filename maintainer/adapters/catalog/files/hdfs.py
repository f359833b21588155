"""Reads files on HDFS with hdfs-native, which itself connects to name nodes and data nodes.

PyIceberg uses libhdfs, which starts a JVM in this process and may wait for a name node for ever.
"""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from queue import Empty, Full, Queue
from threading import BoundedSemaphore, Event, Lock
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from pyiceberg.io import SCHEMA_TO_FILE_IO, FileIO, InputFile, InputStream, OutputFile

from maintainer.adapters.catalog.files.listing import PAGE_FILES, Tell, gather
from maintainer.adapters.catalog.loop import begin_aside
from maintainer.adapters.catalog.tables.loading import READ_TIMEOUT_SECONDS
from maintainer.adapters.extras import require_package
from maintainer.domain.location import HDFS_SCHEMES
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.domain.units import MIB

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus


# Directories in the queue. If it is full, a worker lists the directories that it finds itself.
DIRECTORIES_AHEAD: Final = 10_000
_POLL_SECONDS: Final = 0.05
MAX_CLUSTERS: Final = 16  # clusters with open connections, for all catalogs and tables
CALLS_AT_MOST: Final = 32  # threads for one cluster; a cluster that never answers blocks only these
READ_BYTES: Final = 8 * MIB  # bytes in one answer
DEFAULT_PORT: Final = 8020  # Hadoop's port of a name node if a location has none
HADOOP: Final = "hadoop."  # the prefix of Hadoop's settings in a catalog's properties
# The library's default takes minutes. A catalog may configure other values.
_BOUNDED: Final = {
    "dfs.client.failover.max.attempts": "4",
    "dfs.client.failover.sleep.base.millis": "100",
    "dfs.client.failover.sleep.max.millis": "1000",
}

T = TypeVar("T")


class Entry(Protocol):
    """An entry of a directory: a file or a directory, with its whole path."""

    @property
    def path(self) -> str: ...
    @property
    def isdir(self) -> bool: ...


E = TypeVar("E", bound=Entry)
ListDirectory = Callable[[str], Iterable[Sequence[E]]]


def walk(list_directory: ListDirectory[E], root: str, workers: int) -> Iterator[Sequence[E]]:
    """List the files in portions that are never empty. Raises the storage's exceptions.

    A directory that disappears during the listing has no files. Closing the iterator ends the
    listing.
    """
    walking = _Walk(list_directory, root)
    with ThreadPoolExecutor(workers, thread_name_prefix="walks") as pool:
        try:
            yield from gather([walking.work] * workers, pool)
        finally:
            walking.is_over.set()


class _Walk(Generic[E]):
    """The directories that are not yet listed, which all workers share."""

    def __init__(self, list_directory: ListDirectory[E], root: str) -> None:
        self.is_over = Event()
        self._list = list_directory
        self._root = root
        self._waiting: Queue[str] = Queue(DIRECTORIES_AHEAD)
        self._lock = Lock()
        self._left = 1  # directories that are not finished
        self._waiting.put(root)

    def work(self, tell: Tell[Sequence[E]]) -> None:
        """List directories until no directory is left for any worker."""
        try:
            while not self.is_over.is_set():
                with suppress(Empty):
                    self._read(self._waiting.get(timeout=_POLL_SECONDS), tell)
        except BaseException:
            self.is_over.set()
            raise

    def _read(self, directory: str, tell: Tell[Sequence[E]]) -> None:
        try:
            for page in self._list(directory):
                files = [entry for entry in page if not entry.isdir]
                if self.is_over.is_set() or (files and not tell(files)):
                    return
                for entry in page:
                    if entry.isdir:
                        self._enter(entry.path, tell)
        except FileNotFoundError:
            if directory == self._root:
                raise
        self._finish()

    def _enter(self, directory: str, tell: Tell[Sequence[E]]) -> None:
        with self._lock:
            self._left += 1
        try:
            self._waiting.put_nowait(directory)
        except Full:
            self._read(directory, tell)

    def _finish(self) -> None:
        with self._lock:
            self._left -= 1
            if not self._left:
                self.is_over.set()


class HdfsFileIO(FileIO):
    """Reads hdfs:// and viewfs:// locations; never writes. ImportError names a missing package."""

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        """``properties`` are those of a catalog.

        The library finds Hadoop's configuration by HADOOP_CONF_DIR and HADOOP_HOME.
        """
        super().__init__(dict(properties or {}))
        require_package("hdfs_native", "hdfs", "reading tables on HDFS")
        self._config = _BOUNDED | {
            name.removeprefix(HADOOP): text
            for name, text in self.properties.items()
            if name.startswith(HADOOP)
        }

    def new_input(self, location: str) -> HdfsInput:
        """Return the file without a request."""
        return HdfsInput(location, *self._find(location))

    def new_output(self, location: str) -> OutputFile:
        """Raise PermissionError, because only Spark writes files."""
        raise PermissionError(_refuse(location))

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Raise PermissionError, because only Spark deletes files."""
        raise PermissionError(_refuse(str(location)))

    def look(self, location: str) -> StoredFile | None:
        """Return the name node's facts about a file; None if it does not exist."""
        try:
            found = self.new_input(location).status()
            return StoredFile(found.length, _moment(found))
        except FileNotFoundError:
            return None

    def list_files(self, location: str, workers: int) -> Generator[Sequence[FoundFile], None, None]:
        """List all files under a directory in portions, without empty files.

        `workers` directories are listed at the same time. Closing the iterator ends the listing.
        """
        cluster, root = self._find(location.rstrip("/"))
        own = location.rstrip("/") + "/"
        for page in walk(cluster.list_directory, root, workers):
            yield tuple(
                FoundFile(own + _within(root, found), found.length, _moment(found))
                for found in page
                if found.length
            )

    def _find(self, location: str) -> tuple[_Cluster, str]:
        scheme, _, rest = location.partition(":")
        authority, path = ("", rest) if not rest.startswith("//") else rest[2:].partition("/")[::2]
        cluster = _CLUSTERS.find(
            f"{scheme.lower()}://{authority or _default_authority(self.properties)}", self._config
        )
        return cluster, "/" + path.lstrip("/")


class HdfsInput(InputFile):
    """One file, with its path on the cluster."""

    def __init__(self, location: str, cluster: _Cluster, path: str) -> None:
        super().__init__(location)
        self._cluster = cluster
        self._path = path

    def __len__(self) -> int:
        """Return the length; each call asks the name node."""
        return int(self.status().length)

    def exists(self) -> bool:
        """Return whether a file or a directory exists."""
        try:
            self.status()
        except FileNotFoundError:
            return False
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002 - always seekable
        """Open the file; FileNotFoundError if it does not exist."""
        return _Reader(self._cluster, self._path)

    def status(self) -> FileStatus:
        """Ask the name node for the file's facts; FileNotFoundError if it does not exist."""
        return self._cluster.ask(lambda client: client.get_file_info(self._path))


class _Reader(io.RawIOBase):
    """Reads a file with requests for a bounded number of bytes."""

    def __init__(self, cluster: _Cluster, path: str) -> None:
        self._cluster = cluster
        self._file = cluster.ask(lambda client: client.read(path))
        self._length = len(self._file)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._length}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readall(self) -> bytes:
        return self.read()

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._length - self._at)
        end = self._at + (left if size is None or size < 0 else min(size, left))
        parts = []
        while self._at < end:
            part = self._cluster.ask(
                lambda _: self._file.read_range(self._at, min(READ_BYTES, end - self._at))
            )
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)


class _Cluster:
    """One client with a timeout for each call.

    The client itself waits for ever if a name node accepts a call and does not answer.
    """

    def __init__(self, url: str, config: Mapping[str, str]) -> None:
        self._url = url
        self._config = dict(config)
        self._lock = Lock()
        self._client: Client | None = None
        self._places = BoundedSemaphore(CALLS_AT_MOST)

    def ask(self, question: Callable[[Client], T]) -> T:
        """Return the client's answer.

        Raises OSError with a one-line message, and TimeoutError after READ_TIMEOUT_SECONDS.
        """
        if not self._places.acquire(timeout=READ_TIMEOUT_SECONDS):
            raise self._silence()
        answer: Future[T] = begin_aside(lambda: question(self._connect()))
        answer.add_done_callback(lambda _: self._places.release())
        try:
            error = answer.exception(READ_TIMEOUT_SECONDS)
        except TimeoutError:
            raise self._silence() from None
        if error is not None:
            raise _in_one_line(error) from error
        return answer.result()

    def list_directory(self, path: str) -> Iterator[list[FileStatus]]:
        """List the directory's entries in pages."""
        entries = self.ask(lambda client: client.list_status(path))
        while page := self.ask(lambda _: list(islice(entries, PAGE_FILES))):
            yield page

    def _connect(self) -> Client:
        from hdfs_native import Client  # noqa: PLC0415 - needed only for HDFS

        with self._lock:
            if self._client is None:
                try:
                    self._client = Client(self._url, self._config)
                except RuntimeError as error:
                    if "No NameNode hosts" not in str(error):
                        raise
                    # The URL has the name of a host, not of a name service.
                    self._client = Client(f"{self._url}:{DEFAULT_PORT}", self._config)
            return self._client

    def _silence(self) -> TimeoutError:
        return TimeoutError(f"{self._url} did not answer within {READ_TIMEOUT_SECONDS} s")


class _Clusters:
    """The open clusters; if there are too many, the least recently used cluster is closed.

    A REST catalog has a FileIO for each table, so all FileIOs share the clusters.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[tuple[str, frozenset[tuple[str, str]]], _Cluster] = OrderedDict()

    def find(self, url: str, config: Mapping[str, str]) -> _Cluster:
        key = (url, frozenset(config.items()))
        with self._lock:
            cluster = self._found.get(key)
            if cluster is None:
                cluster = self._found[key] = _Cluster(url, config)
                if len(self._found) > MAX_CLUSTERS:
                    self._found.popitem(last=False)
            self._found.move_to_end(key)
            return cluster


_CLUSTERS: Final = _Clusters()


def _default_authority(properties: Mapping[str, str]) -> str:
    """Return the server for locations without one; "" if Hadoop's configuration names it."""
    host, port = properties.get("hdfs.host", ""), properties.get("hdfs.port", "")
    return f"{host}:{port}" if host and port else host


def _in_one_line(error: BaseException) -> OSError:
    """Turn any error, even a panic, into an OSError without the name node's stack trace."""
    kind = type(error) if isinstance(error, OSError) else OSError
    return kind((str(error).splitlines() or [type(error).__name__])[0])


def _moment(found: FileStatus) -> datetime:
    return datetime.fromtimestamp(found.modification_time / 1000, UTC)


def _within(root: str, found: FileStatus) -> str:
    """Return the path relative to the root."""
    if not found.path.startswith(f"{root}/"):
        raise OSError(f"{found.path!r} was listed, but is not in {root}")
    return found.path.removeprefix(f"{root}/")


def _refuse(location: str) -> str:
    return f"{location} is only read by this process"


# PyIceberg uses this registry whenever it opens a table or a file.
SCHEMA_TO_FILE_IO.update(
    {scheme.removesuffix(":"): [f"{__name__}.{HdfsFileIO.__qualname__}"] for scheme in HDFS_SCHEMES}
)
