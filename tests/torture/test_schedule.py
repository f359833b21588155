from __future__ import annotations

import pytest

from tests.torture.ledger import Operation, Told
from tests.torture.rows import Row
from tests.torture.schedule import TABLES, USUAL_TROUBLES, Engine, Kind, make_scripts, make_troubles
from tests.torture.writers import write_statement


def carry_out(seed: int, count: int = 30) -> list[Operation]:
    """What every writer would do if all of it were committed."""
    done: list[Operation] = []
    for script in make_scripts(seed, "x", "torture", commits_per_second=1):
        own: dict[int, Row] = {}
        for _ in range(count):
            operation = script.next(own)
            for sequence in operation.drop:
                del own[sequence]
            own.update({row.sequence: row for row in operation.put})
            done.append(operation)
    return done


def test_the_same_seed_gives_the_same_operations_and_another_seed_others() -> None:
    assert carry_out(1) == carry_out(1)
    assert carry_out(1) != carry_out(2)


def test_a_writer_touches_rows_of_its_own_alone_and_never_takes_a_number_twice() -> None:
    operations = carry_out(3)
    assert {
        row.writer
        for operation in operations
        for row in operation.put
        if row.writer != operation.writer
    } == set()
    new = [
        (row.writer, row.sequence)
        for operation in operations
        for row in operation.put
        if row.version == 0
    ]
    assert len(new) == len(set(new))
    assert all(operation.told is Told.INTENDED for operation in operations)


def test_every_kind_of_writer_and_of_table_is_there() -> None:
    writers = [writer for table in TABLES for writer in table.writers]
    assert {writer.kind for writer in writers} == set(Kind)
    assert all(len(table.writers) == 3 for table in TABLES)
    assert {(table.format_version, table.is_partitioned) for table in TABLES} == {
        (2, True),
        (2, False),
        (3, True),
        (3, False),
    }
    by_pyiceberg = [
        table.format_version
        for table in TABLES
        for writer in table.writers
        if writer.engine is Engine.PYICEBERG
    ]
    assert set(by_pyiceberg) == {2}, "PyIceberg cannot write to format version 3"


def test_every_kind_of_operation_is_done() -> None:
    operations = carry_out(1)
    assert {operation.kind for operation in operations} == {kind.value for kind in Kind}
    assert any(
        operation.kind == "merge"
        and operation.drop
        and {row.version for row in operation.put} > {0, 1}
        for operation in operations
    )


@pytest.mark.parametrize("minutes", [1.5, 5, 30])
def test_every_kind_of_trouble_comes_and_all_is_over_at_the_end(minutes: float) -> None:
    planned = make_troubles(1, minutes * 60)
    assert {plan.trouble for plan in planned} == set(USUAL_TROUBLES)
    assert [plan.at for plan in planned] == sorted(plan.at for plan in planned)
    assert max(plan.at + plan.seconds for plan in planned) < minutes * 60
    assert make_troubles(1, minutes * 60) == planned
    assert make_troubles(2, minutes * 60) != planned


def test_a_merge_changes_deletes_and_inserts_in_one_statement() -> None:
    statement = write_statement(
        Operation("t", "torture.orders", "orders-b", "merge", (Row("orders-b", 1, 4, "p2"),), (2,))
    )
    assert statement.startswith(
        "MERGE INTO lake.torture.orders AS target USING (SELECT * FROM VALUES ('p2', 'orders-b', "
        "1L, 4L, '"
    )
    assert "('', 'orders-b', 2L, -1L, '" in statement
    assert write_statement(Operation("t", "torture.orders", "orders-c", "delete", (), (2, 5))) == (
        "DELETE FROM lake.torture.orders WHERE writer = 'orders-c' AND sequence IN (2, 5) "
        "AND length(payload) > 0"
    )
