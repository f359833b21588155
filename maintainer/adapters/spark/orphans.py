"""Looking for orphans on Spark: the statements, and what their rows say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from maintainer.adapters.spark.procedure import call_statement, quote_identifier, quote_text
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundOrphans

# Of a path without its scheme and its leading slashes: file:/, file:/// and s3a:// are spelt as one.
_WITHOUT_SCHEME = "regexp_replace({}, '^([A-Za-z0-9+.-]+:)?/*', '')"


def orphan_statements(table: TableIdentifier, action: RemoveOrphanFiles) -> list[str]:
    """First how many of the table's own files lie elsewhere, then the dry run."""
    name = ".".join(quote_identifier(level) for level in (table.catalog, *table.namespace, table.name))
    own = _WITHOUT_SCHEME.format(quote_text(action.location.rstrip("/") + "/"))
    path = _WITHOUT_SCHEME.format("file_path")
    elsewhere = f"SELECT count(*) AS foreign_files FROM {name}.all_files WHERE NOT startswith({path}, {own})"  # noqa: S608 - names and text are quoted
    return [elsewhere, call_statement(table, action)]


def read_orphans(path: Path) -> FoundOrphans | None:
    """What the driver has written; None when it is not whole."""
    tables: list[list[list[object]]] = []
    counts: list[int] = []
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                match json.loads(line):
                    case {"schema": _}:
                        tables.append([])
                    case {"rows": int(count)}:
                        counts.append(count)
                    case list(row):
                        tables[-1].append(row)
                    case _:
                        return None
    except (OSError, EOFError, ValueError, IndexError):
        return None
    match tables, counts:
        case [[[int(foreign)]], rows], [1, int(counted)]:
            return FoundOrphans(tuple(str(row[0]) for row in rows), counted, foreign)
        case _:
            return None
