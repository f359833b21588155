"""The store's plans, the history of verdicts, and versions of the policies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan, RuleVerdict, Unenforced
from maintainer.domain.policy_version import PolicyVersion
from maintainer.ports.store.pages import Page

# The longest time until a table is planned again. Verdicts have the time of their next check;
# this limit is for other changes. With 100,000 tables it needs 28 plans a second.
LONGEST_TRUST = timedelta(hours=1)
MAX_POLICY_VERSIONS = 1000


@dataclass(frozen=True, slots=True)
class PlanDue:
    """A table that is to be planned.

    `wanted` identifies the state of the plan's input, and is passed back to mark_planned.
    """

    table: TableIdentifier
    wanted: int


class PlanStore(Protocol):
    """The part of the store that concerns plans."""

    def record_plan(self, plan: Plan, verdicts: Sequence[RuleVerdict] = ()) -> None:
        """Store a table's latest plan, and the verdicts that differ by code or key.

        A new verdict ends the standing one of its rule, and a rule without a verdict ends
        its standing one. Without any verdict the history is unchanged.
        """

    def verdicts(
        self, table: TableIdentifier, limit: int = 100, cursor: str | None = None
    ) -> Page[RuleVerdict]:
        """A page of the history of verdicts on the table's present UUID, newest first."""

    def unenforced(self, limit: int) -> Unenforced:
        """Sum up the standing verdicts of observe mode; the figures of `limit` verdicts at most."""

    def plans(self) -> Sequence[Plan]:
        """The latest plan of every table that has one."""

    def tables_to_plan(
        self, now: datetime, version: str, catalogs: Collection[str] | None = None
    ) -> Sequence[PlanDue]:
        """Measured tables of these catalogs (None: of all) that are to be planned, by name.

        A table is due if the input of its plan has changed (health, pause, jobs or the
        version), or if its next check is due. A next check further ahead than
        LONGEST_TRUST was stored under a clock that was ahead, and counts as due.
        """

    def mark_planned(self, due: PlanDue, version: str, next_at: datetime | None) -> None:
        """Record that the table's plan has this version and is valid until next_at.

        Does nothing if the input of the plan has changed meanwhile.
        """


class PolicyVersionStore(Protocol):
    """The part of the store that keeps the versions of policies that were in force."""

    def record_policies(self, version: PolicyVersion) -> bool:
        """Store a version as the one in force; False when it was in force with the same problems.

        It keeps the time when it was first seen and gets a new last_seen_at. Of more than
        MAX_POLICY_VERSIONS, the versions that were in force longest ago are deleted.
        """

    def policy_versions(self, limit: int = 100, cursor: str | None = None) -> Page[PolicyVersion]:
        """A page of the versions without their layers, ordered by when each last came into force.

        The version in force comes first.
        """

    def policy_version(self, version: str) -> PolicyVersion | None:
        """One version with its layers."""
