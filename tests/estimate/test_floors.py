"""What Spark would refuse is refused at the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.inventory import PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.estimate.floors import Refusal
from tests.chapters import refuse
from tests.samples import health_of_partitions

TABLE = replace(
    health_of_partitions({"a": [1000] * 60}), specs=(PartitionSpec(0, ()), PartitionSpec(3, ()))
)


def rule_with(**options: str) -> RewriteDataFilesRule:
    written = {name.replace("_", "-"): value for name, value in options.items()}
    return RewriteDataFilesRule(options=tuple(written.items()))


def test_a_partition_spec_that_the_table_lacks_is_refused() -> None:
    assert refuse(rule_with(output_spec_id="7"), TABLE) == Refusal(
        SkipCode.UNSUPPORTED,
        "output-spec-id is 7, and the table has no such partition spec; it has 0, 3",
    )


@pytest.mark.parametrize("rule", [rule_with(output_spec_id="3"), rule_with()])
def test_a_partition_spec_of_the_table_is_not(rule: RewriteDataFilesRule) -> None:
    assert refuse(rule, TABLE) is None


def test_without_known_specs_spark_decides() -> None:
    assert refuse(rule_with(output_spec_id="7"), replace(TABLE, specs=())) is None
