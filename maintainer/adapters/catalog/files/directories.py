"""Lists every file under a directory, for storages with real directories.

Several directories are read at the same time. The number of names in memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Lock
from typing import Final, Generic, Protocol, TypeVar

from maintainer.adapters.catalog.files.listing import Tell, gather

# Directories in the queue. If it is full, a worker lists the directories that it finds itself.
DIRECTORIES_AHEAD: Final = 10_000
_POLL_SECONDS: Final = 0.05


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
