"""The decision: every rule of a policy once, planned or skipped with a code, a sentence and the next time it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from maintainer.domain.action import Action, ExpireSnapshots, RewriteDataFiles, RewriteManifests
from maintainer.domain.health import Finding, TableHealth
from maintainer.domain.plan import Estimate, Plan, PlannedAction, RuleHistory, SkipCode, SkippedRule
from maintainer.domain.policy import Mode, Policy, Rule, RuleName
from maintainer.domain.units import GIB, format_duration, format_size
from maintainer.policy.assess import assess
from maintainer.policy.estimate import (
    MANIFEST_EXCESS_FACTOR,
    estimate_expire_snapshots,
    estimate_rewrite_data_files,
    estimate_rewrite_manifests,
    is_manifest_rewrite_worthwhile,
)
from maintainer.policy.guard import DEFAULT_EXPIRE_AGE, DEFAULT_SNAPSHOTS_KEPT, refuse
from maintainer.policy.window import is_open, next_opening

# Seen elsewhere: 16 h after success and 1 h after failure (OpenHouse), 6 h after three failures (Floe).
FIRST_FAILURE_BACKOFF = timedelta(hours=1)
LONGEST_FAILURE_BACKOFF = timedelta(hours=24)

# A small rewrite commits once, at its end: cancelled or failed, it leaves nothing behind. A large one commits as it goes, because a conflict
# after an hour would cost the whole hour. At the published 2 MB/s an executor, 1 GiB is about nine minutes of work.
PARTIAL_PROGRESS_ABOVE_BYTES = GIB

_ORDER = tuple(RuleName)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision needs beside the table and its policy."""

    now: datetime
    history: Mapping[RuleName, RuleHistory] = field(default_factory=dict)
    in_flight: str | None = None  # the id of the table's unfinished job
    paused_by: str | None = None
    is_requested: bool = False  # a person asks for it now: what failed before may have been put right


@dataclass(frozen=True, slots=True)
class _Gain:
    """What an action would achieve, as Iceberg's procedure itself would plan it."""

    action: Action
    estimate: Estimate
    is_worthwhile: bool
    sentence: str
    next_at: datetime | None = None


def decide(health: TableHealth, policy: Policy, circumstances: Circumstances) -> Plan:
    """The plan for one table: total, deterministic, each rule exactly once, in the fixed order of execution."""
    rules = sorted(policy.rules, key=lambda rule: _ORDER.index(rule.name))
    verdicts = [_decide_rule(rule, health, policy, circumstances) for rule in rules]
    return Plan(
        table=health.table,
        table_uuid=health.table_uuid,
        snapshot_id=health.snapshot_id,
        metadata_location=health.metadata_location,
        policy_version=policy.version,
        mode=policy.mode,
        priority=policy.priority,
        made_at=circumstances.now,
        planned=tuple(verdict for verdict in verdicts if isinstance(verdict, PlannedAction)),
        skipped=tuple(verdict for verdict in verdicts if isinstance(verdict, SkippedRule)),
    )


def _decide_rule(rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances) -> PlannedAction | SkippedRule:
    """Whether the table needs it, whether it may be done, whether it would help, whether now is the time: in this order."""
    if not rule.is_enabled:
        return SkippedRule(rule.name, SkipCode.DISABLED, "the policy switches this rule off")
    refusal = refuse(rule, health)
    if refusal is not None and refusal.code is SkipCode.UNSUPPORTED:
        return SkippedRule(rule.name, refusal.code, refusal.reason)
    skipped = _skip_unmeasured(rule, health, policy)
    if skipped is not None:
        return skipped
    assessment = assess(rule, health, circumstances.now)
    if assessment.not_measured:
        names = ", ".join(assessment.not_measured)
        return SkippedRule(rule.name, SkipCode.NOT_MEASURED, f"not measured: {names}", findings=assessment.findings)
    if assessment.unmet:
        reason = "; ".join(assessment.unmet)
        return SkippedRule(rule.name, SkipCode.BELOW_THRESHOLD, reason, _next_threshold_look(rule, health), assessment.findings)
    if refusal is not None:
        return SkippedRule(rule.name, refusal.code, refusal.reason, findings=assessment.findings)
    return _decide_gain(rule, health, policy, circumstances, assessment.findings)


def _decide_gain(rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances, findings: tuple[Finding, ...]) -> PlannedAction | SkippedRule:
    gain = find_gain(rule, health, target_of_policy(policy), circumstances.now)
    if gain is None or not gain.is_worthwhile:
        sentence = gain.sentence if gain is not None else "there is nothing it could work on"
        estimate, next_at = (gain.estimate, gain.next_at) if gain is not None else (None, None)
        return SkippedRule(rule.name, SkipCode.NOTHING_TO_GAIN, sentence, next_at, findings, estimate)
    history = circumstances.history.get(rule.name, RuleHistory(rule.name))
    held = _hold_back(rule, health, policy, circumstances, history)
    if held is not None:
        return SkippedRule(rule.name, held.code, held.reason, held.next_at, findings, gain.estimate, gain.action)
    reason = "; ".join([*(finding.sentence for finding in findings), gain.sentence])
    return PlannedAction(rule.name, gain.action, findings, gain.estimate, reason)


def _skip_unmeasured(rule: Rule, health: TableHealth, policy: Policy) -> SkippedRule | None:
    if health.unreadable:
        reason = f"{health.unreadable[0].path} cannot be read: {health.unreadable[0].reason}; nothing is done to a table whose metadata is not whole"
        return SkippedRule(rule.name, SkipCode.NOT_MEASURED, reason)
    target = target_of_policy(policy)
    if rule.name is RuleName.REWRITE_DATA_FILES and target is not None and target != health.target_file_size_bytes:
        measured = format_size(health.target_file_size_bytes)
        reason = f"measured against a target of {measured}, the policy now says {format_size(target)}: the next scan will tell"
        return SkippedRule(rule.name, SkipCode.NOT_MEASURED, reason)
    return None


def target_of_policy(policy: Policy) -> int | None:
    """The target file size in bytes that the policy asks for; None when it leaves that to the table."""
    rule = policy.rule(RuleName.REWRITE_DATA_FILES)
    option = dict(rule.options).get("target-file-size-bytes") if rule is not None else None
    return int(option) if option is not None else policy.target_file_size_bytes


def _next_threshold_look(rule: Rule, health: TableHealth) -> datetime | None:
    """Thresholds on ages come to hold by themselves; all others only when the table changes."""
    ages = [threshold.bound for threshold in rule.when if threshold.metric.value == "oldest_snapshot_age_seconds"]
    if not ages or health.oldest_snapshot_at is None:
        return None
    return health.oldest_snapshot_at + timedelta(seconds=max(ages))


@dataclass(frozen=True, slots=True)
class _Hold:
    code: SkipCode
    reason: str
    next_at: datetime | None = None


def _hold_back(rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances, history: RuleHistory) -> _Hold | None:
    """Reasons to wait, the most lasting first: each says until when."""
    if history.idle_at_metadata_location == health.metadata_location:
        return _Hold(SkipCode.NOTHING_TO_GAIN, "the last run changed nothing, and the table has not changed since")
    if circumstances.in_flight is not None:
        return _Hold(SkipCode.IN_FLIGHT, f"job {circumstances.in_flight} is working on this table; one at a time")
    if circumstances.paused_by is not None:
        return _Hold(SkipCode.PAUSED, f"{circumstances.paused_by} paused this table")
    if policy.mode is Mode.OBSERVE:
        return _Hold(SkipCode.OBSERVE_ONLY, "the policy is in observe mode: this is what enforce mode would do")
    cooling = None if circumstances.is_requested else _cooling_down(rule, history, circumstances.now)
    if cooling is not None:
        return cooling
    if policy.window is not None and not is_open(policy.window, circumstances.now):
        opening = next_opening(policy.window, circumstances.now)
        return _Hold(SkipCode.OUTSIDE_WINDOW, f"outside the maintenance window ({policy.window.cron}, {policy.window.timezone})", opening)
    return None


def _cooling_down(rule: Rule, history: RuleHistory, now: datetime) -> _Hold | None:
    pause = max(rule.cooldown, rule.every or timedelta(0))
    if history.last_success_at is not None and now < history.last_success_at + pause:
        reason = f"last done at {_write_time(history.last_success_at)}, at most every {format_duration(pause)}"
        return _Hold(SkipCode.COOLING_DOWN, reason, history.last_success_at + pause)
    backoff = history.failure_backoff(FIRST_FAILURE_BACKOFF, LONGEST_FAILURE_BACKOFF)
    if history.last_failure_at is not None and now < history.last_failure_at + backoff:
        times = f"{history.consecutive_failures} times in a row" if history.consecutive_failures > 1 else "once"
        reason = f"failed {times} ({history.last_failure_reason}), last at {_write_time(history.last_failure_at)}; waits {format_duration(backoff)}"
        return _Hold(SkipCode.COOLING_DOWN, reason, history.last_failure_at + backoff)
    return None


def _write_time(moment: datetime) -> str:
    # An instant, not "3 min ago": a verdict that has not changed must read the same at each look.
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def find_gain(rule: Rule, health: TableHealth, target_bytes: int | None, now: datetime) -> _Gain | None:
    """The action of a rule with what it would achieve; None when the rule has no procedure here or the table nothing for it.

    target_bytes is the target file size that the policy asks for, None when it leaves that to the table.
    """
    if health.snapshot_id is None:
        return None
    if rule.name is RuleName.REWRITE_DATA_FILES:
        return _gain_of_data_files(rule, health, target_bytes)
    if rule.name is RuleName.REWRITE_MANIFESTS:
        return _gain_of_manifests(health)
    if rule.name is RuleName.EXPIRE_SNAPSHOTS:
        return _gain_of_expiry(rule, health, now)
    return None


def _gain_of_data_files(rule: Rule, health: TableHealth, target_bytes: int | None) -> _Gain:
    estimate = estimate_rewrite_data_files(health, rule)
    options = dict(rule.options)
    if target_bytes is not None:
        options.setdefault("target-file-size-bytes", str(target_bytes))
    options.setdefault("partial-progress.enabled", "true" if estimate.bytes_rewritten > PARTIAL_PROGRESS_ABOVE_BYTES else "false")
    action = RewriteDataFiles(rule.strategy, rule.sort_order, rule.where, tuple(sorted(options.items())))
    if estimate.items_removed:
        groups = f"{estimate.partitions:,} {'group' if estimate.partitions == 1 else 'groups'}"
        sentence = f"{estimate.items_before:,} files in {groups} would become {estimate.items_after:,}"
    else:
        sentence = _explain_no_files(rule, health)
    return _Gain(action, estimate, estimate.items_removed > 0, sentence)


def _explain_no_files(rule: Rule, health: TableHealth) -> str:
    small = [partition for partition in health.partitions if partition.small_files]
    if not small:
        return "no partition has a file that a rewrite would take"
    minimum = int(dict(rule.options).get("min-input-files", "5"))
    most = max(partition.small_files for partition in small)
    return (
        f"{sum(p.small_files for p in small):,} small files lie in {len(small):,} partitions, at most {most} in one; "
        f"a rewrite takes a partition with at least {minimum} of them or more bytes than the target of {format_size(health.target_file_size_bytes)}"
    )


def _gain_of_manifests(health: TableHealth) -> _Gain | None:
    found = estimate_rewrite_manifests(health)
    if found is None:
        return None
    estimate = found.estimate
    is_worthwhile = is_manifest_rewrite_worthwhile(estimate)
    if is_worthwhile:
        sentence = f"{estimate.items_before:,} manifests of spec {found.spec_id} would become {estimate.items_after:,}"
    else:
        sentence = (
            f"{estimate.items_before:,} manifests of spec {found.spec_id} hold {format_size(estimate.bytes_rewritten)}: {estimate.items_after:,} are needed, "
            f"and a rewrite pays from {MANIFEST_EXCESS_FACTOR} times as many"
        )
    return _Gain(RewriteManifests(found.spec_id), estimate, is_worthwhile, sentence)


def _gain_of_expiry(rule: Rule, health: TableHealth, now: datetime) -> _Gain:
    age = rule.max_age if rule.max_age is not None else DEFAULT_EXPIRE_AGE
    keep = rule.keep if rule.keep is not None else DEFAULT_SNAPSHOTS_KEPT
    # To the full hour, downwards: the same work has the same statement at each look, and nothing younger than asked for goes.
    older_than = _full_hour(now - age)
    found = estimate_expire_snapshots(health, older_than, keep, now)
    removed = found.estimate.items_removed
    if removed:
        sentence = f"{removed:,} of {health.snapshots:,} snapshots are older than {format_duration(age)} and beyond the newest {keep}"
    else:
        sentence = f"none of {health.snapshots:,} snapshots is older than {format_duration(age)} and beyond the newest {keep}, branches and tags"
    # Expiry cuts at the full hour, so that a snapshot may go at the first one after it is old enough.
    next_at = _full_hour(found.oldest_waiting_at + age) + timedelta(hours=1) if found.oldest_waiting_at is not None else None
    return _Gain(ExpireSnapshots(older_than, keep), found.estimate, removed > 0, sentence, next_at)


def _full_hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def on_request(policy: Policy, rules: tuple[RuleName, ...]) -> Policy:
    """The policy for what a person asked for now: no mode, window or cool-down holds it back; named rules need no threshold either.

    Without names it is the policy's own rules with their thresholds. Guards and the achievable gain stand in both cases.
    """
    own = policy.rules if not rules else tuple(replace(policy.rule(name) or Rule(name), when=(), is_enabled=True) for name in rules)
    asked = tuple(replace(rule, cooldown=timedelta(0), every=None) for rule in own)
    return replace(policy, mode=Mode.ENFORCE, window=None, rules=asked)
