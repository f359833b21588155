"""No name of a stranger begins a line of the daemon's log, or steers the terminal that shows it."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from maintainer.adapters.journal import Journal
from maintainer.cli.output.log import VisibleFormatter, configure_log, guard_warnings
from maintainer.domain.identifier import TableIdentifier
from tests.api.nouns import EFFECT, finish_job, make_job, run_job
from tests.fakes.adapters.telemetry import FakeTelemetry
from tests.project.repository import ROOT

HOSTILE = TableIdentifier(
    "lake", ("sales",), "x\n2026-01-01 00:00:00,000 INFO job.succeeded job=m-1\x1b[2J\x9b31m\u202e"
)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """What is written to standard error; the log is not configured yet."""
    stream, root, ours = StringIO(), logging.getLogger(), logging.getLogger("maintainer")
    levels, handlers = (root.level, ours.level), root.handlers[:]
    root.handlers.clear()
    monkeypatch.setattr(sys, "stderr", stream)
    yield stream
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    root.handlers[:] = handlers


@pytest.fixture
def log(written: StringIO) -> StringIO:
    """What the configured log writes."""
    configure_log()
    return written


@pytest.fixture
def json_log(written: StringIO) -> StringIO:
    """What the log writes in JSON, at its least level."""
    configure_log("json", "debug")
    return written


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
    logging.getLogger("maintainer.adapters.store").warning("link.store_away", extra=fields)
    logging.getLogger("uvicorn.error").warning("started", extra={"color_message": "none"})
    ours, other = log.getvalue().splitlines()
    assert ours.endswith(r"WARNING link.store_away reason=the disk\nis full rows=3")
    assert other.endswith("WARNING started")


def test_in_json_an_event_has_its_fields_by_name(json_log: StringIO) -> None:
    journal = Journal(FakeTelemetry())
    journal.scan_finished(1.25, 230, 2, 1)
    journal.job_finished(finish_job(run_job(make_job("m-1"))), EFFECT)
    journal.table_gone(HOSTILE)
    scan, job, gone = map(json.loads, json_log.getvalue().splitlines())
    assert scan.pop("time").endswith("Z")
    assert scan == {
        "level": "info", "event": "scan.finished", "tables": 2, "faults": 1,
        "manifest_entries_read": 230, "duration_seconds": 1.25,
    }  # fmt: skip
    assert (job["event"], job["job"], job["table"]) == ("job.succeeded", "m-1", "lake.sales.orders")
    assert job["duration_seconds"] > 0
    assert job["message"] == EFFECT.sentence
    assert gone["table"] == str(HOSTILE)


def test_in_json_a_text_is_the_message_and_a_traceback_a_field(json_log: StringIO) -> None:
    ours = logging.getLogger("maintainer")
    ours.info("daemon.started page=http://%s:%d/ role=%s", "127.0.0.1", 80, "all")
    ours.warning("step.left step=%s (it did not end within %g s)", "scan", 5.0)
    ours.error("step.failed step=%s", "plan", exc_info=ValueError("bad"))
    logging.getLogger("uvicorn.error").warning("slow %s", "client")
    logging.getLogger("pyiceberg").info("noise")
    started, left, failed, other = map(json.loads, json_log.getvalue().splitlines())
    assert (started["page"], started["role"]) == ("http://127.0.0.1:80/", "all")
    assert left["message"] == "(it did not end within 5 s)"
    assert (failed["step"], failed["traceback"]) == ("plan", "ValueError: bad")
    assert (other["event"], other["message"]) == ("uvicorn.error", "slow client")


def test_every_event_of_the_program_begins_with_its_name() -> None:
    templates = [
        (path, found)
        for path in (ROOT / "maintainer").rglob("*.py")
        for found in re.findall(
            r"log\.(?:debug|info|warning|error|exception)\(\s*\"([^\"]+)\"", path.read_text()
        )
    ]
    assert len(templates) > 20
    for path, template in templates:
        assert re.match(r"[a-z_]+\.(%s|[a-z_]+)( |$)", template), f"{path}: {template}"


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
