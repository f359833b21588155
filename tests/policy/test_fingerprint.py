from __future__ import annotations

from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.policy.versions import Bases

ORDERS, EVENTS = (
    TableIdentifier("lake", ("sales",), "orders"),
    TableIdentifier("lake", ("web",), "events"),
)


def layer(text: str, name: str = "all.yaml") -> PolicyLayer:
    parsed = parse_policy(text, name)
    assert isinstance(parsed, PolicyLayer), parsed
    return parsed


def basis(table: TableIdentifier, *layers: PolicyLayer, program: str = "1") -> str:
    return Bases(PolicySet(layers), program).of(table)


def test_it_is_the_same_for_the_same_policies_also_when_they_are_read_again() -> None:
    text = (
        "tables: '*'\ntarget_file_size: 64MiB\nrules: {rewrite_data_files: {when: "
        "{average_file_size_below: 8MiB}}}"
    )
    bases = Bases(PolicySet((layer(text),)), "1")
    assert bases.of(ORDERS) == bases.of(EVENTS) == basis(ORDERS, layer("\n\n" + text))


def test_a_changed_value_changes_it_for_the_tables_that_it_is_for() -> None:
    wide, before, after = (
        layer("tables: '*'\npriority: 1", "wide.yaml"),
        layer("tables: lake.web.*\ntarget_file_size: 1MiB"),
        layer("tables: lake.web.*"),
    )
    assert basis(EVENTS, wide, before) != basis(EVENTS, wide, after)
    assert basis(ORDERS, wide, before) == basis(ORDERS, wide, after) == basis(ORDERS, wide)


def test_another_name_of_the_table_and_its_policies_change_it() -> None:
    own, other = layer("tables: lake.sales.*"), layer("tables: lake.web.*\nowner: true")
    both = {ORDERS: (EVENTS, ORDERS), EVENTS: (EVENTS, ORDERS)}
    alone, shared = Bases(PolicySet((own,)), "1"), Bases(PolicySet((own,)), "1", both)
    assert alone.of(ORDERS) != shared.of(ORDERS)
    assert shared.of(ORDERS) != Bases(PolicySet((own, other)), "1", both).of(ORDERS)


def test_another_version_of_the_program_changes_it() -> None:
    assert basis(ORDERS, program="1") != basis(ORDERS, program="2")


def test_an_exact_name_speaks_for_its_table_alone() -> None:
    exact = layer("tables: [lake.sales.orders, lake.web.nothing]")
    assert basis(ORDERS, exact) != basis(ORDERS)
    assert basis(EVENTS, exact) == basis(EVENTS)
