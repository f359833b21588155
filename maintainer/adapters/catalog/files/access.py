"""Reads the files of one table with the credentials that the catalog vends for them."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, Protocol

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from pyiceberg.io import FileIO

from maintainer.adapters.catalog.faults import explain, kind_of_storage_error, secrets_of
from maintainer.adapters.catalog.files.hdfs import HdfsFileIO
from maintainer.adapters.catalog.files.listing import PAGE_FILES, list_files
from maintainer.adapters.catalog.files.storage import Storages
from maintainer.adapters.catalog.limits import (
    MAX_DOCUMENT_BYTES,
    TooLargeError,
    check_location,
    local_path,
    open_regular,
)
from maintainer.adapters.catalog.loop import in_thread
from maintainer.domain.inventory import FaultKind
from maintainer.domain.location import HDFS_SCHEMES, Aliases
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.domain.units import KIB
from maintainer.ports.clock import Clock

# Credentials are renewed this long before they expire; short-lived credentials are renewed later.
RENEW_BEFORE: Final = timedelta(minutes=2)
LOCAL_BYTES: Final = 256 * KIB  # local files up to this size are read on the event loop
_LOG: Final = logging.getLogger(__name__)
# Iceberg's names: s3.session-token-expires-at-ms, adls.sas-token-expires-at-ms.<account>,
# gcs.oauth2.token-expires-at
_EXPIRY: Final = re.compile(
    r"(s3\.session-token|adls\.sas-token|gcs\.oauth2\.token)-expires-at(-ms)?(\.|$)"
)
_EXPIRED: Final = re.compile(r"expired.?token|token.{0,20} expired", re.IGNORECASE)
# Every error of obstore contains "retry_timeout", and a path may contain "timeout".
_TIMED_OUT: Final = re.compile(r"\bkind: Timeout\b|\bTimedOut\b|timed out")
_OWN_IO: Final = "py-io-impl"  # a FileIO that the user has configured, also for local files
_NO_ALIASES: Final = Aliases()
# credentials are short-lived if they last less than so many times RENEW_BEFORE
_SHORT_LIVED_FACTOR: Final = 2


class StorageTimeoutError(OSError):
    """The storage did not answer in time; another library would wait just as long."""


class Renew(Protocol):
    """Asks the catalog for a table's current credentials."""

    async def __call__(self) -> FileIO:
        """Return a FileIO with the catalog's current credentials."""


class Access:
    """Reads with obstore or else with PyIceberg's FileIO, whose errors are final."""

    def __init__(
        self,
        io: FileIO,
        storages: Storages,
        clock: Clock,
        renew: Renew | None = None,
        aliases: Aliases = _NO_ALIASES,
    ) -> None:
        """``io`` can read the table's files; without `renew` the credentials never change."""
        self._aliases = aliases
        self._storages = storages
        self._clock = clock
        self._ask_catalog = renew
        self._renewing = asyncio.Lock()
        self._is_proven = True
        self._take(io)

    @property
    def io(self) -> FileIO:
        """PyIceberg's FileIO with the current credentials."""
        return self._io

    async def read(self, location: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
        """Read the whole file, at most `most` bytes. Raises the storage library's exceptions.

        Expired credentials are renewed once.
        """
        await self._renew_in_time()
        location, io = self._aliases.resolve(location), self._io
        try:
            raw = await self._read(io, location, most)
        except Exception as error:
            if not _is_denial(error) or not await self._renew(io):
                raise
            raw = await self._read(self._io, location, most)
        self._is_proven = True
        return raw

    def look(self, location: str) -> StoredFile | None:
        """Return the storage's facts about a file; None if it is missing or unreadable."""
        location = self._aliases.resolve(location)
        path = local_path(location)
        if path is not None:  # both libraries misinterpret some names of local files
            return _look_here(path)
        # Storage libraries raise many kinds of exceptions. Each means that the facts are unknown.
        with suppress(Exception):
            found = self._storages.find(location, self._io.properties)
            if found is not None:
                reported = obstore.head(*found)
                return StoredFile(reported["size"], reported["last_modified"])
        with suppress(Exception):
            if isinstance(self._io, HdfsFileIO):
                return self._io.look(location)
            return StoredFile(len(self._io.new_input(location)))
        return None

    def list_files(self, location: str, workers: int) -> Iterator[Sequence[FoundFile]] | None:
        """List the files under a location in portions, with `workers` requests at the same time.

        None if only other libraries can list this location. Raises the storage library's
        exceptions.
        """
        resolved = self._aliases.resolve(location)
        if isinstance(self._io, HdfsFileIO) and resolved.lower().startswith(HDFS_SCHEMES):
            return self._list_hdfs(self._io, location, resolved, workers)
        found = self._storages.find(resolved.rstrip("/"), self._io.properties)
        return (
            None
            if found is None or local_path(resolved) is not None
            else list_files(*found, location, workers)
        )

    def count_first(self, location: str) -> int | None:
        """Count the entries on the first page of a listing, at most PAGE_FILES.

        None if only other libraries can list this location. Raises the storage library's
        exceptions.
        """
        resolved = self._aliases.resolve(location)
        path = local_path(resolved)
        if path is not None:
            with suppress(FileNotFoundError), os.scandir(path) as entries:
                return sum(1 for _ in islice(entries, PAGE_FILES))
            return 0  # as on an object store; a table may write only to other directories
        if isinstance(self._io, HdfsFileIO) and resolved.lower().startswith(HDFS_SCHEMES):
            with closing(self._io.list_files(resolved, 1)) as pages:
                return len(next(pages, ()))
        found = self._storages.find(resolved.rstrip("/"), self._io.properties)
        if found is None:
            return None
        store, prefix = found
        return len(next(iter(obstore.list(store, prefix, chunk_size=PAGE_FILES)), ()))

    @staticmethod
    def _list_hdfs(
        io: HdfsFileIO, location: str, resolved: str, workers: int
    ) -> Iterator[Sequence[FoundFile]]:
        start, own = resolved.rstrip("/"), location.rstrip("/")
        for page in io.list_files(resolved, workers):
            yield [replace(file, path=own + file.path.removeprefix(start)) for file in page]

    def length(self, location: str) -> int:
        """Return a file's length in bytes. Raises the storage library's exceptions."""
        return len(self._io.new_input(self._aliases.resolve(location)))

    def secrets(self) -> tuple[str, ...]:
        """List the credentials that must not be shown, including vended credentials."""
        return secrets_of(self._io.properties)

    async def _read(self, io: FileIO, location: str, most: int) -> bytes:
        check_location(location, self._storages.locations)
        path = local_path(location)
        if path is not None and _OWN_IO in io.properties:
            os.close(open_regular(path)[0])
        elif path is not None:
            raw = _read_here(path, most, LOCAL_BYTES)
            return raw if raw is not None else await in_thread(_read_local, path, most)
        try:
            found = self._storages.find(location, io.properties)
            if found is not None:
                answer = await obstore.get_async(*found)
                _refuse_larger(location, answer.meta["size"], most)
                return bytes(await answer.bytes_async())
        except (PermissionDeniedError, UnauthenticatedError):
            raise  # another library would use the same keys
        except (BaseError, OSError, ValueError) as error:
            if _TIMED_OUT.search(str(error)):
                raise StorageTimeoutError(explain(error, self.secrets())) from error
            _LOG.debug("%s is left to PyIceberg's FileIO: %s", location, type(error).__name__)
        return await in_thread(_read_file, io, location, most)

    async def _renew_in_time(self) -> None:
        if self._renew_at is not None and self._clock.now() >= self._renew_at:
            # The current credentials may still work. If not, the read raises the error.
            with suppress(Exception):
                await self._renew(self._io)

    async def _renew(self, used: FileIO) -> bool:
        """Replace the credentials that were used; False if the catalog gives no others."""
        async with self._renewing:
            if self._io is not used:
                return True  # the reader of another file has renewed them
            if self._ask_catalog is None or not self._is_proven:
                return False
            fresh = await self._ask_catalog()
            if secrets_of(fresh.properties) == secrets_of(used.properties):
                self._ask_catalog = None  # a denial is final
                return False
            self._is_proven = False  # a second renewal without a successful read is the last one
            self._take(fresh)
            return True

    def _take(self, io: FileIO) -> None:
        self._io = io
        self._renew_at = (
            _when_to_renew(io.properties, self._clock.now())
            if self._ask_catalog is not None
            else None
        )


def _read_here(path: str, most: int, inline: int) -> bytes | None:
    """Read a local file of at most `inline` bytes on the event loop; a thread would take longer."""
    descriptor, size = open_regular(path)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        _refuse_larger(path, size, most)
        return file.read(inline + 1) if size <= inline else None


def _read_local(path: str, most: int) -> bytes:
    descriptor, size = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        _refuse_larger(path, size, most)
        return file.read(size)


def _refuse_larger(location: str, size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(location, size, most)


def _look_here(path: str) -> StoredFile | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return None
    return StoredFile(found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))


def _read_file(io: FileIO, location: str, most: int) -> bytes:
    with io.new_input(location).open() as stream:
        raw = stream.read(most + 1)
    if len(raw) > most:
        raise TooLargeError(location, None, most)
    return raw


def _is_denial(error: Exception) -> bool:
    if isinstance(error, PermissionDeniedError | UnauthenticatedError):
        return True
    return (
        kind_of_storage_error(error) is FaultKind.ACCESS_DENIED
        or _EXPIRED.search(str(error)) is not None
    )


def _when_to_renew(properties: Mapping[str, str], now: datetime) -> datetime | None:
    ends = [
        _EPOCH + timedelta(milliseconds=int(text))
        for name, text in properties.items()
        if _EXPIRY.match(name) and str(text).isdecimal()
    ]
    if not ends:
        return None
    lifetime = max(timedelta(0), min(ends) - now)
    return now + (
        lifetime / _SHORT_LIVED_FACTOR
        if lifetime < _SHORT_LIVED_FACTOR * RENEW_BEFORE
        else lifetime - RENEW_BEFORE
    )


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
