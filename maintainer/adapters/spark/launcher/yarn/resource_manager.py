"""The requests to the REST API of the resource manager, and to a node manager for a log.

Of several resource managers only one is active. A standby answers with a redirection, which is not
followed. Every request has a timeout. A failure is a RunnerUnavailableError with a sentence.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import requests

from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.prerequisites import Finding
from maintainer.domain.errors import RunnerUnavailableError

_STATES = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
_NOT_FOUND, _UNAUTHORIZED, _FORBIDDEN = 404, 401, 403
_FIRST_REDIRECTION, _FIRST_REFUSAL = 300, 400
_MAX_WORDS = 300
_FIFO = "fifoScheduler"


class ResourceManager:
    """The cluster's applications and queues."""

    def __init__(self, options: YarnOptions) -> None:
        """No request is made yet."""
        self._addresses = list(options.resource_managers)
        self._timeout = options.timeout_seconds
        self._user = options.user or _user_of(options.principal) or getpass.getuser()
        self._verify = str(options.authority) if options.authority is not None else True

    def applications(self, tag: str, *, is_living: bool = False) -> Sequence[Mapping[str, Any]]:
        """Return the applications with this tag; `is_living` leaves out ended applications."""
        wanted = {"applicationTags": tag} | ({"states": _STATES} if is_living else {})
        found = self._ask("GET", "apps", wanted).json().get("apps") or {}
        listed: Sequence[Mapping[str, Any]] = found.get("app") or ()
        return listed

    def kill(self, application: str) -> None:
        """Request the end of an application, which may have ended already."""
        self._ask("PUT", f"apps/{application}/state", {}, {"state": "KILLED"}, may_be_gone=True)

    def information(self) -> Mapping[str, Any]:
        """Return the description of the active manager."""
        found: Mapping[str, Any] = self._ask("GET", "info").json().get("clusterInfo") or {}
        return found

    def scheduler(self) -> Mapping[str, Any]:
        found = self._ask("GET", "scheduler").json().get("scheduler") or {}
        queues: Mapping[str, Any] = found.get("schedulerInfo") or {}
        return queues

    def fetch(self, address: str, parameters: Mapping[str, str]) -> requests.Response | None:
        """Return a node manager's answer; None if it has nothing at this address."""
        answer = self._send("GET", address, parameters, None, accept="text/plain")
        if answer.status_code == _NOT_FOUND:
            return None
        self._refuse_failure(answer, "node manager")
        return answer

    def _ask(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str] | None = None,
        body: dict[str, str] | None = None,
        *,
        may_be_gone: bool = False,
    ) -> requests.Response:
        """Ask the manager that answered last, then the others."""
        errors: list[RunnerUnavailableError] = []
        for address in list(self._addresses):
            try:
                answer = self._send(
                    method, f"{address}/ws/v1/cluster/{path}", parameters or {}, body
                )
                if may_be_gone and answer.status_code == _NOT_FOUND:
                    return answer
                self._refuse_failure(answer, f"resource manager {address}")
            except RunnerUnavailableError as error:
                errors.append(error)
                continue
            self._addresses.remove(address)
            self._addresses.insert(0, address)
            return answer
        raise RunnerUnavailableError("; ".join(map(str, errors)))

    def _send(
        self,
        method: str,
        address: str,
        parameters: Mapping[str, str],
        body: dict[str, str] | None,
        accept: str = "application/json",
    ) -> requests.Response:
        try:
            return requests.request(
                method,
                address,
                params={**parameters, "user.name": self._user},
                json=body,
                headers={"Accept": accept},
                timeout=self._timeout,
                verify=self._verify,
                allow_redirects=False,
            )
        except requests.Timeout as error:
            raise RunnerUnavailableError(
                f"{address} did not answer within {self._timeout:g} s"
            ) from error
        except requests.RequestException as error:
            raise RunnerUnavailableError(
                f"{address} cannot be reached ({type(error).__name__})"
            ) from error

    @staticmethod
    def _refuse_failure(answer: requests.Response, what: str) -> None:
        code = answer.status_code
        if code < _FIRST_REDIRECTION:
            return
        if code < _FIRST_REFUSAL:
            message = f"the {what} is a standby, or has moved"
        elif code == _UNAUTHORIZED:
            message = f"the {what} does not accept the daemon's user ({code})"
        elif code == _FORBIDDEN:
            message = f"the {what} forbids it ({code}): {_read_message(answer)}"
        else:
            message = f"the {what} refused ({code}): {_read_message(answer)}"
        raise RunnerUnavailableError(message)


def _user_of(principal: str) -> str:
    """Return Hadoop's user for a principal, unless Hadoop's rules say otherwise."""
    return principal.partition("@")[0].partition("/")[0]


def _read_message(answer: requests.Response) -> str:
    """Return the message of an error, from Hadoop's document or from plain text."""
    try:
        said = str(answer.json()["RemoteException"]["message"])
    except (ValueError, KeyError, TypeError):
        said = answer.text
    return " ".join(said.split())[:_MAX_WORDS] or "no reason given"


def describe_queue(scheduler: Mapping[str, Any], queue: str) -> Finding:
    """Say whether the queue exists and accepts applications; `queue` is its path or its last name.

    The capacity scheduler reports the state of a queue, the fair scheduler does not, and the FIFO
    scheduler has no queues.
    """
    what = f"YARN queue {queue}"
    if scheduler.get("type") == _FIFO:
        return what, True, "the cluster's scheduler has one queue for all"
    for found in _walk(scheduler.get("rootQueue") or scheduler):
        names = {found.get("queuePath"), found.get("queueName")}
        if queue not in names and f"root.{queue}" not in names:
            continue
        state = str(found.get("state") or "RUNNING")
        if state != "RUNNING":
            return what, False, f"it is {state.lower()} and accepts no applications"
        return what, True, "it exists and accepts applications"
    return what, False, "the cluster has no such queue; spark.yarn.queue names another"


def _walk(queue: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield queue
    for part in ("queues", "childQueues"):
        for child in (queue.get(part) or {}).get("queue") or ():
            yield from _walk(child)
