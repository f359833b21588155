"""Conditional requests to a REST catalog: one small answer, mostly 304, for each table."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec
from pyiceberg.catalog.rest import Endpoints, RestCatalog
from pyiceberg.utils.properties import property_as_bool
from requests import PreparedRequest, Session
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies, requote_uri, select_proxy
from yarl import URL

from maintainer.adapters.catalog.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS
from maintainer.adapters.catalog.pace import PollLimits, Rate
from maintainer.domain.identifier import TableIdentifier

ATTEMPTS: Final = 3  # of a request that the server puts off
MAX_RETRY_AFTER_SECONDS: Final = 30.0
MAX_UNANSWERED: Final = 100  # in a row: then the catalog counts as down, and the rest of the tables are not asked
# The body is read for one name alone, so the smaller form of it; always the same value, because an ETag belongs to it.
_QUERY: Final = "snapshots=refs"
# With the delegation header a server makes credentials for each answer, which cost it time and make every answer another.
_LEFT_OUT: Final = frozenset({"x-iceberg-access-delegation", "content-type", "accept-encoding", "connection"})
_PUT_OFF: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_TO_BE_TOLD_BY_LOADING: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})


@dataclass(frozen=True, slots=True)
class Question:
    """A table and what is known of it: the ETag and the metadata's location, "" for what is not known."""

    table: TableIdentifier
    etag: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The table's state, unchanged when it equals the question's; both empty when only loading the table will tell."""

    etag: str
    location: str
    is_changed: bool


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why the server did not say."""

    reason: str


class _Loaded(msgspec.Struct, rename={"metadata_location": "metadata-location"}):
    metadata_location: str | None = None


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    etag: str
    retry_after: str
    body: bytes


class ConditionalRequests:
    """Asks for many tables at once, on a loop of its own; the calling thread waits."""

    def __init__(self, catalog: RestCatalog, limits: PollLimits, rate: Rate) -> None:
        """Take the catalog whose addresses, headers and authentication are used."""
        self._catalog = catalog
        self._session: Session = catalog._session  # noqa: SLF001 - PyIceberg has no other way to its headers and credentials
        self._limits = limits
        self._rate = rate
        self._unanswered = 0

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._gate = asyncio.Semaphore(self._limits.concurrency)
        self._client = self._runner.run(self._connect())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._runner:
            self._runner.run(self._client.close())

    def ask(self, questions: Sequence[Question]) -> list[Answer | NoAnswer]:
        """One outcome a question, in their order."""
        return self._runner.run(self._ask_all(questions)) if questions else []

    async def _connect(self) -> aiohttp.ClientSession:
        timeout = aiohttp.ClientTimeout(total=READ_TIMEOUT_SECONDS, sock_connect=CONNECT_TIMEOUT_SECONDS)
        connector = aiohttp.TCPConnector(limit=self._limits.concurrency, ssl=_trust_as(self._session) if self._catalog.uri.startswith("https") else True)
        return aiohttp.ClientSession(connector=connector, timeout=timeout, proxy=self._find_proxy(), cookie_jar=aiohttp.DummyCookieJar())

    def _find_proxy(self) -> str | None:
        """The environment's, as requests would take it; looked up once, because aiohttp's own way does so in a thread for each request."""
        uri = self._catalog.uri
        return select_proxy(uri, get_environ_proxies(uri))

    async def _ask_all(self, questions: Sequence[Question]) -> list[Answer | NoAnswer]:
        self._headers = await asyncio.to_thread(_write_headers, self._session)  # a token may have to be fetched for them
        return await asyncio.gather(*[self._ask(question) for question in questions])

    async def _ask(self, question: Question) -> Answer | NoAnswer:
        async with self._gate:
            if self._unanswered >= MAX_UNANSWERED:
                return NoAnswer(f"not asked, because the last {MAX_UNANSWERED} requests were not answered")
            try:
                outcome = await self._ask_patiently(question)
            except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError) as error:
                outcome = NoAnswer(str(error) or type(error).__name__)
            self._unanswered = self._unanswered + 1 if isinstance(outcome, NoAnswer) else 0
            return outcome

    async def _ask_patiently(self, question: Question) -> Answer | NoAnswer:
        response = _Response(0, "", "", b"")
        for attempt in range(ATTEMPTS):
            await self._rate.turn()
            response = await self._request(question)
            if response.status not in _PUT_OFF:
                break
            if attempt < ATTEMPTS - 1:
                await asyncio.sleep(_read_retry_after(response.retry_after, attempt))
        return _understand(question, response)

    async def _request(self, question: Question) -> _Response:
        levels = (*question.table.namespace, question.table.name)
        path = self._catalog._split_identifier_for_path(levels)  # noqa: SLF001 - PyIceberg knows the server's own separator
        address = requote_uri(f"{self._catalog.url(Endpoints.load_table, **path)}?{_QUERY}")
        condition = {"If-None-Match": question.etag} if question.etag else {}
        if property_as_bool(self._catalog.properties, "rest.sigv4-enabled", default=False):  # each request is signed, by PyIceberg's own session
            return await asyncio.to_thread(self._request_signed, address, condition)
        async with self._client.get(URL(address, encoded=True), headers={**self._headers, **condition}) as response:
            body = await response.read() if response.status == HTTPStatus.OK else b""
            return _Response(response.status, response.headers.get("ETag", ""), response.headers.get("Retry-After", ""), body)

    def _request_signed(self, address: str, condition: dict[str, str]) -> _Response:
        response = self._session.get(address, headers={**condition, "X-Iceberg-Access-Delegation": None})  # type: ignore[dict-item]  # None leaves it out
        return _Response(response.status_code, response.headers.get("ETag", ""), response.headers.get("Retry-After", ""), response.content)


def _understand(question: Question, response: _Response) -> Answer | NoAnswer:
    if response.status == HTTPStatus.NOT_MODIFIED:
        return Answer(question.etag, question.location, is_changed=False)
    if response.status == HTTPStatus.OK:
        location = msgspec.json.decode(response.body, type=_Loaded).metadata_location or ""
        return Answer(response.etag, location, is_changed=not location or location != question.location)
    if response.status in _TO_BE_TOLD_BY_LOADING:
        return Answer("", "", is_changed=True)
    return NoAnswer(f"the server answers {response.status}")


def _write_headers(session: Session) -> dict[str, str]:
    """PyIceberg's own headers, with a fresh authorization."""
    request = PreparedRequest()
    request.prepare(method="GET", url="http://127.0.0.1/", headers=dict(session.headers), auth=session.auth)
    return {name: str(value) for name, value in request.headers.items() if name.lower() not in _LEFT_OUT}


def _trust_as(session: Session) -> ssl.SSLContext | bool:
    """The certificates that requests would trust and show."""
    if session.verify is False:
        return False
    bundle = (
        session.verify
        if isinstance(session.verify, str)
        else os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or DEFAULT_CA_BUNDLE_PATH
    )
    context = ssl.create_default_context(capath=bundle) if os.path.isdir(bundle) else ssl.create_default_context(cafile=bundle)  # noqa: PTH112 - as requests does
    if session.cert is not None:
        certificate = (session.cert, None) if isinstance(session.cert, str) else session.cert
        context.load_cert_chain(*certificate)
    return context


def _read_retry_after(text: str, attempt: int) -> float:
    """Seconds, bounded; a date or nothing becomes a short wait that doubles."""
    seconds = float(2**attempt)
    with suppress(ValueError):
        seconds = float(text)
    return max(0.0, min(MAX_RETRY_AFTER_SECONDS, seconds))
