"""`maintainer pin` and `unpin`: protect snapshots from expiry, in the daemon's store."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from maintainer.cli.output.console import echo
from maintainer.cli.state import Config, TableName, load, open_app
from maintainer.cli.tables.choose import measure_named
from maintainer.domain.audit import AuditEntry, Deed, name_actor
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.pin import Pin
from maintainer.domain.units import format_instant, parse_duration
from maintainer.estimate.retained_snapshots import find_pin_trouble
from maintainer.ports import Ports
from maintainer.steps.table import measured_record

DEFAULT_BY = "person"


def pin(  # noqa: PLR0913, PLR0917 - the options of one command
    table: TableName,
    snapshot: Annotated[
        int | None,
        typer.Option(
            "--snapshot",
            help="The snapshot to protect, with newer ones; without it the pins are listed.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="The pin's name. A pin with this name is replaced.")
    ] = "cli",
    by: Annotated[
        str, typer.Option("--by", help="The person or program that needs the pin.")
    ] = DEFAULT_BY,
    hold: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="The time until the pin ends, such as 7d. Without it the pin lasts until "
            "`maintainer unpin`.",
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Protect a snapshot and newer ones from expiry; without --snapshot, list the pins."""
    wanted = TableIdentifier.parse(table)
    span = parse_duration(hold) if hold is not None else None
    with open_app(load(config)) as app:
        ports = app.ports
        health = _measure(ports, wanted)
        now = ports.clock.now()
        if snapshot is not None:
            if all(stamp.snapshot_id != snapshot for stamp in health.history):
                raise InvalidValueError(f"table {wanted} has no snapshot {snapshot}")
            ports.store.set_pin(
                health.table_uuid,
                Pin(name, snapshot, by, now, now + span if span is not None else None),
            )
            _note(
                ports,
                health,
                by,
                Deed.SNAPSHOT_PINNED,
                {"name": name, "snapshot_id": str(snapshot), "by": by},
            )
        for line in _describe(ports, health, now):
            echo(line)


def unpin(
    table: TableName,
    name: Annotated[str, typer.Option("--name", help="The pin's name.")] = "cli",
    by: Annotated[
        str, typer.Option("--by", help="The person who removes the pin, for the audit log.")
    ] = DEFAULT_BY,
    config: Config = None,
) -> None:
    """Remove a pin."""
    wanted = TableIdentifier.parse(table)
    with open_app(load(config)) as app:
        health = _measure(app.ports, wanted)
        if not app.ports.store.remove_pin(health.table_uuid, name):
            raise InvalidValueError(f"table {wanted} has no pin {name!r}")
        _note(app.ports, health, by, Deed.SNAPSHOT_UNPINNED, {"name": name})
        echo(f"pin {name} of {wanted} is removed")


def _note(
    ports: Ports, health: TableHealth, by: str, deed: Deed, fields: dict[str, object]
) -> None:
    ports.store.record_audit(
        [
            AuditEntry(
                ports.clock.now(),
                name_actor(by),
                deed,
                health.table,
                health.table_uuid,
                fields=fields,
            )
        ]
    )


def _measure(ports: Ports, table: TableIdentifier) -> TableHealth:
    measure_named(ports, table)
    return measured_record(ports, table)[1]


def _describe(ports: Ports, health: TableHealth, now: datetime) -> list[str]:
    pins = ports.store.pins(health.table_uuid)
    ends = {
        pin.name: f"until {format_instant(pin.until)}"
        if pin.until is not None
        else "until it is removed"
        for pin in pins
    }
    lines = [
        (
            f"{pin.name}: snapshot {pin.snapshot_id}, by {pin.by}, "
            f"{ends[pin.name] if pin.holds_at(now) else 'ended'}"
        )
        for pin in pins
    ]
    return [*(lines or [f"{health.table} has no pins"]), *find_pin_trouble(health, pins, now)]
