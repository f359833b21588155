"""A hash of a table's state, as far as it matters to a rule.

It changes when others change the table, and not when a job sets its own tags.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from maintainer.domain.health import TableHealth
from maintainer.domain.safeguards import is_rollback_tag

_DIGITS: Final = 16
# Nessie writes its commit id into the table's properties, at each commit to any table.
_VOLATILE_PROPERTIES: Final = frozenset({"nessie.commit.id"})


def digest_state(health: TableHealth) -> str:
    """A hash of the table's state.

    Equal texts mean: the same snapshots at the heads, the same refs of others, specs, sort order,
    format and properties. The metadata location is no substitute: a job that changes nothing still
    tags a snapshot, which changes the location.
    """
    newest = max(
        health.history, key=lambda stamp: (stamp.committed_at, stamp.snapshot_id), default=None
    )  # for example a staged snapshot
    state = (
        health.table_uuid,
        health.snapshot_id,
        newest.snapshot_id if newest is not None else None,
        sorted(repr(ref) for ref in health.refs if ref.is_branch or not is_rollback_tag(ref.name)),
        health.format_version,
        health.default_spec_id,
        health.is_sorted,
        sorted(
            (name, value)
            for name, value in health.properties.items()
            if name not in _VOLATILE_PROPERTIES
        ),
    )
    return sha256(repr(state).encode()).hexdigest()[:_DIGITS]
