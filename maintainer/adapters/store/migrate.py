"""Brings a database to this version's schema.

A new database gets the schema at once. An older database is migrated step by step.
"""

from __future__ import annotations

from secrets import token_hex
from threading import Lock

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, text

from maintainer.adapters.store import schema_version
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import savings
from maintainer.adapters.store.schema import (
    COMPATIBLE_FROM_KEY,
    INSTANCE_ID_KEY,
    VERSION_TABLE,
    metadata,
    store_info,
)

_ADVISORY_LOCK = 0x1CEBE46  # an arbitrary number that nothing else on this database should use
_one_at_a_time = Lock()  # a process has only one environment of Alembic


def upgrade(database: Database) -> None:
    """Bring the schema to the newest revision; other processes wait meanwhile."""
    config = Config()
    config.set_main_option("script_location", str(schema_version.MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    head = schema_version.newest()
    with _one_at_a_time, database.write(durable=True) as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        if schema_version.is_usable(connection, database.place):
            return  # another process has migrated the schema
        if _context(connection).get_current_revision() is None:
            metadata.create_all(connection, checkfirst=False)
            _context(connection).stamp(script, head)
            connection.execute(insert(store_info).values(key=INSTANCE_ID_KEY, value=token_hex(4)))
            zeros = dict.fromkeys(
                ("files_removed", "manifests_removed", "snapshots_removed", "bytes_rewritten"), 0
            )
            connection.execute(insert(savings).values(id=1, **zeros))
        else:
            _run(connection, config, script)
        oldest = script.get_revision(head).module.compatible_from
        row = {"key": COMPATIBLE_FROM_KEY, "value": oldest}
        connection.execute(database.upsert(store_info, row))


def _context(connection: Connection) -> MigrationContext:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})


def _run(connection: Connection, config: Config, script: ScriptDirectory) -> None:
    def steps(revision: tuple[str, ...], _context: MigrationContext) -> list[RevisionStep]:
        # Alembic's own upgrade command calls it.
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type]  # noqa: SLF001

    with EnvironmentContext(config, script, fn=steps, destination_rev="head") as environment:
        environment.configure(
            connection=connection, version_table=VERSION_TABLE, transactional_ddl=True
        )
        environment.run_migrations()
