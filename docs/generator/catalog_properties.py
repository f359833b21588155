"""Writes the table of docs/catalogs.md: python -m docs.generator.catalog_properties."""

from __future__ import annotations

import sys
from pathlib import Path

from maintainer.adapters.spark.catalogs.properties import ROWS, Row, Use

PAGE = Path(__file__).parents[1] / "catalogs.md"
_BEGIN = "<!-- Generated from maintainer/adapters/spark/catalogs by `make generate`. -->\n"
_END = "<!-- End of the generated part. -->\n"
_USES = {
    Use.DAEMON: "(for the daemon only)",
    Use.TRUSTED: "Java's trust store",
    Use.MISSING: "**none**",
}


def write_section() -> str:
    """Return the generated section, its marks included."""
    rows = "".join(_write(row) for row in ROWS)
    return (
        f"{_BEGIN}\n| PyIceberg | Spark | catalogs | remarks |\n|---|---|---|---|\n{rows}\n{_END}"
    )


def write_page() -> str:
    """Return the page with the section as the code has it now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    return before + write_section() + rest.partition(_END)[2]


def _write(row: Row) -> str:
    star = "*" if row.name.endswith(".") else ""
    names = ", ".join(f"`{name}{star}`" for name in row.spark) or _USES[row.use]
    types = ", ".join(row.types) or "all"
    added = [f"`{key}`" for key in row.adds]
    values = [f"`{ours}`: `{theirs}`" for ours, theirs in row.values.items() if theirs]
    remarks = "; ".join([*([row.note] if row.note else []), *values])
    with_added = f"{names} with {', '.join(added)}" if added else names
    return f"| `{row.name}{star}` | {with_added} | {types} | {remarks} |\n"


if __name__ == "__main__":
    sys.stdout.write(write_page())
