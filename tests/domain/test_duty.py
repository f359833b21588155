from __future__ import annotations

from maintainer.domain.replica import Duty, DutyKind, list_duties


def test_a_worker_takes_part_in_the_duties_of_its_catalogs_and_of_the_fleet() -> None:
    assert sorted(map(str, list_duties(frozenset({"b", "a"}), "one"))) == [
        "notices",
        "plan a",
        "plan b",
        "policy_status",
        "prune",
        "queue",
        "scan a",
        "scan b",
        "work one",
    ]
    assert Duty(DutyKind.SCAN, "a") in list_duties(frozenset({"a"}), "one")
