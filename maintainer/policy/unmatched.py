"""Patterns of policies that select no table, such as a mistyped name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice

from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem
from maintainer.policy.layering import LayerIndex

MAX_UNMATCHED = 100  # in one check; more would not help
_WILDCARDS = "*?["


def find_unmatched(
    layers: Collection[PolicyLayer],
    tables: Collection[TableIdentifier],
    catalogs: Collection[str],
    listed: Collection[str],
) -> tuple[PolicyProblem, ...]:
    """A problem for each name, and a note for each glob, that selects none of the tables.

    catalogs are those of the configuration, and listed those whose tables are all known: nothing
    is said of a catalog that was never listed.
    """
    single = [replace(layer, tables=(pattern,)) for layer in layers for pattern in layer.tables]
    index = LayerIndex(single)
    names = [str(table) for table in tables]
    matched = {number for name in names for number in index.find(name)}
    found = (
        problem
        for number, layer in enumerate(single)
        if number not in matched
        for problem in _describe(layer, names, catalogs, listed)
    )
    return tuple(islice(found, MAX_UNMATCHED))


def _describe(
    layer: PolicyLayer, names: list[str], catalogs: Collection[str], listed: Collection[str]
) -> Iterator[PolicyProblem]:
    pattern = layer.tables[0]
    catalog = _find_catalog(pattern)
    if catalog is not None and catalog not in catalogs:
        sentence = (
            f"tables has {pattern.text!r}, and no catalog {catalog!r} is configured (there is "
            f"{', '.join(sorted(catalogs))})"
        )
        yield PolicyProblem(layer.name, sentence, is_note=not pattern.is_exact)
    elif set(catalogs if catalog is None else {catalog}) <= set(listed):
        near = get_close_matches(pattern.text, names, n=1) if pattern.is_exact else []
        asked = f"; did you mean {near[0]}?" if near else ""
        sentence = f"tables has {pattern.text!r}, which matches no table{asked}"
        yield PolicyProblem(layer.name, sentence, is_note=not pattern.is_exact)


def _find_catalog(pattern: TablePattern) -> str | None:
    """The catalog that each selected table has; None if a wildcard leaves it open."""
    first, dot, _ = pattern.text.partition(".")
    is_open = not dot or any(character in first for character in _WILDCARDS)
    return None if is_open else first.strip("`")
