"""Turns exceptions of libraries into one clear line without secrets, and a kind of fault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from socket import gaierror
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    ForbiddenError,
    NoSuchIcebergTableError,
    NoSuchNamespaceError,
    NoSuchPropertyException,
    NoSuchTableError,
    OAuthError,
    RESTError,
    UnauthorizedError,
)
from yarl import URL

from maintainer.domain.inventory import FaultKind

if TYPE_CHECKING:
    from requests import RequestException

_MAX_CAUSES: Final = 10
_OPENSSL_PLACE: Final = re.compile(r"^\[[^\]]*\] *| *\(_ssl\.c:\d+\)$")


def describe_unreachable(error: BaseException) -> str | None:
    """Say which server cannot be reached and why; None if the error has another cause."""
    from requests import exceptions  # noqa: PLC0415 - a slow import, needed only after an error

    if not isinstance(error, exceptions.ConnectionError | exceptions.Timeout):
        return None
    server, host = _find_server(error)
    causes = tuple(_walk(error))
    match error, causes[-1]:
        case exceptions.ProxyError(), _:
            return f"the proxy on the way to {server} cannot be used ({_root(causes)})"
        case exceptions.SSLError(), _:
            return f"no secure connection to {server} can be made ({_root(causes)})"
        case exceptions.ConnectTimeout(), _:
            return f"{server} cannot be reached (no connection in time)"
        case (exceptions.Timeout(), _) | (_, TimeoutError()):
            return f"{server} took too long to answer"
        case _, gaierror():
            return f"no address is known for host {host} ({_root(causes)})"
        case _, ConnectionRefusedError():
            return f"nothing listens at {server} ({_root(causes)})"
        case _:
            return f"the connection to {server} failed ({_root(causes)})"


def _describe_answer(error: BaseException) -> str | None:
    """Say what is wrong with an answer that arrived; None if the error has another cause.

    The answer itself is not quoted, because it may contain vended credentials.
    """
    from requests.exceptions import ChunkedEncodingError  # noqa: PLC0415 - as above

    match error:
        case ChunkedEncodingError():
            return "the server's answer broke off before its end"
        case ValidationError():
            found = error.errors(include_url=False, include_context=False, include_input=False)
            return f"the catalog's answer is not valid: {'; '.join(one['msg'] for one in found)}"
        case _:
            return None


def _describe_storage_error(text: str) -> str:
    """Extract the storage's answer, without the request and the path, which are known already."""
    answer = _STORAGE_ANSWER.search(text)
    if answer is not None:
        status, code, message = answer.groups()
        return f"the storage answers {status}: {code}{f' ({message})' if message else ''}"
    if _REDIRECTED in text:
        return "the storage redirects to another address, as for a bucket of another region"
    return _ARROW_REQUEST.sub("", text)


def _find_server(error: RequestException) -> tuple[str, str]:
    """Return the address without path, query and credentials, and the host."""
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
    """Return the innermost message, which comes from the operating system or from OpenSSL."""
    last = causes[-1]
    words = (
        (last.strerror if isinstance(last, OSError) else None) or str(last) or type(last).__name__
    )
    return _OPENSSL_PLACE.sub("", words)


# obstore's messages contain the XML of S3, Azure and Google; PyArrow's begin with the request.
_STORAGE_ANSWER: Final = re.compile(
    r"status code: (\d{3}[^:<]*):.*?<Code>([^<]*)</Code>(?:\s*<Message>([^<]*)</Message>)?",
    re.DOTALL,
)
_REDIRECTED: Final = "Received redirect without LOCATION"
_ARROW_REQUEST: Final = re.compile(r"^When [a-z ]+ for key '.*?' in bucket '[^']*': ")
MAX_REASON_CHARACTERS: Final = 300
_SECRET_KEY: Final = re.compile(
    r"secret|password|token|credential|authorization|access-key|account-key|sas", re.IGNORECASE
)
_ADDRESSES: Final = ("_url", "-uri")  # an address of a token server is not a secret
_MIN_SECRET_CHARACTERS: Final = 4  # shorter values are not hidden: they may be ordinary words
_USER_INFO: Final = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY: Final = re.compile(
    r"(?<=[?&])(X-Amz-[A-Za-z-]+|sig|token|password|access_token)=[^&\s]+", re.IGNORECASE
)
_BEARER: Final = re.compile(r"(?<=bearer )\S+", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"access.?denied|forbidden|unauthorized|permission denied|\b40[13]\b|AWS Error \[code "
    r"15\]|invalid.?access.?key|signature.?does.?not.?match",
    re.IGNORECASE,
)
_MISSING: Final = re.compile(
    r"no.?such.?(key|file|bucket)|path does not exist|is a directory|not found|\b404\b",
    re.IGNORECASE,
)
_DENIED_TYPES: Final = (
    ForbiddenError,
    UnauthorizedError,
    OAuthError,
    AuthorizationExpiredError,
    PermissionError,
)


def explain(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Describe an exception in one line of bounded length, with every secret hidden."""
    # SQLAlchemy wraps the driver's error and appends the statement.
    own = str(getattr(error, "orig", None) or error)
    text = describe_unreachable(error) or _describe_answer(error)
    text = text or _describe_storage_error(own)
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _BEARER.sub("***", _QUERY.sub(r"\1=***", _USER_INFO.sub("***@", text)))
    line = " ".join(text.split()) or type(error).__name__
    return line if len(line) <= MAX_REASON_CHARACTERS else line[: MAX_REASON_CHARACTERS - 1] + "…"


def secrets_of(properties: Mapping[str, str]) -> tuple[str, ...]:
    """List the values that must never be shown, longest first.

    They are recognised by their keys. The password in a URI is a secret too.
    """
    found = {
        str(value)
        for key, value in properties.items()
        if _SECRET_KEY.search(key) and not key.endswith(_ADDRESSES)
    }
    # A message may quote only a part of OAuth's "id:secret".
    found |= {part for value in found for part in value.split(":")[1:]}
    for value in properties.values():
        match = re.search(r"://[^/@\s:]*:([^/@\s]+)@", str(value))
        if match:
            found.add(match[1])
    return tuple(
        sorted(
            (value for value in found if len(value) >= _MIN_SECRET_CHARACTERS),
            key=len,
            reverse=True,
        )
    )


def kind_of_catalog_error(error: BaseException) -> FaultKind:
    """Return the kind of fault for an error of the catalog while it loads a table."""
    match error:
        case (
            NoSuchIcebergTableError() | NoSuchPropertyException()
        ):  # a table of Glue or Hive without Iceberg's properties
            return FaultKind.UNSUPPORTED
        case NoSuchTableError() | NoSuchNamespaceError():
            return FaultKind.DROPPED
        case RESTError() if not isinstance(error, _DENIED_TYPES):
            return FaultKind.CATALOG_UNAVAILABLE
        # The answer is incomplete, or does not come from the catalog, such as a gateway's page.
        case ValidationError() if any(one["type"] == "json_invalid" for one in error.errors()):
            return FaultKind.CATALOG_UNAVAILABLE
        case ValidationError():
            return (
                FaultKind.UNSUPPORTED
                if "format version" in str(error).lower()
                else FaultKind.METADATA_CORRUPT
            )
        case _:
            return kind_of_storage_error(error)


def kind_of_storage_error(error: BaseException) -> FaultKind:
    """Return the kind of fault for an error of the storage while a file is read.

    Storage that does not answer has the same kind as a catalog that does not answer.
    """
    if isinstance(error, FileNotFoundError):
        return FaultKind.METADATA_MISSING
    if isinstance(error, _DENIED_TYPES) or _DENIED.search(str(error)):
        return FaultKind.ACCESS_DENIED
    if isinstance(error, OSError) and _MISSING.search(str(error)):
        return FaultKind.METADATA_MISSING
    # PyIceberg finds no installed FileIO for the scheme.
    if isinstance(error, ValueError | ImportError):
        return FaultKind.UNSUPPORTED
    return FaultKind.CATALOG_UNAVAILABLE
