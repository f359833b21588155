from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from re import MULTILINE, findall

from maintainer.domain.health import TableHealth

PAGE = Path(__file__).parents[2] / "docs" / "health.md"


def test_the_page_describes_every_field_of_health_in_order_with_unit_and_source() -> None:
    rows = findall(
        r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$",
        PAGE.read_text(encoding="utf-8"),
        MULTILINE,
    )
    assert [name for name, *_ in rows] == [field.name for field in fields(TableHealth)]
    assert all(cell.strip() for row in rows for cell in row)
