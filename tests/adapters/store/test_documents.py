from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from maintainer.adapters.store import documents
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import Job
from maintainer.domain.pin import Pin

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ORDERS = TableIdentifier("lake", ("sales", "a.b"), "orders")
# Threads that are the first to read a type, in a process of their own: it might crash.
FIRST_READERS = """
import sys, threading
from dataclasses import make_dataclass
from maintainer.adapters.store import documents

sys.setswitchinterval(1e-6)
for _ in range(20):
    inner = [make_dataclass(f"Inner{n}", [("a", int), ("b", str)]) for n in range(30)]
    outer = make_dataclass("Outer", [(f"f{n}", kind | None, None) for n, kind in enumerate(inner)])
    together = threading.Barrier(4)

    def read():
        together.wait()
        assert documents.read(outer, b'{"f29": {"a": 1, "b": "x"}}').f29.a == 1
        print("read")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_a_value_is_read_back_by_its_type() -> None:
    fault = TableFault(ORDERS, FaultKind.METADATA_MISSING, "gone", NOW)
    assert documents.read(TableFault, documents.write(fault)) == fault
    assert documents.read(tuple[TableFault, ...], documents.write_bytes((fault,))) == (fault,)
    assert documents.read_or_none(TableFault, documents.write(fault)) == fault
    assert documents.read_or_none(TableFault, None) is None


@pytest.mark.slow
def test_several_threads_may_be_the_first_to_read_a_type() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_READERS], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.count("read")) == (0, 80), done.stderr


@pytest.mark.parametrize(
    ("kind", "name"),
    [(TableFault, "table fault"), (tuple[Pin, ...], "pin"), (Job, "job"), (dict[str, int], "dict")],
)
def test_a_document_of_another_version_is_a_sentence_that_names_the_type(
    kind: type[object], name: str
) -> None:
    with pytest.raises(
        StoreUnavailableError,
        match=rf"^a document \({name}\) in the store cannot be read by this version: ",
    ):
        documents.read(kind, '"other"')


def test_a_value_without_a_json_form_is_refused_by_name() -> None:
    fault = TableFault(ORDERS, FaultKind.METADATA_MISSING, "half a pair: \ud83e", NOW)
    with pytest.raises(
        InvalidValueError, match=r"^table fault of lake\.sales\.`a\.b`\.orders cannot be stored: "
    ):
        documents.write(fault)
    with pytest.raises(InvalidValueError, match=r"^dict cannot be stored"):
        documents.write_fields({"note": "\ud83e"})


def test_a_field_of_an_event_without_a_json_type_becomes_text() -> None:
    document = documents.write_fields({"table": ORDERS.namespace, "odd": 1j})
    assert documents.read_fields(document) == {
        "table": ["sales", "a.b"],
        "odd": "1j",
    }
