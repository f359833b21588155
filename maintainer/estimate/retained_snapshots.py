"""The snapshots that expiry would remove, and the pins and checkpoints that keep others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from maintainer.domain.action import ExpireSnapshots, is_rollback_tag
from maintainer.domain.health import SnapshotRole, SnapshotStamp, TableHealth
from maintainer.domain.inventory import MAX_REF_AGE, Ref
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.domain.units import (
    format_count,
    format_duration,
    format_instant,
    format_size,
    read_whole,
)
from maintainer.estimate.expire_snapshots import estimate_expire_snapshots, find_expired_refs
from maintainer.estimate.floors import find_import, refuse_imported

PIN_PROPERTY = "maintainer.pin."
PIN_TAG = "maintainer-pin-"
# A Flink job without commits for this time counts as ended. Otherwise it would keep the whole
# history for ever.
FLINK_TRUST = timedelta(days=14)
# snapshots; with more, the driver does not keep the paths of all their files in memory
STREAM_ABOVE = 1_000


@dataclass(frozen=True, slots=True)
class Keeper:
    """A snapshot that must be kept with all newer ones, and who needs it."""

    snapshot_id: int
    committed_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class ExpiryPreview:
    """The snapshots that one run of expiry would remove, simulated on the table's metadata."""

    action: ExpireSnapshots
    estimate: Estimate
    snapshots: tuple[SnapshotStamp, ...]  # snapshots that would be removed, oldest first
    refs: tuple[str, ...]  # branches and tags that would be removed as too old
    bytes_freed: int | None  # approximate; None: a writer did not record the bytes that it removed
    # the keeper of the oldest snapshot that would otherwise be removed
    keeper: Keeper | None = None
    refusal: str | None = None  # why nothing may be removed
    is_slice: bool = False  # True: the next runs remove the rest
    next_at: datetime | None = None
    lost_pins: tuple[str, ...] = ()  # pins that protect nothing, as sentences


def preview_expiry(
    health: TableHealth, rule: ExpireSnapshotsRule, pins: Iterable[Pin], now: datetime
) -> ExpiryPreview:
    """The statement that expiry would run now, and its result."""
    pins = tuple(pins)
    age, keep = rule.max_age, rule.keep
    # The time is rounded down to the full hour: the same work has the same statement, and nothing
    # younger than requested is removed.
    wanted = _full_hour(now - age)
    keepers = sorted(find_keepers(health, rule, pins, now), key=lambda keeper: keeper.committed_at)
    slowest = keepers[0] if keepers and keepers[0].committed_at < wanted else None
    older_than = slowest.committed_at if slowest is not None else wanted
    older_than, is_slice = _cut_slice(health, older_than, rule, now)
    found = estimate_expire_snapshots(health, older_than, keep, now)
    gone = tuple(
        sorted(
            (s for s in health.history if s.snapshot_id in found.expired),
            key=lambda s: (s.committed_at, s.snapshot_id),
        )
    )
    action = ExpireSnapshots(older_than, keep, _options(rule, len(gone)))
    # Expiry uses full hours, so a snapshot expires at the first full hour after it is old
    # enough.
    next_at = (
        _full_hour(found.oldest_waiting_at + age) + timedelta(hours=1)
        if found.oldest_waiting_at is not None
        else None
    )
    return ExpiryPreview(
        action=action,
        estimate=found.estimate,
        snapshots=gone,
        refs=_expired_refs(health, now),
        bytes_freed=_freed_bytes(health, found.expired),
        keeper=slowest,
        refusal=refuse_imported(rule, health)
        or _find_unkept(gone, keepers)
        or _refuse_for_pins(health, now + rule.timeout),
        is_slice=is_slice,
        next_at=next_at,
        lost_pins=tuple(_lost_pins(health, pins, now)),
    )


def describe_expiry(preview: ExpiryPreview, health: TableHealth, rule: ExpireSnapshotsRule) -> str:
    age = format_duration(rule.max_age)
    keep = preview.action.retain_last
    removed = len(preview.snapshots)
    if removed:
        text = (
            f"{removed:,} of {health.snapshots:,} snapshots are older than {age} and beyond the "
            f"newest {keep}"
        )
    else:
        text = (
            f"none of {health.snapshots:,} snapshots is older than {age} and beyond the newest "
            f"{keep}, branches and tags"
        )
    if preview.is_slice:
        text += f", the oldest {removed:,} first"
    theirs = [ref for ref in preview.refs if not _is_our_tag(ref)]
    if theirs:
        text += f"; {', '.join(theirs)} would be dropped"
    if len(theirs) < len(preview.refs):
        ours = len(preview.refs) - len(theirs)
        text += f"; {format_count(ours, 'expired rollback tag')} would be dropped"
    if removed and preview.bytes_freed:
        text += f"; about {format_size(preview.bytes_freed)} of files would be deleted"
    if preview.keeper is not None:
        text += (
            f"; snapshots newer than snapshot {preview.keeper.snapshot_id} are kept for "
            f"{preview.keeper.reason}"
        )
    sign = find_import(health) if removed else None
    return "; ".join(
        [
            text,
            *preview.lost_pins,
            *(
                [f"the table has {sign}: imported files are deleted like its own"]
                if sign is not None
                else []
            ),
        ]
    )


def find_keepers(
    health: TableHealth, rule: ExpireSnapshotsRule, pins: Iterable[Pin], now: datetime
) -> Iterator[Keeper]:
    by_id = {stamp.snapshot_id: stamp for stamp in health.history}
    for pin in pins:
        if pin.snapshot_id in by_id and pin.holds_at(now):
            until = f" until {format_instant(pin.until)}" if pin.until is not None else ""
            yield _keep(by_id[pin.snapshot_id], f"pin {pin.name} of {pin.by}{until}")
    for name, snapshot_id in _property_pins(health):
        if snapshot_id in by_id:
            yield _keep(by_id[snapshot_id], f"table property {name}")
    for ref in health.refs:
        if _is_pin(ref) and ref.snapshot_id in by_id:
            yield _keep(by_id[ref.snapshot_id], f"tag {ref.name}")
    yield from _flink_keepers(health, now)
    yield from _staged_keepers(health, rule, now)


def _keep(stamp: SnapshotStamp, reason: str) -> Keeper:
    return Keeper(stamp.snapshot_id, stamp.committed_at, reason)


def _property_pins(health: TableHealth) -> Iterator[tuple[str, int | None]]:
    """(property, snapshot id); None for a value that is not a snapshot id."""
    for name, text in sorted(health.properties.items()):
        if name.startswith(PIN_PROPERTY):
            yield name, read_whole(text)


def find_pin_trouble(health: TableHealth, pins: Iterable[Pin], now: datetime) -> Iterator[str]:
    """Pins that do not work: they name a missing snapshot, or no snapshot."""
    yield from (f"{lost}: it protects nothing" for lost in _lost_pins(health, pins, now))
    yield from _unreadable_pins(health)


def _lost_pins(health: TableHealth, pins: Iterable[Pin], now: datetime) -> Iterator[str]:
    """Pins in the store and in properties that name a missing snapshot.

    A tag cannot name one.
    """
    known = {stamp.snapshot_id for stamp in health.history}
    named = [(f"pin {pin.name} of {pin.by}", pin.snapshot_id) for pin in pins if pin.holds_at(now)]
    named += [
        (f"table property {name}", snapshot_id)
        for name, snapshot_id in _property_pins(health)
        if snapshot_id is not None
    ]
    yield from (
        f"{who} names snapshot {snapshot_id}, which the table does not have"
        for who, snapshot_id in named
        if snapshot_id not in known
    )


def _unreadable_pins(health: TableHealth) -> Iterator[str]:
    """Unreadable pins: somebody wants to keep something unknown, so nothing is removed."""
    for name, snapshot_id in _property_pins(health):
        if snapshot_id is None:
            yield (
                f"table property {name} is {health.properties[name]!r}, but must be a snapshot "
                f"id: nothing is expired"
            )


def _refuse_for_pins(health: TableHealth, end: datetime) -> str | None:
    return next(_unreadable_pins(health), None) or _find_dropped_pin(health, end)


def _find_dropped_pin(health: TableHealth, end: datetime) -> str | None:
    """Why nothing may be removed: expiry would drop a pin's tag by the table's maximum ref age.

    The next run would then remove what the tag protects.
    """
    known = {stamp.snapshot_id for stamp in health.history}
    expired = (
        ref for ref in find_expired_refs(health, end) if _is_pin(ref) and ref.max_ref_age_ms is None
    )
    tag = next((ref for ref in expired if ref.snapshot_id in known), None)
    limit = read_whole(health.properties.get(MAX_REF_AGE, ""))
    if tag is None or limit is None:
        return None
    age = format_duration(timedelta(milliseconds=limit))
    return (
        f"expiry would drop tag {tag.name}, because {MAX_REF_AGE} is {age}: replace the tag with "
        f"one that has its own retention (RETAIN ... DAYS), or drop it"
    )


def _is_pin(ref: Ref) -> bool:
    return not ref.is_branch and ref.name.startswith(PIN_TAG)


def _flink_keepers(health: TableHealth, now: datetime) -> Iterator[Keeper]:
    """Snapshots that Flink needs.

    They are the newest checkpoint of each operator of each job, and the newest marker of the
    conversion of equality deletes with the snapshot that it names.
    """
    newest: dict[tuple[SnapshotRole, str], SnapshotStamp] = {}
    by_text = {str(stamp.snapshot_id): stamp for stamp in health.history}
    on_branches = _reachable(
        health
        # Flink searches back from the head of a branch, so it never uses a checkpoint that was
        # rolled back.
    )
    for stamp in sorted(by_text.values(), key=lambda stamp: stamp.committed_at):
        if stamp.role is SnapshotRole.CHECKPOINT and stamp.snapshot_id in on_branches:
            newest[stamp.role, stamp.role_of] = stamp
        elif stamp.role is SnapshotRole.MARKER:
            newest[stamp.role, ""] = stamp
    for (role, of), stamp in newest.items():
        if now - stamp.committed_at > FLINK_TRUST:
            continue
        yield _keep(
            stamp,
            f"the last checkpoint of Flink job {of}"
            if role is SnapshotRole.CHECKPOINT
            else "Flink's conversion of equality deletes",
        )
        if role is SnapshotRole.MARKER and stamp.role_of in by_text:
            yield _keep(
                by_text[stamp.role_of],
                "the snapshot that Flink's conversion of equality deletes has staged",
            )


def _staged_keepers(
    health: TableHealth, rule: ExpireSnapshotsRule, now: datetime
) -> Iterator[Keeper]:
    """Staged snapshots with an age limit of their own.

    They are on no branch, so Iceberg would expire them by age alone.
    """
    age = rule.staged_max_age
    on_branches = _reachable(health)
    for stamp in health.history:
        if (
            stamp.role is SnapshotRole.STAGED
            and stamp.snapshot_id not in on_branches
            and now - stamp.committed_at <= age
        ):
            yield _keep(
                stamp,
                f"audit {stamp.role_of}, which has staged it and may publish it for "
                f"{format_duration(age)}",
            )


def _reachable(health: TableHealth) -> set[int]:
    parents = {stamp.snapshot_id: stamp.parent_id for stamp in health.history}
    reached: set[int] = set()
    for tip in [*(ref.snapshot_id for ref in health.refs if ref.is_branch), health.snapshot_id]:
        current = tip
        while current is not None and current in parents and current not in reached:
            reached.add(current)
            current = parents[current]
    return reached


def _find_unkept(gone: Iterable[SnapshotStamp], keepers: list[Keeper]) -> str | None:
    """Why nothing may be removed: a branch's own retention would drop what a keeper needs.

    older_than does not limit a branch's own retention.
    """
    if not keepers:
        return None
    lost = next((stamp for stamp in gone if stamp.committed_at >= keepers[0].committed_at), None)
    if lost is None:
        return None
    kept = f"everything from snapshot {keepers[0].snapshot_id} on is kept for {keepers[0].reason}"
    return f"a branch's own retention would drop snapshot {lost.snapshot_id}, and {kept}"


def _cut_slice(
    health: TableHealth, older_than: datetime, rule: ExpireSnapshotsRule, now: datetime
) -> tuple[datetime, bool]:
    """An earlier bound when more would be removed than one job may take."""
    most = rule.max_snapshots_per_job
    expired = estimate_expire_snapshots(health, older_than, rule.keep, now).expired
    if len(expired) <= most:
        return older_than, False
    times = sorted(stamp.committed_at for stamp in health.history if stamp.snapshot_id in expired)
    # Snapshots of the same instant expire together. A slice with only some of them would be
    # repeated for ever without progress.
    later = next((time for time in times[most:] if time > times[0]), older_than)
    return later, later < older_than


def _options(rule: ExpireSnapshotsRule, snapshots: int) -> tuple[tuple[str, str], ...]:
    options = dict(rule.options)
    if snapshots > STREAM_ABOVE:
        options.setdefault("stream_results", "true")
    return tuple(sorted(options.items()))


def _expired_refs(health: TableHealth, now: datetime) -> tuple[str, ...]:
    return tuple(
        f"{'branch' if ref.is_branch else 'tag'} {ref.name}"
        for ref in find_expired_refs(health, now)
    )


def _freed_bytes(health: TableHealth, expired: frozenset[int]) -> int | None:
    """Approximate freed bytes, from the sums of the summaries.

    What a snapshot removed from the table is freed when all earlier snapshots are gone.
    """
    freed = [
        stamp.removed_bytes
        for stamp in health.history
        if stamp.snapshot_id in expired or stamp.parent_id in expired
    ]
    children = Counter(stamp.parent_id for stamp in health.history if stamp.parent_id in expired)
    known = [size for size in freed if size is not None]
    # If the history forks, files removed on one side may be live on the other.
    return (
        sum(known)
        if len(known) == len(freed) and all(count == 1 for count in children.values())
        else None
    )


def _is_our_tag(ref: str) -> bool:
    kind, _, name = ref.partition(" ")
    return kind == "tag" and is_rollback_tag(name)


def _full_hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
