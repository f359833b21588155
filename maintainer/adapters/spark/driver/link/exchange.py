"""The contents of one poll and of its answer, without the network.

A poll says: which process of this driver asks and its how-manyeth poll this is (`process`, `poll`),
the highest number of an order that it has taken (`heard`), what a new daemon needs to know
(`hello`), and its messages (`said`). The answer brings orders (`take`), the highest number of a
message that is stored (`received`), how many seconds each job may still work (`valid_for`), perhaps
a new token (`token`), and how long to wait until the next poll (`wait`).

Polls and answers may be lost, doubled, late and out of order. Each order is taken once, in order.
How long a job may work is counted from before the poll was sent, and only the newest answered poll
says it.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..clock import read_clock
from .outbox import Message, Outbox

_MAX_SAID = 200  # messages in one poll
_MAX_SAID_BYTES = 1024**2
_LONGEST_WAIT_SECONDS = 10.0
_SHORTEST_WAIT_SECONDS = 0.1


@dataclass(frozen=True)
class Poll:
    """One poll: its number, when it was made (by read_clock), the token that it shows, its body."""

    number: int
    at: float
    token: str
    body: Message


class Exchange:
    """Makes polls and processes their answers; any thread may add a message."""

    def __init__(
        self,
        token: str,
        take: Callable[[Message], None],
        introduce: Callable[[], Message],
        clock: Callable[[], float] = read_clock,
    ) -> None:
        """Take the start token, and the functions for orders and for the driver's description."""
        self._take = take
        self._introduce = introduce
        self._clock = clock
        self._process = secrets.token_hex(8)
        self._tokens = [token]  # the newest first, and the one before: its answer may be lost
        self._lock = threading.Lock()
        self._outbox = Outbox()
        self._polls = 0
        self._newest = 0  # of the polls that were answered
        self._heard = 0

    def write(self, event: str, job: str | None, fields: dict[str, object]) -> None:
        """Keep a message until an answer says that it is stored."""
        with self._lock:
            self._outbox.keep(self._outbox.write(event, job, fields))

    @property
    def is_delivered(self) -> bool:
        """Return True when every message is stored."""
        with self._lock:
            return not len(self._outbox)

    def make_poll(self) -> Poll:
        """Make the next poll.

        The clock is read first: the job's time counts from before the poll was sent. The
        description comes before the messages, so that the end of a job is never in neither.
        """
        at = self._clock()
        heard, hello = self._heard, self._introduce()
        with self._lock:
            kept = self._outbox.kept()
            self._polls += 1
            number = self._polls
        for message in kept:
            if "job" in message:  # its end may not fit into this poll
                hello["jobs"].setdefault(message["job"], True)
        body = {"process": self._process, "poll": number, "heard": heard, "hello": hello}
        return Poll(number, at, self._tokens[0], body | {"said": _take_portion(kept)})

    def take_answer(self, poll: Poll, answer: Message) -> float:
        """Take the answer to the poll; return how many seconds to wait until the next one."""
        with self._lock:
            self._outbox.drop_until(int(answer["received"]))
        valid_for: dict[str, float] = answer["valid_for"]
        for order in sorted(answer["take"], key=lambda order: int(order["number"])):
            if order["number"] == self._heard + 1:
                self._heard += 1
                self._take(_read_order(order, poll.at, valid_for))
        if poll.number > self._newest:
            self._newest = poll.number
            for job, seconds in valid_for.items():
                self._take({"renew": {"id": job, "until": poll.at + float(seconds)}})
            if answer.get("token"):
                self._tokens = [str(answer["token"]), poll.token]
        return min(max(float(answer["wait"]), _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)

    def refuse_token(self, poll: Poll) -> None:
        """Try the other token next: a renewed one may be one that the store has replaced again."""
        if self._tokens[0] == poll.token:
            self._tokens.reverse()


def _take_portion(kept: list[Message]) -> list[Message]:
    """Return the oldest messages, as many as fit into a poll; at least one."""
    portion: list[Message] = []
    left = _MAX_SAID_BYTES
    for message in kept[:_MAX_SAID]:
        left -= len(json.dumps(message))
        if left < 0 and portion:
            break
        portion.append(message)
    return portion


def _read_order(order: Message, at: float, valid_for: dict[str, float]) -> Message:
    """Return the order without its number; one to run a job gets the job's end."""
    read: dict[str, Any] = {name: value for name, value in order.items() if name != "number"}
    if "run" in read:
        run = read["run"]
        read["run"] = run | {"until": at + float(valid_for.get(run["id"], 0))}
    return read
