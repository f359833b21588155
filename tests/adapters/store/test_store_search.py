from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from maintainer.adapters.store import name_parts, open_store
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.name_parts import (
    CANDIDATES_AT_MOST,
    PART_CHARACTERS,
    find_candidates,
    split_name,
)
from maintainer.adapters.store.schema import name_parts as parts_table
from maintainer.adapters.store.schema import searched_names
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store, TableQuery
from tests.adapters.store.values import NOW, ORDERS, make_grade, make_health
from tests.fakes.adapters.store import FakeStore

# Few characters, so that names share parts; and those at which bytes, cases and ranges of code
# points change.
LETTERS = st.text(
    st.sampled_from("aAbB.%_'\\`ßİſ\ud7ff\ue000\uffff\U0010ffff 😀"), min_size=1, max_size=24
)
TABLES = st.builds(
    TableIdentifier, st.just("lake"), st.lists(LETTERS, min_size=1, max_size=2).map(tuple), LETTERS
)


def record(store: Store, table: TableIdentifier, band: Band = Band.WATCH) -> None:
    store.record_health(make_health(table, f"uuid-of-{table}"), make_grade(band))


def found(store: Store, query: TableQuery) -> tuple[list[TableIdentifier], set[tuple[int, bool]]]:
    """The tables of all pages, and what the pages say about how many there are."""
    tables: list[TableIdentifier] = []
    totals: set[tuple[int, bool]] = set()
    while True:
        page = store.tables(query)
        tables += [item.table for item in page.items]
        totals.add((page.total, page.total_is_exact))
        if page.next_cursor is None:
            return tables, totals
        query = replace(query, cursor=page.next_cursor)


@pytest.mark.parametrize("most", [2, CANDIDATES_AT_MOST])
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
        HealthCheck.too_slow,
    ],
)
@given(data=st.data())
def test_a_search_finds_what_a_look_at_every_name_finds(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, data: st.DataObject
) -> None:
    monkeypatch.setattr(name_parts, "CANDIDATES_AT_MOST", most)
    tables = data.draw(st.lists(TABLES, min_size=1, max_size=8, unique_by=str))
    fake = FakeStore()
    store.forget_tables_except("lake", tables[:4])
    for number, table in enumerate(tables):
        for each in (store, fake):
            record(each, table, list(Band)[number % 2])
    for _ in range(6):
        name = str(data.draw(st.sampled_from(tables)))
        start = data.draw(st.integers(0, len(name) - 1))
        text = data.draw(
            st.one_of(st.just(name[start : data.draw(st.integers(start + 1, len(name)))]), LETTERS)
        )
        band = data.draw(st.sampled_from([None, Band.HEALTHY]))
        query = TableQuery(
            text.swapcase(),
            band=band,
            sort=data.draw(st.sampled_from(["name", "data_files"])),
            descending=data.draw(st.booleans()),
            limit=3,
        )
        assert found(store, query) == found(fake, query), query


@pytest.fixture
def database(store_url: str) -> Iterator[tuple[Store, Database]]:
    store, database = open_store(store_url), Database(store_url)
    yield store, database
    store.close()
    database.close()


def count_parts(database: Database) -> tuple[int, int]:
    with database.read() as connection:
        parts, names = (
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (parts_table, searched_names)
        )
    return parts, names


def test_of_a_text_whose_every_part_is_frequent_those_names_are_read_that_have_all_parts(
    database: tuple[Store, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_parts, "CANDIDATES_AT_MOST", 3)
    store, reader = database
    for number in range(64):
        region, kind, day = number // 16, number // 4 % 4, number % 4
        record(
            store,
            TableIdentifier(
                "lake",
                ("sales",),
                f"region{region}{region}{region}_kinds{kind}{kind}{kind}_202401{day}{day}",
            ),
        )
    whole = "region111_kinds222_20240133"
    with reader.read() as connection:
        assert all(
            find_candidates(connection, part) is None
            for part in ("region11", "kinds222", "_2024013")
        ), "each is in sixteen"
        assert find_candidates(connection, whole) == [f"lake.sales.{whole}"]
        assert find_candidates(connection, "region111_kinds222_20240155") == []
        assert find_candidates(connection, "region111_kind") is None, "which are sixteen themselves"
        monkeypatch.setattr(name_parts, "COMPARED_AT_MOST", 15)
        assert find_candidates(connection, whole) is None
    assert store.tables(TableQuery(whole)).total == 1


def test_of_a_long_text_a_part_decides_that_few_names_have(
    database: tuple[Store, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_parts, "CANDIDATES_AT_MOST", 3)
    store, reader = database
    for number in range(10):
        record(
            store,
            TableIdentifier("lake", ("sales",), f"shared_beginning_{number:02}_shared_ending"),
        )
    with reader.read() as connection:
        assert find_candidates(connection, "shared_beginning_07_shared_ending") == [
            "lake.sales.shared_beginning_07_shared_ending"
        ]
        assert find_candidates(connection, "beginning_") is None
        assert find_candidates(connection, "sha") is None
        assert find_candidates(connection, "shares") == []

    assert store.tables(TableQuery("beginning_07_share")).total == 1
    assert store.tables(TableQuery("beginning_")).total == 10


@pytest.mark.parametrize("swept_above", [0, name_parts.SWEPT_ABOVE])
def test_what_is_forgotten_leaves_no_parts_behind_and_what_is_measured_again_adds_none(
    database: tuple[Store, Database], monkeypatch: pytest.MonkeyPatch, swept_above: int
) -> None:
    monkeypatch.setattr(name_parts, "SWEPT_ABOVE", swept_above)
    store, reader = database
    kept, gone, long = (
        TableIdentifier("lake", ("sales",), name)
        for name in ("kept", "gone", "".join(map(str, range(500))))
    )
    record(store, kept)
    before = count_parts(reader)
    assert before == (len("lake.sales.kept"), 1)
    record(store, gone)
    record(store, long)
    assert count_parts(reader)[0] > MAX_SQL_VARIABLES
    record(store, kept)
    assert store.tables(TableQuery("gone")).total == 1

    store.forget_tables_except("lake", [kept])
    assert count_parts(reader) == before
    record(store, gone)
    assert [table.name for table in found(store, TableQuery("GONE"))[0]] == ["gone"]


def test_names_that_an_earlier_version_wrote_beside_this_one_are_found_after_an_upkeep(
    database: tuple[Store, Database],
) -> None:
    store, reader = database
    record(store, ORDERS)
    whole = count_parts(reader)
    with reader.write() as connection:
        connection.execute(delete(parts_table))
        connection.execute(delete(searched_names))
    assert store.tables(TableQuery("orders")).total == 0

    assert store.prune(NOW, NOW)["mended"] == 1
    assert count_parts(reader) == whole
    assert store.tables(TableQuery("orders")).total == 1
    assert store.prune(NOW, NOW)["mended"] == 0


def test_parts_begin_at_every_character_and_are_cut() -> None:
    assert split_name("abcdefghij") == [
        "abcdefgh",
        "bcdefghi",
        "cdefghij",
        "defghij",
        "efghij",
        "fghij",
        "ghij",
        "hij",
        "ij",
        "j",
    ]
    assert split_name("aaa") == ["aaa", "aa", "a"]
    assert split_name("a" * 20)[0] == "a" * PART_CHARACTERS
    assert len(split_name("a" * 20)) == PART_CHARACTERS
