"""Sends a request that a REST catalog put off again, after the time that the catalog names."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from requests import Response

from maintainer.adapters.retry_after import ATTEMPTS, PUT_OFF, read_retry_after


@dataclass(slots=True)
class PatientRequests:
    """Sends a session's requests.

    All threads wait while the server asks to wait: the first request that is put off
    speaks for the others. Once a request was put off at each attempt, the others get its answer
    instead of waiting, until that time is over: else an outage would cost each table its wait.
    """

    send: Callable[..., Response]
    _free_at: float = 0.0  # of the monotonic clock
    _last: Response | None = None  # the answer to a request that was given up

    def __call__(self, *arguments: object, **options: object) -> Response:
        """Return the answer, the last one after the attempts."""
        last = self._last
        if last is not None and self._free_at > time.monotonic():
            return last
        response = self._send_in_time(*arguments, **options)
        for _ in range(ATTEMPTS - 1 if last is None else 0):
            if _find_wait(response) is None:
                break
            response = self._send_in_time(*arguments, **options)
        self._last = None if _find_wait(response) is None else response
        return response

    def _send_in_time(self, *arguments: object, **options: object) -> Response:
        wait = self._free_at - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        response = self.send(*arguments, **options)
        pause = _find_wait(response)
        if pause is not None:
            self._free_at = time.monotonic() + pause
        return response


def _find_wait(response: Response) -> float | None:
    """Return the seconds after which to ask again; None if the answer is final.

    Without the header the server does not say that a later attempt may succeed.
    """
    if response.status_code not in PUT_OFF:
        return None
    return read_retry_after(response.headers.get("Retry-After", ""))
