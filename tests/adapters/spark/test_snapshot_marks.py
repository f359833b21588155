from __future__ import annotations

import pytest

from maintainer.adapters.spark.driver.marks import SUMMARY, Marks
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import LETTING_WRITERS_WIN, mark_settings
from maintainer.domain.action import RewriteManifests
from maintainer.domain.job import JOBS_MARK
from tests.adapters.spark.lakes import Lake, job_on, outcome_of

SQL, REST, BY_ADDRESS = (
    {"type": "sql", "uri": "sqlite:///x.db"},
    {"type": "rest", "uri": "https://a"},
    {"uri": "https://a"},
)


def test_where_there_is_a_rest_catalog_our_snapshots_let_writers_win() -> None:
    assert mark_settings([SQL, REST], let_writers_win=None) == {
        f"{SUMMARY}{key}": value for key, value in LETTING_WRITERS_WIN.items()
    }
    assert mark_settings([BY_ADDRESS], let_writers_win=None)
    assert mark_settings([SQL], let_writers_win=None) == {}
    assert mark_settings([], let_writers_win=None) == {}


def test_the_operator_has_the_last_word_on_that() -> None:
    assert mark_settings([REST], let_writers_win=False) == {}
    assert mark_settings([SQL], let_writers_win=True)


class Summaries:
    """What Iceberg's class does with the entries."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    def put(self, key: str, value: str) -> None:
        self.entries[key] = value

    def remove(self, key: str) -> None:
        self.entries.pop(key, None)


def test_a_snapshot_names_the_jobs_that_are_at_work() -> None:
    reported = Summaries()
    marks = Marks(reported, {f"{SUMMARY}lakekeeper.rollbackable": "true", "spark.app.name": "ours"})
    assert reported.entries == {"lakekeeper.rollbackable": "true"}
    seen = []
    for change, job_id in (
        (marks.add, "a"),
        (marks.add, "b"),
        (marks.remove, "a"),
        (marks.remove, "never"),
        (marks.remove, "b"),
    ):
        change(job_id)
        seen.append(reported.entries.get(JOBS_MARK))
    assert seen == ["a", "a,b", "b", "b", None]


@pytest.mark.spark
@pytest.mark.slow
def test_guard_16_every_snapshot_of_ours_tells_the_catalog_that_a_writer_may_undo_it(
    warm: LocalRunner, lake: Lake
) -> None:
    table = lake.create("yielding", files=6)
    for job in (
        job_on(table, "yielding-files"),
        job_on(table, "yielding-manifests", RewriteManifests(0)),
    ):
        warm.submit(job)
        assert outcome_of(warm, job).kind == "finished"
    summaries = lake.summaries(table)
    assert "lakekeeper.rollbackable" not in summaries[0], "the writer's own snapshots are its own"
    ours = [summary for summary in summaries if summary.get("app-name")]
    assert all(LETTING_WRITERS_WIN.items() <= summary.items() for summary in ours)
    assert [summary[JOBS_MARK] for summary in ours] == ["yielding-files", "yielding-manifests"]
