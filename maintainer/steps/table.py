"""Measures one table, and stores its health or its fault."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from maintainer.decide.grading.bands import grade
from maintainer.decide.notices import notice_of_fault, notice_of_grade
from maintainer.decide.targets import target_of_policy
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import Registration, TableIdentifier
from maintainer.domain.inventory import FaultKind, ManifestDigest, TableFault, TableInventory
from maintainer.domain.pin import Pin
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.measure.health import measure, target_file_size
from maintainer.policy.effective import effective
from maintainer.policy.versions import with_candidate
from maintainer.ports import Ports
from maintainer.ports.catalog import KeepDigests, KnownDigests, Taken, TargetOf
from maintainer.ports.store.tables import ScanMark, TableRecord
from maintainer.steps.isolation import StoppedError, TimeLimit, TookTooLongError
from maintainer.steps.notices import report_gone_table
from maintainer.steps.registrations import registrations_of

_LOG = logging.getLogger(__name__)
_MAX_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured table and the time that it took."""

    inventory: TableInventory
    health: TableHealth
    grade: Grade
    seconds: float = 0.0


def measure_table(
    ports: Ports, table: TableIdentifier, mark: ScanMark | None = None, *, is_deep: bool = False
) -> Measured | TableFault:
    """Measure one table now and record the result.

    `mark` identifies the table's state, as far as the caller knows it, and is stored last.
    """
    started = ports.clock.now()
    inventory = read_table(ports, table, known=no_digests if is_deep else ports.store.digests)
    return measure_and_keep(
        ports,
        Taken(table, inventory, (ports.clock.now() - started).total_seconds()),
        mark,
        TimeLimit(),
    )


def no_digests(
    _table_uuid: str, _paths: Iterable[str], _target_bytes: int
) -> Mapping[str, ManifestDigest]:
    """Return no stored digests, so that every manifest is read."""
    return {}


def read_table(
    ports: Ports,
    table: TableIdentifier,
    candidate: PolicyLayer | None = None,
    known: KnownDigests | None = None,
) -> TableInventory | TableFault:
    """Read a table's inventory with the target file size of its policy or its property."""
    return read_with_policies(
        ports, table, with_candidate(ports.policies.current(), candidate), known
    )


def read_with_policies(
    ports: Ports, table: TableIdentifier, policies: PolicySet, known: KnownDigests | None = None
) -> TableInventory | TableFault:
    """Read a table's inventory with the target file size of the given policies."""
    return ports.catalog_of(table).inventory(
        table, target_by(lambda: policies), known or ports.store.digests
    )


def target_by(policies: Callable[[], PolicySet]) -> TargetOf:
    """Return a function that gives a table's target file size, by its policy or its property."""
    return lambda table, properties: (
        target_of_policy(effective(policies(), table, properties)) or target_file_size(properties)
    )


def measure_and_keep(
    ports: Ports, taken: Taken, mark: ScanMark | None, limit: TimeLimit
) -> Measured | TableFault:
    """Measure and grade the inventory within the time limit, and store the result.

    An error becomes a fault of this table and does not stop other tables. Only errors of the store
    and StoppedError are raised.
    """
    try:
        return _record(ports, taken, mark, limit)
    except (StoreUnavailableError, StoppedError):
        raise
    except TookTooLongError as error:
        return keep_fault(
            ports,
            TableFault(
                taken.table,
                FaultKind.FAILED,
                f"measuring was stopped: {error}",
                ports.clock.now(),
            ),
        )
    except Exception as error:  # noqa: BLE001 - an error on one table must not stop the others
        _LOG.exception("table %s could not be measured", taken.table)
        return keep_fault(
            ports, TableFault(taken.table, FaultKind.FAILED, _explain(error), ports.clock.now())
        )


def _record(
    ports: Ports, taken: Taken, mark: ScanMark | None, limit: TimeLimit
) -> Measured | TableFault:
    inventory = taken.outcome
    if isinstance(inventory, TableFault):
        return keep_fault(ports, inventory)
    if isinstance(inventory, Exception):
        raise inventory
    started = ports.clock.now()
    table = taken.table
    before, pins = (
        ports.store.grade(table, inventory.table_uuid),
        tuple(ports.store.pins(inventory.table_uuid)),
    )
    registrations = registrations_of(ports, table, inventory.table_uuid, inventory.properties)
    health, graded = limit.run(
        f"measuring {table}",
        partial(
            _measure_and_grade, inventory, ports.policies.current(), before, pins, registrations
        ),
    )
    try:
        ports.store.record_health(health, graded)
    except (
        InvalidValueError
    ) as error:  # no database can store this figure or name: a fault of this table only
        fault = TableFault(table, FaultKind.UNSUPPORTED, str(error), inventory.read_at)
        ports.store.record_fault(fault)
        return fault
    ports.store.record_digests(
        inventory.table_uuid, inventory.size_classes.target_bytes, inventory.manifests
    )
    if mark is not None:  # the next scan may be able to read the table
        ports.store.record_mark(table, replace(mark, token="") if health.unreadable else mark)
    ports.telemetry.table_measured(health, graded)
    notice = notice_of_grade(table, before, graded, inventory.read_at)
    if notice is not None:
        ports.notifier.notify(notice)
    return Measured(
        inventory, health, graded, taken.seconds + (ports.clock.now() - started).total_seconds()
    )


def _measure_and_grade(
    inventory: TableInventory,
    policies: PolicySet,
    before: Grade | None,
    pins: Sequence[Pin],
    registrations: Sequence[Registration],
) -> tuple[TableHealth, Grade]:
    health = measure(inventory)
    policy = effective(policies, inventory.table, inventory.properties)
    return health, grade(health, policy, inventory.read_at, before, pins, registrations)


def keep_digests(ports: Ports) -> KeepDigests:
    """Return a function that stores digests while a table is being read.

    After a crash the next scan uses these digests.
    """

    def keep(table_uuid: str, target_bytes: int, digests: Sequence[ManifestDigest]) -> None:
        # A manifest whose digest is not stored is read again. Recording the table raises the error
        # for a wrong digest or a failing store.
        with suppress(InvalidValueError, StoreUnavailableError):
            ports.store.add_digests(table_uuid, target_bytes, digests, ports.clock.now())

    return keep


def keep_fault(ports: Ports, fault: TableFault) -> TableFault:
    """Record the reason why a table cannot be measured."""
    is_gone = fault.kind in {FaultKind.DROPPED, FaultKind.VIEW}
    before = ports.store.table(fault.table)
    if is_gone:
        report_gone_table(ports, fault.table, fault.reason)
    ports.store.record_fault(fault)
    if is_gone:
        ports.telemetry.table_gone(fault.table)
    elif (
        before is not None
        and before.health is not None
        and before.fault is None
        and fault.kind is not FaultKind.CATALOG_UNAVAILABLE
    ):
        ports.notifier.notify(notice_of_fault(fault))
    return fault


def _explain(error: Exception) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    short = (
        text if len(text) <= _MAX_REASON_CHARACTERS else f"{text[: _MAX_REASON_CHARACTERS - 1]}…"
    )
    return f"measuring failed unexpectedly (see the log): {short}"


def measured_record(ports: Ports, table: TableIdentifier) -> tuple[TableRecord, TableHealth]:
    """Return a table's record and health; UnknownTableError if it is unknown or never measured."""
    record = ports.store.table(table)
    if record is None:
        raise UnknownTableError(
            f"table {table} is not known; `maintainer scan` lists the tables of the catalogs"
        )
    if record.health is None:
        reason = record.fault.reason if record.fault is not None else "it was not scanned yet"
        raise UnknownTableError(f"table {table} has not been measured: {reason}")
    return record, record.health
