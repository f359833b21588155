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
from maintainer.domain.units import GIB, format_count, format_size
from maintainer.procedures.memory import Need
from maintainer.procedures.registry import CHAPTERS
from maintainer.procedures.rewrite_data_files.limits import GROUPS_AT_ONCE, USABLE_SHARE

DEFAULT_GROUPS_AT_ONCE = 5  # Iceberg's max-concurrent-file-group-rewrites
MAX_GROUPS_AT_ONCE = 64  # each group needs a thread of the driver


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """The profile and the reason for it."""

    profile: SizeProfile
    reason: str


def _fits(need: Need, profile: SizeProfile) -> bool:
    if not profile.executors_gb:
        return need.driver + need.tasks <= _room(profile.memory_gb)
    return need.driver <= _room(profile.driver_gb) and need.tasks <= _room(profile.executors_gb)


def _describe(need: Need, profile: SizeProfile) -> str:
    if not profile.executors_gb:
        room = format_size(_room(profile.memory_gb))
        return (
            f"about {format_size(need.driver + need.tasks)} of memory is needed, of the "
            f"{room} that a {profile.size} job has for it"
        )
    driver, tasks = (
        f"{format_size(part)} of {format_size(_room(gb))}"
        for part, gb in ((need.driver, profile.driver_gb), (need.tasks, profile.executors_gb))
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
    need = CHAPTERS[rule.name].find_need(rule, health, circumstances.tasks_at_once)
    fitting = next(
        (number for number, profile in enumerate(allowed) if _fits(need, profile)), len(allowed) - 1
    )
    times = _count_overflows(history)
    chosen = allowed[min(fitting + times, len(allowed) - 1)]
    reason = _describe(need, chosen)
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
