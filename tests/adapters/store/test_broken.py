"""What is done to a store on purpose: it must say so in one line, lose nothing that it promised,
and recover by itself.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Barrier

import pytest
from sqlalchemy import event, text

from maintainer.adapters.store import SqlStore, documents, open_store
from maintainer.adapters.store.database import Database
from maintainer.domain.errors import MaintainerError, StoreUnavailableError
from maintainer.domain.inventory import ManifestContent, ManifestDigest
from maintainer.domain.job import JobEvent, JobState
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause, TableQuery
from tests.adapters.store.values import NOW, ORDERS, make_grade, make_health, make_job, succeeded
from tests.postgres import PostgresServer, end_postgres, start_postgres

WRITER = Path(__file__).parent / "writer.py"
NOBODY = 65534


def start_writer(*arguments: str) -> Popen[str]:
    return Popen([sys.executable, str(WRITER), *arguments], stdin=PIPE, stdout=PIPE, text=True)


@contextmanager
def unprivileged(path: Path) -> Iterator[None]:
    """As an account that must heed permissions; root does not."""
    if os.geteuid() != 0:
        yield
        return
    for each in (path, *path.rglob("*")):
        os.chown(each, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "maintainer.db"


def assert_is_one_clear_line(error: MaintainerError) -> None:
    message = str(error)
    assert "\n" not in message
    assert len(message) < 500
    for noise in ("Traceback", "INSERT", "SELECT", "sqlalche", "(Background", "hush"):
        assert noise not in message


@pytest.mark.slow
def test_of_eight_threads_and_two_processes_exactly_one_adds_a_job(store_url: str) -> None:
    rounds, store = 15, open_store(store_url)
    rivals = [start_writer("rival", store_url, f"process-{number}") for number in range(2)]
    together = Barrier(8)

    def attempt(name: str, number: int) -> bool:
        together.wait(timeout=60)
        return store.add_job(make_job(f"{name}-{number}", table_uuid=f"uuid-{number}"))

    try:
        assert [process.stdout.readline() for process in rivals if process.stdout] == [
            "ready\n"
        ] * 2
        with ThreadPoolExecutor(8) as pool:
            for number in range(rounds):
                for process in rivals:
                    assert process.stdin
                    process.stdin.write(f"{number}\n")
                    process.stdin.flush()
                ours = [
                    future.result(timeout=60)
                    for future in [pool.submit(attempt, f"thread-{n}", number) for n in range(8)]
                ]
                theirs = [
                    process.stdout.readline() == "1\n" for process in rivals if process.stdout
                ]
                assert sum(ours) + sum(theirs) == 1
    finally:
        for process in rivals:
            process.kill()
            process.communicate()

    jobs = store.unfinished_jobs()
    store.close()
    assert sorted(job.table_uuid for job in jobs) == sorted(
        f"uuid-{number}" for number in range(rounds)
    )


@pytest.mark.slow
def test_events_of_many_writers_are_all_kept_in_one_unbroken_sequence(store_url: str) -> None:
    stores = [
        open_store(store_url) for _ in range(2)
    ]  # two, as two processes have them: they share no lock
    stores[0].add_job(make_job())
    together = Barrier(6)

    def tell(number: int) -> None:
        together.wait(timeout=60)
        for turn in range(10):
            stores[number % 2].append_events(
                [JobEvent("job-a", NOW, "spark.progress", {"writer": number, "turn": turn})]
            )

    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(tell, number) for number in range(6)]:
            future.result(timeout=120)

    story = stores[0].events("job-a")
    for store in stores:
        store.close()
    assert [event.sequence for event in story] == list(range(1, 61))
    assert len({(event.fields["writer"], event.fields["turn"]) for event in story}) == 60


@pytest.mark.slow
def test_a_writer_killed_in_the_middle_leaves_each_job_whole_or_absent(store_url: str) -> None:
    process = start_writer("fill", store_url)
    try:
        assert process.stdout
        completed = [int(process.stdout.readline()) for _ in range(25)]
    finally:
        process.kill()
        rest, _ = process.communicate()
    completed += [int(line) for line in rest.splitlines()]

    store = open_store(store_url)
    jobs = {job.job_id: job for job in store.jobs(JobQuery(limit=1000)).items}
    for number in completed:  # what was acknowledged is there
        assert jobs[f"job-{number}"] == succeeded(
            make_job(f"job-{number}", table_uuid=f"uuid-{number}"), NOW
        )
    assert len(jobs) - len(completed) in {0, 1}
    assert all(len(store.events(job_id)) in {0, 5} for job_id in jobs)
    finished = sum(job.state is JobState.SUCCEEDED for job in jobs.values())
    assert (
        store.overview().files_removed == finished * 9
    )  # the same transaction as the job's last state
    assert store.add_job(make_job("after", table_uuid="after"))
    store.close()


@pytest.mark.slow
def test_a_killed_writer_leaves_a_sound_sqlite_file(sqlite_file: Path) -> None:
    process = start_writer("fill", f"sqlite:///{sqlite_file}")
    try:
        assert process.stdout
        process.stdout.readline()
    finally:
        process.kill()
        process.communicate()

    with closing(sqlite3.connect(sqlite_file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_jobs_and_pauses_are_flushed_to_disk_and_measurements_are_not(sqlite_file: Path) -> None:
    store = open_store(f"sqlite:///{sqlite_file}")
    modes: list[int] = []

    @event.listens_for(store._database.engine, "commit")
    def note(connection: object) -> None:
        modes.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())  # type: ignore[attr-defined]

    store.record_health(make_health(), make_grade())
    store.add_job(make_job())
    store.update_job(make_job(state=JobState.SUBMITTED), JobState.PENDING)
    store.append_events([JobEvent("job-a", NOW, "x.y")])
    store.set_pause(ORDERS, Pause("ana", NOW))
    store.close()

    assert modes == [1, 2, 2, 1, 2]  # 1 is NORMAL, 2 is FULL


def test_a_full_disk_refuses_writes_serves_reads_and_is_over_when_there_is_room(
    sqlite_file: Path,
) -> None:
    store = open_store(f"sqlite:///{sqlite_file}")
    store.add_job(make_job("before"))
    pages = "PRAGMA max_page_count = 1"  # SQLite raises it to the pages that there are

    @event.listens_for(store._database.engine, "checkout")
    def fill_disk(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.execute(pages)

    def add_many() -> None:
        for number in range(100):
            store.add_job(make_job(f"job-{number}", table_uuid=f"uuid-{number}", reason="x" * 5000))

    with pytest.raises(StoreUnavailableError, match="database or disk is full") as caught:
        add_many()
    assert_is_one_clear_line(caught.value)
    held = [job.job_id for job in store.jobs(JobQuery()).items]
    assert "before" in held
    assert len(held) < 100

    pages = "PRAGMA max_page_count = 1000000"
    assert store.add_job(make_job("after", table_uuid="after", reason="x" * 5000))
    assert {job.job_id for job in store.jobs(JobQuery()).items} == {*held, "after"}
    store.close()


def test_a_read_only_directory_is_named_and_used_again_once_it_is_writable() -> None:
    with (
        tempfile.TemporaryDirectory() as name
    ):  # pytest's own directories are closed to other accounts
        directory, url = Path(name), f"sqlite:///{name}/maintainer.db"
        open_store(url).close()
        with unprivileged(directory):
            directory.chmod(0o555)
            with pytest.raises(StoreUnavailableError, match=name) as caught:
                open_store(url)
            directory.chmod(0o755)
            store = open_store(url)
            assert store.add_job(make_job())
            store.close()
    assert_is_one_clear_line(caught.value)


def test_a_store_that_becomes_read_only_while_open_still_reads_and_recovers(
    sqlite_file: Path,
) -> None:
    store = open_store(f"sqlite:///{sqlite_file}")
    store.record_health(make_health(), make_grade())
    switch = (
        "PRAGMA query_only = ON"  # what a file system mounted anew as read-only does to a write
    )

    @event.listens_for(store._database.engine, "checkout")
    def protect(connection: sqlite3.Connection, *_rest: object) -> None:
        connection.execute(switch)

    with pytest.raises(StoreUnavailableError, match="readonly") as caught:
        store.add_job(make_job())
    assert_is_one_clear_line(caught.value)
    assert store.tables(TableQuery()).total == 1
    with pytest.raises(StoreUnavailableError, match="readonly"):
        store.ensure_writable()

    switch = "PRAGMA query_only = OFF"
    store.ensure_writable()
    assert store.add_job(make_job())
    store.close()


@pytest.mark.parametrize(
    "content",
    [
        b"this is no database, but it is long enough to be looked at " * 40,
        b"SQLite format 3\0" + b"\xff" * 4000,
    ],
)
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    sqlite_file: Path, content: bytes
) -> None:
    sqlite_file.parent.mkdir()
    sqlite_file.write_bytes(content)

    with pytest.raises(StoreUnavailableError, match="not a database") as caught:
        open_store(f"sqlite:///{sqlite_file}")

    assert_is_one_clear_line(caught.value)
    assert sqlite_file.read_bytes() == content


def test_a_file_corrupt_in_the_middle_is_one_clear_line(sqlite_file: Path) -> None:
    store = open_store(f"sqlite:///{sqlite_file}")
    for number in range(50):
        store.add_job(make_job(f"job-{number}", table_uuid=f"uuid-{number}", reason="x" * 2000))
    store.close()
    size = sqlite_file.stat().st_size
    with sqlite_file.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))

    with pytest.raises(StoreUnavailableError, match="malformed") as caught:
        open_store(f"sqlite:///{sqlite_file}").jobs(JobQuery())
    assert_is_one_clear_line(caught.value)


def test_a_document_that_this_version_cannot_read_is_one_clear_line(store_url: str) -> None:
    store = open_store(store_url)
    store.add_job(make_job())
    with store._database.write() as connection:
        connection.execute(text("UPDATE jobs SET document = '{\"job_id\": 7}'"))

    with pytest.raises(
        StoreUnavailableError, match=r"a document \(job\) in the store cannot be read"
    ) as caught:
        store.job("job-a")
    assert_is_one_clear_line(caught.value)
    store.close()


def test_digests_of_another_version_are_read_again(store_url: str) -> None:
    digest = ManifestDigest("s3://lake/m.avro", 1, 0, ManifestContent.DATA, 1)
    store = open_store(store_url)
    store.record_digests("uuid", 512, [digest])
    with store._database.write() as connection:
        connection.execute(text("UPDATE manifest_digests SET shape = 'older'"))
    assert store.digests("uuid", [digest.path], 512) == {}

    store.record_digests("uuid", 512, [digest])
    assert store.digests("uuid", [digest.path], 512) == {digest.path: digest}
    store.close()


@pytest.mark.parametrize(
    ("meaning", "changed"),
    [
        ("DIGEST_VERSION", 99),
        ("HISTOGRAM_BOUNDS_BYTES", (1, 2, 3)),
        ("SMALL_FILE_RATIO", 0.5),
        ("LARGE_FILE_RATIO", 2.0),
        ("MIN_LISTED_SIZES", 8),
        ("MAX_LISTED_SIZES", 8),
    ],
)
def test_digests_whose_numbers_would_mean_something_else_are_read_again(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch, meaning: str, changed: object
) -> None:
    digest = ManifestDigest("s3://lake/m.avro", 1, 0, ManifestContent.DATA, 1)
    store = open_store(f"sqlite:///{sqlite_file}")
    store.record_digests("uuid", 512, [digest])
    assert documents.shape_of_digests() == documents.DIGEST_SHAPE
    monkeypatch.setattr(documents, meaning, changed)
    monkeypatch.setattr(
        documents, "DIGEST_SHAPE", documents.shape_of_digests()
    )  # as the next process would have it
    assert store.digests("uuid", [digest.path], 512) == {}

    store.record_digests("uuid", 512, [digest])
    assert store.digests("uuid", [digest.path], 512) == {digest.path: digest}
    store.close()


def test_a_writer_that_never_ends_is_waited_for_and_then_named(
    sqlite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maintainer.adapters.store.database.BUSY_TIMEOUT_SECONDS", 0.2)
    store = open_store(f"sqlite:///{sqlite_file}")
    with closing(sqlite3.connect(sqlite_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="locked") as caught:
            store.add_job(make_job())
        assert store.job("job-a") is None
    assert_is_one_clear_line(caught.value)
    assert store.add_job(make_job())
    store.close()


@pytest.mark.postgres
def test_a_wrong_password_is_reported_without_telling_it(postgres_server: PostgresServer) -> None:
    with pytest.raises(StoreUnavailableError, match="authentication failed") as caught:
        open_store(f"postgresql://postgres:hush@127.0.0.1:{postgres_server.port}/postgres")

    assert_is_one_clear_line(caught.value)


def test_an_error_that_quotes_the_password_is_cleaned() -> None:
    database = Database("postgresql://someone:hush@127.0.0.1/lake")

    assert (
        database._one_line(OSError("cannot use\n someone:hush@127.0.0.1"))
        == "cannot use someone:***@127.0.0.1"
    )


def test_a_server_that_is_not_there_is_reported_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="PostgreSQL database lake") as caught:
        open_store(f"postgresql://someone:hush@/lake?host={tmp_path}")

    assert_is_one_clear_line(caught.value)


@pytest.mark.postgres
def test_connections_cut_by_the_server_cost_at_most_one_call(
    postgres_server: PostgresServer,
) -> None:
    store = open_store(postgres_server.create_database())
    store.add_job(make_job())
    postgres_server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        "'maintainer'"
    )

    assert store.job("job-a") == make_job()
    store.close()


@pytest.mark.postgres
@pytest.mark.slow
def test_a_server_that_restarts_is_used_again() -> None:
    server = start_postgres()
    try:
        store: SqlStore = open_store(server.create_database())
        store.add_job(make_job())
        server.stop()
        with pytest.raises(StoreUnavailableError) as caught:
            store.jobs(JobQuery())
        with pytest.raises(StoreUnavailableError):
            store.add_job(make_job("job-b", table_uuid="other"))
        server.start()
        assert [job.job_id for job in store.jobs(JobQuery()).items] == ["job-a"]
        assert store.add_job(make_job("job-b", table_uuid="other"))
        store.close()
    finally:
        end_postgres(server)
    assert_is_one_clear_line(caught.value)


@pytest.mark.slow
def test_opening_a_store_that_cannot_be_opened_leaves_no_connection(sqlite_file: Path) -> None:
    sqlite_file.parent.mkdir()
    sqlite_file.write_bytes(b"x" * 5000)
    command = (
        "import warnings, gc; warnings.simplefilter('error')\n"
        "from maintainer.adapters.store import open_store\n"
        f"try: open_store('sqlite:///{sqlite_file}')\n"
        "except Exception as error: print(type(error).__name__)\n"
        "gc.collect()"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", command], capture_output=True, text=True, check=True
    )

    assert done.stdout == "StoreUnavailableError\n"
    assert "ResourceWarning" not in done.stderr
