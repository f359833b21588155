"""The source of policies."""

from __future__ import annotations

from typing import Protocol

from maintainer.domain.policy import PolicySet


class Policies(Protocol):
    """A source of policies that notices changes by itself."""

    def current(self) -> PolicySet:
        """The layers in force now; cheap to call.

        For an invalid file the last valid version is used, and its problem is listed.
        """
