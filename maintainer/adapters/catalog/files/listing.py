"""Every file under a place in an object store: ranges of names side by side, a page at a time,
however many files there are.
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

PAGE_FILES: Final = 1_000  # as many as S3 tells at a time
PAGES_AHEAD: Final = 32  # that wait for whoever reads them: what bounds the memory
RANGES_AT_MOST: Final = 32
MAX_LEVELS: Final = 4  # of directories that are looked into for names to divide by
_POLL_SECONDS: Final = 0.2
_AFTER_ALL: Final = "\U0010ffff"

T = TypeVar("T")
Tell: TypeAlias = Callable[[T], bool]
_Page = Sequence[Any]  # obstore's ObjectMeta: path, size, last_modified
_Range = tuple[str, str]  # from the first name on, up to the second


def list_files(
    store: ObjectStore, path: str, location: str, workers: int
) -> Iterator[tuple[FoundFile, ...]]:
    """Portions of the files under the path, each written from the location's own spelling on;
    obstore's own exceptions. Closing the iterator ends the listing.

    What is empty is left out: the marker of a directory cannot be told from an empty file.
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
    """Ranges of names that together are all, divided where directories begin; one range where the
    store has no cheap way to begin at a name.
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
    names = sorted(
        {f"{directory}/" for directory in found}
    )  # with the slash: a file that is named like a directory is in one range alone
    bounds = (
        [names[len(names) * number // RANGES_AT_MOST] for number in range(RANGES_AT_MOST)]
        if len(names) > RANGES_AT_MOST
        else names
    )
    return list(pairwise(["", *dict.fromkeys(bounds), _AFTER_ALL]))


def _is_flat(store: ObjectStore, directory: str) -> bool:
    """True when its first page holds files of its own alone: there may be any number of them, and
    one answer must not hold them all.
    """
    page: _Page = next(iter(obstore.list(store, directory, chunk_size=PAGE_FILES)), ())
    return len(page) >= PAGE_FILES and all(
        "/" not in found["path"].removeprefix(f"{directory}/") for found in page
    )


def _list_ranges(
    store: ObjectStore, root: str, ranges: Sequence[_Range], pool: ThreadPoolExecutor
) -> Iterator[_Page]:
    """The pages of all ranges as they come."""

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
    """What the readers tell, as it comes and a bounded number ahead; their own exceptions. A reader
    that hears False is to end.
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
                future.result()  # raises what went wrong
                under_way.remove(future)
    finally:
        is_over.set()
        for future in under_way:
            future.cancel()
