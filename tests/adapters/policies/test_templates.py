"""A template may name only what is filled in."""

from __future__ import annotations

import pytest

from maintainer.adapters.policies.texts import find_unknown_names


@pytest.mark.parametrize(
    ("template", "unknown"),
    [
        ("$table ${job} $$", ()),
        ("$tabel $jobs", ("jobs", "tabel")),
        ("costs 5 $", ("$",)),
        ("$", ("$",)),
        ("$$", ()),
    ],
)
def test_names_that_are_not_filled_in_are_found(template: str, unknown: tuple[str, ...]) -> None:
    assert find_unknown_names(template, {"table", "job"}) == unknown
