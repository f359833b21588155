from __future__ import annotations

from pathlib import Path
from re import MULTILINE, search

import pytest

from maintainer.decide.grading.findings import (
    AVERAGE_FILE_SIZE_BOUNDS,
    DANGLING_DELETE_BOUNDS,
    DELETE_FILE_COUNT_BOUNDS,
    DELETE_RATIO_BOUNDS,
    MANIFEST_COUNT_BOUNDS,
    SMALL_FILE_RATIO_BOUNDS,
    SNAPSHOT_COUNT_BOUNDS,
)
from maintainer.domain.health import Band
from maintainer.domain.units import format_size

PAGE = (Path(__file__).parents[3] / "docs" / "why.md").read_text(encoding="utf-8")


def write(bound: float, figure: str) -> str:
    if figure.startswith("average file size"):
        return format_size(bound)
    return f"{bound * 100:.0f} %" if bound < 1 else f"{bound:.0f}"


@pytest.mark.parametrize(
    ("figure", "bounds"),
    [
        ("average file size", AVERAGE_FILE_SIZE_BOUNDS),
        ("share of small files", SMALL_FILE_RATIO_BOUNDS),
        ("manifests of one partition spec", MANIFEST_COUNT_BOUNDS),
        ("snapshots", SNAPSHOT_COUNT_BOUNDS),
        ("position delete files", DELETE_FILE_COUNT_BOUNDS),
        ("dangling position delete files", DANGLING_DELETE_BOUNDS),
        ("deletes to records", DELETE_RATIO_BOUNDS),
    ],
)
def test_the_page_names_the_bounds_that_are_in_force(
    figure: str, bounds: tuple[tuple[Band, float], ...]
) -> None:
    row = search(rf"^\| {figure}[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, MULTILINE)
    assert row is not None
    reported = dict(
        zip(
            (Band.WATCH, Band.DEGRADED, Band.CRITICAL),
            (cell.strip() for cell in row.groups()),
            strict=True,
        )
    )
    assert {band: text for band, text in reported.items() if text} == {
        band: write(bound, figure) for band, bound in bounds
    }
