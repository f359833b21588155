"""Reads the time that a REST catalog asks to wait before a request is sent again."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from math import isnan
from typing import Final

ATTEMPTS: Final = 3  # of a request for which the server asks for a wait
MAX_RETRY_AFTER_SECONDS: Final = 30.0
PUT_OFF: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


def read_retry_after(text: str) -> float | None:
    """Return the seconds to wait, bounded; None if the header is missing or unreadable."""
    seconds = None
    with suppress(ValueError):
        seconds = float(text)
    if seconds is None:
        with suppress(ValueError):
            moment = parsedate_to_datetime(text)
            moment = moment.replace(tzinfo=moment.tzinfo or UTC)
            seconds = (moment - datetime.now(UTC)).total_seconds()
    if seconds is None or isnan(seconds):
        return None
    return max(0.0, min(MAX_RETRY_AFTER_SECONDS, seconds))
