"""No owner of tables holds the slots of another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.admit.admission import admit, choose
from maintainer.admit.budgets import AdmissionCircumstances, Running
from maintainer.domain.admission import AdmissionRules, Candidate, SlotOwner, WaitCode
from maintainer.domain.identifier import TableIdentifier
from tests.admit.test_admission import FILES, admitted, candidate, circumstances, names, wait_of


def of(namespace: str, name: str, files: int = 100, catalog: str = "lake") -> Candidate:
    one = candidate(name, files=files)
    return replace(one, table=TableIdentifier(catalog, (namespace,), name))


def running(namespace: str, number: int, *, is_at_work: bool = True) -> Running:
    table = TableIdentifier("lake", (namespace,), f"running_{number}")
    return Running(f"uuid-running-{namespace}-{number}", table, FILES, is_at_work=is_at_work)


def sharing(
    places: int, *at_work: Running, owner: SlotOwner = SlotOwner.NAMESPACE, share: float = 1.0
) -> AdmissionCircumstances:
    rules = AdmissionRules(slot_owner=owner, owner_share=share)
    return circumstances(places, rules=rules, running=at_work)


BAD = [of("bad", "bad_1", 900), of("bad", "bad_2", 800), of("bad", "bad_3", 700)]
GOOD = of("good", "good_1", 10)


def test_two_bad_tables_with_the_best_scores_take_only_the_share_of_their_namespace() -> None:
    given = sharing(2)
    decisions = admit([*BAD, GOOD], given)
    assert [one.table.name for one in admitted(decisions)] == ["bad_1", "good_1"]
    assert [one.candidate for one in choose([*BAD, GOOD], given)] == [BAD[0], GOOD]
    wait = wait_of(decisions, BAD[1])
    assert (wait.code, wait.ahead) == (WaitCode.QUEUED, 2)
    assert wait.reason == (
        "no free slot; 2 ahead in the queue; namespace lake.bad has its share, 1 of 2 slots"
    )


def test_the_next_free_slot_is_for_the_owner_that_has_none() -> None:
    given = sharing(1, running("bad", 1), running("bad", 2, is_at_work=False))
    assert names([*BAD, GOOD], given) == ["good_1"]
    assert names([*BAD, GOOD], sharing(1, running("good", 1))) == ["bad_1"]


def test_slots_that_no_other_owner_can_use_are_given_to_the_best() -> None:
    assert names(BAD, sharing(2)) == ["bad_1", "bad_2"]
    busy = replace(running("good", 1), table_uuid=GOOD.table_uuid)
    assert names([*BAD, GOOD], sharing(2, busy)) == ["bad_1", "bad_2"]
    assert names([*BAD, GOOD], sharing(3)) == ["bad_1", "bad_2", "good_1"]


def test_who_waits_below_its_share_reads_nothing_of_shares() -> None:
    decisions = admit([of("bad", "one", 900), GOOD], sharing(0))
    assert wait_of(decisions, GOOD).reason == "no free slot; 1 ahead in the queue"


@pytest.mark.parametrize(
    ("owner", "started"),
    [
        (SlotOwner.NAMESPACE, ["bad_1", "good_1"]),
        (SlotOwner.CATALOG, ["bad_1", "other"]),
        (SlotOwner.NONE, ["bad_1", "bad_2"]),
    ],
)
def test_an_owner_is_a_catalog_or_a_namespace_by_the_setting(
    owner: SlotOwner, started: list[str]
) -> None:
    other = of("good", "other", 5, catalog="pond")
    assert names([*BAD, GOOD, other], sharing(2, owner=owner)) == started


def test_a_share_below_one_keeps_slots_free_for_owners_that_come_later() -> None:
    decisions = admit(BAD, sharing(4, share=0.5))
    assert [one.table.name for one in admitted(decisions)] == ["bad_1", "bad_2"]
    assert wait_of(decisions, BAD[2]).reason == (
        "no free slot for its owner; 2 ahead in the queue; namespace lake.bad has its share, 2 of "
        "4 slots"
    )
    assert names(BAD, sharing(1, share=0.5)) == ["bad_1"], "at least one"
    assert names(BAD, sharing(4, share=0.5, owner=SlotOwner.NONE)) == ["bad_1", "bad_2", "bad_3"]
