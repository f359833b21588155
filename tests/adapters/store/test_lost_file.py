"""The file of a store is deleted or replaced while a daemon has it open: what it writes from then
on would be lost at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maintainer.adapters.store import SqlStore, open_store
from maintainer.adapters.store.database import Database
from maintainer.domain.errors import StoreUnavailableError
from maintainer.ports.store.tables import Pause
from tests.adapters.store.values import NOW, ORDERS, make_grade, make_health

PAUSE = Pause("me", NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "maintainer.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqlStore]:
    opened = open_store(f"sqlite:///{path}")
    opened.record_health(make_health(), make_grade())
    yield opened
    opened.close()


def refuses(store: SqlStore, reason: str) -> None:
    for use in (
        lambda: store.set_pause(ORDERS, PAUSE),
        lambda: store.table(ORDERS),
        store.ensure_writable,
        store.describe,
    ):
        with pytest.raises(StoreUnavailableError, match=reason):
            use()


def test_a_deleted_file_is_noticed_and_used_again_once_it_is_back(
    store: SqlStore, path: Path
) -> None:
    aside = path.rename(path.with_name("aside.db"))
    refuses(store, "its file was deleted while it was open")
    assert not path.exists(), "no other one was made in its place"
    aside.rename(path)
    store.set_pause(ORDERS, PAUSE)
    record = store.table(ORDERS)
    assert record is not None
    assert record.pause == PAUSE


def test_a_replaced_file_is_noticed(store: SqlStore, path: Path) -> None:
    other = path.with_name("other.db")
    other.write_bytes(path.read_bytes())
    other.replace(path)
    refuses(store, "its file was replaced by another while it was open")


def test_a_directory_that_is_gone_is_noticed(store: SqlStore, path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    refuses(store, "its file was deleted while it was open")


def test_what_was_written_while_the_file_was_deleted_is_not_said_to_be_kept(
    store: SqlStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_turn = Database._take_turn

    @contextmanager
    def delete_meanwhile(database: Database) -> Iterator[None]:
        with take_turn(database):
            path.rename(path.with_name("aside.db"))
            yield

    monkeypatch.setattr(Database, "_take_turn", delete_meanwhile)
    with pytest.raises(StoreUnavailableError, match="deleted"):
        store.set_pause(ORDERS, PAUSE)
