"""Checks on every request: the Host header, bounds, cross-site changes, and limits on numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address
from re import compile as compile_regex
from threading import Lock
from time import monotonic
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maintainer.api.errors import problem_response

MAX_NAMES = 10_000  # with more names, those that may send again are forgotten
_LOOPBACK_NAME = "localhost"
_HOST = compile_regex(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
)
_SCHEME = compile_regex(r"(?P<scheme>https?)://(?P<host>.*)")
_DEFAULT_PORTS = {"http": 80, "https": 443}

_Address = tuple[str, str, int]  # scheme, name, port
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
    # Answers are for the person who asked. What may be kept, the page's files, says so itself.
    "Cache-Control": "no-store",
}


# The sums of times are off by less; the first request of a bucket of one must not be refused.
_ROUNDING_SECONDS = 1e-6


class Limits:
    """A bucket for each name, full at first, that fills at a steady rate; safe for threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = monotonic) -> None:
        self._burst = per_minute
        self._per_second = per_minute / 60
        self._clock = clock
        self._lock = Lock()
        self._full_at: dict[str, float] = {}  # when each bucket will be full again

    def take(self, name: str) -> float:
        """Count one request; 0.0 when it may be answered, else the seconds until it may."""
        return self._ask(name, is_counted=True)

    def wait(self, name: str) -> float:
        """The same without counting it."""
        return self._ask(name, is_counted=False)

    def _ask(self, name: str, *, is_counted: bool) -> float:
        with self._lock:
            now = self._clock()
            if len(self._full_at) > MAX_NAMES:
                self._full_at = {each: at for each, at in self._full_at.items() if at > now}
            full_at = max(now, self._full_at.get(name, now)) + 1 / self._per_second
            over = full_at - now - self._burst / self._per_second
            if over > _ROUNDING_SECONDS:
                return over
            if is_counted:
                self._full_at[name] = full_at
            return 0.0


class Streams:
    """How many event streams each name follows now; safe for threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    @contextmanager
    def lend(self, name: str) -> Iterator[Callable[[], bool]]:
        """Yield what takes one stream, until the end of the context; it is False for one more."""
        taken = 0

        def take() -> bool:
            nonlocal taken
            with self._lock:
                if self._open[name] >= self.most:
                    return False
                self._open[name] += 1
                taken += 1
                return True

        try:
            yield take
        finally:
            with self._lock:
                self._open[name] -= taken
                self._open += Counter()  # removes the names without an open stream


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The accepted names in a Host header, and the addresses of the daemon's page."""

    names: frozenset[str] = frozenset()
    addresses: frozenset[_Address] = frozenset()  # addresses at which a proxy serves the page
    has_every_ip: bool = False  # DNS rebinding cannot change a numeric address

    @classmethod
    def of(cls, bound: str, more: Iterable[str] = ()) -> AllowedHosts:
        """The names that follow from the listening address, and more.

        Each of `more` is a name, or an address like https://name.
        """
        names = {_normalize(bound)}
        addresses = set()
        for entry in more:
            address = _read_origin(entry)
            host = _read_host(entry if address is None else address[1])
            if address is not None:
                addresses.add(address)
            if host is not None:
                names.add(host[0])
        ip = _read_ip(bound)
        return cls(frozenset(names), frozenset(addresses), ip is not None and ip.is_unspecified)

    def has(self, host: str) -> bool:
        """True when a request with this Host header is accepted."""
        found = _read_host(host)
        if found is None:
            return False
        name = found[0]
        ip = _read_ip(name)
        return (
            name in self.names
            or name == _LOOPBACK_NAME
            or (ip is not None and (ip.is_loopback or self.has_every_ip))
        )

    def is_own_origin(self, origin: str, host: str, scheme: str) -> bool:
        """True if the origin is the daemon's page: the request's or a configured address."""
        address = _read_origin(origin)
        asked = _read_origin(f"{scheme}://{host}")
        return address is not None and (address == asked or address in self.addresses)


def _read_origin(text: str) -> _Address | None:
    match = _SCHEME.fullmatch(text)
    host = _read_host(match["host"]) if match is not None else None
    if match is None or host is None:
        return None
    name, port = host
    return match["scheme"], name, _DEFAULT_PORTS[match["scheme"]] if port is None else port


def _read_host(text: str) -> tuple[str, int | None] | None:
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    return _normalize(match["name"]), int(match["port"]) if match["port"] is not None else None


def _normalize(name: str) -> str:
    ip = _read_ip(name)
    return str(ip) if ip is not None else name.lower().removesuffix(".")


def _read_ip(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


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
