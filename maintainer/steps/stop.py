"""Find the pause or drain that stops work on a table."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.admission import Halt
from maintainer.domain.identifier import TableIdentifier
from maintainer.policy.halts import find_halt
from maintainer.steps.ports import Ports


def find_stop(ports: Ports, table: TableIdentifier, since: datetime | None = None) -> Halt | None:
    """The widest pause or drain that covers the table; with `since`, only later ones."""
    halts = [*ports.store.halts()]
    record = ports.store.table(table)
    if record is not None and record.pause is not None:
        halts.append(Halt(str(table), record.pause.by, record.pause.at, record.pause.reason))
    return find_halt([halt for halt in halts if since is None or halt.at > since], table)
