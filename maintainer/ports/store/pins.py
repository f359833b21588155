"""The store's pins of snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maintainer.domain.pin import Pin


class PinStore(Protocol):
    """The part of the store that concerns pins."""

    def pins(self, table_uuid: str) -> Sequence[Pin]:
        """The table's pins by name, including expired ones."""
        ...

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        """Add a pin, or replace the one of that name, and have the table planned again."""
        ...

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        """Remove a pin; False when there is none of that name."""
        ...
