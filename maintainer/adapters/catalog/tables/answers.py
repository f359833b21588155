"""Reads the answers of a REST catalog in pieces, within bounds of bytes, time and pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from requests import ConnectionError as LostConnectionError
from requests import Response
from requests.exceptions import ChunkedEncodingError
from urllib3.exceptions import HTTPError, ProtocolError

from maintainer.domain.units import KIB, MIB, format_size

MAX_ANSWER_BYTES: Final = 64 * MIB  # a whole metadata.json of 20,000 snapshots
MAX_ANSWER_SECONDS: Final = 180.0
MAX_LISTING_BYTES: Final = 64 * MIB  # all pages of one listing together
MAX_LISTING_PAGES: Final = 10_000
# Answers beyond this size are read one at a time, whatever the number of tables and catalogs.
LARGE_BYTES: Final = 4 * MIB
_PIECE_BYTES: Final = 64 * KIB
_LARGE: Final = threading.Lock()


class AnswerError(OSError):
    """A catalog's answer is too large, takes too long, or is not what the protocol says."""


class BoundedAnswers:
    """The hook of a session that reads each answer; a listing counts all its pages together."""

    def __init__(self) -> None:
        self._listing = threading.local()

    @contextmanager
    def one_listing(self) -> Iterator[None]:
        """Count the pages of one listing, of this thread."""
        self._listing.pages, self._listing.bytes = 0, 0
        try:
            yield
        finally:
            del self._listing.pages, self._listing.bytes

    def read(self, response: Response, **_options: object) -> None:
        """Read the answer's body; AnswerError beyond a bound, which ends the connection.

        `requests` would read it without any bound, also that of a redirection.
        """
        pages = getattr(self._listing, "pages", None)
        most = MAX_ANSWER_BYTES
        if pages is not None:
            if pages >= MAX_LISTING_PAGES:
                response.close()
                raise AnswerError(f"a listing has more than {MAX_LISTING_PAGES:,} pages")
            self._listing.pages += 1
            most = MAX_LISTING_BYTES - self._listing.bytes
        body = _read_body(response, most)
        if pages is not None:
            self._listing.bytes += len(body)
        # This is where `requests` keeps a body that it has read.
        response._content, response._content_consumed = body, True  # noqa: SLF001


def _read_body(response: Response, most: int) -> bytes:
    body, excess = bytearray(), ""
    ends = time.monotonic() + MAX_ANSWER_SECONDS
    with ExitStack() as held:
        try:
            while piece := response.raw.read1(_PIECE_BYTES, decode_content=True):
                body += piece
                if len(body) > most:
                    excess = f"an answer has more than {format_size(most)}"
                    break
                if time.monotonic() > ends:
                    excess = f"an answer takes longer than {MAX_ANSWER_SECONDS:g} s"
                    break
                if len(body) > LARGE_BYTES >= len(body) - len(piece):
                    held.enter_context(_LARGE)
                    ends = time.monotonic() + MAX_ANSWER_SECONDS
        except ProtocolError as error:
            raise ChunkedEncodingError(error, request=response.request) from error
        except HTTPError as error:
            raise LostConnectionError(error, request=response.request) from error
    if excess:
        response.close()
        raise AnswerError(excess)
    response.raw.release_conn()
    return bytes(body)
