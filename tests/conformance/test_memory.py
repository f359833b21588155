"""A rewrite that is narrowed for the memory of its equality deletes, on a table with real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB
from maintainer.procedures.registry import call_statement
from maintainer.procedures.rewrite_data_files.limits import (
    GROUPS_AT_ONCE,
    USABLE_SHARE,
    weigh_deletes,
)
from tests.conformance.tables import Batch, Deletes, File, Lake, Layout

LAYOUT = Layout(
    [Batch([File() for _ in range(8)])],
    deletes=[Deletes("equality", range(8)), Deletes("equality", [0, 1], rows=6)],
)
POLICY = Policy(mode=Mode.ENFORCE, rules=(RewriteDataFilesRule(),))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("conformance")
@pytest.mark.timeout(600)
def test_guard_18_equality_deletes_are_weighed_and_the_narrowed_rewrite_applies_them_all(
    lake: Lake,
) -> None:
    table = lake.make("memory", LAYOUT)
    health = lake.read(table)
    (partition,) = health.partitions
    assert (partition.equality_delete_records, health.equality_delete_files) == (8 * 5 + 2 * 6, 2)
    needed = weigh_deletes(health)[partition.spec_id, partition.partition] / USABLE_SHARE / GIB
    now = datetime.now(UTC) + timedelta(hours=1)  # nobody has changed its rows for a while
    (refused,) = decide(
        health, POLICY, Circumstances(now, memory_gb=needed * 0.99, tasks_at_once=2)
    ).skipped
    assert refused.code is SkipCode.UNSAFE
    (planned,) = decide(
        health, POLICY, Circumstances(now, memory_gb=needed * 1.01, tasks_at_once=2)
    ).planned
    assert isinstance(planned.action, RewriteDataFiles)
    assert dict(planned.action.options)[GROUPS_AT_ONCE] == "1"
    done = lake.session.sql(call_statement(table, planned.action))[0]
    assert (done["rewritten_data_files_count"], done["added_data_files_count"]) == (
        planned.estimate.items_before,
        planned.estimate.items_after,
    )
    rows = lake.session.sql(f"SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM {table}")[0]
    assert rows == {"rows": 80 - 42, "ids": 80 - 42}, (
        "five of the ten rows of each file are gone, six of two files"
    )
