"""A table that is too large for one job and written to meanwhile, worked off by real Spark as the
daemon would decide it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import Mode, Others, Policy
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.procedures.registry import call_statement
from tests.conformance.shapes import TARGET_PROPERTIES
from tests.conformance.tables import KIB, Batch, File, Lake, Layout

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("conformance"),
    pytest.mark.timeout(600),
]

COLD, HOT = ("number=1", "number=2"), "number=3"
ROWS = 3 * 6 * 10


def partitioned(lake: Lake) -> TableIdentifier:
    """Six small files in each of three partitions, the last of which was written to after the
    others.
    """
    cold = [File(15 * KIB, {"number": number}) for number in (1, 2) for _ in range(6)]
    hot = [File(15 * KIB, {"number": 3}) for _ in range(6)]
    return lake.make(
        "slices",
        Layout([Batch(cold), Batch(hot)], [("number", "identity")], properties=TARGET_PROPERTIES),
    )


def files_of(health: TableHealth) -> dict[str, int]:
    return {partition.partition: partition.data_files for partition in health.partitions}


def carry_out(lake: Lake, table: TableIdentifier, plan: Plan) -> TableHealth:
    """What the plan wants, done by Spark exactly as it was predicted; the table as it is then."""
    (planned,) = plan.planned
    done = lake.session.sql(call_statement(table, planned.action))[0]
    assert (
        (int(done["rewritten_data_files_count"]), int(done["added_data_files_count"]))
        == (planned.estimate.items_before, planned.estimate.items_after)
        == (6, 1)
    )
    return lake.read(table)


def test_a_hot_table_is_worked_off_slice_by_slice_until_nothing_is_left(lake: Lake) -> None:
    table = partitioned(lake)
    health = lake.read(table)
    written = {partition.partition: partition.written_at for partition in health.partitions}
    hot_at, cold_at = written[HOT], written[COLD[0]]
    assert isinstance(hot_at, datetime)
    assert isinstance(cold_at, datetime)
    assert cold_at < hot_at
    age = hot_at - cold_at  # as long as the hot one is younger than this, it alone is hot
    rule = RewriteDataFilesRule(
        when=(Threshold(Metric.SMALL_FILE_COUNT, 1.0),),
        cooldown=timedelta(0),
        hot_partition_age=age,
        max_bytes_per_job=100 * KIB,  # one partition has about 90
    )
    policy = Policy(mode=Mode.ENFORCE, rules=(rule,), others=Others.IGNORE)

    def decide_at(now: datetime) -> Plan:
        return decide(lake.read(table), policy, Circumstances(now))

    while_hot, after = hot_at + age / 2, hot_at + 2 * age
    for number, partition in enumerate(COLD, 1):
        plan = decide_at(while_hot)
        assert "1 partition left out" in plan.planned[0].reason
        assert ("1 partition in later jobs" in plan.planned[0].reason) is (number == 1)
        health = carry_out(lake, table, plan)
        assert files_of(health)[HOT] == 6, "the hot partition was touched"
        assert sorted(files_of(health).values()) == ([1, 6, 6] if number == 1 else [1, 1, 6]), (
            partition
        )

    (held,) = decide_at(while_hot).skipped
    assert (held.code, held.next_at) == (SkipCode.HOT_PARTITION, hot_at + age)
    assert held.next_at is not None
    health = carry_out(lake, table, decide_at(after))
    assert files_of(health) == {**dict.fromkeys(COLD, 1), HOT: 1}

    rest = decide(health, replace(policy, rules=(replace(rule, when=()),)), Circumstances(after))
    assert [skipped.code for skipped in rest.skipped] == [SkipCode.NOTHING_TO_GAIN]
    assert health.records == ROWS
    (counted,) = lake.session.sql(
        f"SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM {table}"
    )
    assert (counted["rows"], counted["ids"]) == (ROWS, ROWS)
