"""How long a job may work when polls, answers and the store fail."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from tests.adapters.spark.link.polls import LONGEST, NOW, Home, RemoteEnd

_LEASE = timedelta(minutes=2)
_SECOND = timedelta(seconds=1)


def working(home: Home) -> RemoteEnd:
    """A driver that has taken a job."""
    driver = RemoteEnd(home)
    home.order("j", _LEASE)
    assert driver.poll() is HTTPStatus.OK
    assert driver.instant(driver.until["j"]) == NOW + _LEASE
    return driver


def test_the_time_counts_from_before_the_poll_was_sent() -> None:
    home = Home()
    driver = working(home)
    poll = driver.exchange.make_poll()
    home.clock.advance(30 * _SECOND)
    answer = home.answer(poll)
    home.clock.advance(30 * _SECOND)
    driver.take(poll, *answer)
    assert driver.instant(driver.until["j"]) == NOW + _LEASE - 30 * _SECOND


def test_the_answer_to_an_older_poll_extends_nothing() -> None:
    home = Home()
    driver = working(home)
    older, newer = driver.exchange.make_poll(), driver.exchange.make_poll()
    late = home.answer(older)
    home.renew("j", 10 * _SECOND)
    driver.take(newer, *home.answer(newer))
    driver.take(older, *late)
    assert driver.instant(driver.until["j"]) == NOW + 10 * _SECOND


def test_a_daemon_whose_clock_is_slow_gives_no_more_than_the_longest_time() -> None:
    home = Home()
    driver = working(home)
    home.renew("j", timedelta(hours=1))
    driver.poll()
    assert driver.instant(driver.until["j"]) == NOW + LONGEST


def test_a_link_that_is_cut_for_a_while_costs_nothing_and_for_ever_the_job() -> None:
    home = Home()
    driver = working(home)
    home.clock.advance(30 * _SECOND)
    assert home.clock.now() < driver.instant(driver.until["j"])
    home.renew("j", _LEASE)
    driver.poll()
    assert driver.instant(driver.until["j"]) == NOW + 30 * _SECOND + _LEASE
    home.clock.advance(_LEASE)
    assert home.clock.now() >= driver.instant(driver.until["j"]), "its driver kills it by then"


def test_a_store_that_is_away_extends_nothing_and_loses_nothing() -> None:
    home = Home()
    driver = working(home)
    until = driver.until["j"]
    driver.exchange.write("statement.started", "j", {"index": 0})
    home.store.broken = "gone"
    for _ in range(8):
        home.clock.advance(10 * _SECOND)
        assert driver.poll() is HTTPStatus.SERVICE_UNAVAILABLE
    assert driver.until["j"] == until
    assert not driver.exchange.is_delivered
    home.store.broken = ""
    home.renew("j", _LEASE)
    driver.poll(replica=1)
    assert driver.instant(driver.until["j"]) == home.clock.now() + _LEASE
    assert [said["event"] for said in home.heard()] == ["statement.started"]


def test_replicas_that_answer_in_turn_are_as_one() -> None:
    home = Home()
    driver = working(home)
    for number in range(1, 21):
        driver.exchange.write("statement.finished", "j", {"index": number})
        home.order(f"job-{number}", _LEASE)
        assert driver.poll(replica=number % 2) is HTTPStatus.OK
    assert [said["index"] for said in home.heard()] == list(range(1, 21))
    assert [order["run"]["id"] for order in driver.taken[2:]] == [f"job-{n}" for n in range(1, 21)]


def test_a_job_whose_end_is_not_stored_yet_is_still_the_drivers() -> None:
    driver = working(Home())
    for index in range(300):
        driver.exchange.write("statement.started", "other", {"index": index})
    driver.exchange.write("job.finished", "j", {"result": {}})
    driver.jobs.clear()
    poll = driver.exchange.make_poll()
    assert all(said["job"] == "other" for said in poll.body["said"]), "the end does not fit"
    assert poll.body["hello"]["jobs"] == {"other": True, "j": True}
