"""What Spark would refuse is refused at the plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.inventory import PartitionSpec
from maintainer.domain.plan import SkipCode
from maintainer.domain.rules import RewriteDataFilesRule, RewritePositionDeleteFilesRule
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


COLUMNS = ((("id",), "long"), (("name",), "string"))


@pytest.mark.parametrize("kind", [RewriteDataFilesRule, RewritePositionDeleteFilesRule])
def test_a_condition_that_does_not_fit_the_columns_is_refused_with_its_place(
    kind: type[RewriteDataFilesRule | RewritePositionDeleteFilesRule],
) -> None:
    table = replace(TABLE, column_types=COLUMNS)
    assert refuse(kind(where="id > 7 AND name = 5"), table) == Refusal(
        SkipCode.UNSUPPORTED,
        "where compares the column name at character 12, which is a string, with a number; Iceberg "
        "has no filter for that",
    )
    refusal = refuse(kind(where="nmae = 'a'"), table)
    assert refusal is not None
    assert refusal.reason == (
        "where names the column nmae at character 1, which the table does not have"
    )
    assert refuse(kind(where="id > 7 AND name = 'a'"), table) is None


def test_without_known_columns_spark_decides() -> None:
    assert refuse(RewriteDataFilesRule(where="nothing = 5"), TABLE) is None


@pytest.mark.parametrize("order", ["name", "ID desc, Name NULLS LAST", "zorder(id, `name`)"])
def test_a_sort_order_of_the_tables_columns_is_not_refused(order: str) -> None:
    rule = RewriteDataFilesRule(strategy="sort", sort_order=order)
    assert refuse(rule, replace(TABLE, column_types=COLUMNS)) is None


@pytest.mark.parametrize("order", ["nmae", "id, bucket(4, nmae)", "zorder(id, NMAE)"])
def test_a_sort_order_that_names_no_column_of_the_table_is_refused(order: str) -> None:
    rule = RewriteDataFilesRule(strategy="sort", sort_order=order)
    assert refuse(rule, replace(TABLE, column_types=COLUMNS)) == Refusal(
        SkipCode.UNSUPPORTED, "sort_order names the column nmae, which the table does not have"
    )
    assert refuse(rule, replace(TABLE, column_types=None)) is None, "Spark decides"
