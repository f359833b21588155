from __future__ import annotations

import pytest

from maintainer.adapters.spark import driver
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.marks import LETTING_WRITERS_WIN, PREFIX, mark_settings
from maintainer.domain.action import RewriteManifests
from tests.adapters.spark.lakes import Lake, job_on, outcome_of

SQL, REST, BY_ADDRESS = {"type": "sql", "uri": "sqlite:///x.db"}, {"type": "rest", "uri": "https://a"}, {"uri": "https://a"}


def test_where_there_is_a_rest_catalog_our_snapshots_let_writers_win() -> None:
    assert mark_settings([SQL, REST], let_writers_win=None) == {f"{PREFIX}{key}": value for key, value in LETTING_WRITERS_WIN.items()}
    assert mark_settings([BY_ADDRESS], let_writers_win=None)
    assert mark_settings([SQL], let_writers_win=None) == {}
    assert mark_settings([], let_writers_win=None) == {}


def test_the_operator_has_the_last_word_on_that() -> None:
    assert mark_settings([REST], let_writers_win=False) == {}
    assert mark_settings([SQL], let_writers_win=True)


def test_the_driver_knows_the_same_prefix() -> None:
    assert driver._SUMMARY == PREFIX


@pytest.mark.spark
@pytest.mark.slow
def test_guard_16_every_snapshot_of_ours_tells_the_catalog_that_a_writer_may_undo_it(warm: LocalRunner, lake: Lake) -> None:
    table = lake.create("yielding", files=6)
    for job in (job_on(table, "yielding-files"), job_on(table, "yielding-manifests", RewriteManifests(0))):
        warm.submit(job)
        assert outcome_of(warm, job).kind == "finished"
    summaries = lake.summaries(table)
    assert "lakekeeper.rollbackable" not in summaries[0], "the writer's own snapshots are its own"
    ours = [summary for summary in summaries if summary.get("app-name")]
    assert ours
    assert all(LETTING_WRITERS_WIN.items() <= summary.items() for summary in ours)
