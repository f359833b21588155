"""An HTTP client's exception about a server that cannot be reached, as a sentence for people."""

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
    """What hinders the connection, and to where; None when the error is about something else."""
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
    """The address without path, query and credentials; and the host alone."""
    address = getattr(error.request, "url", None)
    try:
        url = URL(address) if address else None
    except ValueError:
        url = None
    if url is None or url.host is None:
        return "the server", "of the server"
    return str(url.with_user(None).origin()), url.host


def _walk(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, each once; urllib3 keeps the cause of its last attempt as
    ``reason``.
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
    """The innermost words, which are the operating system's or OpenSSL's."""
    last = causes[-1]
    words = (
        (last.strerror if isinstance(last, OSError) else None) or str(last) or type(last).__name__
    )
    return _OPENSSL_PLACE.sub("", words)
