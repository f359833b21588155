"""Repeats a request after a wait if a REST catalog asks for one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from requests import Response

from maintainer.adapters.retry_after import ATTEMPTS, PUT_OFF, read_retry_after


@dataclass(slots=True)
class PatientRequests:
    """Sends a session's requests, and waits if the server asks for a wait.

    While one request waits, the requests of all threads wait. If the server asks for a wait at each
    attempt of a request, other requests get its last answer at once until that wait ends. Otherwise
    each table would wait during an outage.
    """

    send: Callable[..., Response]
    _free_at: float = 0.0  # the end of the wait, by the monotonic clock
    _last: Response | None = None  # the last answer to a request after all its attempts

    def __call__(self, *arguments: object, **options: object) -> Response:
        """Return the answer; after all attempts, the last answer."""
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
    """Return the seconds to wait before the next attempt; None if the answer is final.

    Without a Retry-After header the answer is final.
    """
    if response.status_code not in PUT_OFF:
        return None
    return read_retry_after(response.headers.get("Retry-After", ""))
