from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.admission import Candidate, Scorer
from maintainer.domain.cost import Benefit, Cost, Worth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName
from maintainer.estimate.score import (
    priority_factor,
    reads_factor,
    score_all,
    standing_score,
    value_all,
    waiting_factor,
)
from tests.samples import NOW

DAY = timedelta(days=1)


def candidate(
    files: int = 100,
    gb_hours: float = 2.0,
    chance: float = 1.0,
    priority: int = 50,
    waiting: timedelta = timedelta(0),
) -> Candidate:
    worth = Worth(Benefit(files_removed=files, value=float(files)), chance, files, gb_hours)
    return Candidate(
        TableIdentifier("lake", ("a",), "t"),
        "u",
        RuleName.REWRITE_DATA_FILES,
        Cost(gb_hours / 2, gb_hours, 60.0),
        worth,
        10,
        NOW - waiting,
        priority,
    )


def value(one: Candidate, scorer: Scorer = Scorer.MAINTAINER) -> float:
    return score_all([one], scorer, NOW, DAY)[0].value


def test_a_score_is_chance_times_benefit_for_each_gb_hour_with_its_terms() -> None:
    one = candidate(files=1000, chance=0.5)
    score = standing_score(one.worth, one.cost)
    assert score.value == 250
    assert score.terms == (("chance", 0.5), ("benefit", 1000.0), ("gb_hours_p90", 2.0))
    assert score.sentence == "250 = 0.5 chance x 1,000 benefit / 2 GB-hours"


def test_waiting_and_priority_multiply_it() -> None:
    (score,) = score_all(
        [candidate(files=1000, chance=0.5, priority=75, waiting=DAY / 2)],
        Scorer.MAINTAINER,
        NOW,
        DAY,
    )
    assert score.value == pytest.approx(250 * 1.5 * 10)
    assert (
        score.sentence
        == "3,750 = 0.5 chance x 1,000 benefit / 2 GB-hours x 1.5 waiting x 10 priority"
    )
    assert dict(score.terms)["waiting"] == 1.5


def test_waiting_counts_twice_at_the_sla_and_ten_times_more_for_each_further_one() -> None:
    assert [waiting_factor(DAY * shares, DAY) for shares in (-1, 0, 0.5, 1, 2, 3)] == [
        1,
        1,
        1.5,
        2,
        20,
        200,
    ]
    assert waiting_factor(timedelta(days=3650), timedelta(seconds=1)) == pytest.approx(2e100)


def test_twenty_five_points_of_priority_are_a_factor_of_ten() -> None:
    assert [round(priority_factor(priority), 6) for priority in (0, 25, 50, 75, 100)] == [
        0.01,
        0.1,
        1,
        10,
        100,
    ]


def test_a_table_that_is_read_often_counts_more_and_says_how_often() -> None:
    read = replace(candidate(files=1000, chance=0.5), reads_per_day=48.0)
    (score,) = score_all([read], Scorer.MAINTAINER, NOW, DAY)
    assert score.value == pytest.approx(250 * 3)
    assert dict(score.terms)["reads"] == 3
    assert score.sentence == (
        "750 = 0.5 chance x 1,000 benefit / 2 GB-hours x 1 waiting x 1 priority"
        " x 3 reads (reads a day: 48)"
    )
    assert value_all([read], Scorer.MAINTAINER, NOW, DAY) == [score.value]


def test_a_table_of_unknown_reads_counts_as_one_without_and_has_no_such_term() -> None:
    unknown, none = candidate(), replace(candidate(), reads_per_day=0.0)
    assert value(unknown) == value(none)
    assert "reads" not in dict(score_all([unknown], Scorer.MAINTAINER, NOW, DAY)[0].terms)
    assert [reads_factor(reads) for reads in (None, -1.0, 0.0, 24.0)] == [1, 1, 1, 2]


def test_work_that_costs_nothing_has_a_finite_score() -> None:
    assert value(candidate(gb_hours=0.0)) == pytest.approx(1e8)


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.floats(0.001, 100),
    st.floats(0.01, 1),
    st.integers(0, 99),
    st.integers(0, 10**6),
)
def test_more_benefit_chance_priority_or_waiting_and_less_cost_never_lower_a_score(  # noqa: PLR0917
    files: int, more: int, gb_hours: float, chance: float, priority: int, seconds: int
) -> None:
    base = candidate(files, gb_hours, chance / 2, priority, timedelta(seconds=seconds))
    better = [
        candidate(files + more, gb_hours, chance / 2, priority, timedelta(seconds=seconds)),
        candidate(files, gb_hours / 2, chance / 2, priority, timedelta(seconds=seconds)),
        candidate(files, gb_hours, chance, priority, timedelta(seconds=seconds)),
        candidate(files, gb_hours, chance / 2, priority + 1, timedelta(seconds=seconds)),
        candidate(files, gb_hours, chance / 2, priority, timedelta(seconds=seconds + more)),
    ]
    assert all(value(one) >= value(base) for one in better)


def test_the_published_score_is_gain_less_cost_normalised_over_all_candidates() -> None:
    many, few, middle = candidate(1000, 10.0), candidate(0, 0.0), candidate(500, 2.5)
    scores = score_all([many, few, middle], Scorer.AUTOCOMP, NOW, DAY)
    assert [score.value for score in scores] == pytest.approx(
        [0.7 - 0.3, 0.0, 0.7 * 0.5 - 0.3 * 0.25]
    )
    assert scores[2].sentence == "0.275 = 0.70 x gain 0.500 - 0.30 x cost 0.250 + 0.00 priority"


def test_the_published_variant_weighs_gain_by_the_quota_that_is_used() -> None:
    both = [candidate(1000, 10.0), candidate(0, 0.0)]
    weights = [
        dict(score_all(both, Scorer.AUTOCOMP_QUOTA, NOW, DAY, used)[0].terms)["gain_weight"]
        for used in (0.0, 0.5, 1.0, 7.0, -1.0)
    ]
    assert weights == [0.5, 0.75, 1.0, 1.0, 0.5]


def test_in_the_published_score_waiting_does_not_count_and_priority_moves_it_as_a_whole() -> None:
    fresh, old, preferred = candidate(), candidate(waiting=DAY * 30), candidate(priority=100)
    scores = [
        score.value for score in score_all([fresh, old, preferred], Scorer.AUTOCOMP, NOW, DAY)
    ]
    assert scores == [0, 0, 1]
    assert [
        score.value
        for score in score_all(
            [candidate(), replace(candidate(), priority=0)], Scorer.AUTOCOMP, NOW, DAY
        )
    ] == [0, -1]


def test_nobody_has_no_scores() -> None:
    assert all(score_all([], scorer, NOW, DAY) == [] for scorer in Scorer)
