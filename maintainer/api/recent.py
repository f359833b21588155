"""Answers to lists that were made a moment ago, for all who see the same tables."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from threading import Lock
from time import monotonic
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from maintainer.api.deps import ApiContext, may_ask, recognise
from maintainer.api.guard import SAFE_METHODS

# These answers depend only on the address and on the tables that the person may see.
PATHS: Final = frozenset(
    f"/api/v1/{name}" for name in ("catalogs", "jobs", "namespaces", "overview", "pools", "tables")
)
MAX_ANSWERS: Final = 200
MAX_BYTES: Final = 256 * 1024  # the largest body that is kept
_OK: Final = 200

Key = tuple[str, bytes, tuple[str, ...] | None]


@dataclass(slots=True)
class Answer:
    """The messages of one answer, while they are sent."""

    made_at: float
    messages: list[Message] = field(default_factory=list)
    size: int = 0

    def add(self, message: Message) -> None:
        self.size += len(message.get("body", b""))
        self.messages.append({**message})

    @property
    def is_kept(self) -> bool:
        """True for a whole answer that is neither an error nor large."""
        first, last = self.messages[0], self.messages[-1]
        is_whole = last["type"] == "http.response.body" and not last.get("more_body", False)
        return first.get("status") == _OK and is_whole and self.size <= MAX_BYTES


class RecentAnswers:
    """ASGI middleware that repeats an answer for `context.answers_seconds`.

    Many pages and scripts ask for the same lists. A change through this process forgets all
    answers; what another process changes is seen after that time.
    """

    def __init__(
        self, app: ASGIApp, context: ApiContext, clock: Callable[[], float] = monotonic
    ) -> None:
        self.app = app
        self._context = context
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[Key, Answer] = OrderedDict()
        self._forgotten_at = -inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass the request on and keep its answer."""
        if scope["type"] != "http" or not self._context.answers_seconds:
            await self.app(scope, receive, send)
        elif scope["method"] not in SAFE_METHODS:
            try:
                await self.app(scope, receive, send)
            finally:
                self._forget()
        elif scope["path"] not in PATHS or scope["method"] != "GET":
            await self.app(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        person = recognise(Request(scope), self._context)
        if person is None:
            await self.app(scope, receive, send)
            return
        key = (scope["path"], scope["query_string"], person.sees)
        kept = self._find(key)
        if kept is not None and may_ask(person, self._context):
            for message in kept.messages:
                await send({**message})
            return
        made = Answer(self._clock())

        async def send_and_keep(message: Message) -> None:
            if made.size <= MAX_BYTES:
                made.add(message)
            await send(message)

        await self.app(scope, receive, send_and_keep)
        self._keep(key, made)

    def _find(self, key: Key) -> Answer | None:
        with self._lock:
            kept = self._kept.get(key)
        is_fresh = kept and self._clock() - kept.made_at < self._context.answers_seconds
        return kept if is_fresh else None

    def _keep(self, key: Key, made: Answer) -> None:
        with self._lock:
            if made.messages and made.is_kept and made.made_at > self._forgotten_at:
                self._kept[key] = made
                self._kept.move_to_end(key)
                if len(self._kept) > MAX_ANSWERS:
                    self._kept.popitem(last=False)

    def _forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._forgotten_at = self._clock()
