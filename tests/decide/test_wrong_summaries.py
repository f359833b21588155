"""Summaries of manifests that exclude their own files: a finding, and no rewrite relies on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.grading.bands import WRONG_SUMMARY, grade
from maintainer.decide.plan import decide, on_request
from maintainer.domain.action import RewriteManifests
from maintainer.domain.health import Band, TableHealth, WrongSummary
from maintainer.domain.inventory import Unreadable
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, RuleName
from maintainer.domain.rules import RewriteManifestsRule
from maintainer.measure.health import measure
from tests.chapters import find_gain
from tests.samples import NOW, inventory, manifest, share

POLICY = Policy(mode=Mode.ENFORCE)


def table(manifests: int, wrong: int) -> TableHealth:
    made = [manifest(f"m{n}", [share([1000])], sizes=[1000]) for n in range(manifests)]
    faulty = [replace(one, list_fault="day: wrong") for one in made[:wrong]]
    return measure(inventory((*faulty, *made[wrong:])))


def test_wrong_summaries_are_counted_and_critical() -> None:
    health = table(3, 2)
    assert health.wrong_summaries == 2
    assert health.wrong_summary == WrongSummary("m0", 0, "day: wrong")
    graded = grade(health, POLICY, NOW)
    assert (graded.band, graded.findings[0].metric) == (Band.CRITICAL, WRONG_SUMMARY)
    assert graded.findings[0].observed == 2
    assert graded.reason == (
        "the manifest list has wrong summaries of 2 manifests, so that queries may miss rows or "
        "return deleted ones; the first is m0 of spec 0 (day: wrong); rewrite_manifests writes "
        "right summaries"
    )
    right = table(3, 0)
    assert (right.wrong_summaries, right.wrong_summary) == (0, None)
    assert WRONG_SUMMARY not in {found.metric for found in grade(right, POLICY, NOW).findings}
    broken = replace(inventory(()), unreadable=(Unreadable("m", "torn"),))
    assert measure(broken).wrong_summaries is None


@pytest.mark.parametrize(
    "rule", [RuleName.REWRITE_DATA_FILES, RuleName.REWRITE_POSITION_DELETE_FILES]
)
def test_no_rewrite_that_relies_on_summaries_runs_before_they_are_right(rule: RuleName) -> None:
    policy = on_request(POLICY, (rule,))
    (skipped,) = decide(table(3, 1), policy, Circumstances(NOW)).skipped
    assert skipped.code is SkipCode.UNSUPPORTED
    assert skipped.reason.endswith(
        "rewrite_manifests writes right summaries; before that a rewrite could bring deleted rows "
        "back"
    )
    found = decide(table(3, 0), policy, Circumstances(NOW))
    assert all(one.code is not SkipCode.UNSUPPORTED for one in found.skipped)


def test_a_rewrite_of_few_manifests_is_worth_it_for_their_summaries() -> None:
    rule = RewriteManifestsRule()
    gain = find_gain(rule, table(2, 1))
    assert gain is not None
    assert gain.is_worthwhile
    assert gain.action == RewriteManifests(0, rule.options)
    assert gain.sentence == "2 manifests of spec 0 would get right summaries in the manifest list"
    single = find_gain(rule, table(1, 1))
    assert single is not None
    assert not single.is_worthwhile
    assert single.sentence.startswith("the one manifest of spec 0 has a wrong summary")
