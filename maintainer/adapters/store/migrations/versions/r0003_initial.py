"""The schema of the first version. A new store gets the newest schema without these revisions.

The schemas 0001 and 0002 were never released.
"""

from __future__ import annotations

revision = "0003"
down_revision = None
compatible_from = "0003"
