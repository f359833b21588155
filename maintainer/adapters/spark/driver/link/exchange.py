"""The contents of one poll and of its answer, without the network.

A poll has: the driver's process (`process`), the number of the poll (`poll`), the number of the
last order that the driver took (`heard`), the driver's description for a new daemon (`hello`), and
its messages (`said`). The answer has: orders (`take`), the number of the last stored message
(`received`), the seconds that each job may still work (`valid_for`), sometimes a new token
(`token`), and the seconds until the next poll (`wait`).

Polls and answers may be lost, repeated, late and out of order. Each order is taken once, in order.
The seconds of a job count from the time before the poll was sent, and only the newest answered poll
sets them.
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
    """One poll: its number, the time when it was made (by read_clock), its token and its body."""

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
        """``take`` is called with each order; ``introduce`` returns the driver's description."""
        self._take = take
        self._introduce = introduce
        self._clock = clock
        self._process = secrets.token_hex(8)
        self._tokens = [token]  # the newest token, and the token before it
        self._lock = threading.Lock()
        self._outbox = Outbox()
        self._polls = 0
        self._newest = 0  # the number of the newest answered poll
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
        description is made before the messages are read, so that a job that ends meanwhile is in at
        least one of them.
        """
        at = self._clock()
        heard, hello = self._heard, self._introduce()
        with self._lock:
            kept = self._outbox.kept()
            self._polls += 1
            number = self._polls
        for message in kept:
            if "job" in message:  # the message with the job's end may not fit into this poll
                hello["jobs"].setdefault(message["job"], True)
        body = {"process": self._process, "poll": number, "heard": heard, "hello": hello}
        return Poll(number, at, self._tokens[0], body | {"said": _take_portion(kept)})

    def take_answer(self, poll: Poll, answer: Message) -> float:
        """Process the answer to the poll; return the seconds to wait until the next poll."""
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
        """Use the other token for the next poll: the store may have replaced this token."""
        if self._tokens[0] == poll.token:
            self._tokens.reverse()


def _take_portion(kept: list[Message]) -> list[Message]:
    """Return the oldest messages, as many as fit into a poll, but at least one if there are any."""
    portion: list[Message] = []
    left = _MAX_SAID_BYTES
    for message in kept[:_MAX_SAID]:
        left -= len(json.dumps(message))
        if left < 0 and portion:
            break
        portion.append(message)
    return portion


def _read_order(order: Message, at: float, valid_for: dict[str, float]) -> Message:
    """Return the order without its number; an order to run a job gets the job's fence."""
    read: dict[str, Any] = {name: value for name, value in order.items() if name != "number"}
    if "run" in read:
        run = read["run"]
        read["run"] = run | {"until": at + float(valid_for.get(run["id"], 0))}
    return read
