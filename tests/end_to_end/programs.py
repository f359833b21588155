"""Starting the program as its users do, and asking what it left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.quick_java import ONE_COMPILER, find_archive

MAINTAINER = str(Path(sys.executable).with_name("maintainer"))
T = TypeVar("T")
START_SECONDS = 180  # a busy machine; alone it takes two

# With one compiler, Java reserves 48 MB for what it compiles: three minutes' worth.
QUICK_JAVA = {
    "JAVA_TOOL_OPTIONS": f"{ONE_COMPILER} -XX:ReservedCodeCacheSize=160m {find_archive()}".strip()
}


def environment(**changes: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("MAINTAINER_")},
        **QUICK_JAVA,
        **changes,
    }


def run(
    *arguments: str,
    cwd: Path,
    timeout: float = 240,
    env: dict[str, str] | None = None,
    stdin: str = "",
    program: str = MAINTAINER,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=env or environment(),
    )


def run_json(*arguments: str, cwd: Path, code: int = 0) -> Any:
    done = run(*arguments, "--format", "json", cwd=cwd)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def wait_for(condition: Callable[[], T | None], seconds: float, what: str) -> T:
    """The first true answer; a test fails with what it waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    message = f"waited {seconds} s in vain for {what}"
    raise AssertionError(message)


class Server:
    """The API of a daemon of our own, wherever it runs."""

    url: str

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.url}{path}", timeout=30) as answer:  # noqa: S310 - our own
            body = answer.read().decode()
        return json.loads(body) if "json" in answer.headers["Content-Type"] else body

    def story(self, job_id: str) -> list[str]:
        """What has happened to the job, by the names of its events."""
        return [event["name"] for event in self.events(job_id)]

    def count_duties(self, duty: str) -> int:
        """How many duties of this kind the replica says that it has."""
        return sum(
            line.startswith("maintainer_leader{")
            and f'duty="{duty}"' in line
            and line.endswith(" 1.0")
            for line in self.get("/metrics").splitlines()
        )

    def events(self, job_id: str) -> Any:
        """What has happened to the job."""
        request = urllib.request.Request(  # noqa: S310 - as above
            f"{self.url}/api/v1/jobs/{job_id}/events", headers={"Accept": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
            return json.loads(answer.read())

    def post(self, path: str, body: object | None = None) -> Any:
        data = json.dumps(body if body is not None else {}).encode()
        request = urllib.request.Request(  # noqa: S310 - as above
            f"{self.url}{path}",
            data=data,
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
            return json.loads(answer.read())


@dataclass
class Daemon(Server):
    """A `maintainer serve` of our own."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)

    def stop(self, timeout: float = 120) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)


@contextmanager
def serving(
    directory: Path, *arguments: str, program: str = MAINTAINER, **changes: str
) -> Iterator[Daemon]:
    """The daemon on a free port; killed at the end when the test has not ended it."""
    log = directory / f"daemon-{time.time_ns()}.log"
    env = environment(**{"MAINTAINER_SERVER__PORT": "0", **changes})
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [program, "serve", *arguments], cwd=directory, stderr=stderr, stdout=stderr, env=env
        )
    daemon = Daemon(process, log)
    try:
        daemon.url = wait_for(
            lambda: _page(daemon), START_SECONDS, f"the daemon to start; it said:\n{daemon.said()}"
        )
        yield daemon
    finally:
        if process.poll() is None:
            daemon.kill()


def _page(daemon: Daemon) -> str | None:
    assert daemon.process.poll() is None, daemon.said()
    match = re.search(r"daemon\.started page=(http://\S+?)/ ", daemon.said())
    return match[1] if match else None


def descendants(pid: int) -> set[int]:
    """The processes below this one, now."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def is_alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
