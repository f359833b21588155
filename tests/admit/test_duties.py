"""A worker's share of the duties."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.admit.replicas import choose_duties
from maintainer.domain.replica import Duty, DutyKind, HeldDuty, list_duties

CATALOGS = st.frozensets(st.sampled_from("abcdef"))
WORKERS = st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True, min_size=1)


def at_work(*workers: str) -> list[HeldDuty]:
    return [HeldDuty(Duty(DutyKind.WORK, worker), worker) for worker in workers]


def scans(*catalogs: str) -> set[Duty]:
    return {Duty(DutyKind.SCAN, catalog) for catalog in catalogs}


@given(CATALOGS)
def test_a_worker_alone_has_all(catalogs: frozenset[str]) -> None:
    wanted = list_duties(catalogs, "one")
    assert choose_duties(wanted, [], "one") == wanted


def test_a_worker_gives_back_what_is_above_its_share() -> None:
    wanted = scans("a", "b", "c")
    held = [HeldDuty(duty, "one") for duty in wanted]
    assert choose_duties(wanted, [*held, *at_work("one", "two")], "one") == scans("a", "b")
    assert choose_duties(wanted, [*held, *at_work("one", "two")], "two") == set()


def test_a_worker_keeps_what_it_has_before_it_takes_what_is_free() -> None:
    held = [HeldDuty(Duty(DutyKind.SCAN, "c"), "one"), *at_work("two", "three")]
    assert choose_duties(scans("a", "b", "c"), held, "one") == scans("c")


@pytest.mark.parametrize("kind", [kind for kind in DutyKind if not kind.is_of_a_catalog])
def test_a_duty_of_the_fleet_stays_where_it_is(kind: DutyKind) -> None:
    duty = Duty(kind, "one" if kind is DutyKind.WORK else "")
    held = [HeldDuty(duty, "one"), *at_work("two", "three")]
    assert choose_duties({duty}, held, "one") == {duty}


@given(CATALOGS, WORKERS, st.data())
def test_after_three_turns_of_each_worker_every_duty_is_held_and_nobody_has_more_than_its_share(
    catalogs: frozenset[str], workers: list[str], data: st.DataObject
) -> None:
    """In the first turn all say that they work, in the second they give back, then they take."""
    holders: dict[Duty, str] = {
        duty: data.draw(st.sampled_from(workers))
        for duty in sorted(list_duties(catalogs, ""))
        if duty.kind is not DutyKind.WORK and data.draw(st.booleans())
    }
    for worker in workers * 3:
        held = [HeldDuty(duty, holder) for duty, holder in holders.items()]
        chosen = choose_duties(list_duties(catalogs, worker), held, worker)
        assert all(holders.get(duty, worker) == worker for duty in chosen), "it takes from nobody"
        holders = {duty: holder for duty, holder in holders.items() if holder != worker}
        holders |= dict.fromkeys(chosen, worker)
    assert {duty for duty in holders if duty.kind is not DutyKind.WORK} == {
        duty for duty in list_duties(catalogs, "") if duty.kind is not DutyKind.WORK
    }
    for kind in (DutyKind.SCAN, DutyKind.PLAN):
        for worker in workers:
            theirs = [
                duty for duty, holder in holders.items() if (duty.kind, holder) == (kind, worker)
            ]
            assert len(theirs) <= ceil(len(catalogs) / len(workers))
