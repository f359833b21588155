"""Conditional requests to a REST catalog. Most answers are a short 304."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol, Self
from urllib.parse import quote

import msgspec
from pyiceberg.catalog.rest import Endpoints, RestCatalog
from requests import RequestException
from requests.utils import requote_uri
from yarl import URL

from maintainer.adapters.catalog.tables.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS
from maintainer.adapters.catalog.tables.request_rate import (
    Answer,
    NoAnswer,
    PollLimits,
    Question,
    Rate,
)
from maintainer.adapters.catalog.tables.session import (
    find_obstacle,
    find_route,
    refresh_token,
    session_of,
    write_headers,
)
from maintainer.adapters.retry_after import ATTEMPTS, PUT_OFF, read_retry_after
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import MIB

if TYPE_CHECKING:
    import aiohttp

# After so many requests in a row without an answer, the catalog counts as unavailable, and the
# other tables are skipped.
MAX_UNANSWERED: Final = 100
# Of one answer. With the history left out, an answer has a tenth of it; many are read at once.
MAX_POLLED_BYTES: Final = 2 * MIB
MAX_SESSION_THREADS: Final = 16  # for PyIceberg's own session, which blocks on each answer
# Only one field of the answer is read, so the shorter form of the answer is enough. The value never
# changes, because an ETag is valid only for the same query.
_QUERY: Final = "snapshots=refs"
_ANY_NAME: Final = "~"  # a name that no encoding changes
_EXPIRED: Final = 419  # some REST servers report an expired token with this status
_UNAUTHORIZED: Final = frozenset({HTTPStatus.UNAUTHORIZED, _EXPIRED})
_TO_BE_TOLD_BY_LOADING: Final = _UNAUTHORIZED | {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


class _Loaded(msgspec.Struct, rename={"metadata_location": "metadata-location"}):
    metadata_location: str | None = None


_LOADED: Final = msgspec.json.Decoder(_Loaded)


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    etag: str = ""
    retry_after: str = ""
    body: bytes | None = b""  # None: too large


class _Client(Protocol):
    async def renew(self) -> bool:
        """Make the headers of the next requests; return whether the headers have changed."""

    async def get(self, address: str, etag: str) -> _Response:
        """Return the answer to one request; after retries, the last answer."""

    async def close(self) -> None: ...


class ConditionalRequests:
    """Asks for many tables at the same time on an event loop, while the calling thread waits."""

    def __init__(self, catalog: RestCatalog, limits: PollLimits, rate: Rate) -> None:
        self._catalog = catalog
        self._limits = limits
        self._rate = rate
        self._addresses = _Addresses(catalog)
        self._unanswered = 0
        self._tokens = 0  # number of tokens fetched so far
        self._may_renew = True

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._client = self._runner.run(self._connect())
        return self

    def __exit__(self, *_error: object) -> None:
        with self._runner:
            self._runner.run(self._client.close())

    def ask(self, questions: Sequence[Question]) -> list[Answer | NoAnswer]:
        """Return an outcome for each question, in the order of the questions."""
        return self._runner.run(self._ask_all(questions)) if questions else []

    async def _connect(self) -> _Client:
        self._renewing = asyncio.Lock()
        kind = _SessionClient if find_obstacle(self._catalog) else _FastClient
        return kind(self._catalog, self._limits.concurrency, self._rate)

    async def _ask_all(self, questions: Sequence[Question]) -> list[Answer | NoAnswer]:
        self._may_renew = True
        await self._client.renew()
        outcomes: list[Answer | NoAnswer] = [NoAnswer("")] * len(questions)
        waiting = enumerate(questions)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._limits.concurrency, len(questions))):
                group.create_task(self._ask_in_turn(waiting, outcomes))
        return outcomes

    async def _ask_in_turn(
        self, waiting: Iterator[tuple[int, Question]], outcomes: list[Answer | NoAnswer]
    ) -> None:
        for index, question in waiting:
            outcomes[index] = await self._ask(question)

    async def _ask(self, question: Question) -> Answer | NoAnswer:
        import aiohttp  # noqa: PLC0415 - a slow import, needed only for REST catalogs

        if self._unanswered >= MAX_UNANSWERED:
            return NoAnswer(
                f"not asked, because the last {MAX_UNANSWERED} requests were not answered"
            )
        try:
            outcome = _understand(question, await self._get_authorized(question))
        except (
            aiohttp.ClientError,
            RequestException,
            TimeoutError,
            OSError,
            msgspec.DecodeError,
        ) as error:
            outcome = NoAnswer(str(error) or type(error).__name__)
        self._unanswered = self._unanswered + 1 if isinstance(outcome, NoAnswer) else 0
        return outcome

    async def _get_authorized(self, question: Question) -> _Response:
        address, tokens = self._addresses.of(question.table), self._tokens
        response = await self._client.get(address, question.etag)
        if response.status in _UNAUTHORIZED and await self._has_newer_token(tokens):
            response = await self._client.get(address, question.etag)
        return response

    async def _has_newer_token(self, tokens: int) -> bool:
        """Fetch a new token, once for all requests that were refused with the same token.

        Only one token is fetched for a batch. If it is refused too, loading the table reports the
        cause.
        """
        async with self._renewing:
            if tokens == self._tokens and self._may_renew:
                self._may_renew = False
                with suppress(Exception):  # loading the table reports the same error
                    await asyncio.to_thread(refresh_token, self._catalog)
                    self._tokens += await self._client.renew()
        return tokens != self._tokens


class _FastClient:
    """Sends the same requests as PyIceberg's session, but many at the same time."""

    def __init__(self, catalog: RestCatalog, concurrency: int, rate: Rate) -> None:
        import aiohttp  # noqa: PLC0415 - as above

        route = find_route(catalog)
        timeout = aiohttp.ClientTimeout(
            total=READ_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS
        )
        connector = aiohttp.TCPConnector(limit=concurrency, ssl=route.trust or True)
        self._session = session_of(catalog)
        self._rate = rate
        self._headers: dict[str, str] = {}
        self._client = aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            proxy=route.proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def renew(self) -> bool:
        headers = await asyncio.to_thread(write_headers, self._session)
        is_new, self._headers = headers != self._headers, headers
        return is_new

    async def get(self, address: str, etag: str) -> _Response:
        response = await self._get(address, etag)
        for attempt in range(ATTEMPTS - 1):
            if response.status not in PUT_OFF:
                break
            wait = read_retry_after(response.retry_after)
            await asyncio.sleep(2.0**attempt if wait is None else wait)
            response = await self._get(address, etag)
        return response

    async def _get(self, address: str, etag: str) -> _Response:
        await self._rate.turn()
        # The headers are set for each request, because aiohttp sends the headers of a session to
        # proxies too.
        headers = {**self._headers, "If-None-Match": etag} if etag else self._headers
        async with self._client.get(URL(address, encoded=True), headers=headers) as response:
            body = await _read_body(response) if response.status == HTTPStatus.OK else b""
            return _Response(
                response.status,
                response.headers.get("ETag", ""),
                response.headers.get("Retry-After", ""),
                body,
            )

    async def close(self) -> None:
        await self._client.close()


async def _read_body(response: aiohttp.ClientResponse) -> bytes | None:
    """Read the answer; None if it is too large, so that only loading the table can read it."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_POLLED_BYTES:
            response.close()
            return None
    return bytes(body)


class _SessionClient:
    """Sends requests with PyIceberg's session, if no other client can send them.

    The session itself waits when the server asks for a wait.
    """

    def __init__(self, catalog: RestCatalog, concurrency: int, rate: Rate) -> None:
        self._session = session_of(catalog)
        self._rate = rate
        self._threads = ThreadPoolExecutor(
            min(concurrency, MAX_SESSION_THREADS), thread_name_prefix=f"poll-{catalog.name}"
        )

    async def renew(self) -> bool:
        return True  # the session makes the headers for each request

    async def get(self, address: str, etag: str) -> _Response:
        await self._rate.turn()
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._get, address, etag
        )

    def _get(self, address: str, etag: str) -> _Response:
        headers = {"X-Iceberg-Access-Delegation": None, **({"If-None-Match": etag} if etag else {})}
        # A header with the value None is not sent.
        response = self._session.get(address, headers=headers)  # type: ignore[arg-type]
        return _Response(
            response.status_code, response.headers.get("ETag", ""), body=response.content
        )

    async def close(self) -> None:
        self._threads.shutdown()


class _Addresses:
    """The URLs of tables; the common part of a namespace's tables is made once."""

    def __init__(self, catalog: RestCatalog) -> None:
        self._catalog = catalog
        self._around: dict[tuple[str, ...], tuple[str, str]] = {}

    def of(self, table: TableIdentifier) -> str:
        around = self._around.get(table.namespace)
        if around is None:
            around = self._around[table.namespace] = self._write_around(table.namespace)
        return f"{around[0]}{quote(table.name, safe='')}{around[1]}"

    def _write_around(self, namespace: tuple[str, ...]) -> tuple[str, str]:
        # PyIceberg knows the separator that the server uses.
        path = self._catalog._split_identifier_for_path((*namespace, _ANY_NAME))  # noqa: SLF001
        before, _, after = requote_uri(
            f"{self._catalog.url(Endpoints.load_table, **path)}?{_QUERY}"
        ).rpartition(_ANY_NAME)
        return before, after


def _understand(question: Question, response: _Response) -> Answer | NoAnswer:
    if response.status == HTTPStatus.NOT_MODIFIED:
        return Answer(question.etag, question.location, is_changed=False)
    if response.status in _TO_BE_TOLD_BY_LOADING or response.body is None:
        return Answer("", "", is_changed=True)
    if response.status == HTTPStatus.OK:
        location = _LOADED.decode(response.body).metadata_location or ""
        # The ETag is sent again in a header.
        etag = response.etag if response.etag.isprintable() else ""
        return Answer(etag, location, is_changed=not location or location != question.location)
    return NoAnswer(f"the server answers {response.status}")
