"""The driver's polls over a real connection: TLS, a daemon that goes and comes, and the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme

from maintainer.adapters.spark.driver.link import polling
from maintainer.adapters.spark.driver.link.polling import Link, Polling, read_link
from maintainer.api.server import TlsFiles
from tests.adapters.spark.lakes import wait_until
from tests.adapters.spark.link.polls import NAME, NOW, OWNER, Home
from tests.adapters.spark.link.serving import served

JOIN_SECONDS = 10


class Taken(list[dict[str, Any]]):
    """The orders that a driver took, by kind."""

    def kinds(self) -> list[str]:
        return [next(iter(order)) for order in self]


@contextmanager
def polling_to(link: Link) -> Iterator[tuple[Polling, Taken]]:
    taken = Taken()
    transport = Polling(link, taken.append, lambda: {"jobs": {}})
    yield transport, taken
    transport.close()


@pytest.fixture
def home() -> Home:
    return Home()


def test_orders_arrive_and_messages_are_stored(home: Home) -> None:
    with served(home.endpoint) as address, polling_to(Link(address, NAME, home.token)) as both:
        transport, taken = both
        wait_until(lambda: taken.kinds() == ["start"])
        assert transport.left_at is None
        home.store.order(NAME, OWNER, 2, {"cancel": "j"})
        transport.send("job.cancelled", job="j")
        wait_until(lambda: taken.kinds() == ["start", "cancel"])
        transport.flush(10)
        assert [said["event"] for said in home.heard()] == ["job.cancelled"]


def test_messages_wait_for_a_daemon_that_is_away(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "_PATIENCE_SECONDS", 0.2)
    with served(home.endpoint) as address:
        port = urlsplit(address).port or 0
    with polling_to(Link(address, NAME, home.token)) as (transport, taken):
        transport.send("job.started", job="j")
        transport.flush(0.1)
        wait_until(lambda: transport.left_at is not None)
        assert home.heard() == []
        with served(home.endpoint, port=port):
            wait_until(lambda: taken.kinds() == ["start"])
            transport.flush(10)
            assert [said["event"] for said in home.heard()] == ["job.started"]


def test_a_driver_that_was_given_up_is_asked_to_end(home: Home) -> None:
    home.store.end_driver(NAME, "too slow", NOW)
    with served(home.endpoint) as address, polling_to(Link(address, NAME, home.token)) as both:
        wait_until(lambda: {"end": "too slow"} in both[1])


def test_last_words_wait_no_longer_for_a_daemon_that_has_ended_the_driver(home: Home) -> None:
    home.store.end_driver(NAME, "it has stopped", NOW)
    with served(home.endpoint) as address, polling_to(Link(address, NAME, home.token)) as both:
        transport, _ = both
        transport.send("application.ended", reason="stopped")
        waiting = Thread(target=transport.flush, args=(2 * JOIN_SECONDS,))
        waiting.start()
        waiting.join(JOIN_SECONDS)
        is_over = not waiting.is_alive()
        waiting.join()
        assert is_over


def test_tls_is_checked_against_the_authority_that_is_given(home: Home, tmp_path: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    (tmp_path / "key.pem").write_bytes(certificate.private_key_pem.bytes())
    (tmp_path / "certificate.pem").write_bytes(
        b"".join(part.bytes() for part in certificate.cert_chain_pems)
    )
    for name, made in (("authority", authority), ("other", other)):
        (tmp_path / f"{name}.pem").write_bytes(made.cert_pem.bytes())
    tls = TlsFiles(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with served(home.endpoint, tls) as address:
        for trusted in (str(tmp_path / "other.pem"), ""):
            with polling_to(Link(address, NAME, home.token, trusted)) as (transport, taken):
                transport.send("job.started", job="j")
                transport.flush(0.5)
                assert taken == []
        with polling_to(Link(address, NAME, home.token, str(tmp_path / "authority.pem"))) as (
            transport,
            taken,
        ):
            wait_until(lambda: taken.kinds() == ["start"])


def test_the_token_leaves_the_environment_that_spark_inherits(tmp_path: Path) -> None:
    environ = {"MAINTAINER_LINK": "https://home:1", "MAINTAINER_DRIVER": "d"}
    environ |= {polling.TOKEN: "s3cret"}
    assert read_link(environ) == Link("https://home:1", "d", "s3cret")
    assert "s3cret" not in json.dumps(environ)
    (tmp_path / "token").write_text("from a file\n")
    environ |= {"MAINTAINER_TOKEN_FILE": str(tmp_path / "token"), "MAINTAINER_LINK_CA_FILE": "ca"}
    assert read_link(environ) == Link("https://home:1", "d", "from a file", "ca")
    assert read_link({}) is None
