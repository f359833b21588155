"""Pins, and a preview of expiry."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api.access import RecordIn, on_table
from maintainer.api.deps import REQUESTED_BY, ActorIn, PortsIn, speak_for
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.health_schemas import Schema, SnapshotId
from maintainer.api.spans import Time, thin
from maintainer.domain.access import Role
from maintainer.domain.audit import AuditEntry, Deed, name_actor
from maintainer.domain.health import SnapshotRole, SnapshotStamp, TableHealth
from maintainer.domain.pin import Pin
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.estimate.retained_snapshots import describe_expiry, find_keepers, preview_expiry
from maintainer.ports import Ports
from maintainer.ports.store.tables import TableRecord
from maintainer.steps.table_plan import policy_of

MAX_LISTED_SNAPSHOTS = 1000  # in a preview; `snapshots` has the number of all

router = APIRouter(tags=["tables"])
_ONE = "/tables/{catalog}/{namespace}/{table}"
_CONFLICT = declare_problems(HTTPStatus.CONFLICT)


class PinRequest(Schema):
    """Protect a snapshot and all newer ones from expiry."""

    name: str = Field(
        min_length=1,
        max_length=100,
        description="Letters, digits, dots, dashes and underscores; a pin of that name is "
        "replaced.",
    )
    snapshot_id: str = Field(pattern="^[0-9]{1,19}$")
    by: str = Field(
        default=REQUESTED_BY,
        max_length=200,
        description="Who needs the snapshot; shown where the pin delays a rule.",
    )
    until: Time | None = Field(
        default=None, description="RFC 3339; without it the pin lasts until it is removed."
    )


class PinOut(Schema):
    """A pin; is_held is false when it has expired or the table no longer has the snapshot."""

    name: str
    snapshot_id: SnapshotId
    by: str
    made_at: datetime
    until: datetime | None
    is_held: bool


class KeeperOut(Schema):
    """A snapshot that is protected together with all newer ones, and by whom."""

    snapshot_id: SnapshotId
    committed_at: datetime
    reason: str


class PinList(Schema):
    """The pins, and all that protects snapshots: pins, table properties, tags, Flink, audits."""

    pins: list[PinOut]
    keepers: list[KeeperOut]


class SnapshotOut(Schema):
    """A snapshot that the table keeps."""

    snapshot_id: SnapshotId
    committed_at: datetime
    refs: list[str] = Field(description="The branches and tags that point to it.")
    pins: list[str] = Field(description="The pins that keep it and all newer ones.")
    role: SnapshotRole | None = Field(description="Why it may be needed off all branches.")
    expires: bool = Field(description="The next run of expiry would remove it.")


class SnapshotList(Schema):
    """Snapshots, newest first; total is the number of all."""

    items: list[SnapshotOut]
    total: int


class ExpiryOut(Schema):
    """The snapshots that expire_snapshots would remove now, simulated on the metadata."""

    sentence: str
    action: str = Field(description="The CALL statement.")
    snapshots: int
    snapshot_ids: list[SnapshotId] = Field(description="The oldest first; at most 1000.")
    refs: list[str]
    bytes_freed: int | None = Field(
        description="An estimate; null if the snapshots' summaries are incomplete."
    )
    keeper: KeeperOut | None = Field(
        description="The pins, branches and tags that protect the other snapshots."
    )
    refusal: str | None = Field(description="Why no snapshot may expire.")
    is_slice: bool = Field(description="More snapshots are old enough; later runs expire them.")


def _health_of(record: TableRecord) -> TableHealth:
    if record.health is None:
        raise ProblemError(
            HTTPStatus.CONFLICT,
            f"table {record.table} has not been measured yet, so its snapshots are not known",
        )
    return record.health


def _expiry_rule(ports: Ports, health: TableHealth) -> ExpireSnapshotsRule:
    return policy_of(ports, health).rule(ExpireSnapshotsRule) or ExpireSnapshotsRule()


def _write_pin(pin: Pin, health: TableHealth, now: datetime) -> PinOut:
    is_held = pin.holds_at(now) and any(
        stamp.snapshot_id == pin.snapshot_id for stamp in health.history
    )
    return PinOut.of(pin, is_held=is_held)


@router.get(
    f"{_ONE}/pins",
    summary="Pins and other reasons to keep snapshots",
    responses=_CONFLICT,
    dependencies=[on_table(Role.VIEWER)],
)
def get_pins(record: RecordIn, ports: PortsIn) -> PinList:
    """Pins by name, and all keepers, beginning with the one of the oldest snapshot."""
    health, now = _health_of(record), ports.clock.now()
    pins = tuple(ports.store.pins(health.table_uuid))
    keepers = sorted(
        find_keepers(health, _expiry_rule(ports, health), pins, now),
        key=lambda keeper: keeper.committed_at,
    )
    return PinList(
        pins=[_write_pin(pin, health, now) for pin in pins],
        keepers=[KeeperOut.model_validate(keeper) for keeper in keepers],
    )


@router.post(
    f"{_ONE}/pins",
    summary="Keep a snapshot and all newer ones",
    status_code=HTTPStatus.CREATED,
    responses=_CONFLICT,
    dependencies=[on_table(Role.OPERATOR)],
)
def set_pin(record: RecordIn, ports: PortsIn, actor: ActorIn, request: PinRequest) -> PinOut:
    """Add a pin, or replace the one of that name.

    409 when the table does not have the snapshot. A job that runs already is not affected.
    """
    health, now = _health_of(record), ports.clock.now()
    pin = Pin(request.name, int(request.snapshot_id), request.by, now, request.until)
    if not any(stamp.snapshot_id == pin.snapshot_id for stamp in health.history):
        raise ProblemError(
            HTTPStatus.CONFLICT,
            f"table {record.table} has no snapshot {pin.snapshot_id} at its last scan",
        )
    ports.store.set_pin(health.table_uuid, pin)
    _note(
        ports,
        record,
        speak_for(actor, pin.by),
        Deed.SNAPSHOT_PINNED,
        {"name": pin.name, "snapshot_id": request.snapshot_id, "by": pin.by},
    )
    return _write_pin(pin, health, now)


@router.delete(
    f"{_ONE}/pins/{{name}}",
    summary="Remove a pin",
    status_code=HTTPStatus.NO_CONTENT,
    responses=_CONFLICT,
    dependencies=[on_table(Role.OPERATOR)],
)
def remove_pin(
    record: RecordIn,
    ports: PortsIn,
    actor: ActorIn,
    name: Annotated[str, Path(max_length=100)],
) -> None:
    """The next expiry may remove what the pin protected; 404 when there is no pin of that name."""
    if not ports.store.remove_pin(_health_of(record).table_uuid, name):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"table {record.table} has no pin {name!r}")
    _note(ports, record, actor, Deed.SNAPSHOT_UNPINNED, {"name": name})


def _note(
    ports: Ports, record: TableRecord, by: str, deed: Deed, fields: dict[str, object]
) -> None:
    table_uuid = record.health.table_uuid if record.health is not None else ""
    ports.store.record_audit(
        [
            AuditEntry(
                ports.clock.now(), name_actor(by), deed, record.table, table_uuid, fields=fields
            )
        ]
    )


@router.get(
    f"{_ONE}/expiry",
    summary="What expiry would remove",
    responses=_CONFLICT,
    dependencies=[on_table(Role.VIEWER)],
)
def get_expiry(record: RecordIn, ports: PortsIn) -> ExpiryOut:
    """A preview from the last measurement under the policy in force; stores and starts nothing."""
    health = _health_of(record)
    rule = _expiry_rule(ports, health)
    preview = preview_expiry(health, rule, ports.store.pins(health.table_uuid), ports.clock.now())
    return ExpiryOut.of(
        preview,
        sentence=describe_expiry(preview, health, rule),
        action=main_statement(record.table, preview.action),
        snapshots=len(preview.snapshots),
        snapshot_ids=[stamp.snapshot_id for stamp in preview.snapshots[:MAX_LISTED_SNAPSHOTS]],
    )


@router.get(
    f"{_ONE}/snapshots",
    summary="The snapshots that the table keeps",
    responses=_CONFLICT,
    dependencies=[on_table(Role.VIEWER)],
)
def get_snapshots(record: RecordIn, ports: PortsIn) -> SnapshotList:
    """Snapshots of the last measurement, newest first.

    Of more than 1000 they are thinned evenly; those with a branch, a tag, a pin or a role stay.
    """
    health, now = _health_of(record), ports.clock.now()
    pins = tuple(ports.store.pins(health.table_uuid))
    preview = preview_expiry(health, _expiry_rule(ports, health), pins, now)
    gone = {stamp.snapshot_id for stamp in preview.snapshots} if preview.refusal is None else set()

    def write(stamp: SnapshotStamp) -> SnapshotOut:
        found = stamp.snapshot_id
        return SnapshotOut.of(
            stamp,
            refs=[ref.name for ref in health.refs if ref.snapshot_id == found],
            pins=[pin.name for pin in pins if pin.snapshot_id == found and pin.holds_at(now)],
            expires=found in gone,
        )

    named = {ref.snapshot_id for ref in health.refs} | {pin.snapshot_id for pin in pins}
    stamps = sorted(health.history, key=lambda stamp: (stamp.committed_at, stamp.snapshot_id))
    shown = named | {stamp.snapshot_id for stamp in thin(stamps, MAX_LISTED_SNAPSHOTS)}
    return SnapshotList(
        items=[
            write(stamp)
            for stamp in reversed(stamps)
            if stamp.snapshot_id in shown or stamp.role is not None
        ],
        total=len(stamps),
    )
