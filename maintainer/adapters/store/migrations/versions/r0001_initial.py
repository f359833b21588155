"""The schema of the first version. A new store gets the newest schema at once, without steps."""

from __future__ import annotations

revision = "0001"
down_revision = None
compatible_from = "0001"
