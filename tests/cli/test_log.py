"""No name of a stranger begins a line of the daemon's log, or steers the terminal that shows it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from maintainer.adapters.journal import Journal
from maintainer.cli.log import VisibleFormatter, configure_log, guard_warnings
from maintainer.domain.identifier import TableIdentifier
from tests.fakes.adapters.telemetry import FakeTelemetry

HOSTILE = TableIdentifier(
    "lake", ("sales",), "x\n2026-01-01 00:00:00,000 INFO job.succeeded job=m-1\x1b[2J\x9b31m\u202e"
)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """What the configured log writes."""
    written = StringIO()
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    root.handlers.clear()
    monkeypatch.setattr(sys, "stderr", written)
    configure_log()
    yield written
    root.setLevel(level)
    root.handlers[:] = handlers


def test_a_table_name_adds_no_line_and_no_escape_sequence_to_the_log(log: StringIO) -> None:
    Journal(FakeTelemetry()).table_gone(HOSTILE)
    (line,) = log.getvalue().splitlines()
    assert line.isprintable()
    assert (
        r"table.gone table=lake.sales.`x\n2026-01-01 00:00:00,000 INFO job.succeeded "
        r"job=m-1\x1b[2J\x9b31m\u202e`"
    ) in line


def test_further_fields_of_our_own_events_stand_at_the_end_of_the_line(log: StringIO) -> None:
    fields = {"reason": "the disk\nis full", "rows": 3}
    logging.getLogger("maintainer.adapters.store").warning("store.mended", extra=fields)
    logging.getLogger("uvicorn.error").warning("started", extra={"color_message": "none"})
    ours, other = log.getvalue().splitlines()
    assert ours.endswith(r"WARNING store.mended reason=the disk\nis full rows=3")
    assert other.endswith("WARNING started")


def test_the_lines_of_a_traceback_are_indented(log: StringIO) -> None:
    error = ValueError(str(HOSTILE)).with_traceback(None)
    logging.getLogger("maintainer").error("step.failed step=%s", "scan", exc_info=error)
    first, *rest = log.getvalue().splitlines()
    assert "ERROR step.failed step=scan" in first
    assert rest
    assert all(line.startswith("    ") and line.isprintable() for line in rest)


def test_warnings_of_a_command_without_a_log_are_visible_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handler = logging.Handler()
    monkeypatch.setattr(logging, "lastResort", handler)
    guard_warnings()
    assert isinstance(handler.formatter, VisibleFormatter)
    assert handler.format(
        logging.LogRecord("x", logging.WARNING, "x.py", 1, "%s", (str(HOSTILE),), None)
    ).isprintable()
