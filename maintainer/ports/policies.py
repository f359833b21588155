"""Where policies come from."""

from __future__ import annotations

from typing import Protocol

from maintainer.domain.policy import PolicySet


class Policies(Protocol):
    """A source of policies that notices changes by itself."""

    def current(self) -> PolicySet:
        """The layers in force now: of each bad file the last good version, and the problem beside
        it. Cheap to call often.
        """
        ...
