"""Describes for people an HTTP client's exception about an unreachable server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from socket import gaierror
from typing import Final

from requests.exceptions import (
    ConnectionError,  # noqa: A004 - requests' own name for it
    ConnectTimeout,
    ProxyError,
    RequestException,
    SSLError,
    Timeout,
)
from yarl import URL

_MAX_CAUSES: Final = 10
_OPENSSL_PLACE: Final = re.compile(r"^\[[^\]]*\] *| *\(_ssl\.c:\d+\)$")


def describe_unreachable(error: BaseException) -> str | None:
    """Say which server cannot be reached and why; None if the error has another cause."""
    if not isinstance(error, ConnectionError | Timeout):
        return None
    server, host = _find_server(error)
    causes = tuple(_walk(error))
    match error, causes[-1]:
        case ProxyError(), _:
            return f"the proxy on the way to {server} cannot be used ({_root(causes)})"
        case SSLError(), _:
            return f"no secure connection to {server} can be made ({_root(causes)})"
        case ConnectTimeout(), _:
            return f"{server} cannot be reached (no connection in time)"
        case (Timeout(), _) | (_, TimeoutError()):
            return f"{server} took too long to answer"
        case _, gaierror():
            return f"no address is known for host {host} ({_root(causes)})"
        case _, ConnectionRefusedError():
            return f"nothing listens at {server} ({_root(causes)})"
        case _:
            return f"the connection to {server} failed ({_root(causes)})"


def _find_server(error: RequestException) -> tuple[str, str]:
    """Return the address without path, query and credentials, and the host alone."""
    address = getattr(error.request, "url", None)
    try:
        url = URL(address) if address else None
    except ValueError:
        url = None
    if url is None or url.host is None:
        return "the server", "of the server"
    return str(url.with_user(None).origin()), url.host


def _walk(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, each once.

    urllib3 keeps the cause of its last attempt in ``reason``.
    """
    current: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if current is None:
            return
        yield current
        inner = [
            one
            for one in (getattr(current, "reason", None), *current.args)
            if isinstance(one, BaseException)
        ]
        current = inner[0] if inner else current.__cause__ or current.__context__


def _root(causes: tuple[BaseException, ...]) -> str:
    """Return the innermost message, which is the operating system's or OpenSSL's."""
    last = causes[-1]
    words = (
        (last.strerror if isinstance(last, OSError) else None) or str(last) or type(last).__name__
    )
    return _OPENSSL_PLACE.sub("", words)
