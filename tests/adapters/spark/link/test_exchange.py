"""A driver and two daemons over a network that loses, doubles, delays and reorders."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from maintainer.adapters.spark.driver.link.exchange import Poll
from tests.adapters.spark.link.polls import NAME, Home, RemoteEnd
from tests.examples import examples

_SECONDS = st.integers(1, 90).map(lambda seconds: timedelta(seconds=seconds))
_PICK = st.integers(0, 1_000)


class BadNetwork(RuleBasedStateMachine):
    """Nothing is lost, nothing is taken twice, and no answer extends a fence by being late."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Home(start_timeout=timedelta(days=1))  # another test lets it pass
        self.driver = RemoteEnd(self.home)
        self.sent: list[Poll] = []  # polls under way; one may arrive several times
        self.answers: list[tuple[Poll, HTTPStatus, dict[str, Any]]] = []
        self.newest = 0  # of the polls whose answer was taken
        self.expected: dict[str, float] = {}  # fences by the newest answered poll
        self.ordered: list[dict[str, Any]] = [{"start": {}}]
        self.said = 0
        self.heard: list[int] = []

    @rule(valid_for=_SECONDS)
    def order(self, valid_for: timedelta) -> None:
        job = f"job-{len(self.ordered)}"
        self.home.store.broken = ""
        self.home.order(job, valid_for)
        self.ordered.append({"run": job})

    @rule(pick=_PICK, valid_for=_SECONDS)
    def renew(self, pick: int, valid_for: timedelta) -> None:
        self.home.store.broken = ""
        self.home.renew(f"job-{pick % len(self.ordered)}", valid_for)

    @rule()
    def say(self) -> None:
        self.said += 1
        self.driver.exchange.write("statement.started", "j", {"index": self.said})

    @rule()
    def poll(self) -> None:
        self.sent.append(self.driver.exchange.make_poll())

    @precondition(lambda self: self.sent)
    @rule(pick=_PICK, replica=st.integers(0, 1), is_last=st.booleans())
    def arrive(self, pick: int, replica: int, *, is_last: bool) -> None:
        """Some poll arrives; unless this was its last copy, it may arrive again."""
        position = pick % len(self.sent)
        poll = self.sent.pop(position) if is_last else self.sent[position]
        self.answers.append((poll, *self.home.answer(poll, replica)))

    @precondition(lambda self: self.answers)
    @rule(pick=_PICK, is_lost=st.booleans())
    def answer(self, pick: int, *, is_lost: bool) -> None:
        """Some answer arrives, or gets lost."""
        poll, status, answer = self.answers.pop(pick % len(self.answers))
        if is_lost:
            return
        self.driver.take(poll, status, answer)
        if status is HTTPStatus.OK and poll.number > self.newest:
            self.newest = poll.number
            valid_for = answer["valid_for"]
            self.expected |= {job: poll.at + seconds for job, seconds in valid_for.items()}

    @rule()
    def one_round(self) -> None:
        """A poll and its answer without a mishap."""
        self.poll()
        self.arrive(len(self.sent) - 1, 0, is_last=True)
        self.answer(len(self.answers) - 1, is_lost=False)

    @rule(span=_SECONDS)
    def pass_time(self, span: timedelta) -> None:
        self.home.clock.advance(span)

    @rule()
    def break_store(self) -> None:
        self.home.store.broken = "the disk is full"

    @rule()
    def mend_store(self) -> None:
        self.home.store.broken = ""

    @invariant()
    def orders_are_taken_once_and_in_order(self) -> None:
        taken = [{"run": o["run"]["id"]} if "run" in o else o for o in self.driver.taken]
        assert taken == self.ordered[: len(taken)]

    @invariant()
    def messages_are_stored_once_and_in_order(self) -> None:
        was, self.home.store.broken = self.home.store.broken, ""
        after = self.heard[-1] if self.heard else 0
        self.heard += [message["number"] for message in self.home.heard(after)]
        self.home.store.broken = was
        assert self.heard == list(range(1, len(self.heard) + 1))

    @invariant()
    def fences_come_from_the_newest_answered_poll_and_never_exceed_what_the_store_gave(
        self,
    ) -> None:
        was, self.home.store.broken = self.home.store.broken, ""
        record = self.home.store.driver(NAME)
        self.home.store.broken = was
        assert record is not None
        for job, until in self.driver.until.items():
            assert record.fence is not None
            assert self.driver.instant(until) <= record.fence + timedelta(milliseconds=1)
            if job in self.expected:
                assert until <= self.expected[job] + 0.001

    def teardown(self) -> None:
        """When the network is good again, everything arrives."""
        self.home.store.broken = ""
        for _ in range(4):
            self.driver.poll()
        assert self.driver.poll() is HTTPStatus.OK
        self.messages_are_stored_once_and_in_order()
        assert len(self.driver.taken) == len(self.ordered)
        assert len(self.heard) == self.said
        assert Counter(self.heard).most_common(1)[:1] in ([], [(1, 1)])


TestBadNetwork = BadNetwork.TestCase
TestBadNetwork.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
