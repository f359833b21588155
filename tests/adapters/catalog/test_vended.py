from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from obstore.exceptions import PermissionDeniedError, UnauthenticatedError
from pyiceberg.io.pyarrow import PyArrowFileIO

from maintainer.adapters.catalog.files.access import RENEW_BEFORE, Access
from maintainer.adapters.catalog.files.storage import Storages
from tests.adapters.catalog.lake import NOW
from tests.fakes.adapters.clock import FakeClock
from tests.small_http import SmallHandler, serve_on_loopback

CONTENT = b"a manifest"
KINDS = ("s3", "gs", "abfss")


@dataclass
class Guarded:
    """An object store that looks for the key that is good now, where each protocol carries it; what
    is denied, each says in its own way.
    """

    kind: str
    url: str = ""
    good: str = "first"
    asked: list[str] = field(default_factory=list)  # with which key

    def read_key(self, request: BaseHTTPRequestHandler) -> str:
        match self.kind:
            case "s3":
                return request.headers["x-amz-security-token"] or ""
            case "gs":
                return (request.headers["Authorization"] or "").removeprefix("Bearer ")
            case _:
                return request.path.partition("sig=")[2].partition("&")[0]

    def location(self) -> str:
        return {
            "s3": "s3://box/a.avro",
            "gs": "gs://box/a.avro",
            "abfss": "abfss://box@devstoreaccount1.dfs.core.windows.net/a.avro",
        }[self.kind]

    def io(self, key: str, ends_at: int | None = None) -> PyArrowFileIO:
        """As a REST catalog tells the key, and when it ends in milliseconds."""
        named, expiry, rest = {
            "s3": (
                "s3.session-token",
                "s3.session-token-expires-at-ms",
                {"s3.access-key-id": "an-id", "s3.secret-access-key": "a-secret"},
            ),
            "gs": (
                "gcs.oauth2.token",
                "gcs.oauth2.token-expires-at",
                {"gcs.service.host": self.url},
            ),
            "abfss": (
                "adls.sas-token.devstoreaccount1.dfs.core.windows.net",
                "adls.sas-token-expires-at-ms.devstoreaccount1.dfs.core.windows.net",
                {},
            ),
        }[self.kind]
        ends = {expiry: str(ends_at)} if ends_at is not None else {}
        token = f"sv=2026&sig={key}" if self.kind == "abfss" else key
        return PyArrowFileIO(
            {"s3.endpoint": self.url, "s3.region": "r", **rest, **ends, named: token}
        )


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Guarded]:
    store = Guarded(request.param)

    class Answer(SmallHandler):
        def do_GET(self) -> None:
            key = store.read_key(self)
            store.asked.append(key)
            is_good = key == store.good
            self.answer(
                200 if is_good else 401 if store.kind == "gs" else 403,
                CONTENT if is_good else b"x" * len(CONTENT),
                {"Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT", "ETag": '"1"'},
            )

    with serve_on_loopback(ThreadingHTTPServer(("127.0.0.1", 0), Answer)) as store.url:
        # Azure's own address is made of the account's name: only its emulator can be elsewhere.
        monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
        monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", store.url)
        yield store


def test_a_vended_key_opens_and_one_that_ended_is_renewed_once_for_all_that_read(
    store: Guarded,
) -> None:
    vended: list[str] = []

    async def renew() -> PyArrowFileIO:
        vended.append("second")
        return store.io("second")

    async def read_many(access: Access) -> list[bytes]:
        return await asyncio.gather(*[access.read(store.location()) for _ in range(4)])

    access = Access(store.io("first"), Storages(), FakeClock(NOW), renew)
    assert asyncio.run(read_many(access)) == [CONTENT] * 4
    assert (vended, set(store.asked)) == ([], {"first"})
    store.good = "second"
    assert asyncio.run(read_many(access)) == [CONTENT] * 4
    assert (vended, store.asked[-1]) == (["second"], "second")


def test_a_vended_key_is_renewed_before_it_ends(store: Guarded) -> None:
    clock = FakeClock(NOW)

    async def renew() -> PyArrowFileIO:
        store.good = "second"
        return store.io("second")

    ends_at = int((NOW + 3 * RENEW_BEFORE).timestamp() * 1000)
    access = Access(store.io("first", ends_at), Storages(), clock, renew)
    assert asyncio.run(access.read(store.location())) == CONTENT
    clock.advance(2 * RENEW_BEFORE)
    assert asyncio.run(access.read(store.location())) == CONTENT
    assert store.asked == ["first", "second"]


def test_keys_that_open_nothing_are_a_denial_and_asked_for_no_further(store: Guarded) -> None:
    store.good = "never given"
    vended: list[str] = []

    async def renew() -> PyArrowFileIO:
        vended.append(f"key-{len(vended)}")
        return store.io(vended[-1])

    access = Access(store.io("first"), Storages(), FakeClock(NOW), renew)
    for _ in range(2):
        with pytest.raises((PermissionDeniedError, UnauthenticatedError)):
            asyncio.run(access.read(store.location()))
    assert (vended, store.asked) == (["key-0"], ["first", "key-0", "key-0"])
