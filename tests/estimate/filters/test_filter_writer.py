from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.inventory import PartitionField, PartitionSpec, escape
from maintainer.estimate.filters.filter_writer import MAX_WHERE_CHARACTERS, write_where


def spec_of(transform: str, type_name: str, *column: str) -> PartitionSpec:
    return PartitionSpec(0, (PartitionField("f", transform, column or ("c",), type_name),))


def where(transform: str, type_name: str, value: str) -> str | None:
    return write_where("lake", [(0, f"f={value}")], [spec_of(transform, type_name)])


@pytest.mark.parametrize(
    ("transform", "type_name", "value", "expected"),
    [
        ("identity", "string", "a", "(`c` = 'a')"),
        ("identity", "string", "", "(`c` = '')"),
        ("identity", "string", "%6Eull", "(`c` = 'null')"),
        (
            "identity",
            "uuid",
            "5c1e7d3a-0000-4000-8000-000000000001",
            "(`c` = '5c1e7d3a-0000-4000-8000-000000000001')",
        ),
        ("identity", "string", "null", "(`c` IS NULL)"),
        ("bucket[4]", "string", "null", "(`c` IS NULL)"),
        ("day", "timestamp", "null", "(`c` IS NULL)"),
        ("identity", "boolean", "true", "(`c` = true)"),
        ("identity", "int", "-7", "(`c` = -7)"),
        ("identity", "long", "2147483648", "(`c` = CAST('2147483648' AS BIGINT))"),
        ("identity", "double", "0.1", "(`c` = CAST('0.1' AS DOUBLE))"),
        ("identity", "double", "inf", "(`c` = CAST('Infinity' AS DOUBLE))"),
        ("identity", "float", "nan", "(`c` = CAST('nan' AS FLOAT))"),
        ("identity", "decimal(9, 2)", "1.50", "(`c` = CAST('1.50' AS DECIMAL(9, 2)))"),
        ("identity", "date", "2026-01-31", "(`c` = DATE '2026-01-31')"),
        (
            "identity",
            "timestamp",
            "2026-01-31T05:00:00",
            "(`c` = TIMESTAMP_NTZ '2026-01-31 05:00:00')",
        ),
        (
            "identity",
            "timestamptz",
            "2026-01-31T05:00:00.000001+00:00",
            "(`c` = TIMESTAMP '2026-01-31 05:00:00.000001 UTC')",
        ),
        ("identity", "binary", "ACc%3D", "(`c` = X'0027')"),
        ("identity", "fixed[2]", "ACc%3D", "(`c` = X'0027')"),
        ("bucket[16]", "string", "3", "(`lake`.system.bucket(16, `c`) = 3)"),
        ("truncate[2]", "string", "ab", "(`lake`.system.truncate(2, `c`) = 'ab')"),
        ("truncate[10]", "int", "-10", "(`lake`.system.truncate(10, `c`) = -10)"),
        (
            "year",
            "timestamp",
            "2026",
            (
                "(`c` >= TIMESTAMP_NTZ '2026-01-01 00:00:00' AND `c` < TIMESTAMP_NTZ '2027-01-01 "
                "00:00:00')"
            ),
        ),
        ("month", "date", "2026-12", "(`c` >= DATE '2026-12-01' AND `c` < DATE '2027-01-01')"),
        (
            "month",
            "timestamptz",
            "2026-02",
            (
                "(`c` >= TIMESTAMP '2026-02-01 00:00:00 UTC' AND `c` < TIMESTAMP '2026-03-01 "
                "00:00:00 UTC')"
            ),
        ),
        (
            "day",
            "timestamptz",
            "2026-02-28",
            (
                "(`c` >= TIMESTAMP '2026-02-28 00:00:00 UTC' AND `c` < TIMESTAMP '2026-03-01 "
                "00:00:00 UTC')"
            ),
        ),
        ("day", "date", "1969-12-31", "(`c` >= DATE '1969-12-31' AND `c` < DATE '1970-01-01')"),
        (
            "hour",
            "timestamp",
            "2026-01-31-05",
            (
                "(`c` >= TIMESTAMP_NTZ '2026-01-31 05:00:00' AND `c` < TIMESTAMP_NTZ '2026-01-31 "
                "06:00:00')"
            ),
        ),
        (
            "hour",
            "timestamptz",
            "2026-12-31-23",
            (
                "(`c` >= TIMESTAMP '2026-12-31 23:00:00 UTC' AND `c` < TIMESTAMP '2027-01-01 "
                "00:00:00 UTC')"
            ),
        ),
    ],
)
def test_each_transform_has_its_condition(
    transform: str, type_name: str, value: str, expected: str
) -> None:
    assert where(transform, type_name, value) == expected


@pytest.mark.parametrize(
    ("transform", "type_name", "value"),
    [
        ("identity", "boolean", "yes"),
        ("identity", "int", "1 OR 1=1"),
        ("identity", "long", "1.5"),
        ("identity", "double", "x"),
        ("identity", "decimal(9, 2)", "1) OR (1"),
        ("identity", "date", "20484"),
        ("identity", "timestamp", "2026-01-31T05:00:00+00:00"),
        ("identity", "timestamptz", "2026-01-31T05:00:00"),
        ("identity", "timestamp", "1769835600000000"),
        ("identity", "binary", "A"),
        ("identity", "time", "05:00:00"),
        ("identity", "timestamp_ns", "2026-01-31T05:00:00"),
        ("bucket[4]", "string", "x"),
        ("truncate[2]", "timestamp", "x"),
        ("truncate[2", "string", "x"),
        ("zorder", "string", "x"),
        ("year", "timestamp", "9999"),
        ("year", "long", "2026"),
        ("month", "date", "2026-13"),
        ("day", "timestamp", "-1-01-01"),
        ("day", "timestamp_ns", "2026-01-01"),
    ],
)
def test_what_cannot_be_written_is_not(transform: str, type_name: str, value: str) -> None:
    assert where(transform, type_name, value) is None


def test_fields_must_all_hold_and_any_partition_may() -> None:
    fields = (
        PartitionField("a", "identity", ("a",), "int"),
        PartitionField("gone", "void"),
        PartitionField("b", "identity", ("s", "b"), "string"),
    )
    found = write_where(
        "lake", [(0, "a=1/b=x"), (0, "a=null/b=y"), (0, "a=1/b=x")], [PartitionSpec(0, fields)]
    )
    assert found == "(`a` = 1 AND `s`.`b` = 'x') OR (`a` IS NULL AND `s`.`b` = 'y')"


def test_partitions_of_old_specs_are_written_by_their_own() -> None:
    day, month = (
        PartitionSpec(0, (PartitionField("d", "day", ("c",), "date"),)),
        PartitionSpec(1, (PartitionField("m", "month", ("c",), "date"),)),
    )
    found = write_where("lake", [(0, "d=2026-01-31"), (1, "m=2026-02")], [day, month])
    assert found == (
        "(`c` >= DATE '2026-01-31' AND `c` < DATE '2026-02-01') OR (`c` >= DATE '2026-02-01' "
        "AND `c` < DATE '2026-03-01')"
    )


def test_nothing_is_written_for_no_partition_an_unknown_spec_or_a_column_that_is_gone() -> None:
    assert write_where("lake", [], []) is None
    assert write_where("lake", [(0, "f=1")], []) is None
    assert write_where("lake", [(0, "")], [PartitionSpec(0, ())]) is None
    assert write_where("lake", [(0, "g=1")], [spec_of("identity", "int")]) is None
    assert (
        write_where(
            "lake", [(0, "f=1")], [PartitionSpec(0, (PartitionField("f", "identity", (), "int"),))]
        )
        is None
    )
    assert write_where("lake", [(0, "f=1"), (0, "f=x")], [spec_of("identity", "int")]) is None


def test_a_filter_that_is_too_long_for_a_statement_is_none() -> None:
    spec = spec_of("identity", "string")
    assert write_where("lake", [(0, "f=" + "x" * MAX_WHERE_CHARACTERS)], [spec]) is None
    assert write_where("lake", [(0, "f=" + "x" * 100)], [spec]) is not None


@given(st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_names_and_values_never_leave_their_quotes(column: str, value: str) -> None:
    """Take out quoted names and literals: of strangers' text nothing is left."""
    written = write_where(
        "lake", [(0, f"f={escape(value)}")], [spec_of("identity", "string", column)]
    )
    assert written is not None
    rest = written.removeprefix("(`" + column.replace("`", "``") + "` = ").removesuffix(")")
    assert (rest[0], rest[-1]) == ("'", "'")
    assert "$" not in rest
    inner = rest[1:-1]
    assert "'" not in inner.replace("\\\\", "").replace("\\'", "")
