"""Checks on every request before its route: the Host header, bounds, and cross-site changes."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maintainer.api.errors import problem_response
from maintainer.api.hosts import AllowedHosts

# A page of another site cannot send these types without a preflight request, unlike a form.
_JSON = frozenset({
    "application/json", "application/cloudevents+json", "application/cloudevents-batch+json",
})  # fmt: skip
MAX_BODY_BYTES = 512 * 1024  # a policy text of 64 KiB fits, even with every character escaped
MAX_QUERY_BYTES = 16 * 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# The page's components write style elements and attributes. Scripts come only from the page's
# files.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' "
    "data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",
}


class Guard:
    """ASGI middleware that refuses bad requests; an encoded slash stays in its path segment."""

    def __init__(self, app: ASGIApp, hosts: AllowedHosts) -> None:
        self.app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = _refuse(scope, self._hosts)
        if refusal is not None:
            response = problem_response(*refusal, scope["path"])
            await response(scope, receive, _with_headers(send))
            return
        is_head = scope["method"] == "HEAD"
        passed = {
            **scope,
            "path": _segment_path(scope),
            "method": "GET" if is_head else scope["method"],
        }
        await self.app(
            passed, _bounded(receive), _with_headers(_without_body(send) if is_head else send)
        )


def _refuse(scope: Scope, hosts: AllowedHosts) -> tuple[HTTPStatus, str] | None:
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if not hosts.has(host):
        return (
            HTTPStatus.MISDIRECTED_REQUEST,
            (
                f"the host {host[:200]!r} is not one of this daemon's names: loopback names, "
                f"server.host, and what server.hosts lists"
            ),
        )
    if "\0" in scope["path"] or b"%00" in scope["query_string"] or b"\0" in scope["query_string"]:
        return (
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "a name or a parameter holds a NUL character, which no name can have",
        )
    if len(scope["query_string"]) > MAX_QUERY_BYTES:
        return (
            HTTPStatus.REQUEST_URI_TOO_LONG,
            f"the query has {len(scope['query_string'])} bytes; at most {MAX_QUERY_BYTES} are read",
        )
    if scope["method"] in SAFE_METHODS:
        return None
    return _refuse_cross_site(headers, hosts, scope["scheme"]) or _refuse_body(headers)


def _refuse_cross_site(
    headers: Headers, hosts: AllowedHosts, scheme: str
) -> tuple[HTTPStatus, str] | None:
    origin, host = headers.get("origin"), headers.get("host", "")
    if origin is not None and not hosts.is_own_origin(origin, host, scheme):
        advice = "behind a proxy, list the page's address in server.hosts"
        return (
            HTTPStatus.FORBIDDEN,
            (
                f"a page of {origin[:200]} may not change anything here: its Origin is not "
                f"{scheme}://{host[:200]}; {advice}"
            ),
        )
    if origin is None and headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        return HTTPStatus.FORBIDDEN, "a page of another site may not change anything here"
    return None


def _refuse_body(headers: Headers) -> tuple[HTTPStatus, str] | None:
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
        return (
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body has {length[:20]} bytes; at most {MAX_BODY_BYTES} are read",
        )
    has_body = "transfer-encoding" in headers or length not in {"", "0"}
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and media_type not in _JSON:
        return (
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"a body of type {media_type[:200] or 'none'} is not read; send application/json",
        )
    return None


def _segment_path(scope: Scope) -> str:
    """Decode the path segment by segment.

    A slash or a percent sign inside a segment stays encoded, for deps to decode.
    """
    raw = scope.get("raw_path")
    if raw is None or b"%" not in raw:
        path: str = scope["path"]
        return path
    return "/".join(
        unquote(segment).replace("%", "%25").replace("/", "%2F")
        for segment in raw.decode("latin-1").split("/")
    )


def _bounded(receive: Receive) -> Receive:
    total = 0

    async def receive_bounded() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY_BYTES:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body has more than the {MAX_BODY_BYTES} bytes that are read",
            )
        return message

    return receive_bounded


def _without_body(send: Send) -> Send:
    """Drop the body for HEAD, which is answered like GET.

    The answer ends with its headers, also that of a stream.
    """
    is_reported = False

    async def send_headers(message: Message) -> None:
        nonlocal is_reported
        if message["type"] == "http.response.start":
            await send(message)
        elif not is_reported:
            is_reported = True
            await send({"type": "http.response.body", "body": b""})

    return send_headers


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
