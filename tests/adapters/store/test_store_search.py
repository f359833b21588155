from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store
from maintainer.ports.store.tables import TableQuery
from tests.adapters.store.values import make_grade, make_health
from tests.examples import examples
from tests.fakes.adapters.store import FakeStore

# Few characters, so that names share parts; and those at which bytes and cases change.
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


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
        HealthCheck.too_slow,
    ],
)
@given(data=st.data())
def test_a_search_finds_the_same_tables_as_the_store_in_memory(
    store: Store, data: st.DataObject
) -> None:
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
