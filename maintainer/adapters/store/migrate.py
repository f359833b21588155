"""Gives a database this version's schema: a new one at once, an older one step by step."""

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
from maintainer.adapters.store.schema import INSTANCE_ID_KEY, VERSION_TABLE, metadata, store_info
from maintainer.domain.errors import StoreUnavailableError

_ADVISORY_LOCK = 0x1CEBE46  # any number that nothing else uses on this database
_one_at_a_time = Lock()  # Alembic's environment is one per process


def upgrade(database: Database) -> str:
    """Bring the schema to the newest revision and return it; other processes wait meanwhile.

    StoreUnavailableError if a newer version has already taken the database further.
    """
    config = Config()
    config.set_main_option("script_location", str(schema_version.MIGRATIONS).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    head = script.get_current_head() or ""
    with database.read() as connection:
        if _read_revision(connection, script, database.place) == head:
            return head
    with _one_at_a_time, database.write(durable=True) as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        before = _read_revision(connection, script, database.place)
        if before is None:
            metadata.create_all(connection, checkfirst=False)
            _context(connection).stamp(script, head)
            connection.execute(insert(store_info).values(key=INSTANCE_ID_KEY, value=token_hex(4)))
            zeros = dict.fromkeys(
                ("files_removed", "manifests_removed", "snapshots_removed", "bytes_rewritten"), 0
            )
            connection.execute(insert(savings).values(id=1, **zeros))
        elif before != head:
            _run(connection, config, script)
    return head


def _read_revision(connection: Connection, script: ScriptDirectory, place: str) -> str | None:
    current = _context(connection).get_current_revision()
    known = {revision.revision for revision in script.walk_revisions()}
    if current is not None and current not in known:
        message = (
            f"store {place} has schema {current}, this version knows up to "
            f"{script.get_current_head()}: use the newer version that wrote it"
        )
        raise StoreUnavailableError(message)
    return current


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
