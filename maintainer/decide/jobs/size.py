"""The profile that a job runs in: the smallest with enough memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from maintainer.decide.circumstances import Circumstances
from maintainer.domain.action import Action, RewriteDataFiles, RewritePositionDeleteFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.job import FailureReason
from maintainer.domain.plan import Estimate, RuleHistory
from maintainer.domain.policy import Policy, Rule
from maintainer.domain.pool import SIZES, JobSize, SizeProfile
from maintainer.domain.rules import (
    ComputePartitionStatsRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import GIB, format_count, format_size
from maintainer.procedures.rewrite_data_files.limits import (
    GROUPS_AT_ONCE,
    USABLE_SHARE,
    weigh_deletes,
)

# Memory for each item; the estimates are high.
# The planner's task for a file, with statistics, is in memory until its group is rewritten.
_BYTES_PER_FILE = 4 * 1024
_BYTES_PER_MANIFEST_BYTE = 10  # entries are compressed in the manifest, and objects in memory
_BYTES_PER_DELETE_BYTE = 4  # position deletes are compressed in the file, and bitmaps in memory
DEFAULT_GROUPS_AT_ONCE = 5  # Iceberg's max-concurrent-file-group-rewrites
MAX_GROUPS_AT_ONCE = 64  # each group needs a thread of the driver
_SORT_SHARE = 0.1  # of the sorted bytes; the rest is spilled to disk


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """The profile and the reason for it."""

    profile: SizeProfile
    reason: str


@dataclass(frozen=True, slots=True)
class _Need:
    """The approximate bytes in memory at the same time, in the driver and in all tasks."""

    driver: int
    tasks: int = 0

    def fits(self, profile: SizeProfile) -> bool:
        if not profile.executors_gb:
            return self.driver + self.tasks <= _room(profile.memory_gb)
        return self.driver <= _room(profile.driver_gb) and self.tasks <= _room(profile.executors_gb)

    def describe(self, profile: SizeProfile) -> str:
        if not profile.executors_gb:
            room = format_size(_room(profile.memory_gb))
            return (
                f"about {format_size(self.driver + self.tasks)} of memory is needed, of the "
                f"{room} that a {profile.size} job has for it"
            )
        driver, tasks = (
            f"{format_size(need)} of {format_size(_room(gb))}"
            for need, gb in ((self.driver, profile.driver_gb), (self.tasks, profile.executors_gb))
        )
        return (
            f"about {driver} of memory is needed in the driver and {tasks} in the executors, as "
            f"a {profile.size} job has them"
        )


def choose_size(
    rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances
) -> SizeChoice:
    """The smallest profile with enough memory, within the policy's bounds.

    Each consecutive failure for lack of memory selects the next larger profile.
    """
    history = circumstances.history.get(rule.name, RuleHistory(rule.name))
    allowed = _within(
        policy, circumstances.profiles or (SizeProfile(JobSize.SMALL, circumstances.memory_gb),)
    )
    need = _find_need(rule, health, circumstances.tasks_at_once)
    fitting = next(
        (number for number, profile in enumerate(allowed) if need.fits(profile)), len(allowed) - 1
    )
    times = _count_overflows(history)
    chosen = allowed[min(fitting + times, len(allowed) - 1)]
    reason = need.describe(chosen)
    if times:
        reason += f"; it ran out of memory {format_count(times, 'time')} in a row"
    return SizeChoice(chosen, reason)


def spread_groups(action: Action, estimate: Estimate, tasks_at_once: int) -> Action:
    """The rewrite with as many concurrent groups as tasks.

    Only if this is more than Iceberg's default, and the policy does not set the number.
    """
    if not isinstance(
        action, RewriteDataFiles | RewritePositionDeleteFiles
    ) or GROUPS_AT_ONCE in dict(action.options):
        return action
    groups = min(estimate.partitions, tasks_at_once, MAX_GROUPS_AT_ONCE)
    return (
        replace(action, options=tuple(sorted((*action.options, (GROUPS_AT_ONCE, str(groups))))))
        if groups > DEFAULT_GROUPS_AT_ONCE
        else action
    )


def _within(policy: Policy, profiles: Sequence[SizeProfile]) -> list[SizeProfile]:
    """The profiles that the policy allows, or else the nearest configured profile."""
    least, most = SIZES.index(policy.min_size), SIZES.index(policy.max_size)
    ordered = sorted(profiles, key=lambda profile: SIZES.index(profile.size))
    allowed = [profile for profile in ordered if least <= SIZES.index(profile.size) <= most]
    return allowed or [min(ordered, key=lambda profile: abs(SIZES.index(profile.size) - least))]


def _room(memory_gb: float) -> int:
    return int(memory_gb * GIB * USABLE_SHARE)


def _count_overflows(history: RuleHistory) -> int:
    failures = history.failures
    return (
        failures.times
        if failures is not None and failures.reason == FailureReason.OUT_OF_MEMORY
        else 0
    )


def _find_need(rule: Rule, health: TableHealth, tasks_at_once: int) -> _Need:
    """The memory of the job. Figures that were not measured count as 0."""
    files = (
        (health.data_files or 0)
        + (health.position_delete_files or 0)
        + (health.equality_delete_files or 0)
    )
    manifests = (health.manifest_bytes or 0) * _BYTES_PER_MANIFEST_BYTE
    match rule:
        case RewriteDataFilesRule():
            equality = max(weigh_deletes(health).values(), default=0) * tasks_at_once
            group = (
                max((partition.data_bytes for partition in health.partitions), default=0)
                if rule.strategy == "sort"
                else 0
            )
            return _Need(
                files * _BYTES_PER_FILE,
                equality + _position_deletes(health) + int(group * _SORT_SHARE),
            )
        case RewritePositionDeleteFilesRule():
            return _Need(files * _BYTES_PER_FILE, _position_deletes(health))
        case RewriteManifestsRule() | ComputePartitionStatsRule():
            return _Need(manifests)
        case _:
            return _Need(files * _BYTES_PER_FILE)


def _position_deletes(health: TableHealth) -> int:
    return (
        sum(partition.position_delete_bytes for partition in health.partitions)
        * _BYTES_PER_DELETE_BYTE
    )
