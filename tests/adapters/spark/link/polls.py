"""Both ends of the link on one store in memory, with clocks that a test moves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from typing import Any

import anyio
import httpx
from fastapi import FastAPI

from maintainer.adapters.spark.driver.link.exchange import Exchange, Poll
from maintainer.adapters.spark.link.http.endpoint import Polls, RefusalError, make_endpoint
from maintainer.adapters.spark.link.http.tokens import make_token, start_tokens
from maintainer.domain.errors import StoreUnavailableError
from maintainer.ports.store.drivers import DriverRecord
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAME, OWNER = "spark-1", "one"
LONGEST = timedelta(minutes=2)
START_TIMEOUT = timedelta(minutes=2)


@dataclass
class Home:
    """Two daemons on one store, and a driver that is known to them."""

    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    store: FakeStore = field(default_factory=FakeStore)
    token: str = field(default_factory=lambda: make_token(NAME))
    start_timeout: timedelta = START_TIMEOUT

    def __post_init__(self) -> None:
        self.polls = [Polls(self.store, self.clock, LONGEST) for _ in range(2)]
        self.add(NAME, self.token)

    @cached_property
    def endpoint(self) -> FastAPI:
        return make_endpoint(self.store, self.clock, LONGEST)

    def add(self, name: str, token: str) -> None:
        tokens = start_tokens(token, self.clock.now(), self.start_timeout)
        self.store.add_driver(DriverRecord(name, OWNER, tokens, self.clock.now()), {"start": {}})

    def ask(
        self,
        body: object,
        token: str | None = None,
        name: str = NAME,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", f"/drivers/v1/{name}/poll", headers, content)

    def request(
        self, method: str, path: str, headers: dict[str, str], content: bytes = b""
    ) -> httpx.Response:
        transport = httpx.ASGITransport(self.endpoint)

        async def talk() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport, base_url="http://home") as client:
                return await client.request(method, path, headers=headers, content=content)

        return anyio.run(talk)

    def answer(self, poll: Poll, replica: int = 0) -> tuple[HTTPStatus, dict[str, Any]]:
        """Answer as over HTTP, without the time that it takes."""
        try:
            driver = self.polls[replica].identify(NAME, poll.token)
            content = json.dumps(poll.body).encode()
            return HTTPStatus.OK, self.polls[replica].answer(driver, poll.token, content)
        except RefusalError as refusal:
            return refusal.status, {}
        except StoreUnavailableError:
            return HTTPStatus.SERVICE_UNAVAILABLE, {}

    def order(self, job: str, valid_for: timedelta) -> None:
        until = self.clock.now() + valid_for
        record = self.store.driver(NAME)
        assert record is not None
        number = record.ordered + 1
        assert self.store.order(NAME, OWNER, number, {"run": {"id": job}}, (job, until))

    def renew(self, job: str, valid_for: timedelta) -> None:
        self.store.renew_driver_job(NAME, OWNER, job, self.clock.now() + valid_for)

    def heard(self, after: int = 0) -> list[dict[str, Any]]:
        return [dict(said) for said in self.store.hear(OWNER, {NAME: after}).messages.get(NAME, ())]


def body(number: int = 1, heard: int = 0, *said: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "process": "p",
        "poll": number,
        "heard": heard,
        "hello": {"jobs": {}},
        "said": list(said),
    } | more


class RemoteEnd:
    """The driver's end, whose clock runs as fast as the daemons' and shows another time."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.taken: list[dict[str, Any]] = []  # orders
        self.until: dict[str, float] = {}
        self.jobs: dict[str, bool] = {}
        self.exchange = Exchange(
            home.token, self._take, lambda: {"jobs": dict(self.jobs)}, self.read_clock
        )

    def read_clock(self) -> float:
        return (self.home.clock.now() - NOW).total_seconds() + 7000.0

    def instant(self, until: float) -> datetime:
        """What the daemons' clock shows when the driver's shows this."""
        return NOW + timedelta(seconds=until - 7000.0)

    def _take(self, order: dict[str, Any]) -> None:
        match order:
            case {"renew": {"id": job, "until": until}}:
                self.until[job] = until
            case {"run": {"id": job, "until": until}}:
                self.taken.append(order)
                self.until[job] = until
                self.jobs[job] = True
            case _:
                self.taken.append(order)

    def take(self, poll: Poll, status: HTTPStatus, answer: dict[str, Any]) -> None:
        """As the transport does."""
        if status is HTTPStatus.UNAUTHORIZED:
            self.exchange.refuse_token(poll)
        if status is HTTPStatus.OK:
            self.exchange.take_answer(poll, answer)

    def poll(self, replica: int = 0) -> HTTPStatus:
        made = self.exchange.make_poll()
        status, answer = self.home.answer(made, replica)
        self.take(made, status, answer)
        return status
