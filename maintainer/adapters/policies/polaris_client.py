"""Polaris' policy API, and the part of Iceberg's REST catalog API that lists tables.

Every page, answer and wait is bounded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import quote

import requests

from maintainer.adapters.policies.polaris_content import PolarisPolicy, read_policies
from maintainer.adapters.retry_after import ATTEMPTS, PUT_OFF, read_retry_after
from maintainer.domain.errors import CatalogUnavailableError, InvalidValueError

DEFAULT_SCOPE = "PRINCIPAL_ROLE:ALL"
SEPARATOR = "\x1f"  # between the levels of a namespace
MAXIMUM_BYTES = 16 * 1024**2  # in one answer
CHUNK_BYTES = 64 * 1024
MAXIMUM_PAGES = 1000  # in one list
MAXIMUM_DEPTH = 32  # levels of a namespace
PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class PolarisOptions:
    """The address and credentials of Polaris, and the bounds of one refresh."""

    uri: str  # the same as of the Iceberg REST catalog: http://host:8181/api/catalog
    warehouse: str = ""  # the catalog's name in Polaris, for which the server returns a prefix
    prefix: str | None = None
    token: str | None = field(default=None, repr=False)
    credential: str | None = field(default=None, repr=False)  # client id:secret
    scope: str | None = None
    oauth_uri: str | None = None
    timeout: timedelta = timedelta(seconds=10)  # for one request
    deadline: timedelta = timedelta(minutes=5)  # for one refresh
    max_requests: int = 20_000  # in one refresh


class NotThereError(Exception):
    """The object was dropped meanwhile."""


class PolarisClient:
    """Reads one Polaris catalog as a whole; CatalogUnavailableError if a part is unavailable."""

    def __init__(self, options: PolarisOptions) -> None:
        self._options = options
        self._http = requests.Session()
        self._http.auth = _send_as_is
        self._headers: dict[str, str] = {}
        self._ends_at = time.monotonic() + options.deadline.total_seconds()
        self._requests = 0
        self._base = options.uri.rstrip("/")
        self._prefix = ""

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def connect(self) -> None:
        """Fetch a token and the catalog's prefix."""
        if self._options.token is not None:
            self._headers["Authorization"] = f"Bearer {self._options.token}"
        elif self._options.credential is not None:
            self._headers["Authorization"] = f"Bearer {self._fetch_token(self._options.credential)}"
        self._prefix = quote(
            self._options.prefix if self._options.prefix is not None else self._find_prefix(),
            safe="",
        )

    def namespaces(self, parent: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """List every namespace below the parent, outer namespaces first."""
        query = {"parent": SEPARATOR.join(parent)} if parent else {}
        for answer in self._pages(f"/v1/{self._prefix}/namespaces", query):
            for levels in _list_of(answer, "namespaces"):
                namespace = (
                    tuple(str(level) for level in levels) if isinstance(levels, list) else ()
                )
                if len(namespace) == len(parent) + 1 <= MAXIMUM_DEPTH:
                    yield namespace
                    yield from self.namespaces(namespace)

    def tables(self, namespace: tuple[str, ...]) -> Iterator[str]:
        """List the names of the namespace's tables."""
        levels = quote(SEPARATOR.join(namespace), safe="")
        for answer in self._pages(f"/v1/{self._prefix}/namespaces/{levels}/tables", {}):
            for identifier in _list_of(answer, "identifiers"):
                if isinstance(identifier, dict) and isinstance(identifier.get("name"), str):
                    yield identifier["name"]

    def policies(
        self, namespace: tuple[str, ...] = (), table: str | None = None
    ) -> list[PolarisPolicy]:
        """List the policies of a table, a namespace or the catalog, with inherited policies."""
        query = {"namespace": SEPARATOR.join(namespace)} if namespace else {}
        if table is not None:
            query["target-name"] = table
        found: list[PolarisPolicy] = []
        for answer in self._pages(f"/polaris/v1/{self._prefix}/applicable-policies", query):
            try:
                found += read_policies(
                    {"applicable-policies": _list_of(answer, "applicable-policies")}
                )
            except InvalidValueError as error:
                raise CatalogUnavailableError(
                    f"Polaris at {self._base} answered policies that cannot be read: {error}"
                ) from error
        return found

    def _find_prefix(self) -> str:
        config = self._get(
            "/v1/config", {"warehouse": self._options.warehouse} if self._options.warehouse else {}
        )
        reported = [config.get("overrides"), config.get("defaults")]
        prefix = next(
            (
                part["prefix"]
                for part in reported
                if isinstance(part, dict) and isinstance(part.get("prefix"), str)
            ),
            self._options.warehouse,
        )
        if not prefix:
            raise CatalogUnavailableError(
                f"Polaris at {self._base} names no prefix; write the catalog's name there as "
                f"polaris_policies.prefix"
            )
        return str(prefix)

    def _fetch_token(self, credential: str) -> str:
        client_id, colon, secret = credential.partition(":")
        form = {
            "grant_type": "client_credentials",
            "client_id": client_id if colon else "",
            "client_secret": secret if colon else client_id,
        }
        answer = self._send(
            "POST",
            self._options.oauth_uri or f"{self._base}/v1/oauth/tokens",
            {},
            {**form, "scope": self._options.scope or DEFAULT_SCOPE},
        )
        token = answer.get("access_token")
        if not isinstance(token, str):
            raise CatalogUnavailableError(f"Polaris at {self._base} answered no access_token")
        return token

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, object]]:
        page_token = ""
        for _ in range(MAXIMUM_PAGES):
            answer = self._get(path, {**query, "pageToken": page_token, "pageSize": str(PAGE_SIZE)})
            yield answer
            following = answer.get("next-page-token")
            if not isinstance(following, str) or not following:
                return
            page_token = following
        raise CatalogUnavailableError(
            f"Polaris at {self._base} answers more than {MAXIMUM_PAGES} pages for {path}"
        )

    def _get(self, path: str, query: Mapping[str, str]) -> dict[str, object]:
        return self._send("GET", f"{self._base}{path}", query, None)

    def _send(
        self, method: str, url: str, query: Mapping[str, str], form: Mapping[str, str] | None
    ) -> dict[str, object]:
        response, content = self._send_once(method, url, query, form)
        for _ in range(ATTEMPTS - 1):
            wait = read_retry_after(response.headers.get("Retry-After", ""))
            if response.status_code not in PUT_OFF or wait is None:
                break
            time.sleep(wait)
            response, content = self._send_once(method, url, query, form)
        if response.status_code == HTTPStatus.NOT_FOUND:
            raise NotThereError(url)
        if response.status_code != HTTPStatus.OK:
            raise CatalogUnavailableError(
                f"Polaris answered {response.status_code} to {method} {url}"
            )
        return _read_object(content, url)

    def _send_once(
        self, method: str, url: str, query: Mapping[str, str], form: Mapping[str, str] | None
    ) -> tuple[requests.Response, bytes]:
        self._requests += 1
        if self._requests > self._options.max_requests or time.monotonic() > self._ends_at:
            bound = (
                f"{self._options.max_requests} requests or "
                f"{self._options.deadline.total_seconds():.0f} s"
            )
            raise CatalogUnavailableError(
                f"reading the policies of Polaris at {self._base} takes more than {bound}; "
                f"raise polaris_policies.max_requests, or leave out tables"
            )
        try:
            with self._http.request(
                method,
                url,
                params=query,
                data=form,
                headers=self._headers,
                timeout=self._options.timeout.total_seconds(),
                allow_redirects=False,
                stream=True,
            ) as response:
                content = b""
                for chunk in response.iter_content(CHUNK_BYTES):
                    content += chunk
                    if len(content) > MAXIMUM_BYTES:
                        raise CatalogUnavailableError(
                            f"Polaris answered more than {MAXIMUM_BYTES} bytes to {method} {url}"
                        )
        except requests.RequestException as error:
            raise CatalogUnavailableError(
                f"Polaris cannot be reached: {method} {url}: {str(error) or type(error).__name__}"
            ) from error
        return response, content


def _send_as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep the client's Authorization, which `requests` would replace with one from .netrc."""
    return request


def _read_object(content: bytes, url: str) -> dict[str, object]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CatalogUnavailableError(f"Polaris' answer to {url} is not JSON: {error}") from error
    if not isinstance(answer, dict):
        raise CatalogUnavailableError(f"Polaris answered no object to {url}")
    return answer


def _list_of(answer: Mapping[str, object], key: str) -> list[object]:
    found = answer.get(key)
    return found if isinstance(found, list) else []
