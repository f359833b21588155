"""The way into the quarantine and back where a storage cannot rename: through a table's own FileIO.
Renaming is tried on a real Spark.
"""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from maintainer.adapters.spark.driver.mover import MOVE, move_files


@dataclass
class Storage(UserDict[str, bytes]):
    """Files by path, as an Iceberg FileIO has them; what is written to a path in `torn` arrives cut
    short.
    """

    data: dict[str, bytes] = field(default_factory=dict)
    torn: frozenset[str] = frozenset()
    name: str = "org.apache.iceberg.aws.s3.S3FileIO"

    def getClass(self) -> Any:  # noqa: N802 - Java's names and types
        return SimpleNamespace(getName=lambda: self.name)

    def newInputFile(self, path: str) -> Any:  # noqa: N802 - as above
        def read() -> Any:
            return SimpleNamespace(transferTo=lambda out: out.write(self[path]), close=lambda: None)

        return SimpleNamespace(
            exists=lambda: path in self, getLength=lambda: len(self[path]), newStream=read
        )

    def newOutputFile(self, path: str) -> Any:  # noqa: N802 - as above
        def write(content: bytes) -> None:
            self[path] = content[:-1] if path in self.torn else content

        stream = SimpleNamespace(write=write, close=lambda: None)
        return SimpleNamespace(
            toInputFile=lambda: self.newInputFile(path), createOrOverwrite=lambda: stream
        )

    def deleteFile(self, path: str) -> None:  # noqa: N802 - as above
        del self[path]


class Rows(list[Any]):
    def toLocalIterator(self) -> Iterator[Any]:  # noqa: N802 - Spark's name
        return iter(self)


@dataclass
class Session:
    """A Spark session that knows one view, and what a dry run still finds of it."""

    io: Storage
    listed: list[tuple[str, str]]
    still: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        utilities = SimpleNamespace(loadIcebergTable=lambda *_: SimpleNamespace(io=lambda: self.io))
        spark = SimpleNamespace(Spark3Util=utilities)
        self._jvm = SimpleNamespace(
            org=SimpleNamespace(apache=SimpleNamespace(iceberg=SimpleNamespace(spark=spark)))
        )
        self._jsparkSession = None

    def sql(self, statement: str) -> Rows:
        if statement.startswith("CALL"):
            return Rows((path,) for path in self.still)
        return Rows(SimpleNamespace(file_path=path, target=target) for path, target in self.listed)

    # Spark's name.
    def createDataFrame(self, rows: list[tuple[str, int]], schema: str) -> dict[str, int]:  # noqa: N802
        assert schema == "outcome STRING, files LONG"
        return dict(rows)


def moved(session: Session, *, back: bool = False, is_cancelled: bool = False) -> dict[str, int]:
    order = {
        "table": "`lake`.`t`",
        "view": "`v`",
        "dry_run": None if back else "CALL",
        "overwrites": not back,
    }
    counts = move_files(session, MOVE + json.dumps(order), lambda: is_cancelled)
    assert isinstance(counts, dict)
    return counts


def test_a_file_is_copied_looked_at_and_only_then_deleted() -> None:
    io = Storage({"a": b"one", "b": b"two"})
    assert moved(Session(io, [("a", "q/a"), ("b", "q/b")], ["a", "b"])) == {"moved": 2}
    assert io.data == {"q/a": b"one", "q/b": b"two"}


def test_what_iceberg_does_not_find_any_more_and_what_is_gone_stays_as_it_is() -> None:
    io = Storage({"a": b"one"})
    assert moved(Session(io, [("a", "q/a"), ("b", "q/b")], ["b"])) == {"gone": 1, "known": 1}
    assert io.data == {"a": b"one"}


def test_a_copy_that_is_not_whole_costs_nothing_and_is_made_anew() -> None:
    io = Storage({"a": b"one"}, frozenset({"q/a"}))
    session = Session(io, [("a", "q/a")], ["a"])
    assert moved(session) == {"failed": 1}
    assert io["a"] == b"one"
    io.torn = frozenset()
    assert moved(session) == {"moved": 1}
    assert io.data == {"q/a": b"one"}


def test_nothing_is_brought_back_over_something_that_is_there() -> None:
    io = Storage({"q/a": b"one", "a": b"another", "q/b": b"two"})
    assert moved(Session(io, [("q/a", "a"), ("q/b", "b")]), back=True) == {"moved": 1, "taken": 1}
    assert io.data == {"q/a": b"one", "a": b"another", "b": b"two"}


def test_a_job_that_is_cancelled_moves_nothing_more() -> None:
    io = Storage({"a": b"one"})
    assert moved(Session(io, [("a", "q/a")], ["a"]), is_cancelled=True) == {"cancelled": 1}
    assert io.data == {"a": b"one"}


def test_one_files_trouble_is_not_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    io = Storage({"a": b"one", "b": b"two"})
    session = Session(io, [("a", "q/a"), ("b", "q/b")], ["a", "b"])

    def refuse(path: str) -> None:
        message = f"no leave to delete {path}"
        raise PermissionError(message)

    io.deleteFile = refuse  # type: ignore[method-assign]  # the storage's own refusal
    assert moved(session) == {"failed": 2}
    assert "a could not be moved: no leave to delete a" in capsys.readouterr().out
    assert (io["a"], io["b"]) == (b"one", b"two")
