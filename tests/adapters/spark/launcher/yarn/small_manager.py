"""A small resource manager: it answers as Hadoop 3.4.2's does, to what the launcher asks.

Its documents were seen from the real one, which tests/end_to_end/test_yarn.py runs on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.small_http import SmallHandler, serve_on_loopback

USER = "maintainer"
_API = "/ws/v1/cluster"
_ENDED = {"FINISHED", "FAILED", "KILLED"}
QUEUES = [
    {"queueName": "default", "queuePath": "root.default", "state": "RUNNING"},
    {
        "queueName": "batch",
        "queuePath": "root.batch",
        "state": "RUNNING",
        "queues": {
            "queue": [
                {"queueName": "night", "queuePath": "root.batch.night", "state": "RUNNING"},
                {"queueName": "old", "queuePath": "root.batch.old", "state": "STOPPED"},
            ]
        },
    },
]


class SmallManager:
    """The state of a cluster; tests change it as a cluster would."""

    def __init__(self) -> None:
        self.url = ""
        self.applications: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}  # logs of the one container, by name
        self.is_standby = False
        self.asked: list[str] = []  # requests, in order
        self.scheduler: dict[str, Any] = {
            "type": "capacityScheduler",
            "queueName": "root",
            "queuePath": "root",
            "queues": {"queue": QUEUES},
        }

    def add(self, name: str, tags: str, queue: str = "default") -> dict[str, Any]:
        number = f"application_1795374767364_{len(self.applications) + 1:04}"
        container = f"container_{number.removeprefix('application_')}_01_000001"
        self.applications[number] = {
            "id": number,
            "user": USER,
            "name": name,
            "queue": queue,
            "state": "ACCEPTED",
            "finalStatus": "UNDEFINED",
            "diagnostics": "",
            "applicationType": "SPARK",
            "applicationTags": tags.lower(),
            "amContainerLogs": f"{self.url}/node/containerlogs/{container}/{USER}",
        }
        return self.applications[number]

    def end(self, application: dict[str, Any], state: str, status: str, words: str = "") -> None:
        application |= {"state": state, "finalStatus": status, "diagnostics": words}

    def answer(self, method: str, target: str, body: bytes, accept: str) -> tuple[int, object]:
        url = urlsplit(target)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self.asked.append(f"{method} {url.path}")
        if url.path == "/submit":  # as the RPC of Spark's own client
            return 200, self.add(**json.loads(body))
        if self.is_standby:
            return 307, "This is standby RM. The redirect url is: " + url.path
        if "/node/containers/" in url.path:
            if accept != "text/plain":  # it has nothing else, and says so in this way
                return 503, _refuse("WebApplicationException", "")
            return self._read_log(url.path.rpartition("/")[2], int(asked["size"]))
        match method, url.path.removeprefix(_API).strip("/").split("/"):
            case "GET", ["info"]:
                return 200, {"clusterInfo": {"state": "STARTED", "resourceManagerVersion": "3.4.2"}}
            case "GET", ["scheduler"]:
                return 200, {"scheduler": {"schedulerInfo": self.scheduler}}
            case "GET", ["apps"]:
                return 200, {"apps": self._list(asked)}
            case "PUT", ["apps", number, "state"]:
                return self._kill(number, json.loads(body)["state"], asked["user.name"])
            case _:
                return 404, _refuse("NotFoundException", f"no {url.path}")

    def _list(self, asked: dict[str, str]) -> dict[str, Any]:
        states = set(asked["states"].split(",")) if "states" in asked else None
        found = [
            each
            for each in self.applications.values()
            if asked["applicationTags"] in each["applicationTags"].split(",")
            and (states is None or each["state"] in states)
        ]
        return {"app": found} if found else {}

    def _kill(self, number: str, state: str, user: str) -> tuple[int, object]:
        application = self.applications.get(number)
        if application is None:
            return 404, _refuse("NotFoundException", f"app with id: {number} not found")
        before = application["state"]
        if before not in _ENDED:
            words = f"Application {number} was killed by user {user} at 127.0.0.1"
            self.end(application, state, state, words)
        return 202, {"state": before}

    def _read_log(self, name: str, size: int) -> tuple[int, object]:
        if name not in self.files:
            return 404, b"java.lang.Exception: Cannot find this log on the local disk."
        content = self.files[name][:size]
        head = f"LogType:{name}\nLogLength:{len(self.files[name])}\nLogContents:\n"
        tail = f"End of LogType:{name}.This log file belongs to a running container (x) and so on."
        return 200, head.encode() + content + tail.encode()


def _refuse(kind: str, message: str) -> dict[str, Any]:
    java = f"org.apache.hadoop.yarn.webapp.{kind}"
    return {
        "RemoteException": {
            "exception": kind,
            "message": f"java.lang.Exception: {message}",
            "javaClassName": java,
        }
    }


@contextmanager
def serve_manager() -> Iterator[SmallManager]:
    manager = SmallManager()

    class Handler(SmallHandler):
        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            code, document = manager.answer(
                self.command, self.path, body, self.headers.get("Accept", "")
            )
            another = {"Location": "http://127.0.0.1:9/another"} if code == 307 else None
            self.answer(code, document, another)

        do_GET = do_PUT = do_POST = _handle

    with serve_on_loopback(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as manager.url:
        yield manager
