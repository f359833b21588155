"""The driver polls an address of its daemon over HTTP.

The daemon never connects to the driver. Without answers, the driver continues its jobs until their
fences.
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import sys
import threading
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from ..clock import read_clock
from .exchange import Exchange, Poll
from .outbox import Message

ADDRESS, NAME = "MAINTAINER_LINK", "MAINTAINER_DRIVER"
TOKEN, TOKEN_FILE = "MAINTAINER_TOKEN", "MAINTAINER_TOKEN_FILE"
AUTHORITY_FILE = "MAINTAINER_LINK_CA_FILE"

_TIMEOUT_SECONDS = 10  # for the connection, and for each part of an answer
_MAX_ANSWER_BYTES = 32 * 1024**2
_FIRST_BACK_OFF_SECONDS, _LONGEST_BACK_OFF_SECONDS = 0.5, 5.0
_LEAST_GAP_SECONDS = 0.1  # the least time between two polls
_PATIENCE_SECONDS = 60  # after this time without an answer the daemon counts as gone
_SILENT = frozenset({"spark.progress"})  # these events wait for the next poll
_OK, _UNAUTHORIZED, _GONE = 200, 401, 410
ENDED = "driver_ended"  # the code in the 410 that ends a driver; a 410 of a proxy has no such code


@dataclass(frozen=True)
class Link:
    """The address to poll, and the driver's credentials."""

    address: str  # https://host:port, possibly with a path
    name: str  # of this driver
    token: str
    authority_file: str = ""  # PEM of the certificate's authority; empty: the system's authorities


def read_link(environ: MutableMapping[str, str]) -> Link | None:
    """Read the link from the environment; None without an address.

    The token is removed from the environment, because Spark's JVM inherits the environment.
    """
    token, address = environ.pop(TOKEN, ""), environ.get(ADDRESS, "")
    if not address:
        return None
    if environ.get(TOKEN_FILE):
        token = Path(environ[TOKEN_FILE]).read_text(encoding="utf-8").strip()
    return Link(address, environ[NAME], token, environ.get(AUTHORITY_FILE, ""))


class Polling:
    """The transport over HTTP, which has its own thread."""

    def __init__(
        self, link: Link, take: Callable[[Message], None], introduce: Callable[[], Message]
    ) -> None:
        """Begin to poll. ``take`` and ``introduce`` are the same as for a Channel."""
        self._home = _Home(link)
        self._take = take
        self._exchange = Exchange(link.token, take, introduce)
        self._wake = threading.Event()
        self._delivered = threading.Event()
        self._is_closed = threading.Event()
        self._is_over = False  # the daemon has ended this driver, and stores no more messages
        self._answered_at = read_clock()  # the time of the newest answered poll
        self._thread = threading.Thread(target=self._poll_on, name="link", daemon=True)
        self._thread.start()

    @property
    def left_at(self) -> float | None:
        """When the newest answered poll was made; None if that was not long ago."""
        at = self._answered_at
        return at if read_clock() - at > _PATIENCE_SECONDS else None

    def send(self, event: str, job: str | None = None, **fields: object) -> None:
        """Keep the message until the daemon has stored it, and poll soon."""
        self._exchange.write(event, job, fields)
        if event not in _SILENT:
            self._wake.set()

    def acknowledge(self, numbers: list[int]) -> None:
        """Do nothing: stored messages are dropped already."""

    def flush(self, seconds: float) -> None:
        """Return when all messages are stored or the driver was ended, or after so many seconds."""
        if threading.current_thread() is self._thread:
            return
        until = read_clock() + seconds
        while not (self._exchange.is_delivered or self._is_over) and read_clock() < until:
            self._delivered.clear()
            self._wake.set()
            self._delivered.wait(_LEAST_GAP_SECONDS)

    def close(self) -> None:
        self._is_closed.set()
        self._wake.set()
        self._thread.join()
        self._home.close()

    def _poll_on(self) -> None:
        back_off = _FIRST_BACK_OFF_SECONDS
        while not self._is_closed.is_set():
            self._wake.clear()
            try:
                wait = self._poll()
                back_off = _FIRST_BACK_OFF_SECONDS
            # A network or a proxy may return any answer; the fences of the jobs do not need one.
            except Exception as error:  # noqa: BLE001
                sys.stderr.write(f"the daemon cannot be reached: {error}\n")
                self._home.close()
                self._is_closed.wait(back_off * random.uniform(0.5, 1))  # noqa: S311 - no secret
                back_off = min(2 * back_off, _LONGEST_BACK_OFF_SECONDS)
                continue
            self._is_closed.wait(_LEAST_GAP_SECONDS)
            self._wake.wait(wait - _LEAST_GAP_SECONDS)

    def _poll(self) -> float:
        """Poll once; return the seconds to wait."""
        poll = self._exchange.make_poll()
        status, answer = self._home.ask(poll)
        if status == _GONE and answer.get("code") == ENDED:
            self._is_over = True
            self._take({"end": str(answer.get("detail"))})
        if status == _UNAUTHORIZED:
            self._exchange.refuse_token(poll)
        if status != _OK:
            raise ConnectionError(f"status {status}: {answer.get('detail') or 'no reason given'}")
        wait = self._exchange.take_answer(poll, answer)
        self._answered_at = max(self._answered_at, poll.at)
        if self._exchange.is_delivered:
            self._delivered.set()
        return wait


class _Home:
    """Sends requests over one connection, and connects again after each failure."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._url = urlsplit(link.address)
        self._path = f"{self._url.path.rstrip('/')}/drivers/v1/{quote(link.name, safe='')}/poll"
        self._tls = (
            ssl.create_default_context(cafile=link.authority_file or None)
            if self._url.scheme == "https"
            else None
        )
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, poll: Poll) -> tuple[int, dict[str, Any]]:
        """Return the status and the document of the answer."""
        connection = self._connection = self._connection or self._connect()
        headers = {"Authorization": f"Bearer {poll.token}", "Content-Type": "application/json"}
        connection.request("POST", self._path, json.dumps(poll.body).encode(), headers)
        response = connection.getresponse()
        content = response.read(_MAX_ANSWER_BYTES + 1)
        if len(content) > _MAX_ANSWER_BYTES:
            raise ConnectionError(f"the answer is longer than {_MAX_ANSWER_BYTES} bytes")
        document = json.loads(content or b"{}")
        return response.status, document if isinstance(document, dict) else {}

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=self._tls)
