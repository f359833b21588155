"""Converts domain values to JSON and back without loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from pydantic import TypeAdapter

from maintainer.domain.admission import Candidate, Halt
from maintainer.domain.calibration import CostFit
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.domain.file_sizes import MAX_LISTED_SIZES, MIN_LISTED_SIZES
from maintainer.domain.health import Grade, PartitionHealth, SnapshotStamp, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    DIGEST_VERSION,
    HISTOGRAM_BOUNDS_BYTES,
    LARGE_FILE_RATIO,
    SMALL_FILE_RATIO,
    CatalogFault,
    ManifestDigest,
    Ref,
    TableFault,
)
from maintainer.domain.job import Job
from maintainer.domain.orphan import FoundFile, OrphanList
from maintainer.domain.plan import FailureStreak, Plan
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store import Pause

T = TypeVar("T")

# pydantic for values with an Action: msgspec cannot distinguish several dataclasses by a field.
_JOB = TypeAdapter(Job)
_PLAN = TypeAdapter(Plan)


class _Detail(msgspec.Struct, frozen=True):
    """The parts of a TableHealth that lists leave out."""

    partitions: tuple[PartitionHealth, ...]
    history: tuple[SnapshotStamp, ...]
    refs: tuple[Ref, ...]


_HEALTH = msgspec.json.Decoder(TableHealth)
_DETAIL = msgspec.json.Decoder(_Detail)
_GRADE = msgspec.json.Decoder(Grade)
_FAULT = msgspec.json.Decoder(TableFault)
_PAUSE = msgspec.json.Decoder(Pause)
_CATALOG_FAULTS = msgspec.json.Decoder(tuple[CatalogFault, ...])
_DIGEST = msgspec.json.Decoder(ManifestDigest)
_VERDICT = msgspec.json.Decoder(RuleVerdict)
_CANDIDATE = msgspec.json.Decoder(Candidate)
_FIT = msgspec.json.Decoder(CostFit)
_STREAK = msgspec.json.Decoder(FailureStreak)
_HALT = msgspec.json.Decoder(Halt)
_ORPHAN_LIST = msgspec.json.Decoder(OrphanList)
_FOUND_FILES = msgspec.json.Decoder(tuple[FoundFile, ...])
_FIELDS = msgspec.json.Decoder(dict[str, object])
_LEVELS = msgspec.json.Decoder(tuple[str, tuple[str, ...], str])


def shape_of_digests() -> str:
    """Return the fields and the rules of a digest as text.

    Changed bounds and rules make stored digests as useless as changed fields.
    """
    meaning = [
        DIGEST_VERSION,
        HISTOGRAM_BOUNDS_BYTES,
        SMALL_FILE_RATIO,
        LARGE_FILE_RATIO,
        MIN_LISTED_SIZES,
        MAX_LISTED_SIZES,
    ]
    return sha256(
        msgspec.json.encode([msgspec.json.schema(ManifestDigest), meaning], order="deterministic")
    ).hexdigest()[:16]


DIGEST_SHAPE = shape_of_digests()


def _write(what: str, write: Callable[[], bytes]) -> bytes:
    try:
        return write()
    except (
        OverflowError,
        UnicodeError,
        TypeError,
        ValueError,
    ) as error:  # an integer over 64 bits, half a surrogate pair
        message = f"{what} cannot be stored: {_first_line(error)}"
        raise InvalidValueError(message) from error


def _read(what: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except ValueError as error:  # msgspec's and pydantic's errors are ValueErrors
        message = f"{what} in the store cannot be read by this version: {_first_line(error)}"
        raise StoreUnavailableError(message) from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def write_health(health: TableHealth) -> tuple[bytes, bytes]:
    """Write the summary and the detail of a table's health."""
    what = f"health of {health.table}"
    summary = replace(health, partitions=(), history=(), refs=())
    detail = _Detail(health.partitions, health.history, health.refs)
    return _write(what, lambda: msgspec.json.encode(summary)), _write(
        what, lambda: msgspec.json.encode(detail)
    )


def read_summary(document: bytes) -> TableHealth:
    """Read a health without partitions, history and refs."""
    return _read("a table's health", lambda: _HEALTH.decode(document))


def read_health(document: bytes, detail: bytes) -> TableHealth:
    """Read a whole health."""
    parts = _read("a table's health", lambda: _DETAIL.decode(detail))
    return replace(
        read_summary(document), partitions=parts.partitions, history=parts.history, refs=parts.refs
    )


def write_grade(grade: Grade) -> str:
    """Write a grade as JSON."""
    return _write("a grade", lambda: msgspec.json.encode(grade)).decode()


def read_grade(document: str) -> Grade:
    """Read a grade."""
    return _read("a grade", lambda: _GRADE.decode(document))


def write_fault(fault: TableFault) -> str:
    """Write a table's fault as JSON."""
    return _write(f"fault of {fault.table}", lambda: msgspec.json.encode(fault)).decode()


def read_fault(document: str) -> TableFault:
    """Read a table's fault."""
    return _read("a table's fault", lambda: _FAULT.decode(document))


def write_pause(pause: Pause) -> str:
    """Write a pause as JSON."""
    return _write("a pause", lambda: msgspec.json.encode(pause)).decode()


def read_pause(document: str) -> Pause:
    """Read a pause."""
    return _read("a pause", lambda: _PAUSE.decode(document))


def write_catalog_faults(faults: Sequence[CatalogFault]) -> str:
    """Write a catalog's faults as a JSON list."""
    return _write("a catalog's faults", lambda: msgspec.json.encode(tuple(faults))).decode()


def read_catalog_faults(document: str) -> tuple[CatalogFault, ...]:
    """Read a catalog's faults."""
    return _read("a catalog's faults", lambda: _CATALOG_FAULTS.decode(document))


def write_digest(digest: ManifestDigest) -> bytes:
    """Write a manifest's digest as JSON."""
    return _write(f"digest of {digest.path}", lambda: msgspec.json.encode(digest))


def read_digest(document: bytes) -> ManifestDigest:
    """Read a manifest's digest."""
    return _read("a manifest's digest", lambda: _DIGEST.decode(document))


def write_plan(plan: Plan) -> bytes:
    """Write a plan as JSON."""
    return _write(f"plan of {plan.table}", lambda: _PLAN.dump_json(plan))


def read_plan(document: bytes) -> Plan:
    """Read a plan."""
    return _read("a plan", lambda: _PLAN.validate_json(document, strict=True))


def write_verdict(verdict: RuleVerdict) -> str:
    """Write a verdict as JSON."""
    return _write(f"verdict on {verdict.rule}", lambda: msgspec.json.encode(verdict)).decode()


def read_verdict(document: str) -> RuleVerdict:
    """Read a verdict."""
    return _read("a verdict", lambda: _VERDICT.decode(document))


def write_job(job: Job) -> str:
    """Write a job as JSON."""
    return _write(f"job {job.job_id}", lambda: _JOB.dump_json(job)).decode()


def read_job(document: str) -> Job:
    """Read a job."""
    return _read("a job", lambda: _JOB.validate_json(document, strict=True))


def write_candidate(candidate: Candidate) -> str:
    """Write a candidate as JSON."""
    return _write(f"candidate {candidate.table}", lambda: msgspec.json.encode(candidate)).decode()


def read_candidate(document: str) -> Candidate:
    """Read a candidate."""
    return _read("a candidate", lambda: _CANDIDATE.decode(document))


def write_fit(fit: CostFit) -> str:
    """Write a calibration as JSON."""
    return _write("a calibration", lambda: msgspec.json.encode(fit)).decode()


def read_fit(document: str) -> CostFit:
    """Read a calibration."""
    return _read("a calibration", lambda: _FIT.decode(document))


def write_halt(halt: Halt) -> str:
    """Write the pause of a scope as JSON."""
    return _write(f"halt of {halt.scope}", lambda: msgspec.json.encode(halt)).decode()


def read_halt(document: str) -> Halt:
    """Read the pause of a scope."""
    return _read("a halt", lambda: _HALT.decode(document))


def write_orphan_list(orphans: OrphanList) -> str:
    """Write an orphan list as JSON, without its files."""
    return _write(
        f"list {orphans.list_id} of orphan files", lambda: msgspec.json.encode(orphans)
    ).decode()


def read_orphan_list(document: str) -> OrphanList:
    """Read an orphan list, without its files."""
    return _read("a list of orphan files", lambda: _ORPHAN_LIST.decode(document))


def write_found_files(files: Sequence[FoundFile]) -> bytes:
    """Write some files of a list as JSON."""
    return _write("a list's files", lambda: msgspec.json.encode(tuple(files)))


def read_found_files(document: bytes) -> tuple[FoundFile, ...]:
    """Read some files of a list."""
    return _read("a list's files", lambda: _FOUND_FILES.decode(document))


def write_streak(streak: FailureStreak) -> str:
    """Write a streak of failures as JSON."""
    return _write("failures in a row", lambda: msgspec.json.encode(streak)).decode()


def read_streak(document: str) -> FailureStreak:
    """Read a streak of failures."""
    return _read("failures in a row", lambda: _STREAK.decode(document))


def write_fields(fields: Mapping[str, object]) -> str:
    """Write an event's fields as JSON; a value without a JSON type becomes text."""
    return _write("an event", lambda: msgspec.json.encode(fields, enc_hook=_write_as_text)).decode()


def _write_as_text(value: Any) -> str:  # noqa: ANN401 - msgspec passes any value of an unknown type
    return str(value)


def read_fields(document: str) -> dict[str, object]:
    """Read an event's fields."""
    return _read("an event", lambda: _FIELDS.decode(document))


def write_levels(table: TableIdentifier) -> str:
    """Write the levels of a table's name as JSON."""
    return _write(
        f"name {table!r}", lambda: msgspec.json.encode((table.catalog, table.namespace, table.name))
    ).decode()


def read_levels(document: str) -> TableIdentifier:
    """Read a table's name."""
    return TableIdentifier(*_read("a table's name", lambda: _LEVELS.decode(document)))
