"""What an empty run found is a digest of the table's state: the metadata's location moves with each
tag of our own.
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Rename the column; the locations in it equal no state, so that each rule may run once
    more.
    """
    op.alter_column("rule_histories", "idle_at_metadata_location", new_column_name="idle_at_state")
