"""The table's state after a run without an effect, as a hash.

The metadata's location changes with each tag of ours.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Rename the column; the old locations match no state, so that each rule may run once more."""
    op.alter_column("rule_histories", "idle_at_metadata_location", new_column_name="idle_at_state")
