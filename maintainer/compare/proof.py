"""Proof beyond row counts: new files are readable, rows are equal, estimates are right."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from maintainer.compare.effect import count_claimed
from maintainer.domain.action import Canary, Checksum
from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.effect import CanaryResult, ContentProof, Effect
from maintainer.domain.inventory import Snapshot, TableInventory, Unreadable
from maintainer.domain.job import Baseline, FailureReason, Job, Outcome
from maintainer.domain.rules import RULES
from maintainer.procedures.registry import chapter_of

CHECKSUMS: Final = "checksums"  # the column in which Spark returns the checksums
# A read that fails for one of these reasons shows a fault of the files; any other reason
# is a fault of Spark or the catalog.
_TELLING: Final = frozenset({FailureReason.MISSING_FILE, FailureReason.OTHER})


@dataclass(frozen=True, slots=True)
class Sums:
    """Checksums of the rows of one snapshot, independent of their order."""

    row_count: int
    xor: str | None  # None: there are no rows
    sum: str | None


def read_sums(checks: Mapping[str, int | str | None]) -> dict[int, Sums] | None:
    """The checksums by snapshot id; None when Spark did not report them."""
    try:
        rows = json.loads(str(checks[CHECKSUMS]))
        return {
            int(row["snapshot_id"]): Sums(int(row["row_count"]), row.get("xor"), row.get("sum"))
            for row in rows
        }
    except (KeyError, TypeError, ValueError):
        return None


def compare_contents(job: Job, own: Sequence[Snapshot]) -> ContentProof:
    """Compare the rows at both ends of each unbroken sequence of the job's commits."""
    if job.safeguards.checksum is Checksum.OFF or not own:
        return ContentProof.NOT_TAKEN
    sums = read_sums(job.outcome.checks) if job.outcome is not None else None
    if sums is None:
        return ContentProof.UNKNOWN
    ends = [(sums.get(first), sums.get(last)) for first, last in _find_lines(own)]
    if any(before is not None and after is not None and before != after for before, after in ends):
        return ContentProof.DIFFERENT
    return ContentProof.UNKNOWN if any(None in pair for pair in ends) else ContentProof.EQUAL


def _find_lines(own: Sequence[Snapshot]) -> Iterator[tuple[int, int]]:
    """Yield (parent of the first, last) of each unbroken sequence of the job's commits."""
    ids = {snapshot.snapshot_id for snapshot in own}
    children = {snapshot.parent_id: snapshot for snapshot in own}
    for snapshot in own:
        if snapshot.parent_id is None or snapshot.parent_id in ids:
            continue
        last = snapshot
        while last.snapshot_id in children:
            last = children[last.snapshot_id]
        yield snapshot.parent_id, last.snapshot_id


def find_failed_proofs(
    job: Job,
    contents: ContentProof,
    canary: CanaryResult | None,
    unreadable: Sequence[Unreadable],
    own: Sequence[Snapshot] = (),
) -> tuple[str, ...]:
    """The reasons why the job's result is wrong; empty if nothing is wrong.

    `unreadable` has only the files of the job's own commits.
    """
    parents = {snapshot.snapshot_id: snapshot.parent_id for snapshot in own}
    found = [
        _describe_lost_list(job, broken, parents[broken.of_snapshot])
        for broken in unreadable
        if broken.of_snapshot in parents
    ]
    if contents is ContentProof.DIFFERENT:
        found.append("the checksums of the rows before and after the job's commits differ")
    found += [
        f"{broken.path} cannot be read: {broken.reason}"
        for broken in unreadable
        if broken.of_snapshot not in parents
    ]
    if canary is not None:
        found += canary.problems
    if (
        job.outcome is not None
        and job.outcome.check_failure
        and job.outcome.check_failure_reason in _TELLING
        and not _was_broken_before(job.outcome, canary)
    ):
        found.append(f"Spark could not read the new files: {job.outcome.check_failure}")
    return tuple(found)


def _was_broken_before(outcome: Outcome, canary: CanaryResult | None) -> bool:
    """True if the check failed at a file of the table that another commit added."""
    return bool(outcome.check_failure) and canary is not None and bool(canary.older)


def describe_earlier_damage(job: Job, canary: CanaryResult | None) -> str:
    """Describe damage that a check met and that is older than the job; empty without any."""
    outcome = job.outcome
    if outcome is None or not _was_broken_before(outcome, canary):
        return ""
    return (
        f"The table was damaged before this job, and another commit added the file: "
        f"{outcome.check_failure}."
    )


def _describe_lost_list(job: Job, broken: Unreadable, parent_id: int | None) -> str:
    """Describe a missing manifest list and how to repair the table.

    Some versions of Iceberg take a commit for failed if its answer was lost, and delete
    its manifest list.
    """
    name = quote_text(".".join((*job.table.namespace, job.table.name)))
    back = (
        f"CALL {quote_identifier(job.table.catalog)}.system.rollback_to_snapshot({name}, "
        f"{parent_id})"
    )
    return (
        f"the table's current snapshot is {broken.of_snapshot} of this job, whose manifest list "
        f"cannot be read ({broken.path}: {broken.reason}), "
        "so that nobody can read the table or write to it; the snapshot before still exists, "
        f"and `maintainer rollback {job.job_id}` sets the table back to it, or {back} in any Spark"
    )


def describe_missing_checks(job: Job, contents: ContentProof) -> str:
    """Describe the requested Spark checks that did not take place; empty when all did."""
    outcome = job.outcome
    is_cut = (
        outcome is None
        or outcome.kind != "finished"
        or (bool(outcome.check_failure) and outcome.check_failure_reason not in _TELLING)
    )
    unmade = []
    if job.safeguards.canary is not Canary.OFF and is_cut:
        unmade.append("Spark's canary of the new files")
    if contents is ContentProof.UNKNOWN:
        unmade.append("the checksums of the rows")
    return f"Requested but not possible: {' and '.join(unmade)}." if unmade else ""


def explain_difference(job: Job, effect: Effect) -> str:
    """Describe how the result differs from the estimate, and the likely reasons.

    Empty when it does not differ by more than the error bound.
    """
    chapter, figure = chapter_of(job.procedure), RULES[job.policy_rule].removes
    if not chapter.items or figure is None:
        return ""
    estimated, actual = job.estimate.items_removed, int(getattr(effect, figure))
    if abs(estimated - actual) <= job.estimate.error_bound:
        return ""
    reasons = list(_find_reasons(job, effect, actual < estimated)) or [_guess_reason(job)]
    return (
        f"{estimated:,} {chapter.items} fewer were estimated, {actual:,} fewer is the result: "
        f"{'; '.join(reasons)}."
    )


def _find_reasons(job: Job, effect: Effect, is_less: bool) -> Iterator[str]:
    result = job.outcome.result if job.outcome is not None else {}
    failed, is_whole = (
        result.get("failed_data_files_count"),
        job.outcome is None or job.outcome.kind == "finished",
    )
    if effect.files_lost:
        yield (
            f"{effect.files_lost:,} files were not rewritten, because the commits of their groups "
            f"conflicted with commits of writers"
        )
    if failed:
        yield (
            job.outcome.message
            if job.outcome is not None and job.outcome.message
            else f"{failed} files failed in Spark"
        )
    if not is_whole and is_less:
        is_cancelled = job.outcome is not None and job.outcome.kind == "cancelled"
        yield (
            f"the job {'was cancelled' if is_cancelled else 'ended early'}, and what was "
            "committed by then is kept"
        )
    if effect.other_commits:
        yield (
            f"others committed {effect.other_commits} times, so that the table was another one "
            f"than the measured one"
        )


def _guess_reason(job: Job) -> str:
    result = job.outcome.result if job.outcome is not None else {}
    said = chapter_of(job.procedure).explain_difference(job.estimate, result, count_claimed(job))
    return said or "the reason is not known"


def find_lineage_faults(
    baseline: Baseline, own: Sequence[Snapshot], inventory: TableInventory
) -> tuple[str, ...]:
    """Return why rows may have the same id after the job's commits; empty if there is no reason.

    `own` are the job's snapshots, oldest first. A table that had no row ids before the job proves
    nothing: it may have been upgraded meanwhile.
    """
    if baseline.next_row_id is None:
        return ()
    return tuple(_find_faults(baseline.next_row_id, own, inventory))


def _find_faults(before: int, own: Sequence[Snapshot], inventory: TableInventory) -> Iterator[str]:
    after = inventory.next_row_id
    if after is None:
        yield f"the table's next-row-id, which was {before}, is missing in its metadata"
    elif after < before:
        yield (
            f"the table's next-row-id decreased from {before} to {after}, so that new rows get "
            f"the ids of older ones"
        )
    free = before
    for snapshot in own:
        first, added = snapshot.first_row_id, snapshot.added_rows
        if first is None or added is None:
            missing = "first-row-id" if first is None else "added-rows"
            yield f"snapshot {snapshot.snapshot_id} of this job has no {missing}"
            continue
        if first < free:
            yield (
                f"snapshot {snapshot.snapshot_id} of this job gives row ids from {first} on, and "
                f"those below {free} were given before"
            )
        free = max(free, first + added)
    if after is not None and before <= after < free:
        yield (
            f"the table's next-row-id is {after}, and this job's snapshots have given row ids "
            f"up to {free - 1}"
        )
