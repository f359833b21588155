"""Lists every file under a location in an object store.

Ranges of names are read in parallel, a page at a time, so the number of files has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import pairwise
from queue import Empty, Full, Queue
from threading import Event
from typing import Any, Final, TypeAlias, TypeVar

import obstore
from obstore.store import GCSStore, ObjectStore, S3Store

from maintainer.domain.orphan import FoundFile

PAGE_FILES: Final = 1_000  # S3's page size
PAGES_AHEAD: Final = 32  # pages that wait for the reader, which limits the memory
RANGES_AT_MOST: Final = 32
MAX_LEVELS: Final = 4  # levels of directories that are listed to divide the names
_POLL_SECONDS: Final = 0.2
_AFTER_ALL: Final = "\U0010ffff"

T = TypeVar("T")
Tell: TypeAlias = Callable[[T], bool]
_Page = Sequence[Any]  # obstore's ObjectMeta: path, size, last_modified
_Range = tuple[str, str]  # first name (inclusive) and end (exclusive)


def list_files(
    store: ObjectStore, path: str, location: str, workers: int
) -> Iterator[tuple[FoundFile, ...]]:
    """List the files under the path in portions; each path begins with `location`.

    Raises obstore's exceptions. Closing the iterator ends the listing. Empty objects are left out,
    because a directory marker looks like an empty file.
    """
    root, own = path.strip("/"), location.rstrip("/") + "/"
    with ThreadPoolExecutor(workers, thread_name_prefix="lists") as pool:
        for page in _list_ranges(store, root, _divide(store, root), pool):
            yield tuple(
                FoundFile(
                    own + found["path"].removeprefix(f"{root}/"),
                    found["size"],
                    found["last_modified"],
                )
                for found in page
                if found["size"]
            )


def _divide(store: ObjectStore, root: str) -> list[_Range]:
    """Divide all names into ranges that begin at directories.

    The result is one range if the store cannot efficiently begin a listing at a name.
    """
    if not isinstance(store, S3Store | GCSStore):
        return [("", _AFTER_ALL)]
    found: list[str] = []
    level = [root]
    for _ in range(MAX_LEVELS):
        opened = [
            obstore.list_with_delimiter(store, directory)
            for directory in level[:RANGES_AT_MOST]
            if not _is_flat(store, directory)
        ]
        level = sorted(prefix for content in opened for prefix in content["common_prefixes"])
        found += level
        if not level or len(found) >= RANGES_AT_MOST:
            break
    # With the slash, a file with the name of a directory is in one range only.
    names = sorted({f"{directory}/" for directory in found})
    bounds = (
        [names[len(names) * number // RANGES_AT_MOST] for number in range(RANGES_AT_MOST)]
        if len(names) > RANGES_AT_MOST
        else names
    )
    return list(pairwise(["", *dict.fromkeys(bounds), _AFTER_ALL]))


def _is_flat(store: ObjectStore, directory: str) -> bool:
    """Return True if the first page has only files of this directory.

    A directory may have any number of files, and they must not be in memory at the same time.
    """
    page: _Page = next(iter(obstore.list(store, directory, chunk_size=PAGE_FILES)), ())
    return len(page) >= PAGE_FILES and all(
        "/" not in found["path"].removeprefix(f"{directory}/") for found in page
    )


def _list_ranges(
    store: ObjectStore, root: str, ranges: Sequence[_Range], pool: ThreadPoolExecutor
) -> Iterator[_Page]:
    """Yield the pages of all ranges in the order in which they arrive."""

    def read(after: str, before: str, tell: Tell[_Page]) -> None:
        for page in obstore.list(
            store, root, offset=after.rstrip("/") or None, chunk_size=PAGE_FILES
        ):
            if (
                not tell([found for found in page if after <= found["path"] < before])
                or page[-1]["path"] >= before
            ):
                return

    return gather([partial(read, *bounds) for bounds in ranges], pool)


def gather(readers: Sequence[Callable[[Tell[T]], None]], pool: Executor) -> Iterator[T]:
    """Yield the items of all readers as they arrive; a bounded number of items is read ahead.

    A reader ends when its callback returns False. Raises the readers' exceptions.
    """
    pages: Queue[T] = Queue(PAGES_AHEAD)
    is_over = Event()

    def tell(page: T) -> bool:
        while not is_over.is_set():
            with suppress(Full):
                pages.put(page, timeout=_POLL_SECONDS)
                return True
        return False

    under_way = [pool.submit(reader, tell) for reader in readers]
    try:
        while under_way or not pages.empty():
            with suppress(Empty):
                yield pages.get(timeout=_POLL_SECONDS if under_way else 0)
            for future in [future for future in under_way if future.done()]:
                future.result()  # raises the reader's error
                under_way.remove(future)
    finally:
        is_over.set()
        for future in under_way:
            future.cancel()
