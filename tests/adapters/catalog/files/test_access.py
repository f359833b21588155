from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from datetime import datetime, timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from obstore.exceptions import PermissionDeniedError
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

from maintainer.adapters.catalog.files import access as reading
from maintainer.adapters.catalog.files.access import (
    LOCAL_BYTES,
    RENEW_BEFORE,
    Access,
    StorageTimeoutError,
)
from maintainer.adapters.catalog.files.storage import Storages
from tests.adapters.catalog.lake import NOW
from tests.fakes.adapters.clock import FakeClock
from tests.small_http import SmallHandler, serve_on_loopback


class Door:
    """A storage that knows which token is good now, and a catalog that gives tokens."""

    def __init__(self) -> None:
        self.good = "token-1"
        self.given = "token-1"
        self.lifetime: timedelta | None = None
        self.loads = 0
        self.reads: list[str] = []
        self.clock = FakeClock(NOW)
        self.failure: Exception | None = None

    def io(self) -> FileIO:
        ends: Mapping[str, str] = (
            {}
            if self.lifetime is None
            else {
                "s3.session-token-expires-at-ms": str(
                    milliseconds(self.clock.now() + self.lifetime)
                )
            }
        )
        return PyArrowFileIO({"s3.session-token": self.given, **ends})

    async def load(self) -> FileIO:
        self.loads += 1
        return self.io()

    async def read(self, io: FileIO, location: str, _most: int) -> bytes:
        """In the place of Access._read."""
        token = str(io.properties["s3.session-token"])
        self.reads.append(token)
        if token != self.good:
            raise (
                PermissionDeniedError(f"403 for {location}")
                if self.failure is None
                else self.failure
            )
        return token.encode()


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
def access(door: Door, monkeypatch: pytest.MonkeyPatch) -> Access:
    return guard(door, monkeypatch)


def guard(door: Door, monkeypatch: pytest.MonkeyPatch) -> Access:
    made = Access(door.io(), Storages(), door.clock, door.load)
    monkeypatch.setattr(made, "_read", door.read)
    return made


def test_credentials_that_were_taken_back_are_asked_for_once_more(
    door: Door, access: Access
) -> None:
    assert asyncio.run(access.read("a")) == b"token-1"
    door.good = door.given = "token-2"
    assert asyncio.run(access.read("b")) == b"token-2"
    assert asyncio.run(access.read("c")) == b"token-2"
    assert (door.loads, door.reads) == (1, ["token-1", "token-1", "token-2", "token-2"])


@pytest.mark.parametrize(
    "failure",
    [
        OSError("AWS Error UNKNOWN (HTTP status 400) ExpiredToken: the provided token has expired"),
        PermissionError("no"),
        OSError("Access Denied"),
    ],
)
def test_each_librarys_error_for_a_missing_file_is_understood(
    door: Door, access: Access, failure: Exception
) -> None:
    door.good, door.given, door.failure = "token-2", "token-2", failure
    assert asyncio.run(access.read("a")) == b"token-2"
    assert door.loads == 1


def test_other_trouble_is_no_reason_to_ask_for_credentials(door: Door, access: Access) -> None:
    door.good, door.failure = "token-2", FileNotFoundError("gone")
    with pytest.raises(FileNotFoundError):
        asyncio.run(access.read("a"))
    assert door.loads == 0


def test_many_readers_that_are_denied_at_once_ask_once(door: Door, access: Access) -> None:
    door.good = door.given = "token-2"

    async def read_many() -> list[bytes]:
        return await asyncio.gather(*[access.read(str(number)) for number in range(20)])

    assert asyncio.run(read_many()) == [b"token-2"] * 20
    assert door.loads == 1


def test_a_table_that_is_forbidden_is_not_asked_for_again_and_again(
    door: Door, access: Access
) -> None:
    door.good = "never given"
    for _ in range(5):
        with pytest.raises(PermissionDeniedError):
            asyncio.run(access.read("a"))
    assert door.loads == 1, "the same credentials again: a denial is a denial"


def test_credentials_that_are_always_others_and_never_good_are_given_up(
    door: Door, access: Access
) -> None:
    door.good = "never given"
    for number in range(5):
        door.given = f"new-{number}"
        with pytest.raises(PermissionDeniedError):
            asyncio.run(access.read("a"))
    assert door.loads == 1


def test_credentials_are_renewed_before_they_end(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.lifetime = timedelta(hours=1)
    access = guard(door, monkeypatch)
    door.clock.advance(timedelta(hours=1) - RENEW_BEFORE - timedelta(seconds=1))
    assert asyncio.run(access.read("a")) == b"token-1"
    assert door.loads == 0
    door.clock.advance(timedelta(seconds=2))
    door.good = door.given = "token-2"
    assert asyncio.run(access.read("b")) == b"token-2"
    assert asyncio.run(access.read("c")) == b"token-2"
    assert (door.loads, door.reads) == (1, ["token-1", "token-2", "token-2"])


def test_short_lived_credentials_are_not_renewed_for_every_file(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    door.lifetime = timedelta(seconds=60)
    access = guard(door, monkeypatch)
    for _ in range(5):
        asyncio.run(access.read("a"))
    assert door.loads == 0
    door.clock.advance(timedelta(seconds=31))
    door.good = door.given = "token-2"
    asyncio.run(access.read("a"))
    assert door.loads == 1


def test_a_file_that_obstore_has_no_words_for_is_read_by_pyiceberg(tmp_path: Path) -> None:
    (tmp_path / "a%20b.avro").write_bytes(b"content")
    access = Access(PyArrowFileIO(), Storages(), FakeClock(NOW))
    assert asyncio.run(access.read(f"file://{tmp_path}/a%20b.avro")) == b"content"
    with pytest.raises(FileNotFoundError):
        asyncio.run(access.read(f"file://{tmp_path}/absent.avro"))


@pytest.mark.parametrize("size", [0, 1, LOCAL_BYTES, LOCAL_BYTES + 1])
def test_local_files_of_every_size_are_read_without_pyiceberg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    (tmp_path / "a.avro").write_bytes(b"x" * size)
    monkeypatch.setattr(reading, "_read_file", None)
    assert (
        asyncio.run(
            Access(PyArrowFileIO(), Storages(), FakeClock(NOW)).read(f"file://{tmp_path}/a.avro")
        )
        == b"x" * size
    )


class Elsewhere(PyArrowFileIO):
    """Another library, which says that it was asked."""

    def new_input(self, location: str) -> PyArrowFile:
        message = f"asked for {location}"
        raise FileNotFoundError(message)


def words_of(kind: str, url: str) -> tuple[str, dict[str, str]]:
    """A location in a storage of the kind, whose path is no omen, and how it is read."""
    return {
        "s3": (
            "s3://box/timeout/a.avro",
            {
                "s3.endpoint": url,
                "s3.access-key-id": "a",
                "s3.secret-access-key": "b",
                "s3.region": "r",
                "s3.request-timeout": "0.2",
            },
        ),
        "gs": ("gs://box/timeout/a.avro", {"gcs.service.host": url, "gcs.oauth2.token": "t"}),
    }[kind]


@pytest.mark.parametrize("kind", ["s3", "gs"])
def test_a_file_that_is_missing_in_an_object_store_is_missing_and_no_timeout(kind: str) -> None:
    class Missing(SmallHandler):
        def do_GET(self) -> None:
            self.send_error(404)

    with serve_on_loopback(ThreadingHTTPServer(("127.0.0.1", 0), Missing)) as address:
        location, properties = words_of(kind, address)
        with pytest.raises(FileNotFoundError, match="asked for"):
            asyncio.run(Access(Elsewhere(properties), Storages(), FakeClock(NOW)).read(location))


@pytest.mark.slow
def test_an_object_store_that_is_silent_is_reported_as_that() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        location, properties = words_of("s3", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(StorageTimeoutError):
            asyncio.run(Access(Elsewhere(properties), Storages(), FakeClock(NOW)).read(location))


def test_a_storage_that_does_not_answer_is_not_asked_in_another_way_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def time_out(*_: object) -> object:
        message = "Generic S3 error: error sending request: operation timed out"
        raise OSError(message)

    monkeypatch.setattr("obstore.get_async", time_out)
    io = PyArrowFileIO(
        {"s3.access-key-id": "an-id", "s3.secret-access-key": "a-secret", "s3.region": "r"}
    )
    with pytest.raises(StorageTimeoutError, match="timed out"):
        asyncio.run(Access(io, Storages(), FakeClock(NOW)).read("s3://bucket/a"))
