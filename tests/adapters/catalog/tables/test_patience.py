"""A request that a REST catalog puts off is sent again when the catalog wants it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from requests import Response

from maintainer.adapters.catalog.tables import rest
from maintainer.adapters.catalog.tables.rest import PatientRequests
from maintainer.adapters.retry_after import ATTEMPTS, MAX_RETRY_AFTER_SECONDS, read_retry_after


def answer(status: int, retry_after: str | None = None) -> Response:
    response = Response()
    response.status_code = status
    if retry_after is not None:
        response.headers["Retry-After"] = retry_after
    return response


class Server:
    """Gives its answers in turn, the last one for ever, and notes when it was asked."""

    def __init__(self, clock: Clock, *answers: Response) -> None:
        self.clock, self.answers = clock, list(answers)
        self.asked: list[float] = []

    def __call__(self, *_arguments: object, **_options: object) -> Response:
        self.asked.append(self.clock.now)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rest, "time", made)
    return made


def test_a_request_is_sent_again_after_the_time_that_the_server_names(clock: Clock) -> None:
    server = Server(clock, answer(429, "7"), answer(503, "2"), answer(200))
    assert PatientRequests(server)("GET", "/").status_code == 200
    assert server.asked == [1000, 1007, 1009]


def test_the_attempts_and_each_wait_are_bounded(clock: Clock) -> None:
    server = Server(clock, answer(429, "86400"))
    assert PatientRequests(server)("GET", "/").status_code == 429
    assert len(server.asked) == ATTEMPTS
    assert clock.now == 1000 + (ATTEMPTS - 1) * MAX_RETRY_AFTER_SECONDS


@pytest.mark.parametrize("refusal", [answer(503), answer(429, "soon"), answer(500, "7")])
def test_an_answer_that_names_no_time_is_final(clock: Clock, refusal: Response) -> None:
    server = Server(clock, refusal)
    assert PatientRequests(server)("GET", "/") is refusal
    assert (len(server.asked), clock.now) == (1, 1000)


def test_the_requests_of_others_wait_too(clock: Clock) -> None:
    server = Server(clock, answer(429, "7"), answer(200))
    send = PatientRequests(server)
    other: list[Response] = []
    waits = [lambda: other.append(send("GET", "/other"))]

    def sleep(seconds: float) -> None:
        while waits:
            waits.pop()()
        clock.now = max(clock.now, 1000 + seconds)

    clock.sleep = sleep  # type: ignore[method-assign]
    assert send("GET", "/").status_code == 200
    assert [one.status_code for one in other] == [200]
    assert server.asked == [1000, 1007, 1007]


def test_an_outage_costs_its_wait_once(clock: Clock) -> None:
    server = Server(clock, *[answer(503, "20")] * (ATTEMPTS + 1), answer(200))
    send = PatientRequests(server)
    assert send("GET", "/").status_code == 503
    assert [send("GET", "/").status_code for _ in range(100)] == [503] * 100
    assert (len(server.asked), clock.now) == (ATTEMPTS, 1040), "nobody has waited or asked"
    clock.now += 20
    assert send("GET", "/").status_code == 503, "one attempt shows that it goes on"
    assert len(server.asked) == ATTEMPTS + 1
    clock.now += 20
    assert [send("GET", "/").status_code for _ in range(2)] == [200, 200]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("0", 0, 0),
        ("-3", 0, 0),
        ("1.5", 1.5, 1.5),
        ("inf", MAX_RETRY_AFTER_SECONDS, MAX_RETRY_AFTER_SECONDS),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=20)), 10, 20),
        (lambda: format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True), 0, 0),
        ("Fri, 01 Jan 2100 00:00:00 -0000", MAX_RETRY_AFTER_SECONDS, MAX_RETRY_AFTER_SECONDS),
    ],
)
def test_seconds_and_dates_are_understood_and_bounded(
    text: str | Callable[[], str], least: float, most: float
) -> None:
    seconds = read_retry_after(text if isinstance(text, str) else text())
    assert seconds is not None
    assert least <= seconds <= most


@pytest.mark.parametrize("text", ["", "soon", "nan", "7 s"])
def test_any_other_text_names_no_time(text: str) -> None:
    assert read_retry_after(text) is None
