"""Connections, transactions and errors, the same for SQLite and PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    Insert,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from maintainer.domain.errors import ConfigurationError, InvalidValueError, StoreUnavailableError

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

POOL_SIZE = 10
POOL_OVERFLOW = 20
POOL_TIMEOUT_SECONDS = 30
BUSY_TIMEOUT_SECONDS = 15  # how long a SQLite writer waits for another process's transaction
WAL_RETRY_SECONDS = 0.05
WAL_SIZE_LIMIT_BYTES = 64 * 1024**2  # the size of the write-ahead log on disk after a checkpoint
MAX_REASON_CHARACTERS = 300
MAX_SQL_VARIABLES = 500  # names in one IN list: less than the limit of every SQLite build

_LOCKED = f"other writers held it for more than {BUSY_TIMEOUT_SECONDS} s"
_DELETED = "its file was deleted while it was open; put it back, or restart the program"
_REPLACED = "its file was replaced by another while it was open; restart the program"
_EXHAUSTED = f"no connection became free within {POOL_TIMEOUT_SECONDS} s"
_HOW_TO_WRITE = "write sqlite:///path/to/maintainer.db or postgresql://user@host/database"

# A connection that broke without an error is noticed within a minute. Settings in the URL override
# these arguments.
_POSTGRES_ARGUMENTS = {
    "application_name": "maintainer",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}

_FileIdentity = tuple[int, int]  # device and inode number


class Database:
    """One database with a pool of connections, for several threads and processes."""

    def __init__(self, url: str) -> None:
        self._url = _parse_url(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self.place = _describe_place(self._url)
        self.engine = (
            _create_sqlite_engine(self._url)
            if self.is_sqlite
            else _create_postgres_engine(self._url)
        )
        # SQLite's waiting writers poll. The writers of one process queue here, so that none of them
        # waits for ever.
        self._write_turn = Lock()
        self._file: _FileIdentity | None = None  # the opened file; None: there is no file
        if self.is_sqlite:
            self._prepare_file(Path(self._url.database or ""))
            self._file = self._identify_file()

    def _prepare_file(self, path: Path) -> None:
        with self._translate_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            _create_privately(path)
            deadline = time.monotonic() + BUSY_TIMEOUT_SECONDS
            while not self._switch_to_wal():
                if time.monotonic() > deadline:
                    raise self._unavailable(_LOCKED)
                time.sleep(WAL_RETRY_SECONDS)

    def _switch_to_wal(self) -> bool:
        """Switch the file to WAL mode, which is stored in the file.

        False if another process is switching the file; SQLite does not wait for that process.
        """
        connection = self.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise
            return False
        finally:
            connection.close()
        return True

    def _identify_file(self) -> _FileIdentity:
        """Identify the file that is at the path now.

        Open connections still write to a deleted or replaced file. The contents of that file are
        lost when the connections close.
        """
        try:
            # Each transaction checks the file. Making a Path would double the time of the check.
            found = os.stat(self._url.database or "")  # noqa: PTH116
        except FileNotFoundError as error:
            raise self._unavailable(_DELETED) from error
        except OSError as error:
            raise self._unavailable(self._one_line(error)) from error
        return found.st_dev, found.st_ino

    def _check_file(self) -> None:
        if self._file is not None and self._identify_file() != self._file:
            raise self._unavailable(_REPLACED)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run one read-only transaction; StoreUnavailableError if that fails."""
        self._check_file()
        with self._translate_errors(), self.engine.connect() as connection:
            connection.execution_options(store_mode="read")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[Connection]:
        """Run one write transaction; StoreUnavailableError if nothing was stored.

        Every commit survives the end of the process, even by SIGKILL. A durable commit also
        survives a power failure: without the record of a running Spark job, the job would be
        started twice. A lost sample is measured again, so it needs no flush of the disk.
        """
        self._check_file()
        with self._translate_errors(), self._take_turn(), self.engine.connect() as connection:
            connection.execution_options(store_mode="write_durably" if durable else "write")
            with connection.begin():
                yield connection
        self._check_file()  # a commit to a deleted file is lost

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        if not self._write_turn.acquire(timeout=BUSY_TIMEOUT_SECONDS):
            raise self._unavailable(_LOCKED)
        try:
            yield
        finally:
            self._write_turn.release()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            raise InvalidValueError(
                f"value refused by the store: {self._one_line(error.orig or error)}"
            ) from error
        except DBAPIError as error:
            raise self._unavailable(self._one_line(error.orig or error)) from error
        except StatementError as error:
            if isinstance(error.orig, InvalidValueError):  # a column type refused the value
                raise error.orig from error
            raise
        except PoolTimeoutError as error:
            raise self._unavailable(_EXHAUSTED) from error
        # errors of the driver that SQLAlchemy has imported for this database
        except (self.engine.dialect.loaded_dbapi.Error, OSError) as error:
            raise self._unavailable(self._one_line(error)) from error

    def _unavailable(self, reason: str) -> StoreUnavailableError:
        return StoreUnavailableError(f"store {self.place} cannot be used: {reason}")

    def _one_line(self, error: BaseException) -> str:
        primary = getattr(getattr(error, "diag", None), "message_primary", None)  # PostgreSQL's
        text = " ".join((primary or str(error) or type(error).__name__).split())
        password = self._url.password
        if isinstance(password, str) and password:
            text = text.replace(password, "***")
        return text[:MAX_REASON_CHARACTERS]

    def upsert(
        self,
        table: Table,
        values: dict[str, Any],
        *,
        keep: frozenset[str] = frozenset(),
        only_where: ColumnElement[bool] | None = None,
    ) -> Insert:
        """Build an INSERT that replaces the row with the same key, except its columns in `keep`.

        The keys of `values` are the names of the columns. A row for which `only_where` is false
        does not change.
        """
        keys = [column.name for column in table.primary_key]
        changed = [name for name in values if name not in keys and name not in keep]
        statement = insert_on(self.engine.dialect.name, table).values(values)
        changes = {name: statement.excluded[name] for name in changed}
        return statement.on_conflict_do_update(index_elements=keys, set_=changes, where=only_where)

    def insert_unless_present(self, table: Table, values: dict[str, Any]) -> Insert:
        """Build an INSERT that does nothing (rowcount 0) if it would violate a unique index."""
        dialect = self.engine.dialect.name
        statement = insert_on(dialect, table).values(values).on_conflict_do_nothing()
        return statement.execution_options(
            preserve_rowcount=True
        )  # by default SQLAlchemy does not fetch the rowcount of an INSERT

    def close(self) -> None:
        self.engine.dispose()


def insert_on(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Begin an INSERT that can have an ON CONFLICT clause."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    # This import is slow, and most commands use SQLite.
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415

    return postgresql.insert(table)


def _create_privately(path: Path) -> None:
    """Create a file that only its owner may read; SQLite gives its other files the same mode.

    An existing file does not change.
    """
    # Only a new file is opened here. Closing a file that is in use would release the locks that
    # this process has on the file.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _parse_url(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:  # ValueError: the port is not a number
        raise ConfigurationError(
            f"the store's URL is malformed; {_HOW_TO_WRITE}"
        ) from error.with_traceback(None)
    match url.drivername:
        case "sqlite" | "sqlite+pysqlite":
            if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
                raise ConfigurationError(f"the store's URL names no file; {_HOW_TO_WRITE}")
            return url.set(drivername="sqlite+pysqlite")
        case "postgresql" | "postgres" | "postgresql+psycopg" | "postgresql+psycopg2":
            return url.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigurationError(f"the store does not support {other!r}; {_HOW_TO_WRITE}")


def _describe_place(url: URL) -> str:
    """Describe the store's address without user, password and options."""
    if url.get_backend_name() == "sqlite":
        return f"{url.database}"
    host = url.host or url.query.get("host") or "the local socket"
    return (
        f"PostgreSQL database {url.database or url.username} on "
        f"{host}{f':{url.port}' if url.port else ''}"
    )


def _create_sqlite_engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # transactions begin below, not in the driver
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_SIZE_LIMIT_BYTES}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("store_mode", "read")
        if mode == "read":
            connection.exec_driver_sql("BEGIN")
            return
        # In WAL mode, NORMAL never corrupts the file, and a power failure loses at most the last
        # commits. FULL flushes the log at each commit.
        connection.exec_driver_sql(
            f"PRAGMA synchronous = {'FULL' if mode == 'write_durably' else 'NORMAL'}"
        )
        # a read transaction that begins to write can fail without waiting; IMMEDIATE waits
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _create_postgres_engine(url: URL) -> Engine:
    arguments: dict[str, Any] = {
        name: value for name, value in _POSTGRES_ARGUMENTS.items() if name not in url.query
    }
    return create_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        pool_pre_ping=True,  # after a restart of the server no call fails
        connect_args={
            **arguments,
            "prepare_threshold": None,
        },  # some versions of PgBouncer do not support prepared statements
    )
