"""The gain of each rule's procedure on a table: an action, its estimate and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from maintainer.decide.orphans.approval import describe_disposal, find_disposal
from maintainer.decide.rewrite.limits import MOST_FILES, PARTIAL_PROGRESS, JobBounds
from maintainer.decide.rewrite.selection import Selection, select_groups
from maintainer.decide.rewrite.tiers import choose_tier, wait_for_tier
from maintainer.domain.action import (
    Action,
    ComputePartitionStats,
    ComputeTableStats,
    Disposal,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RewritePositionDeleteFiles,
)
from maintainer.domain.condition import join_conditions
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import MANIFEST_TARGET_SIZE
from maintainer.domain.option import options_of_strategy
from maintainer.domain.orphan import OrphanList
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.policy import Approval, Policy, Rule
from maintainer.domain.rules import (
    ComputeTableStatsRule,
    ExpireSnapshotsRule,
    RemoveOrphanFilesRule,
    RewriteDataFilesRule,
    RewriteManifestsRule,
    RewritePositionDeleteFilesRule,
)
from maintainer.domain.units import GIB, format_count, format_duration, format_size
from maintainer.estimate.retained_snapshots import describe_expiry, preview_expiry
from maintainer.estimate.rewrite_data_files import (
    PlannerOptions,
    is_taken,
)
from maintainer.estimate.rewrite_manifests import (
    MANIFEST_EXCESS_FACTOR,
    estimate_rewrite_manifests,
    estimate_spec,
    is_manifest_rewrite_worthwhile,
)
from maintainer.estimate.rewrite_position_delete_files import (
    converts_deletes,
    estimate_rewrite_position_deletes,
    find_dangling,
)

# A small rewrite commits once, at its end. If it is cancelled or fails, the table does not change.
# A large rewrite commits in parts, because a conflict would lose all its work. At 2 MB/s,
# the pace published for a small executor, 1 GiB takes about nine minutes.
PARTIAL_PROGRESS_ABOVE_BYTES = GIB
_LISTED_BY_PREFIX = ("s3://", "gs://", "abfs://", "abfss://", "oss://")


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of an action, as Iceberg's procedure would plan it."""

    action: Action
    estimate: Estimate
    is_worthwhile: bool
    sentence: str
    next_at: datetime | None = None
    refusal: str | None = None  # why the action must not run although it would help
    code: SkipCode = SkipCode.NOTHING_TO_GAIN  # why the action is not worthwhile, if it is not
    # the action finishes the work of an earlier run of the rule, so the cooldown does not apply
    is_continued: bool = False


def target_of_policy(policy: Policy) -> int | None:
    """The policy's target file size in bytes; None when the policy leaves it to the table."""
    rule = policy.rule(RewriteDataFilesRule)
    option = dict(rule.options).get("target-file-size-bytes") if rule is not None else None
    return int(option) if option is not None else policy.target_file_size_bytes


def find_gain(  # noqa: PLR0913, PLR0917 - each rule needs other facts
    rule: Rule,
    health: TableHealth,
    target_bytes: int | None,
    now: datetime,
    pins: tuple[Pin, ...] = (),
    lists: tuple[OrphanList, ...] = (),
    bounds: JobBounds | None = None,
) -> Gain | None:
    """A rule's action with its estimate.

    None if the rule has no procedure here, or nothing to do on the table. target_bytes is the
    policy's target file size; None when the policy leaves it to the table.
    """
    if health.snapshot_id is None:
        return None
    if isinstance(rule, RewriteDataFilesRule):
        return _gain_of_data_files(
            rule, health, target_bytes, now, bounds or JobBounds.of_policy(rule)
        )
    if isinstance(rule, RewriteManifestsRule):
        return _gain_of_manifests(rule, health)
    if isinstance(rule, RewritePositionDeleteFilesRule):
        return _gain_of_position_deletes(rule, health)
    if isinstance(rule, ComputeTableStatsRule):
        action = ComputeTableStats(health.snapshot_id, rule.columns)
        return _gain_of_statistics(action, health, health.statistics_snapshot_id)
    if isinstance(rule, ExpireSnapshotsRule):
        return _gain_of_expiry(rule, health, pins, now)
    if isinstance(rule, RemoveOrphanFilesRule):
        return _gain_of_removal(rule, health, lists, now) or _gain_of_orphans(rule, health, now)
    return _gain_of_statistics(
        ComputePartitionStats(health.snapshot_id),
        health,
        health.partition_statistics_snapshot_id,
    )


def _gain_of_data_files(
    rule: RewriteDataFilesRule,
    health: TableHealth,
    target_bytes: int | None,
    now: datetime,
    bounds: JobBounds,
) -> Gain:
    bounds = wait_for_tier(bounds, choose_tier(rule, health, now, bounds))
    selection = select_groups(rule, health, now, bounds)
    action = _write_rewrite(rule, bounds.fit.options, target_bytes, selection)
    estimate = selection.estimate
    if selection.code is not None:
        return Gain(
            action,
            estimate,
            is_worthwhile=False,
            sentence=selection.sentence,
            next_at=selection.next_at,
            code=selection.code,
        )
    if not selection.is_worthwhile:
        sentence = _explain_no_files(rule, bounds.fit.options, health, now)
        return Gain(action, estimate, is_worthwhile=False, sentence=sentence)
    sentence = (
        f"{estimate.items_before:,} files in {format_count(estimate.partitions, 'group')} "
        f"would become {estimate.items_after:,}"
    )
    if estimate.files_with_deletes:
        sentence += f"; {estimate.files_with_deletes:,} of them have deletes that would be applied"
    parts = (
        sentence,
        bounds.gathering_sentence,
        selection.sentence,
        bounds.fit.sentence,
        selection.limit,
    )
    return Gain(action, estimate, is_worthwhile=True, sentence="; ".join(filter(None, parts)))


def _write_rewrite(
    rule: RewriteDataFilesRule,
    job_options: Mapping[str, str],
    target_bytes: int | None,
    selection: Selection,
) -> RewriteDataFiles:
    options = dict(
        options_of_strategy(tuple(sorted(job_options.items())), rule.strategy, rule.sort_order)
    )
    if target_bytes is not None:
        options.setdefault("target-file-size-bytes", str(target_bytes))
    if selection.max_files is not None:
        options.setdefault(MOST_FILES, str(selection.max_files))
    options.setdefault(
        PARTIAL_PROGRESS,
        "true" if selection.estimate.bytes_rewritten > PARTIAL_PROGRESS_ABOVE_BYTES else "false",
    )
    where = (
        join_conditions(rule.where, selection.where)
        if rule.where and selection.where
        else selection.where or rule.where
    )
    return RewriteDataFiles(rule.strategy, rule.sort_order, where, tuple(sorted(options.items())))


def _explain_no_files(
    rule: RewriteDataFilesRule, job_options: Mapping[str, str], health: TableHealth, now: datetime
) -> str:
    options = PlannerOptions.read(health, rule, now, job_options)
    meant = [partition for partition in health.partitions if is_taken(partition, options)]
    of_those = (
        ""
        if len(meant) == len(health.partitions)
        else f" of the {len(meant):,} that the policy's filter may select"
    )
    small = [partition for partition in meant if partition.small_files]
    if not small:
        return f"no partition{of_those} has a file that a rewrite would select"
    most = max(partition.small_files for partition in small)
    files = sum(partition.small_files for partition in small)
    return (
        f"{format_count(files, 'small file')} {'is' if files == 1 else 'are'} in "
        f"{format_count(len(small), 'partition')}{of_those}, at most {most} in one; "
        f"a rewrite selects a partition with at least {options.min_input_files} of them "
        f"or more bytes than the target of {format_size(health.target_file_size_bytes)}"
    )


def _gain_of_position_deletes(
    rule: RewritePositionDeleteFilesRule, health: TableHealth
) -> Gain | None:
    if not health.position_delete_files:
        return None
    action, estimate, dangling = _choose_deletes(rule, health)
    is_worthwhile = estimate.items_removed > 0
    if is_worthwhile:
        sentence = (
            f"{estimate.items_before:,} position delete files in "
            f"{format_count(estimate.partitions, 'partition')} would become "
            f"{estimate.items_after:,}"
        )
        sentence = (
            f"{estimate.items_before:,} position delete files would become deletion vectors"
            if converts_deletes(health)
            else f"{sentence} at most"
        )
        if dangling:
            sentence += f"; {dangling:,} of them no longer apply to a data file"
    elif estimate.items_before:
        sentence = (
            f"{estimate.items_before:,} position delete files would become up to "
            f"{estimate.items_after:,}: "
            "the rewrite writes one for each data file that has deletes"
        )
    else:
        sentence = (
            f"no partition has enough of the {health.position_delete_files:,} position delete "
            f"files for a rewrite to take them"
        )
    return Gain(action, estimate, is_worthwhile, sentence)


def _choose_deletes(
    rule: RewritePositionDeleteFilesRule, health: TableHealth
) -> tuple[RewritePositionDeleteFiles, Estimate, int]:
    """The rule's own selection, or all position deletes of the partitions with dangling deletes.

    The selection that removes more is chosen. The last value is the number of dangling deletes that
    it removes.
    """
    own = RewritePositionDeleteFiles(rule.where, rule.options)
    options = dict(rule.options)
    every = replace(own, options=tuple(sorted((options | {"rewrite-all": "true"}).items())))
    estimate, known = estimate_rewrite_position_deletes(health, own), health.dangling_delete_files
    if converts_deletes(health):
        # Otherwise partitions with a few position delete files would never be rewritten.
        return own if "rewrite-all" in options else every, estimate, known or 0
    found = find_dangling(health)
    if found is None or rule.where or "rewrite-all" in options:
        return own, estimate, 0
    partitions, where = found
    narrow = replace(every, where=where)
    removed = estimate_rewrite_position_deletes(health, narrow, partitions)
    if removed.items_removed > estimate.items_removed:
        return narrow, removed, known or 0
    return own, estimate, 0


def _gain_of_statistics(action: Action, health: TableHealth, described: int | None) -> Gain:
    is_new = described != health.snapshot_id
    estimate = Estimate(
        0, int(is_new), 0, 0, note=f"reads up to {format_size(health.data_bytes or 0)}"
    )
    since = "there are none yet" if described is None else f"the last are of snapshot {described}"
    sentence = (
        f"statistics of snapshot {health.snapshot_id} would be computed; {since}"
        if is_new
        else "the statistics are those of the current snapshot"
    )
    return Gain(action, estimate, is_new, sentence)


def _gain_of_manifests(rule: RewriteManifestsRule, health: TableHealth) -> Gain | None:
    found = estimate_rewrite_manifests(health)
    if found is None:
        return None
    if health.wrong_summary is not None:
        return _gain_of_right_summaries(rule, health, health.wrong_summary.spec_id)
    estimate = found.estimate
    is_worthwhile = is_manifest_rewrite_worthwhile(estimate)
    if is_worthwhile:
        sentence = (
            f"{estimate.items_before:,} manifests of spec {found.spec_id} would become "
            f"{estimate.items_after:,}"
        )
    else:
        sentence = (
            f"{estimate.items_before:,} manifests of spec {found.spec_id} hold "
            f"{format_size(estimate.bytes_rewritten)}: {estimate.items_after:,} are needed, "
            f"and a rewrite is worth it from {MANIFEST_EXCESS_FACTOR} times as many"
        )
    return Gain(RewriteManifests(found.spec_id, rule.options), estimate, is_worthwhile, sentence)


def _gain_of_right_summaries(rule: RewriteManifestsRule, health: TableHealth, spec_id: int) -> Gain:
    """The rewrite that mends wrong summaries, however few manifests there are."""
    estimate = estimate_spec(health, spec_id)
    is_rewritten = estimate.items_before > 0
    sentence = (
        f"{format_count(estimate.items_before, 'manifest')} of spec {spec_id} would get right "
        f"summaries in the manifest list"
        if is_rewritten
        else f"the one manifest of spec {spec_id} has a wrong summary, and Iceberg rewrites a "
        f"manifest only if there are several, or if it is larger than {MANIFEST_TARGET_SIZE}"
    )
    return Gain(RewriteManifests(spec_id, rule.options), estimate, is_rewritten, sentence)


def _gain_of_removal(
    rule: RemoveOrphanFilesRule,
    health: TableHealth,
    lists: tuple[OrphanList, ...],
    now: datetime,
) -> Gain | None:
    """The next job for an orphan list with a decision; None when there is none."""
    found = find_disposal(lists, rule, health, now)
    if found is None:
        return None
    orphans, approved = found
    action = RemoveOrphanFiles(orphans.older_than, health.location, rule.options, approved)
    frees = approved.disposal in {Disposal.DELETE, Disposal.EMPTY}
    estimate = Estimate(
        orphans.files,
        0,
        orphans.files,
        0,
        note=f"{format_size(orphans.bytes)} would be freed" if frees else "",
    )
    return Gain(
        action,
        estimate,
        is_worthwhile=True,
        sentence=describe_disposal(orphans, approved.disposal),
        is_continued=True,
    )


def _gain_of_orphans(rule: RemoveOrphanFilesRule, health: TableHealth, now: datetime) -> Gain:
    age = rule.older_than
    # The time is rounded to the full hour, so that the same work has the same statement.
    action = RemoveOrphanFiles(
        (now - age).replace(minute=0, second=0, microsecond=0),
        health.location,
        _listing_options(rule, health),
    )
    sentence = (
        f"files older than {format_duration(age)} that the table does not reference would be listed"
    )
    sentence += (
        ", and are removed without an approval"
        if rule.approval is Approval.AUTOMATIC
        else "; nothing is deleted before a person approves the list"
    )
    return Gain(
        action,
        Estimate(0, 0, 0, 0, note="a dry run: what it finds is listed"),
        is_worthwhile=True,
        sentence=sentence,
    )


def _listing_options(rule: Rule, health: TableHealth) -> tuple[tuple[str, str], ...]:
    """The rule's options on listing.

    A storage that Hadoop only lists with a separate connector is listed by the table's own access,
    unless the rule says otherwise.
    """
    if any(
        name == "prefix_listing" for name, _ in rule.options
    ) or not health.location.lower().startswith(_LISTED_BY_PREFIX):
        return rule.options
    return (*rule.options, ("prefix_listing", "true"))


def _gain_of_expiry(
    rule: ExpireSnapshotsRule, health: TableHealth, pins: tuple[Pin, ...], now: datetime
) -> Gain:
    preview = preview_expiry(health, rule, pins, now)
    sentence = describe_expiry(preview, health, rule)
    return Gain(
        preview.action,
        preview.estimate,
        bool(preview.snapshots),
        sentence,
        preview.next_at,
        preview.refusal,
    )
