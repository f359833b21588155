from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.estimate.filters.partition_filter import PartitionFilter, Taken
from maintainer.estimate.rewrite_data_files import (
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from tests.chapters import find_gain
from tests.examples import examples
from tests.samples import NOW, health_of_partitions

NONE, SOME, ALL = Taken.NONE, Taken.SOME, Taken.ALL
RULE = RewriteDataFilesRule()


def take(
    where: str,
    text: str | None,
    transform: str = "identity",
    type_name: str = "date",
    now: datetime | None = NOW,
) -> Taken:
    """Of the partition of that value of the one field `p`, which is made of the column `c`."""
    spec = PartitionSpec(0, (PartitionField("p", transform, ("c",), type_name),))
    return PartitionFilter.read(where, now, [spec]).take(0, f"p={'null' if text is None else text}")


@pytest.mark.parametrize(
    ("where", "taken"),
    [
        ("c = 5", (NONE, ALL, NONE)),
        ("c < 5", (ALL, NONE, NONE)),
        ("c <= 5", (ALL, ALL, NONE)),
        ("c > 5", (NONE, NONE, ALL)),
        ("c >= 5", (NONE, ALL, ALL)),
        ("5 < c", (NONE, NONE, ALL)),
        ("c IN (4, 6)", (ALL, NONE, ALL)),
        ("c BETWEEN 5 AND 9", (NONE, ALL, ALL)),
        ("c > 4 AND c < 6", (NONE, ALL, NONE)),
        ("c > 4 AND other = 1", (NONE, SOME, SOME)),
        ("C = 5 AND c IS NOT NULL", (NONE, ALL, NONE)),
        ("c = 5.5", (NONE, NONE, NONE)),
        ("c = '5'", (SOME, SOME, SOME)),
        ("c = 4 OR c = 5", (SOME, SOME, SOME)),
        ("c IS NULL", (NONE, NONE, NONE)),
    ],
)
def test_whole_numbers_are_compared_by_value(where: str, taken: tuple[Taken, ...]) -> None:
    for type_name in ("int", "long"):
        assert tuple(take(where, text, type_name=type_name) for text in ("4", "5", "6")) == taken


def test_texts_are_compared_as_they_are() -> None:
    assert [take("c < 'b'", text, type_name="string") for text in ("a", "b", "bc")] == [
        ALL,
        NONE,
        NONE,
    ]
    assert take("c = 'a/b'", "a%2Fb", type_name="string") is ALL
    assert (
        take("c = 5", "5", type_name="string") is SOME
    )  # Spark reads the column's text as a number


def test_decimals_are_compared_by_value_and_other_types_not_at_all() -> None:
    assert [
        take("c >= 1.5", text, type_name="decimal(9, 2)") for text in ("1.50", "1.49", "x")
    ] == [ALL, NONE, SOME]
    assert [
        take("c = 1", "1", type_name=type_name) for type_name in ("double", "uuid", "boolean")
    ] == [SOME, SOME, SOME]


def test_what_has_no_value_compares_with_nothing() -> None:
    for transform in ("identity", "day", "bucket[4]", "truncate[2]"):
        assert [
            take(where, None, transform)
            for where in ("c = 1", "c < current_date", "c IN (1)", "c IS NOT NULL", "c IS NULL")
        ] == [NONE] * 4 + [ALL]
        assert [take(where, "1", transform) for where in ("c IS NULL", "c IS NOT NULL")] == [
            NONE,
            ALL,
        ]
    assert take("c = 1 OR c = 2", None) is SOME


@pytest.mark.parametrize(
    ("where", "taken"),
    [
        ("c < DATE '2026-02-01'", (ALL, NONE, NONE)),
        ("c < DATE '2026-02-15'", (ALL, SOME, NONE)),
        ("c <= '2026-02-28'", (ALL, ALL, NONE)),
        ("c = DATE '2026-02-28'", (NONE, SOME, NONE)),
        ("c > DATE '2026-02-27'", (NONE, SOME, ALL)),
        ("c > DATE '2026-02-28'", (NONE, NONE, ALL)),
        ("c >= DATE '2026-02-02'", (NONE, SOME, ALL)),
        ("c BETWEEN '2026-01-01' AND '2026-03-30'", (ALL, ALL, SOME)),
        ("c < TIMESTAMP '2026-02-01 00:00:00'", (SOME, SOME, SOME)),
        ("c < '2026-02'", (SOME, SOME, SOME)),
        ("c < '2026-02-30'", (SOME, SOME, SOME)),
    ],
)
def test_a_month_of_dates_is_taken_left_out_or_cut_through(
    where: str, taken: tuple[Taken, ...]
) -> None:
    assert tuple(take(where, text, "month") for text in ("2026-01", "2026-02", "2026-03")) == taken


@pytest.mark.parametrize(
    ("transform", "texts"),
    [
        ("year", ("2025", "2026")),
        ("day", ("2026-02-28", "2026-03-01")),
        ("hour", ("2026-02-28-23", "2026-03-01-00")),
    ],
)
def test_times_are_cut_at_the_beginnings_of_their_periods(
    transform: str, texts: tuple[str, str]
) -> None:
    boundary = {"year": "2026-01-01 00:00:00", "day": "2026-03-01", "hour": "2026-03-01 00:00:00"}[
        transform
    ]
    assert [take(f"c < '{boundary}'", text, transform, "timestamp") for text in texts] == [
        ALL,
        NONE,
    ]
    assert [
        take(f"c >= TIMESTAMP_NTZ '{boundary}'", text, transform, "timestamp") for text in texts
    ] == [NONE, ALL]
    assert [take(f"c <= '{boundary}'", text, transform, "timestamp") for text in texts] == [
        ALL,
        SOME,
    ]
    zoned = f"{boundary if ' ' in boundary else f'{boundary} 00:00:00'} UTC"
    assert [take(f"c < TIMESTAMP '{zoned}'", text, transform, "timestamptz") for text in texts] == [
        ALL,
        NONE,
    ]


def test_a_time_without_a_zone_is_that_of_a_session_whose_zone_is_not_known() -> None:
    where = "c < TIMESTAMP '2026-03-01 00:00:00'"
    taken = [take(where, f"2026-02-28-{hour:02}", "hour", "timestamptz") for hour in (8, 9, 10, 23)]
    assert taken == [ALL, ALL, SOME, SOME]
    assert [
        take(where, f"2026-03-01-{hour:02}", "hour", "timestamptz") for hour in (0, 11, 12)
    ] == [SOME, SOME, NONE]
    assert take("c < DATE '2026-03-01'", "2026-02-27", "day", "timestamptz") is ALL


@pytest.mark.parametrize(
    "where",
    [
        "c < TIMESTAMP '2026-03-01'",
        "c < '2026-03-01 00:00:00 UTC'",
        "c < current_date",
        "c < now()",
        "c < 5",
    ],
)
def test_what_spark_would_cast_a_column_for_is_not_reported(where: str) -> None:
    assert take(where, "2026-02-28", "day", "timestamp") is SOME


def test_today_is_any_day_that_it_is_somewhere() -> None:
    days = ("2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06")
    assert [take("c < current_date", day) for day in days] == [
        ALL,
        SOME,
        NONE,
        NONE,
    ]  # it is noon in UTC
    assert [
        take("c < current_date() - 1", day) for day in ("2026-03-02", "2026-03-03", "2026-03-04")
    ] == [ALL, SOME, NONE]
    assert [take("c < current_date", day, now=None) for day in days] == [SOME] * 4
    at_midnight = datetime(2026, 3, 4, tzinfo=UTC)
    assert [take("c < current_date", day, now=at_midnight) for day in days] == [
        SOME,
        NONE,
        NONE,
        NONE,
    ]
    assert [take("c < current_date", day, "day", "timestamptz") for day in days] == [
        SOME,
        SOME,
        NONE,
        NONE,
    ]
    assert [take("c < current_date", day, "day", "timestamptz") for day in ("2026-03-02",)] == [ALL]


def test_now_is_within_the_hour_in_which_the_job_begins() -> None:
    hours = [
        take(
            "c < current_timestamp() - INTERVAL 2 HOURS",
            f"2026-03-04-{hour:02}",
            "hour",
            "timestamptz",
        )
        for hour in (9, 10, 11)
    ]
    assert hours == [ALL, SOME, NONE]
    assert take("c < now()", "2020-01-01", "day", "timestamptz", now=None) is SOME


def test_periods_of_before_1970_are_never_left_out() -> None:
    """Iceberg takes the neighbour of such a period too, because its first versions were one off."""
    assert [
        take("c < DATE '1960-01-01'", text, "day")
        for text in ("1959-12-31", "1960-01-02", "1970-01-01", "1970-01-02")
    ] == [ALL, SOME, SOME, NONE]
    assert take("c < DATE '1960-01-01'", "1970-01-01") is NONE  # a date itself was never off


def test_fields_that_tell_nothing_and_texts_of_other_specs_are_not_known() -> None:
    assert take("c = 1", "1", "bucket[4]", "long") is SOME
    assert take("c = 'abc'", "ab", "truncate[2]", "string") is SOME
    assert take("c > 1", "not a number", type_name="long") is SOME
    assert take("c = DATE '2026-01-01'", "2026-13", "month") is SOME
    assert take("c = DATE '2026-01-01'", "10000-01-01") is SOME
    assert take("c = 1", "2026-01", "month", "long") is SOME
    spec = PartitionSpec(
        0,
        (
            PartitionField("p", "identity", ("c",), "long"),
            PartitionField("gone", "void", ("c",), "long"),
        ),
    )
    reported = PartitionFilter.read("c = 1", NOW, [spec])
    assert (reported.take(0, "p=1"), reported.take(0, "q=1"), reported.take(7, "p=1")) == (
        ALL,
        SOME,
        SOME,
    )


def test_two_fields_of_one_column_are_asked_both() -> None:
    spec = PartitionSpec(
        0,
        (
            PartitionField("m", "month", ("c",), "date"),
            PartitionField("d", "day", ("c",), "date"),
            PartitionField("w", "identity", ("w",), "string"),
        ),
    )
    reported = PartitionFilter.read("c = DATE '2026-01-05' AND w = 'x'", NOW, [spec])
    assert reported.take(0, "m=2026-01/d=2026-01-05/w=x") is ALL  # a day of dates is one date
    assert reported.take(0, "m=2026-01/d=2026-01-06/w=x") is NONE
    assert reported.take(0, "m=2026-01/d=2026-01-05/w=y") is NONE
    assert (
        PartitionFilter.read("c < DATE '2026-01-20'", NOW, [spec]).take(
            0, "m=2026-01/d=2026-01-05/w=x"
        )
        is ALL
    )


@given(st.sampled_from(["<", "<=", ">", ">=", "="]), st.integers(-50, 50), st.integers(-50, 50))
@settings(max_examples=examples(200))
def test_a_condition_on_a_month_is_true_of_each_of_its_days(
    operator: str, start: int, boundary: int
) -> None:
    first = datetime(2026, 1, 1, tzinfo=UTC).date() + timedelta(days=start)
    literal = datetime(2026, 1, 1, tzinfo=UTC).date() + timedelta(days=boundary)
    month = first.replace(day=1)
    days = [
        day for number in range(31) if (day := month + timedelta(days=number)).month == month.month
    ]
    holds = {
        "<": literal.__gt__,
        "<=": literal.__ge__,
        ">": literal.__lt__,
        ">=": literal.__le__,
        "=": literal.__eq__,
    }[operator]
    matching = [bool(holds(day)) for day in days]
    reported = take(f"c {operator} DATE '{literal}'", f"{month:%Y-%m}", "month")
    assert reported is (ALL if all(matching) else SOME if any(matching) else NONE)


# -- in the estimate

DAYS = {"day=2026-03-01": [1000] * 6, "day=2026-03-02": [1000] * 4, "day=2026-03-03": [1000] * 8}
SPEC = PartitionSpec(0, (PartitionField("day", "identity", ("day",), "date"),))
HEALTH = replace(health_of_partitions(DAYS), specs=(SPEC,))


def test_only_what_the_filter_takes_is_counted() -> None:
    whole = estimate_rewrite_data_files(HEALTH, RULE)
    reported = estimate_rewrite_data_files(HEALTH, replace(RULE, where="day < DATE '2026-03-02'"))
    assert (
        whole.items_before,
        reported.items_before,
        reported.items_after,
        reported.error_bound,
        reported.note,
    ) == (14, 6, 1, 0, "")


def test_what_the_filter_may_take_is_an_upper_bound() -> None:
    reported = estimate_rewrite_data_files(
        HEALTH, replace(RULE, where="day < DATE '2026-03-02' AND other = 1")
    )
    assert (reported.items_before, reported.items_removed, reported.error_bound) == (6, 5, 5)
    assert (
        reported.note
        == "an upper bound: of some partitions the filter may take no files, or not all"
    )
    known = estimate_rewrite_data_files(HEALTH, replace(RULE, where="day < current_date"), now=NOW)
    assert (known.items_before, known.error_bound) == (14, 0)
    assert (
        estimate_rewrite_data_files(HEALTH, replace(RULE, where="day < current_date")).error_bound
        == 12
    )


def test_what_is_cut_stays_so_when_only_a_part_of_it_is_rewritten() -> None:
    rule = replace(RULE, where="other = 1", options=(("max-files-to-rewrite", "8"),))
    options = PlannerOptions.read(HEALTH, rule)
    assert all(group.is_cut for group in plan_groups(HEALTH, options))
    assert "may take no files" in estimate_rewrite_data_files(HEALTH, rule).note


def test_a_filter_that_leaves_out_all_there_is_to_gain_has_nothing_to_gain_in_words() -> None:
    gain = find_gain(replace(RULE, where="day = DATE '2026-03-02'"), HEALTH)
    assert gain is not None
    assert (gain.is_worthwhile, gain.code) == (False, SkipCode.NOTHING_TO_GAIN)
    assert gain.sentence.startswith(
        "4 small files are in 1 partition of the 1 that the policy's filter may select, at most "
        "4 in one; a rewrite selects"
    )
    nowhere = find_gain(replace(RULE, where="day = DATE '2027-01-01'"), HEALTH)
    assert nowhere is not None
    assert nowhere.sentence == (
        "no partition of the 0 that the policy's filter may select has a file that a rewrite "
        "would select"
    )
