"""A loopback server that speaks Polaris' documented policy API, and of Iceberg's REST catalog what
lists namespaces and tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from tests.small_http import SmallHandler, serve_on_loopback

TOKEN = "a token of the tests"  # noqa: S105 - of no use anywhere else
Path = tuple[str, ...]


@dataclass
class Polaris:
    """One catalog called `quickstart`: what it has, what is attached where, and what was asked."""

    tables: dict[Path, list[str]] = field(default_factory=dict)  # namespace -> tables
    attached: dict[Path, list[dict[str, object]]] = field(
        default_factory=dict
    )  # () the catalog, a namespace, or a namespace and a table
    page_size: int = 1000
    tells_inherited: bool = True
    wants_token: bool = True
    broken: dict[str, tuple[int, bytes]] = field(
        default_factory=dict
    )  # a path's part -> status and body instead
    put_off: int = 0  # requests that are still answered 429
    asked: list[str] = field(default_factory=list)
    uri: str = ""

    def attach(
        self,
        kind: str,
        content: dict[str, object] | str,
        *target: str,
        name: str = "",
        **more: object,
    ) -> None:
        """As PUT .../mappings does; the content is a text, as the server keeps it."""
        text = content if isinstance(content, str) else json.dumps(content)
        policy: dict[str, object] = {
            "policy-type": kind,
            "name": name or f"{kind.removeprefix('system.')}-{'-'.join(target) or 'all'}",
            "content": text,
        }
        self.attached.setdefault(target, []).append(
            {"inheritable": True, "version": 0, "namespace": ["policies"], **policy, **more}
        )

    def applicable(self, target: Path) -> list[dict[str, object]]:
        """The nearest of each type; Polaris resolves inheritance itself."""
        found: dict[str, dict[str, object]] = {}
        for length in range(len(target) + 1):
            for policy in self.attached.get(target[:length], []):
                inherited = {"inherited": length < len(target)} if self.tells_inherited else {}
                found[str(policy["policy-type"])] = {**policy, **inherited}
        return list(found.values())

    def answer(self, path: str, query: dict[str, list[str]]) -> dict[str, object] | None:
        namespace = tuple(query["namespace"][0].split("\x1f")) if "namespace" in query else ()
        if path == "/v1/config":
            return (
                {"defaults": {}, "overrides": {"prefix": "quickstart"}}
                if query.get("warehouse") == ["quickstart"]
                else None
            )
        if path == "/v1/quickstart/namespaces":
            parent = tuple(query["parent"][0].split("\x1f")) if "parent" in query else ()
            known = {
                space[: len(parent) + 1]
                for space in self.tables
                if len(space) > len(parent) and space[: len(parent)] == parent
            }
            return self._page("namespaces", [list(space) for space in sorted(known)], query)
        if path == "/polaris/v1/quickstart/applicable-policies":
            if namespace and not any(space[: len(namespace)] == namespace for space in self.tables):
                return None
            return self._page(
                "applicable-policies",
                [*self.applicable((*namespace, *query.get("target-name", [])))],
                query,
            )
        prefix, suffix = "/v1/quickstart/namespaces/", "/tables"
        space = tuple(path.removeprefix(prefix).removesuffix(suffix).split("\x1f"))
        if path.startswith(prefix) and path.endswith(suffix):
            return self._page(
                "identifiers",
                [{"namespace": list(space), "name": name} for name in self.tables.get(space, [])],
                query,
            )
        return None

    def _page(
        self, key: str, items: list[object], query: dict[str, list[str]]
    ) -> dict[str, object]:
        start = int(query.get("pageToken", ["0"])[0] or 0)
        end = start + self.page_size
        return {key: items[start:end], "next-page-token": str(end) if end < len(items) else None}


@contextmanager
def serve(polaris: Polaris) -> Iterator[Polaris]:
    """Listen on loopback until the block is left."""

    class Handler(SmallHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = unquote(parts.path).removeprefix("/api/catalog")
            polaris.asked.append(f"{path}?{parts.query}")
            fault = next(
                (fault for part, fault in polaris.broken.items() if part in self.path), None
            )
            if polaris.put_off:
                polaris.put_off -= 1
                self.answer(HTTPStatus.TOO_MANY_REQUESTS, {}, {"Retry-After": "0"})
            elif fault is not None:
                self.answer(*fault)
            elif polaris.wants_token and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self.answer(HTTPStatus.UNAUTHORIZED, {})
            else:
                answer = polaris.answer(path, parse_qs(parts.query, keep_blank_values=True))
                self.answer(
                    HTTPStatus.OK if answer is not None else HTTPStatus.NOT_FOUND, answer or {}
                )

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            polaris.asked.append(self.path)
            wanted = {
                "grant_type": ["client_credentials"],
                "client_id": ["root"],
                "client_secret": ["s3cr3t"],
                "scope": ["PRINCIPAL_ROLE:ALL"],
            }
            is_right = self.path == "/api/catalog/v1/oauth/tokens" and form == wanted
            self.answer(
                HTTPStatus.OK if is_right else HTTPStatus.UNAUTHORIZED,
                {"access_token": TOKEN} if is_right else {},
            )

    with serve_on_loopback(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        polaris.uri = f"{address}/api/catalog"
        yield polaris
