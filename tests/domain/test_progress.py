from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.driver import Progress, Stage

COUNTS = st.one_of(st.none(), st.integers(0, 200))
REPORTS = st.builds(
    Progress,
    tasks_done=COUNTS,
    tasks_total=COUNTS,
    file_groups_done=COUNTS,
    file_groups_total=COUNTS,
    stage=st.sampled_from(Stage),
)


def test_the_sentence_goes_by_file_groups_where_there_are_some() -> None:
    assert Progress().sentence == ""
    ends_at = datetime(2026, 3, 4, 15, 42, tzinfo=UTC)
    whole = Progress(31, 1064, "", 9, 12, 3 * 1024**2, 1024**2, ends_at)
    assert (
        whole.sentence
        == "9 of 12 file groups, 3 MiB read, 1 MiB written, done at about 15:42:00 UTC"
    )
    assert Progress(file_groups_total=12).sentence == "0 of 12 file groups"


def test_tasks_have_no_total_because_each_spark_job_adds_to_it() -> None:
    assert [
        Progress(done, total).sentence for done, total in ((None, 8), (0, 8), (1, 8), (1077, 1153))
    ] == ["", "", "1 task done", "1,077 tasks done"]


def test_the_bar_is_empty_while_a_job_waits_and_is_never_full_before_its_end() -> None:
    assert Progress(2, 2).share == 0.0
    shares = [
        Progress(stage=stage, file_groups_done=5, file_groups_total=5).share for stage in Stage
    ]
    assert shares == sorted(shares)
    assert len(set(shares)) == len(Stage) - 1, "the end of the work is where the checks begin"
    assert max(shares) < 1


@pytest.mark.parametrize(
    ("done", "share"), [(None, 0.1), (0, 0.1), (39, 0.5), (78, 0.9), (99, 0.9)]
)
def test_the_bar_grows_with_the_file_groups_of_the_work(done: int | None, share: float) -> None:
    assert Progress(
        2, 2, file_groups_done=done, file_groups_total=78, stage=Stage.WORKING
    ).share == pytest.approx(share)


def test_the_bar_says_when_it_cannot_grow_within_a_stage() -> None:
    assert Progress(file_groups_total=3, stage=Stage.WORKING).is_counted
    assert not Progress(2, 77, stage=Stage.WORKING).is_counted
    assert not Progress(file_groups_total=3, stage=Stage.PROVING).is_counted


@given(st.lists(REPORTS, min_size=2, max_size=8))
def test_the_bar_never_goes_back_after_any_reports(reports: list[Progress]) -> None:
    now, shares, tasks = reports[0], [], []
    for report in reports:
        now = report.after(now)
        shares.append(now.share)
        tasks.append(now.tasks_done or 0)
    assert shares == sorted(shares)
    assert tasks == sorted(tasks)
    assert all(0 <= share < 1 for share in shares)


def test_file_groups_never_go_back_although_a_stage_follows() -> None:
    earlier = Progress(file_groups_done=3, file_groups_total=4, stage=Stage.WORKING)
    later = Progress(file_groups_done=1, file_groups_total=4, stage=Stage.PROVING)
    assert later.after(earlier) == replace(later, file_groups_done=3)


def test_the_newest_words_stay_when_the_stage_does_not_go_back() -> None:
    earlier = Progress(7, 9, "running on Spark", stage=Stage.WORKING)
    assert Progress(phase="waiting for Spark", bytes_read=5).after(earlier) == Progress(
        7, 9, "waiting for Spark", bytes_read=5, stage=Stage.WORKING
    )
