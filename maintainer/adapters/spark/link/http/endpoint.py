"""The endpoint that drivers poll: a separate application, on another port than the page.

Every process that uses the store can answer every driver. A poll is answered after its contents are
stored. While the store is unavailable the answer is 503, and the driver polls again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from maintainer.adapters.spark.driver.link.polling import ENDED
from maintainer.adapters.spark.link.http.tokens import TokenCheck, check_token, renew_tokens
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.ports.clock import Clock
from maintainer.ports.store.drivers import DriverPoll, DriverRecord, DriverStore

MAX_BODY_BYTES = 4 * 1024**2
RETRY_AFTER_SECONDS = 2
BUSY_WAIT_SECONDS = 0.5  # a cancellation waits for the driver's next poll
IDLE_WAIT_SECONDS = 1.0

_LOG = logging.getLogger(__name__)

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class _Said(msgspec.Struct):
    """The fields of every message; other fields are allowed."""

    number: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    event: str


class _Body(msgspec.Struct):
    """A poll."""

    process: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    poll: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    heard: _Count
    hello: dict[str, Any]
    said: list[dict[str, Any]]


# msgspec crashes if two threads use a class for the first time at the same time.
_BODIES = msgspec.json.Decoder(_Body)
msgspec.convert({"number": 1, "event": ""}, _Said)


class RefusalError(Exception):
    """A poll is refused with a status and, if the driver was ended, a code."""

    def __init__(self, status: HTTPStatus, detail: str, code: str | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code


class Polls:
    """Answers polls from the store. No answer lets a job work longer than `longest_validity`."""

    def __init__(self, store: DriverStore, clock: Clock, longest_validity: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._longest = longest_validity

    def identify(self, name: str, token: str) -> DriverRecord:
        """Return the driver with this token; the body of the poll is not read before.

        RefusalError for a wrong token and for an ended driver.
        """
        driver = self._store.driver(name)
        check = check_token(token, name, driver, self._clock.now())
        if check is TokenCheck.OF_ANOTHER:
            raise RefusalError(HTTPStatus.FORBIDDEN, f"the token is not of driver {name}")
        if driver is None or check is TokenCheck.UNKNOWN:
            raise RefusalError(HTTPStatus.UNAUTHORIZED, f"the token is not valid for driver {name}")
        if driver.ended_at is not None:
            raise _ended(name, driver.reason)
        return driver

    def answer(self, driver: DriverRecord, token: str, content: bytes) -> dict[str, object]:
        """Store the contents of the poll and return the answer.

        RefusalError for a body that is not a poll, and for an ended driver. The clock is read after
        the store has answered, so a slow store shortens the time of a job and never extends it.
        """
        body = _parse(content)
        now = self._clock.now()
        is_expired = check_token(token, driver.name, driver, now) is TokenCheck.EXPIRED
        new, tokens = renew_tokens(token, driver, now)
        said = () if is_expired else body.said
        poll = DriverPoll(body.process, body.poll, body.heard, body.hello, said)
        answer = self._store.take_poll(driver.name, poll, tokens)
        if answer is None:
            raise _ended(driver.name, f"driver {driver.name} has ended or was replaced")
        renewed = {"token": new} if new is not None and not answer.is_late else {}
        if is_expired:
            nothing = {"take": [], "received": answer.received, "valid_for": {}, "wait": 0}
            return nothing | renewed
        is_busy = bool(answer.valid_until or body.hello.get("jobs"))
        left = {job: until - self._clock.now() for job, until in answer.valid_until.items()}
        return {
            "take": [{"number": number, **order} for number, order in answer.orders],
            "received": answer.received,
            "valid_for": {
                job: min(span, self._longest).total_seconds() for job, span in left.items()
            },
            "wait": BUSY_WAIT_SECONDS if is_busy else IDLE_WAIT_SECONDS,
        } | renewed


def make_endpoint(store: DriverStore, clock: Clock, longest_validity: timedelta) -> FastAPI:
    """Make the application, which serves one operation and no documentation."""
    endpoint = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    polls = Polls(store, clock, longest_validity)

    @endpoint.post("/drivers/v1/{name}/poll")
    async def poll(name: str, request: Request) -> Response:
        try:
            token = _read_token(request)
            driver = await run_in_threadpool(polls.identify, name, token)
            content = await _read_body(request)
            answer = await run_in_threadpool(polls.answer, driver, token, content)
        except RefusalError as refusal:
            return _write_problem(refusal)
        except ClientDisconnect:  # the connection broke during a poll; the driver polls again
            return Response(status_code=HTTPStatus.BAD_REQUEST)
        except InvalidValueError as error:
            return _write_problem(RefusalError(HTTPStatus.BAD_REQUEST, str(error)))
        except StoreUnavailableError:
            _LOG.warning("link.store_away", extra={"driver": name})
            away = RefusalError(HTTPStatus.SERVICE_UNAVAILABLE, "the store is away; poll again")
            return _write_problem(away, {"Retry-After": str(RETRY_AFTER_SECONDS)})
        return Response(msgspec.json.encode(answer), media_type="application/json")

    return endpoint


def _read_token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise RefusalError(HTTPStatus.UNAUTHORIZED, "the poll has no bearer token")
    return token.strip()


def _ended(name: str, reason: str) -> RefusalError:
    return RefusalError(HTTPStatus.GONE, reason or f"driver {name} has ended", ENDED)


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            message = f"the poll is longer than {MAX_BODY_BYTES} bytes"
            raise RefusalError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    return bytes(body)


def _parse(content: bytes) -> _Body:
    try:
        body = _BODIES.decode(content)
        for said in body.said:
            msgspec.convert(said, _Said)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        message = f"the poll cannot be read: {error}"
        raise RefusalError(HTTPStatus.BAD_REQUEST, message) from error
    return body


def _write_problem(refusal: RefusalError, headers: Mapping[str, str] | None = None) -> Response:
    problem = {
        "title": refusal.status.phrase,
        "status": int(refusal.status),
        "detail": refusal.detail[:2000],
        **({} if refusal.code is None else {"code": refusal.code}),
    }
    return Response(
        msgspec.json.encode(problem), refusal.status, headers, "application/problem+json"
    )
