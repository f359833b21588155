"""The store's locations of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maintainer.domain.location import TableLocation


class LocationStore(Protocol):
    """The part of the store that knows which directories belong to tables."""

    def locations_near(self, paths: Sequence[str]) -> Sequence[TableLocation]:
        """Locations of tables that equal, contain or lie in one of these paths, by path.

        Paths are written as normalise_path writes them. Locations of dropped tables are
        included.
        """
        ...
