"""Reading one table's files, with the credentials that the catalog gave for them."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from pyiceberg.io import FileIO

from maintainer.adapters.catalog.faults import explain, kind_of_storage_error, secrets_of
from maintainer.adapters.catalog.files.hdfs import HdfsFileIO
from maintainer.adapters.catalog.files.listing import list_files
from maintainer.adapters.catalog.files.storage import Storages
from maintainer.adapters.catalog.limits import (
    MAX_DOCUMENT_BYTES,
    TooLargeError,
    check_scheme,
    local_path,
    open_regular,
)
from maintainer.adapters.catalog.loop import in_thread
from maintainer.domain.inventory import FaultKind
from maintainer.domain.location import HDFS_SCHEMES
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.domain.units import KIB
from maintainer.ports.clock import Clock

RENEW_BEFORE: Final = timedelta(
    minutes=2
)  # credentials that end so soon are renewed first; sooner where they live less than twice that
LOCAL_BYTES: Final = 256 * KIB  # of a local file that is read on the loop itself
_LOG: Final = logging.getLogger(__name__)
# Iceberg's names: s3.session-token-expires-at-ms, adls.sas-token-expires-at-ms.<account>,
# gcs.oauth2.token-expires-at
_EXPIRY: Final = re.compile(
    r"(s3\.session-token|adls\.sas-token|gcs\.oauth2\.token)-expires-at(-ms)?(\.|$)"
)
_EXPIRED: Final = re.compile(r"expired.?token|token.{0,20} expired", re.IGNORECASE)
_TIMED_OUT: Final = re.compile(
    r"\bkind: Timeout\b|\bTimedOut\b|timed out"
)  # each of obstore's errors names its retry_timeout, and a path may say timeout
_OWN_IO: Final = (
    "py-io-impl"  # somebody's own way to read files: it is taken for those of this machine too
)
_HASTY: Final = 2  # credentials that live less than this many times RENEW_BEFORE


class StorageTimeoutError(OSError):
    """A storage that did not answer in time; asking it once more in another way would take as long
    again.
    """


class Renew(Protocol):
    """Asks the catalog anew how to read a table's files."""

    async def __call__(self) -> FileIO:
        """A FileIO with the credentials that the catalog gives now."""
        ...


class Access:
    """Reads by obstore where that can be, else by PyIceberg's FileIO, which has the last word on
    what is wrong.
    """

    def __init__(
        self, io: FileIO, storages: Storages, clock: Clock, renew: Renew | None = None
    ) -> None:
        """Take how the table's files are read now; without `renew` the credentials are what they
        are.
        """
        self._storages = storages
        self._clock = clock
        self._ask_catalog = renew
        self._renewing = asyncio.Lock()
        self._is_proven = True
        self._take(io)

    @property
    def io(self) -> FileIO:
        """PyIceberg's own way to the files, with the present credentials."""
        return self._io

    async def read(self, location: str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
        """The whole file, if it has no more bytes than `most`; the storage library's own
        exceptions. Credentials that have expired are renewed once.
        """
        await self._renew_in_time()
        io = self._io
        try:
            raw = await self._read(io, location, most)
        except Exception as error:
            if not _is_denial(error) or not await self._renew(io):
                raise
            raw = await self._read(self._io, location, most)
        self._is_proven = True
        return raw

    def look(self, location: str) -> StoredFile | None:
        """What the storage says of one file; None when it is not there or cannot be looked at."""
        path = local_path(location)
        if path is not None:  # both libraries take some names of files for something else
            return _look_here(path)
        with suppress(
            Exception
        ):  # whatever the storage's libraries raise: a file that cannot be seen proves nothing
            found = self._storages.find(location, self._io.properties)
            if found is not None:
                told = obstore.head(*found)
                return StoredFile(told["size"], told["last_modified"])
        with suppress(Exception):
            if isinstance(self._io, HdfsFileIO):
                return self._io.look(location)
            return StoredFile(len(self._io.new_input(location)))
        return None

    def list_files(self, location: str, workers: int) -> Iterator[Sequence[FoundFile]] | None:
        """Portions of what lies there, by so many requests at once; None where only other libraries
        can list: the storage's own exceptions.
        """
        if isinstance(self._io, HdfsFileIO) and location.lower().startswith(HDFS_SCHEMES):
            return self._io.list_files(location, workers)
        found = self._storages.find(location.rstrip("/"), self._io.properties)
        return (
            None
            if found is None or local_path(location) is not None
            else list_files(*found, location, workers)
        )

    def secrets(self) -> tuple[str, ...]:
        """What must not be shown of the credentials, vended ones too."""
        return secrets_of(self._io.properties)

    async def _read(self, io: FileIO, location: str, most: int) -> bytes:
        check_scheme(location)
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
            raise  # the same keys open nothing in another way
        except (BaseError, OSError, ValueError) as error:
            if _TIMED_OUT.search(str(error)):
                raise StorageTimeoutError(explain(error, self.secrets())) from error
            _LOG.debug("%s is left to PyIceberg's FileIO: %s", location, type(error).__name__)
        return await in_thread(_read_file, io, location, most)

    async def _renew_in_time(self) -> None:
        if self._renew_at is not None and self._clock.now() >= self._renew_at:
            with suppress(Exception):  # what they have may still do; if not, reading says so
                await self._renew(self._io)

    async def _renew(self, used: FileIO) -> bool:
        """Have other credentials than those that were used; False when there are none."""
        async with self._renewing:
            if self._io is not used:
                return True  # another file's reader has seen to it
            if self._ask_catalog is None or not self._is_proven:
                return False
            fresh = await self._ask_catalog()
            if secrets_of(fresh.properties) == secrets_of(used.properties):
                self._ask_catalog = None  # a denial is a denial
                return False
            self._is_proven = False  # two new ones in a row that read nothing are enough
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
    """A local file of at most `inline` bytes: reading it here and now takes less than handing it
    over and back.
    """
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
        lifetime / _HASTY if lifetime < _HASTY * RENEW_BEFORE else lifetime - RENEW_BEFORE
    )


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
