"""Records the schema of the newest revision: `python -m tests.adapters.store.recording`."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import create_mock_engine

import maintainer.adapters.store.sql  # noqa: F401 - defines all tables
from maintainer.adapters.store import schema_version
from maintainer.adapters.store.schema import VERSION_TABLE, metadata

FOLDER = Path(__file__).parent / "released"
NEWEST = max(file.name[1:5] for file in schema_version.MIGRATIONS.glob("versions/r*.py"))
DRIVERS = {"sqlite": "sqlite://", "postgresql": "postgresql+psycopg://"}


def write_schema(dialect: str) -> list[str]:
    """The statements that create a new store of this version."""
    statements: list[str] = []

    def note(statement: object, *_: object, **__: object) -> None:
        written = str(statement.compile(dialect=engine.dialect))  # type: ignore[attr-defined]
        statements.append(" ".join(written.split()))

    engine = create_mock_engine(DRIVERS[dialect], note)
    metadata.create_all(engine, checkfirst=False)
    statements += [
        f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)",
        f"INSERT INTO {VERSION_TABLE} VALUES ('{NEWEST}')",
    ]
    statements.sort(key=lambda one: one if " INDEX " in one else "")  # SQLAlchemy has a set of them
    return statements


def read_schema(revision: str, dialect: str) -> list[str]:
    """The statements that created a new store of a released version."""
    statements: list[str] = json.loads((FOLDER / f"{revision}.json").read_text())[dialect]
    return statements


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    schemas = {dialect: write_schema(dialect) for dialect in DRIVERS}
    (FOLDER / f"{NEWEST}.json").write_text(json.dumps(schemas, indent=1) + "\n")
