"""Writes the tables of docs/catalogs.md: python -m docs.generator.catalog_properties."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from maintainer.adapters.spark.catalogs.properties import ROWS, Row, Use
from tests.loop.cells import CELLS, DUCKDB_READS, REFUSED, CatalogKind, Cell, StorageKind
from tests.loop.recipes import recipe

PAGE = Path(__file__).parents[1] / "catalogs.md"
_BEGIN = "<!-- Generated from maintainer/adapters/spark/catalogs by `make generate`. -->\n"
_BEGIN_PROVED = "<!-- Generated from tests/loop/cells.py by `make generate`. -->\n"
_BEGIN_RECIPES = "<!-- Generated from tests/loop/recipes.py by `make generate`. -->\n"
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


def write_proved() -> str:
    """Return the generated section of what the tests of the loop prove, its marks included."""
    head = "".join(f" {storage} |" for storage in StorageKind)
    line = "---|" * len(StorageKind)
    rows = "".join(_write_catalog(catalog) for catalog in CatalogKind)
    readers = "".join(f" {DUCKDB_READS[storage]} |" for storage in StorageKind)
    return f"{_BEGIN_PROVED}\n| |{head}\n|---|{line}\n{rows}| *DuckDB reads* |{readers}\n\n{_END}"


def write_recipes() -> str:
    """Return the generated section of the configurations that the loop ran, its marks included."""
    recipes = "\n".join(_write_recipe(cell) for cell in CELLS)
    return f"{_BEGIN_RECIPES}\n{recipes}\n{_END}"


def write_page() -> str:
    """Return the page with the sections as the code has them now."""
    page = PAGE.read_text(encoding="utf-8")
    sections = (
        (_BEGIN_PROVED, write_proved()),
        (_BEGIN_RECIPES, write_recipes()),
        (_BEGIN, write_section()),
    )
    for begin, section in sections:
        before, _, rest = page.partition(begin)
        page = before + section + rest.partition(_END)[2]
    return page


def _write_catalog(catalog: CatalogKind) -> str:
    marks = (_mark(Cell(catalog, storage)) for storage in StorageKind)
    return f"| {catalog} |{''.join(f' {mark} |' for mark in marks)}\n"


def _mark(cell: Cell) -> str:
    if cell in REFUSED:
        return "refused by the server"
    return "proved" if cell in CELLS else ""


def _write_recipe(cell: Cell) -> str:
    """Return a heading and the configuration."""
    lines = yaml.safe_dump({"catalogs": {"lake": recipe(cell)}}, sort_keys=False, width=98)
    return f"### {cell.catalog} with {cell.storage}\n\n```yaml\n{lines}```\n"


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
