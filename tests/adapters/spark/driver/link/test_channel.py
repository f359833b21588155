"""What the driver says is heard once by the connected daemon, and again by the next one."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.spark.driver.link.channel import Channel
from maintainer.adapters.spark.link import socket as socket_link
from tests.adapters.spark.lakes import wait_until


class Daemon:
    """One that connects, and hears what is said to it until it hears that this was all."""

    def __init__(self, path: Path) -> None:
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.settimeout(10)
        self.connection.connect(str(path))
        self.lines = self.connection.makefile("r")

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.lines.readline())
        return heard

    def catch_up(self) -> list[tuple[str, object]]:
        """The events, each with its number, between hello and the end of the replay."""
        assert self.hear()["event"] == "hello"
        heard = []
        while (message := self.hear())["event"] != "replayed":
            heard.append((message["event"], message["number"]))
        return heard

    def say(self, message: dict[str, object]) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def leave(self) -> None:
        self.lines.close()
        self.connection.close()


class Driver:
    def __init__(self, path: Path) -> None:
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(str(path))
        self.server.listen()
        self.taken: list[dict[str, Any]] = []
        self.channel = Channel(self.server, self.taken.append, lambda: {"jobs": {}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "socket"


@pytest.fixture
def driver(path: Path) -> Iterator[Driver]:
    made = Driver(path)
    yield made
    made.server.shutdown(socket.SHUT_RDWR)
    made.server.close()


def test_what_is_not_acknowledged_is_said_again_to_the_next_daemon(
    driver: Driver, path: Path
) -> None:
    first = Daemon(path)
    assert first.catch_up() == []
    for event in ("job.started", "statement.started", "job.finished"):
        driver.channel.send(event, job="j")
        assert first.hear()["event"] == event
    driver.channel.acknowledge([1])
    first.leave()
    wait_until(lambda: driver.channel.left_at is not None, seconds=10)
    driver.channel.send("application.worn", reason="of no job")
    second = Daemon(path)
    assert second.catch_up() == [("statement.started", 2), ("job.finished", 3)]
    second.leave()


def test_of_the_progress_of_a_job_only_the_newest_is_kept(driver: Driver, path: Path) -> None:
    for job in ("a", "b", "a"):
        driver.channel.send("spark.progress", job=job, tasks_done=1)
    daemon = Daemon(path)
    assert daemon.catch_up() == [("spark.progress", 2), ("spark.progress", 3)]
    daemon.leave()


def test_it_keeps_no_more_than_its_bound(
    driver: Driver, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maintainer.adapters.spark.driver.link.outbox.MAX_KEPT", 3)
    for _ in range(5):
        driver.channel.send("statement.started", job="j")
    daemon = Daemon(path)
    assert [number for _, number in daemon.catch_up()] == [3, 4, 5]
    daemon.leave()


def test_who_connects_last_is_spoken_to_and_heard(driver: Driver, path: Path) -> None:
    first, second = Daemon(path), Daemon(path)
    first.catch_up()
    second.catch_up()
    assert first.lines.readline() == ""
    driver.channel.send("job.started", job="j")
    assert second.hear()["event"] == "job.started"
    second.say({"cancel": "j"})
    wait_until(lambda: driver.taken == [{"cancel": "j"}], seconds=10)
    assert driver.channel.left_at is None
    for daemon in (first, second):
        daemon.leave()


def test_a_daemon_that_is_killed_in_the_middle_of_a_word_is_gone_all_the_same(
    driver: Driver, path: Path
) -> None:
    daemon = Daemon(path)
    daemon.catch_up()
    assert driver.channel.left_at is None
    daemon.connection.sendall(b'{"cancel": "j')
    daemon.leave()
    wait_until(lambda: driver.channel.left_at is not None, seconds=10)
    assert driver.taken == []


def test_a_socket_deep_in_a_directory_tree_is_reached_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-directory-with-a-long-name"] * 6)
    deep.mkdir(parents=True)
    assert len(os.fsencode(deep)) > 108
    with socket_link.listening(deep):
        socket_link.connect(deep).close()
    assert (deep / "socket").is_socket()
