from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Barrier

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from maintainer.adapters.store import open_store, schema_version
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import UNFINISHED_STATES
from maintainer.adapters.store.schema import VERSION_TABLE, metadata
from maintainer.domain.errors import ConfigurationError, StoreUnavailableError
from maintainer.domain.job import JobState
from tests.adapters.store.recording import DRIVERS, FOLDER, NEWEST, read_schema, write_schema
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    make_grade,
    make_health,
    make_job,
    succeeded,
)

LATER = f"""
import sqlalchemy as sa
from alembic import op

revision = "9998"
down_revision = "{NEWEST}"
compatible_from = "{{compatible_from}}"


def upgrade():
    op.add_column("jobs", sa.Column("later", sa.Integer(), nullable=False, server_default="7"))
"""


def create_released(database: Database, revision: str) -> None:
    """Make the store of a released version."""
    with database.write() as connection:
        for statement in read_schema(revision, database.engine.dialect.name):
            connection.exec_driver_sql(statement)


def add_migration(
    directory: Path, monkeypatch: pytest.MonkeyPatch, compatible_from: str = NEWEST
) -> None:
    """Be a newer version from now on."""
    migrations = directory / "migrations"
    shutil.copytree(schema_version.MIGRATIONS, migrations)
    (migrations / "versions" / "r9998_later.py").write_text(
        LATER.format(compatible_from=compatible_from)
    )
    monkeypatch.setattr(schema_version, "MIGRATIONS", migrations)


@pytest.mark.parametrize("revision", sorted(file.stem for file in FOLDER.glob("*.json")))
def test_the_store_of_a_released_version_gets_the_schema_that_the_queries_are_written_for(
    store_url: str, revision: str
) -> None:
    database = Database(store_url)
    create_released(database, revision)
    open_store(store_url).close()

    with database.read() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "version_table": VERSION_TABLE,
                "compare_type": True,
                "compare_server_default": True,
            },
        )
        differences = compare_metadata(context, metadata)
    database.close()

    assert differences == []


@pytest.mark.parametrize("dialect", DRIVERS)
def test_the_schema_of_the_newest_revision_is_recorded(dialect: str) -> None:
    """After a change of the schema: write a migration, then `python -m` of recording.py."""
    assert read_schema(NEWEST, dialect) == write_schema(dialect)


def test_the_unique_index_covers_exactly_the_unfinished_states(store_url: str) -> None:
    open_store(store_url).close()
    database = Database(store_url)
    catalog = (
        "SELECT sql FROM sqlite_master WHERE name = :name"
        if database.is_sqlite
        else "SELECT indexdef FROM pg_indexes WHERE indexname = :name"
    )

    with database.read() as connection:
        definition = str(
            connection.execute(text(catalog), {"name": "uq_jobs_unfinished"}).scalars().first()
        )
    database.close()

    assert definition.startswith("CREATE UNIQUE INDEX")
    assert sorted(definition.partition(" WHERE ")[2].split("'")[1::2]) == sorted(UNFINISHED_STATES)


def test_opening_again_changes_nothing(store_url: str) -> None:
    first = open_store(store_url)
    first.add_job(make_job())
    second = open_store(store_url)

    assert second.instance_id() == first.instance_id()
    assert second.describe() == first.describe()
    assert f"schema {NEWEST}" in second.describe()
    assert second.job("job-a") == make_job()
    first.close()
    second.close()


def test_several_open_a_new_store_at_once(store_url: str) -> None:
    together = Barrier(6)

    def open_and_ask() -> str:
        together.wait(timeout=60)
        store = open_store(store_url)
        try:
            return store.instance_id()
        finally:
            store.close()

    with ThreadPoolExecutor(6) as pool:
        ids = [
            future.result(timeout=120) for future in [pool.submit(open_and_ask) for _ in range(6)]
        ]

    assert len(set(ids)) == 1


def test_a_schema_from_the_future_is_refused_and_left_alone(store_url: str) -> None:
    open_store(store_url).close()
    database = Database(store_url)
    with database.write() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
        connection.execute(text("DELETE FROM store_info WHERE key = 'compatible_from'"))

    with pytest.raises(
        StoreUnavailableError, match="has schema 9999, which needs a version with schema 9999"
    ):
        open_store(store_url)

    with database.read() as connection:
        assert (
            connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one()
            == "9999"
        )
    database.close()


def test_a_store_of_an_older_version_is_migrated_and_keeps_its_rows(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(store_url)
    store.add_job(make_job())
    store.close()
    add_migration(tmp_path, monkeypatch)

    store = open_store(store_url)

    assert "schema 9998" in store.describe()
    assert store.job("job-a") == make_job()
    store.close()
    database = Database(store_url)
    with database.read() as connection:
        assert connection.execute(text("SELECT later FROM jobs")).scalar_one() == 7
    database.close()


def test_a_schema_that_was_never_released_is_refused_and_left_alone(store_url: str) -> None:
    open_store(store_url).close()
    database = Database(store_url)
    with database.write() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '0002'"))

    for migrates in (True, False):
        with pytest.raises(
            StoreUnavailableError, match=r"has schema 0002, which was never released .* a new store"
        ):
            open_store(store_url, migrates=migrates)

    with database.read() as connection:
        assert schema_version.read_revision(connection) == "0002"
    database.close()


def test_a_process_of_the_older_version_goes_on_when_a_newer_one_has_added_to_the_schema(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the replicas do that a rolling update has not replaced yet."""
    older = open_store(store_url)
    older.add_job(make_job())
    with monkeypatch.context() as newer_version:
        add_migration(tmp_path, newer_version)
        with pytest.raises(StoreUnavailableError, match="run `maintainer store migrate` first"):
            open_store(store_url, migrates=False)
        assert f"schema {NEWEST}" in older.describe(), "a replica in a cluster migrates nothing"
        newer = open_store(store_url)
    assert "schema 9998" in older.describe()
    submitted = replace(make_job(), state=JobState.SUBMITTED, owner="one", submitted_at=NOW)
    lease = older.submit_job(submitted, NOW + MINUTE)
    assert lease is not None
    assert older.update_job(succeeded(submitted, NOW), submitted, lease.token)
    assert older.add_job(make_job("job-b"))
    assert newer.job("job-b") == older.job("job-b") == make_job("job-b")
    older.record_health(make_health(), make_grade())
    assert newer.table_names() == older.table_names() == (make_health().table,)
    older.prune(NOW, NOW)
    for store in (older, newer):
        store.close()


@pytest.mark.parametrize("migrates", [True, False])
@pytest.mark.parametrize("is_new", [True, False])
def test_an_older_version_starts_on_a_newer_schema_that_only_adds(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_new: bool, migrates: bool
) -> None:
    if not is_new:
        open_store(store_url).close()
    with monkeypatch.context() as newer_version:
        add_migration(tmp_path, newer_version)
        open_store(store_url).close()

    store = open_store(store_url, migrates=migrates)

    assert "schema 9998" in store.describe()
    assert store.add_job(make_job())
    store.close()


def test_an_older_version_is_refused_by_a_schema_that_takes_away_and_learns_what_to_do(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer_version:
        add_migration(tmp_path, newer_version, compatible_from="9998")
        open_store(store_url).close()

    for migrates in (True, False):
        with pytest.raises(
            StoreUnavailableError,
            match=f"needs a version with schema 9998 or newer; this version has {NEWEST}: "
            "start a newer version, or restore the backup",
        ):
            open_store(store_url, migrates=migrates)


def test_each_revision_names_the_oldest_that_may_work_with_it_and_none_goes_back() -> None:
    names = sorted(file.stem for file in schema_version.MIGRATIONS.glob("versions/r*.py"))
    oldest = [
        import_module(f"maintainer.adapters.store.migrations.versions.{name}").compatible_from
        for name in names
    ]
    assert oldest == sorted(oldest)
    assert all(one <= name[1:5] for one, name in zip(oldest, names, strict=True))


def test_a_migration_that_fails_leaves_nothing_behind(store_url: str) -> None:
    database = Database(store_url)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE store_info (oops INTEGER)"))

    with pytest.raises(StoreUnavailableError, match="store_info"):
        open_store(store_url)

    with database.write() as connection:
        connection.execute(text("DROP TABLE store_info"))
    database.close()
    open_store(store_url).close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "maintainer.db",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x?uri=true",
        "mysql://u:hush@h/d",
        "postgresql://u:hush@h:port/d",
    ],
)
def test_a_url_that_names_no_store_says_how_to_write_one(url: str) -> None:
    with pytest.raises(ConfigurationError, match="write sqlite:///path") as caught:
        open_store(url)

    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"]
)
def test_every_spelling_of_postgresql_means_the_same_driver(scheme: str) -> None:
    database = Database(f"{scheme}://user:hush@127.0.0.1/somewhere")

    assert database.engine.dialect.driver == "psycopg"
    assert database.place == "PostgreSQL database somewhere on 127.0.0.1"


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a b/%/ü/maintainer.db").close()

    assert (tmp_path / "a b" / "%" / "ü" / "maintainer.db").exists()
