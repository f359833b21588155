"""Notices reach a real receiver on loopback, in the operator's words, and never too often."""

from __future__ import annotations

import json
import re
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from string import Template
from typing import Any

import pytest

from maintainer.adapters import notice_process
from maintainer.adapters import notifier as notifier_module
from maintainer.adapters.notice_targets import TargetBounds, make_target
from maintainer.adapters.notifier import (
    _TYPES,
    TITLES,
    AppriseNotifier,
    NotifierOptions,
    write_notice,
)
from maintainer.domain.errors import ConfigurationError, StoreUnavailableError
from maintainer.domain.notice import Notice, NoticeKind, NoticeLimits
from maintainer.domain.units import MIB
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore
from tests.small_http import SmallHandler, serve_on_loopback

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, a process that sends needs some seconds to start."""
    monkeypatch.setattr(notifier_module, "CLOSE_GRACE", timedelta(seconds=60))


class Receiver:
    """A webhook on loopback that keeps what it is sent, and answers with a status."""

    def __init__(self, status: int = 200, answers: threading.Event | None = None) -> None:
        received: list[dict[str, str]] = []
        receiver = self
        self.answers = may_answer = answers or threading.Event()
        if answers is None:
            self.answers.set()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                may_answer.wait(20)
                received.append(message)
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.received = received
        self.status = status
        self.location = ""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self._server.server_port}/hook"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def notice(
    subject: str = "lake.sales.orders",
    kind: NoticeKind = NoticeKind.TABLE_CRITICAL,
    at: datetime = NOW,
) -> Notice:
    return Notice(kind, subject, "average file size 12 KiB is below 4 MiB", at, job_id="m-1")


def start(
    options: NotifierOptions,
    on_delivered: Callable[[Notice], None] = lambda _: None,
    store: FakeStore | None = None,
) -> AppriseNotifier:
    return AppriseNotifier(options, store or FakeStore(), FakeClock(NOW), on_delivered)


def tell(options: NotifierOptions, *notices: Notice) -> None:
    """Close delivers what waits."""
    notifier = start(options)
    for each in notices:
        notifier.notify(each)
    notifier.close()


def test_each_target_is_tried_once_and_says_whether_it_received_the_message() -> None:
    good, bad = Receiver(), Receiver(status=500)
    limits = NoticeLimits(max_per_hour=1)
    notifier = start(NotifierOptions({"ops": good.url, "mail": bad.url}, limits=limits))
    assert [notifier.try_targets() for _ in range(2)] == [{"mail": False, "ops": True}] * 2
    notifier.close()
    for receiver in (good, bad):
        receiver.close()
    assert [message["title"] for message in good.received] == ["Test of notifications"] * 2
    assert len(bad.received) == 2, "a refused test is not tried again"
    assert start(NotifierOptions({})).try_targets() == {}


def test_a_notice_reaches_every_target(receiver: Receiver) -> None:
    other = Receiver()
    tell(NotifierOptions({"one": receiver.url, "two": other.url}), notice())
    other.close()
    for got in (receiver.received, other.received):
        assert [(message["title"], message["message"], message["type"]) for message in got] == [
            (
                "Table is critical: lake.sales.orders",
                "average file size 12 KiB is below 4 MiB",
                "warning",
            )
        ]


def test_a_target_that_fails_does_not_keep_the_others_from_hearing(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    broken = Receiver(status=500)
    tell(
        NotifierOptions(
            {"broken": broken.url.replace("json://", "json://user:geheim@"), "good": receiver.url}
        ),
        notice(),
    )
    broken.close()
    assert len(receiver.received) == 1
    assert "notice.failed target=broken" in caplog.text
    assert "geheim" not in caplog.text


def test_the_same_is_reported_once_in_a_while_and_again_later(receiver: Receiver) -> None:
    options = NotifierOptions({"one": receiver.url}, limits=NoticeLimits(timedelta(hours=6)))
    tell(
        options,
        notice(),
        notice(at=NOW + timedelta(hours=5)),
        notice("lake.sales.other"),
        notice(at=NOW + timedelta(hours=6)),
    )
    assert [message["title"].rpartition(" ")[2] for message in receiver.received] == [
        "lake.sales.orders",
        "lake.sales.other",
        "lake.sales.orders",
    ]


def test_beyond_the_hourly_limit_notices_are_held_back_and_counted_in_the_next(
    receiver: Receiver,
) -> None:
    options = NotifierOptions({"one": receiver.url}, limits=NoticeLimits(max_per_hour=2))
    tell(
        options,
        *(notice(f"lake.sales.t{number}") for number in range(5)),
        notice("lake.sales.late", at=NOW + timedelta(hours=1)),
    )
    assert [message["title"].rpartition(".")[2] for message in receiver.received] == [
        "t0",
        "t1",
        "late",
    ]
    assert receiver.received[-1]["message"].endswith("(3 more notices were held back)")


def test_kinds_that_nobody_asked_for_are_not_reported(receiver: Receiver) -> None:
    options = NotifierOptions({"one": receiver.url}, kinds=frozenset({NoticeKind.FAILED_PROOF}))
    tell(options, notice(), notice(kind=NoticeKind.FAILED_PROOF))
    assert [message["type"] for message in receiver.received] == ["failure"]


def test_the_operators_own_words_are_used() -> None:
    options = NotifierOptions(
        {},
        titles={NoticeKind.TABLE_CRITICAL: "[$kind] $subject"},
        bodies={NoticeKind.TABLE_CRITICAL: "$sentence, seen at $at by $job; costs $$5"},
    )
    assert write_notice(notice(), options) == (
        "[table_critical] lake.sales.orders",
        "average file size 12 KiB is below 4 MiB, seen at 2026-03-04 12:00:00 UTC by m-1; costs $5",
    )


def test_every_kind_has_a_title_of_its_own() -> None:
    titles = {write_notice(notice(kind=kind), NotifierOptions({}))[0] for kind in NoticeKind}
    assert len(titles) == len(NoticeKind)


def test_a_target_that_apprise_does_not_know_is_refused_without_its_text() -> None:
    with pytest.raises(
        ConfigurationError, match=r"targets\.ops is no URL that Apprise knows"
    ) as refused:
        start(NotifierOptions({"ops": "nonsense-with-geheim"}))
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("odd", [" ", "\t", "\r\n", "%0d%0aX-Other:%201", "%0A", "\x00"])
def test_a_target_with_a_blank_or_a_line_break_is_refused_without_its_text(odd: str) -> None:
    with pytest.raises(ConfigurationError, match=r"targets\.ops contains a blank") as refused:
        start(NotifierOptions({"ops": f"json://hooks.test/geheim{odd}x"}))
    assert "geheim" not in str(refused.value)


THIS_MACHINE = "syslog, but notifications.schemes allows all schemes but those of this machine"
NO_HOST = "host other.test, but notifications.hosts allows *.hooks.test, and no link-local"


@pytest.mark.parametrize(
    ("url", "bounds", "message"),
    [
        ("json://hooks.test/geheim", TargetBounds(("jsons", "slack")), "allows jsons, slack"),
        ("syslog://", TargetBounds(), THIS_MACHINE),
        ("jsons://other.test/geheim", TargetBounds(hosts=("*.hooks.test",)), NO_HOST),
        ("json://169.254.169.254/geheim", TargetBounds(), "the host 169.254.169.254, but"),
        ("json://[fe80::1]/geheim", TargetBounds(hosts=("*",)), "the host fe80::1, but"),
        ("mailto://u:geheim@a.test?smtp=169.254.1.1", TargetBounds(), "the host 169.254.1.1, but"),
    ],
)
def test_a_target_that_is_not_allowed_is_refused_without_its_text(
    url: str, bounds: TargetBounds, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)) as refused:
        start(NotifierOptions({"ops": url}, bounds))
    assert str(refused.value).startswith("notifications.targets.ops has the ")
    assert "geheim" not in str(refused.value)


def test_allowed_are_listed_hosts_and_services_with_hosts_of_their_own() -> None:
    bounds = TargetBounds(("json", "mailtos", "slack"), ("MAIL.hooks.test", "127.0.0.1"))
    for url in (
        "json://127.0.0.1/x",
        "mailtos://u:p@a.test?smtp=mail.hooks.test",
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general",
    ):
        assert len(make_target("ops", url, bounds)) == 1


def test_a_name_that_leads_to_a_link_local_address_gets_no_notice(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = socket.getaddrinfo("169.254.169.254", None)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    tell(NotifierOptions({"ops": receiver.url}, retry_waits=()), notice())
    assert receiver.received == []
    assert "notice.refused target=ops link_local=127.0.0.1" in caplog.text


def test_a_redirect_is_not_followed(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    elsewhere = Receiver()
    receiver.status, receiver.location = 307, elsewhere.url.replace("json", "http")
    tell(NotifierOptions({"ops": f"{receiver.url}?redirect=yes"}, retry_waits=()), notice())
    elsewhere.close()
    assert (len(receiver.received), elsewhere.received) == (1, [])
    assert "notice.failed target=ops" in caplog.text


def test_a_hanging_target_does_not_hold_up_who_tells_it() -> None:
    hanging = Receiver(answers=threading.Event())
    notifier = start(NotifierOptions({"slow": hanging.url}))
    for number in range(3):
        notifier.notify(notice(f"lake.sales.t{number}"))
    assert hanging.received == []  # all three were taken although not one is delivered yet
    hanging.answers.set()
    notifier.close()
    hanging.close()
    assert len(hanging.received) == 3


@pytest.mark.parametrize("kind", list(NoticeKind))
def test_every_kind_reaches_the_receiver_with_its_title_and_weight(
    receiver: Receiver, kind: NoticeKind
) -> None:
    tell(NotifierOptions({"one": receiver.url}), notice(kind=kind), notice(kind=kind))
    (message,) = receiver.received
    assert message["title"] == Template(TITLES[kind]).substitute(subject="lake.sales.orders")
    assert message["type"] == _TYPES[kind]


AT_ONCE = (timedelta(0),) * 3


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "not so within a minute"
        time.sleep(0.01)


def test_what_a_target_does_not_take_is_tried_again_until_it_does(receiver: Receiver) -> None:
    good = Receiver()
    reported: list[Notice] = []
    receiver.status = 500
    notifier = start(
        NotifierOptions(
            {"late": receiver.url, "good": good.url}, retry_waits=(timedelta(0),) * 1000
        ),
        reported.append,
    )
    notifier.notify(notice())
    wait_until(lambda: len(receiver.received) > 1)
    receiver.status = 200
    tries = len(receiver.received)
    wait_until(lambda: len(receiver.received) > tries)
    notifier.close()
    good.close()
    assert (len(good.received), reported) == (1, [notice()]), "who has it is not reported again"


def test_after_the_last_wait_a_notice_is_given_up_and_the_same_is_reported_when_it_comes_again(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    reported: list[Notice] = []
    receiver.status = 500
    notifier = start(NotifierOptions({"down": receiver.url}, retry_waits=AT_ONCE), reported.append)
    notifier.notify(notice())
    wait_until(
        lambda: (
            "notice.lost kind=table_critical subject=lake.sales.orders targets=down attempts=4"
            in caplog.text
        )
    )
    assert (len(receiver.received), reported) == (1 + len(AT_ONCE), [])
    receiver.status = 200
    again = notice(at=NOW + timedelta(minutes=1))
    notifier.notify(again)
    notifier.close()
    assert reported == [again]
    assert receiver.received[-1]["message"].endswith("(1 more notices were held back)")


def test_a_notice_that_is_on_its_way_is_not_queued_twice(receiver: Receiver) -> None:
    receiver.status = 500
    notifier = start(NotifierOptions({"down": receiver.url}, retry_waits=(timedelta(hours=1),)))
    notifier.notify(notice())
    wait_until(lambda: bool(notifier._deliveries._refused))
    notifier.notify(notice(at=NOW + timedelta(minutes=1)))
    receiver.status = 200
    notifier.close()
    assert len(receiver.received) == 2, "the one, and at the end once more"


def test_a_store_that_cannot_record_a_delivery_does_not_end_deliveries(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_notice: Notice) -> None:
        message = "the database is away"
        raise StoreUnavailableError(message)

    notifier = start(NotifierOptions({"one": receiver.url}), refuse)
    notifier.notify(notice())
    notifier.notify(notice("lake.sales.other"))
    notifier.close()
    assert len(receiver.received) == 2
    assert (
        "notice.not_noted kind=table_critical subject=lake.sales.orders error=the database is away"
        in caplog.text
    )


def test_a_store_that_is_away_keeps_nobody_from_hearing(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    notifier = start(
        NotifierOptions({"one": receiver.url}), store=FakeStore(broken="the database is away")
    )
    notifier.notify(notice())
    notifier.close()
    assert len(receiver.received) == 1
    assert (
        "notice.not_kept kind=table_critical subject=lake.sales.orders error=the database is away"
        in caplog.text
    )


def test_what_nobody_has_when_a_daemon_ends_the_next_one_delivers(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    store = FakeStore()
    reported: list[Notice] = []
    receiver.status = 500
    notifier = start(
        NotifierOptions({"down": receiver.url}, retry_waits=(timedelta(hours=1),)), store=store
    )
    notifier.notify(notice())
    wait_until(lambda: len(receiver.received) == 1)
    notifier.close()
    assert "notice.left kind=table_critical subject=lake.sales.orders targets=down" in caplog.text
    receiver.status = 200
    later = start(NotifierOptions({"up": receiver.url}), reported.append, store)
    wait_until(lambda: reported == [notice()])
    later.close()


def test_what_is_on_its_way_in_one_daemon_is_not_taken_by_another(receiver: Receiver) -> None:
    store, clock = FakeStore(), FakeClock(NOW)
    receiver.status = 500
    options = NotifierOptions(
        {"down": receiver.url}, retry_waits=(timedelta(hours=1),), hold=timedelta(seconds=1)
    )
    first = AppriseNotifier(options, store, clock)
    first.notify(notice())
    wait_until(lambda: len(receiver.received) == 1)
    clock.advance(timedelta(milliseconds=900))
    wait_until(lambda: store._held_until[1] == clock.now() + options.hold)
    clock.advance(timedelta(milliseconds=900))
    assert store.take_notices(clock.now(), clock.now()) == (), "it is held on to"
    first.close()


def test_too_many_at_once_are_dropped_and_counted(
    receiver: Receiver, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maintainer.adapters.deliveries.MAX_WAITING", 1)
    receiver.answers.clear()
    store = FakeStore()
    notifier = start(NotifierOptions({"slow": receiver.url}), store=store)
    for number in range(4):
        notifier.notify(notice(f"lake.sales.t{number}"))
    receiver.answers.set()
    notifier.close()
    dropped = caplog.text.count("notice.dropped kind=table_critical subject=lake.sales.t")
    assert dropped >= 2, "one is on its way, and one waits"
    assert len(receiver.received) == 4 - dropped
    reported = sum(
        int(message["message"].partition("(")[2].partition(" more")[0] or 0)
        for message in receiver.received
    )
    assert reported + store._held_back == dropped


@contextmanager
def endless(piece: bytes, pause: float) -> Iterator[tuple[str, list[int]]]:
    """A webhook whose answers never end, and the ports of the requests."""
    is_over, asked = threading.Event(), list[int]()

    class Endless(SmallHandler):
        def do_POST(self) -> None:
            asked.append(int(self.client_address[1]))
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with suppress(OSError):
                while not is_over.wait(pause):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    with serve_on_loopback(server) as address:
        yield address.replace("http", "json", 1) + "/x", asked
        is_over.set()


def test_answers_without_an_end_leave_neither_threads_nor_processes_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with endless(b"x", 0.01) as (url, asked):
        notifier = start(NotifierOptions({"ops": url}))
        before = set(threading.enumerate())
        monkeypatch.setattr(notifier_module, "SEND_SECONDS", 5.0)
        # On a busy machine a process may be ended before it has asked.
        for _ in range(10):
            assert notifier.try_targets() == {"ops": False}
            if len(asked) > 1:
                break
        assert len(asked) > 1
        left = [thread.name for thread in set(threading.enumerate()) - before if is_ours(thread)]
        assert left == []
        assert notifier._senders.ids() == []
        assert "notice.failed target=ops kind=test error='no answer within 5 s'" in caplog.text
        notifier.close()


def is_ours(thread: threading.Thread) -> bool:
    """Whether the thread is not of the webhook; a timer that was cancelled ends in a moment."""
    return not isinstance(thread, threading.Timer) and "process_request" not in thread.name


def test_an_answer_without_an_end_does_not_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notifier_module, "SEND_SECONDS", 120.0)
    with endless(b"x" * 1_000_000, 0.0) as (url, asked):
        notifier = start(NotifierOptions({"ops": url}))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert notifier.try_targets() == {"ops": False}
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert len(asked) == 1
        assert grown * 1024 < 100 * MIB
        assert "no answer within" not in caplog.text
        notifier.close()


def test_an_answer_without_an_end_holds_neither_the_end_nor_the_next_process(
    monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    monkeypatch.setattr(notifier_module, "SEND_SECONDS", 120.0)
    store = FakeStore()
    with endless(b"x", 0.01) as (url, asked):
        first = start(NotifierOptions({"ops": url}), store=store)
        first.notify(notice())
        wait_until(lambda: bool(asked))
        monkeypatch.setattr(notifier_module, "CLOSE_GRACE", timedelta(seconds=0.2))
        started = time.monotonic()
        first.close()
        assert time.monotonic() - started < 30
        assert first._senders.ids() == []
    monkeypatch.setattr(notifier_module, "CLOSE_GRACE", timedelta(seconds=60))
    next_one = start(NotifierOptions({"ops": receiver.url}), store=store)
    wait_until(lambda: bool(receiver.received))
    next_one.close()


def test_a_process_that_has_nothing_to_send_is_ended(receiver: Receiver) -> None:
    notifier = start(NotifierOptions({"ops": receiver.url}))
    senders = notifier._senders
    assert notifier.try_targets() == {"ops": True}
    [sender] = senders.ids()
    assert notifier.try_targets() == {"ops": True}
    assert senders.ids() == [sender], "the same process goes on"
    senders.end_idle()
    assert senders.ids() == [sender]
    senders.end_idle(0.0)
    assert senders.ids() == []
    assert notifier.try_targets() == {"ops": True}
    notifier.close()
    assert senders.ids() == []


def test_a_process_that_was_killed_with_its_answer_sends_no_further_notice(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time may end between the answer and the end of the timer."""
    notifier = start(NotifierOptions({"ops": receiver.url}))
    real = notice_process._Process.send

    def answer_late(process: Any, message: Any, seconds: float) -> bool:
        is_sent = real(process, message, seconds)
        process.is_late = True
        process._popen.kill()
        return is_sent

    with monkeypatch.context() as patch:
        patch.setattr(notice_process._Process, "send", answer_late)
        assert notifier.try_targets() == {"ops": True}
    assert notifier._senders.ids() == []
    assert notifier.try_targets() == {"ops": True}
    notifier.close()


def test_what_apprise_warns_of_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    refusing = Receiver(status=500)
    notifier = start(NotifierOptions({"ops": refusing.url}))
    assert notifier.try_targets() == {"ops": False}
    notifier.close()
    refusing.close()
    [warning] = [each for each in caplog.records if each.name == "apprise"]
    assert "500" in warning.getMessage()
