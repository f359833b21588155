"""Who may poll, and what is refused with which status."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import pytest
from httpx import codes

from maintainer.adapters.spark.link.http import endpoint
from maintainer.adapters.spark.link.http.tokens import LIFETIME, make_token
from tests.adapters.spark.link.polls import NAME, NOW, START_TIMEOUT, Home, body

MINUTE = timedelta(minutes=1)


@pytest.fixture
def home() -> Home:
    return Home()


def test_the_first_poll_gets_the_start_order_and_a_token(home: Home) -> None:
    answered = home.ask(body())
    assert answered.status_code == codes.OK
    answer = answered.json()
    assert answer["take"] == [{"number": 1, "start": {}}]
    assert answer["received"] == 0
    assert answer["valid_for"] == {}
    assert answer["wait"] == endpoint.IDLE_WAIT_SECONDS
    assert answer["token"] != home.token


def test_a_driver_with_jobs_polls_more_often(home: Home) -> None:
    home.order("j", MINUTE)
    answer = home.ask(body()).json()
    assert answer["wait"] == endpoint.BUSY_WAIT_SECONDS < 1
    assert answer["valid_for"] == {"j": 60.0}


@pytest.mark.parametrize("token", ["", "secret", f"{NAME}.guessed", f"{NAME}.", "."])
def test_a_wrong_token_is_refused(home: Home, token: str) -> None:
    answered = home.ask(body(), token)
    assert answered.status_code in {codes.UNAUTHORIZED, codes.FORBIDDEN}
    assert answered.headers["content-type"] == "application/problem+json"
    assert answered.json()["status"] == answered.status_code
    record = home.store.driver(NAME)
    assert record is not None
    assert record.polls == 0


def test_a_connection_that_ends_in_the_middle_of_a_poll_is_no_error_of_ours(home: Home) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/drivers/v1/{NAME}/poll",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {home.token}".encode())],
    }
    anyio.run(home.endpoint, scope, receive, send)
    assert sent[0]["status"] == codes.BAD_REQUEST
    record = home.store.driver(NAME)
    assert record is not None
    assert record.polls == 0


def test_the_token_of_another_driver_is_refused(home: Home) -> None:
    other = make_token("spark-2")
    home.add("spark-2", other)
    assert home.ask(body(), other).status_code == codes.FORBIDDEN
    assert home.ask(body(), other, "spark-2").status_code == codes.OK


def test_an_unknown_driver_is_refused_as_a_wrong_token_is(home: Home) -> None:
    assert home.ask(body(), make_token("spark-3"), "spark-3").status_code == codes.UNAUTHORIZED


def test_a_start_token_is_not_good_for_ever(home: Home) -> None:
    home.clock.advance(START_TIMEOUT)
    assert home.ask(body()).status_code == codes.UNAUTHORIZED


def test_the_former_token_is_good_until_the_newer_one_was_used(home: Home) -> None:
    lost = home.ask(body(1)).json()["token"]
    second = home.ask(body(2)).json()["token"]
    assert home.ask(body(3), lost).status_code == codes.UNAUTHORIZED, "it was replaced unused"
    assert home.ask(body(3), second).status_code == codes.OK
    assert home.ask(body(4)).status_code == codes.UNAUTHORIZED, "a stolen start token is no use"


def test_an_expired_token_gets_a_new_one_and_nothing_else(home: Home) -> None:
    token = home.ask(body(1)).json()["token"]
    home.order("j", MINUTE)
    home.clock.advance(LIFETIME)
    said = {"number": 1, "event": "job.started", "job": "j"}
    answer = home.ask(body(2, 1, said), token).json()
    assert (answer["take"], answer["valid_for"], answer["received"]) == ([], {}, 0)
    assert home.heard() == []
    answer = home.ask(body(3, 1, said), answer["token"]).json()
    assert [order["number"] for order in answer["take"]] == [2]
    assert answer["received"] == 1


def test_a_token_is_renewed_before_it_expires_and_not_at_each_poll(home: Home) -> None:
    token = home.ask(body(1)).json()["token"]
    assert "token" not in home.ask(body(2), token).json()
    home.clock.advance(LIFETIME / 2 + MINUTE)
    assert "token" in home.ask(body(3), token).json()


def test_the_store_has_no_token(home: Home) -> None:
    token = home.ask(body(1)).json()["token"]
    written = str(home.store._drivers)
    assert home.token not in written
    assert token not in written


def test_an_ended_driver_is_informed(home: Home) -> None:
    home.store.end_driver(NAME, "it did not start in time", NOW)
    answered = home.ask(body())
    assert answered.status_code == codes.GONE
    assert answered.json()["code"] == "driver_ended"
    assert answered.json()["detail"] == "it did not start in time"
    assert home.ask(body(), f"{NAME}.guessed").status_code == codes.UNAUTHORIZED


def test_a_second_process_with_the_drivers_token_is_asked_to_end(home: Home) -> None:
    token = home.ask(body(1)).json()["token"]
    assert home.ask(body(2, process="another"), token).status_code == codes.GONE
    assert home.ask(body(2), token).status_code == codes.OK


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"process": "p"',
        b'{"process":"p","poll":0,"heard":0,"hello":{},"said":[]}',
        b'{"process":"p","poll":1,"heard":-1,"hello":{},"said":[]}',
        b'{"process":"p","poll":1,"heard":0,"hello":{},"said":[{"event":"x"}]}',
        b'{"process":"p","poll":1,"heard":0,"hello":{},"said":[{"number":1}]}',
        b'{"process":"","poll":1,"heard":0,"hello":{},"said":[]}',
        b'{"process":"p","poll":1,"heard":0,"hello":' + b"[" * 5000 + b"}",
        b"\xff\xfe",
    ],
)
def test_what_is_no_poll_is_refused(home: Home, content: bytes) -> None:
    answered = home.ask(content)
    assert answered.status_code == codes.BAD_REQUEST
    assert answered.headers["content-type"] == "application/problem+json"


def test_a_body_has_a_bound(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_BODY_BYTES", 1000)
    answered = home.ask(b"x" * 1001)
    assert answered.status_code == codes.REQUEST_ENTITY_TOO_LARGE


def test_while_the_store_is_away_the_driver_is_asked_to_wait(home: Home) -> None:
    home.store.broken = "the disk of host-7 is full"
    answered = home.ask(body())
    assert answered.status_code == codes.SERVICE_UNAVAILABLE
    assert int(answered.headers["retry-after"]) > 0
    assert "host-7" not in answered.text
    home.store.broken = ""
    assert home.ask(body()).status_code == codes.OK


def test_it_serves_nothing_else(home: Home) -> None:
    for path in ("/", "/docs", "/openapi.json", "/drivers/v1/spark-1"):
        assert home.request("GET", path, {}).status_code == codes.NOT_FOUND
