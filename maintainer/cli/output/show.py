"""Output of the commands: tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from rich.text import Text

from maintainer.cli.output.rows import Facts, Rows
from maintainer.domain.admission import AdmissionDecision
from maintainer.domain.cost import (
    Cost,
    CostBasis,
    EstimateError,
    Score,
)
from maintainer.domain.effect import Measurement, Quantity, RowProof
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job, JobState
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.redaction import make_visible
from maintainer.domain.units import format_duration, format_size
from maintainer.steps.scan import Recalled, ScannedTable
from maintainer.steps.table import Measured

# The decisions of admission on planned actions.
Waits = Mapping[tuple[TableIdentifier, RuleName], AdmissionDecision]
NOTHING_WAITS: Waits = {}

BAND_STYLES = {
    Band.HEALTHY: "green",
    Band.WATCH: "cyan",
    Band.DEGRADED: "yellow",
    Band.CRITICAL: "bold red",
}
_BASES = {
    CostBasis.TABLE: "jobs of this table",
    CostBasis.CATALOG: "jobs of its catalog",
    CostBasis.DEFAULT: "published figures",
}
WIDTH_OF_A_CHECK = 14  # of the check's name: later names are unknown when the first is printed
STATE_STYLES = {
    JobState.SUCCEEDED: "green",
    JobState.FAILED: "bold red",
    JobState.CANCELLED: "yellow",
    JobState.UNKNOWN: "magenta",
}
ROW_PROOFS = {
    RowProof.EQUAL: "rows unchanged (totals equal)",
    RowProof.COUNTED: "rows unchanged (counted before and after)",
    RowProof.BOUNDED: "no more rows removed than there were deletes (too large to count)",
    RowProof.NOT_NEEDED: "no snapshot written",
    RowProof.DIFFERENT: "ROWS DIFFER",
    RowProof.UNKNOWN: "rows not proved: a snapshot no longer exists",
}
_QUANTITIES: Mapping[Quantity, Callable[[float], str]] = {
    Quantity.BYTES_REWRITTEN: format_size,
    Quantity.GB_HOURS: "{:.3g}".format,
    Quantity.DURATION_SECONDS: "{:.3g}".format,
}


def write_count(value: float | None) -> str:
    """Write a number, or ? if it is unknown."""
    return "?" if value is None else f"{value:,.0f}"


def write_size(value: float | None) -> str:
    """Write a size, or ? if it is unknown."""
    return "?" if value is None else format_size(value)


def write_time(moment: datetime) -> str:
    """Write the time as RFC 3339, in its own time zone."""
    return moment.isoformat().replace("+00:00", "Z")


def _time(moment: datetime | None) -> str | None:
    return write_time(moment) if moment is not None else None


# -- doctor


def finding_line(what: str, is_fine: bool, sentence: str) -> Facts:
    """Return one line of `maintainer doctor`."""
    state = Text("ok    ", style="green") if is_fine else Text("FAILED", style="bold red")
    return Facts(
        [(Text.assemble(make_visible(what).ljust(WIDTH_OF_A_CHECK), "  ", state), Text(sentence))]
    )


# -- scan


def fault_row(fault: TableFault, numbers: int) -> list[str | Text]:
    """Return the row of a table that could not be measured, in a list with `numbers` columns."""
    kind = Text(fault.kind.value, style="bold red")
    return [str(fault.table), kind, *["?"] * numbers, Text(fault.reason)]


def health_table(scanned: Sequence[ScannedTable]) -> Rows:
    """Return a row for each table: its figures and the reason for its band."""
    numbers = ("avg file", "files", "small", "deletes", "manifests", "snapshots")
    table = Rows(
        ("table", "band", *numbers, "why"),
        right=numbers,
        below="why",
        optional=("snapshots", "manifests", "deletes", "small"),
    )
    for one in scanned:
        if isinstance(one, TableFault):
            table.add_row(*fault_row(one, len(numbers)))
            continue
        health, grade = one.health, one.grade
        deletes = [
            count
            for count in (
                health.position_delete_files,
                health.equality_delete_files,
                health.deletion_vectors,
            )
            if count is not None
        ]
        average = "-" if health.data_files == 0 else write_size(health.average_file_size_bytes)
        removed = write_count(sum(deletes) if deletes else None)
        counts = [write_count(count) for count in (health.data_files, health.small_files)]
        figures = (
            average,
            *counts,
            removed,
            write_count(health.manifests),
            write_count(health.snapshots),
        )
        table.add_row(
            str(health.table),
            Text(grade.band.value, style=BAND_STYLES[grade.band]),
            *figures,
            Text(grade.reason),
        )
    return table


def scanned_json(scanned: ScannedTable) -> dict[str, object]:
    """Return a measured table, or its fault."""
    match scanned:
        case TableFault(table, kind, reason, seen_at):
            return {
                "table": str(table),
                "fault": {"kind": kind, "reason": reason, "seen_at": _time(seen_at)},
            }
        case Measured(_, health, grade) | Recalled(health, grade):
            return health_json(health, grade)


def health_json(health: TableHealth, grade: Grade) -> dict[str, object]:
    """Return the health under the names that other programs rely on."""
    same = (
        "snapshot_id", "format_version", "target_file_size_bytes", "data_files", "data_bytes",
        "average_file_size_bytes", "small_files", "small_file_ratio",
        "records", "position_delete_files", "equality_delete_files", "deletion_vectors",
        "delete_bytes", "delete_records", "manifests", "manifest_bytes",
        "data_manifests", "delete_manifests", "snapshots", "branches", "tags", "metadata_bytes",
        "delete_file_ratio", "partition_skew", "manifest_excess",
        "kept_data_files", "live_file_ratio", "commits_per_hour", "commit_window_seconds",
        "commit_gap_seconds",
        "growth_bytes_per_day", "growth_records_per_day",
        "metadata_files", "storage_files", "dangling_delete_files",
        "wrong_summaries", "lost_deletes",
    )  # fmt: skip
    return {
        "table": str(health.table),
        "table_uuid": health.table_uuid,
        "measured_at": _time(health.measured_at),
        **{name: getattr(health, name) for name in same},
        "oldest_snapshot_at": _time(health.oldest_snapshot_at),
        "newest_snapshot_at": _time(health.newest_snapshot_at),
        "oldest_delete_at": _time(health.oldest_delete_at),
        "last_write_at": _time(health.last_write_at),
        "last_change_at": _time(health.last_change_at),
        "rewriters": [asdict(one) | {"last_at": _time(one.last_at)} for one in health.rewriters],
        "partitions": len(health.partitions),
        "histogram": list(health.histogram),
        "histogram_bytes": list(health.histogram_bytes),
        "formats": dict(health.formats),
        "unreadable": [asdict(piece) for piece in health.unreadable],
        "disagreements": [asdict(found) for found in health.disagreements],
        "band": grade.band,
        "band_since": _time(grade.entered_at),
        "previous_band": grade.came_from,
        "reason": grade.reason,
        "findings": [asdict(finding) for finding in grade.findings],
    }


# -- plan


def weigh(cost: Cost | None, score: Score | None, estimate: Estimate | None = None) -> list[str]:
    """Return lines about the estimate's error, the cost and the score of an action, if known."""
    lines = []
    if estimate is not None and estimate.error_bound:
        lines.append(f"the figures may be wrong by up to {estimate.error_bound:,}: {estimate.note}")
    if cost is not None:
        lines.append(
            f"expected: {cost.duration_seconds:,.0f} s and {cost.gb_hours:.3g} GB-hours, from "
            f"{_BASES[cost.basis]}"
        )
    if score is not None:
        lines.append(f"priority by {score.scorer}: {score.sentence or f'{score.value:,.3g}'}")
    return lines


def jobs_table(jobs: Sequence[Job]) -> Rows:
    """Return a row for each job, with its pool if there are several pools."""
    has_pools = any(job.pool != DEFAULT_POOL for job in jobs)
    columns = ("table", "rule", "state", "took", *(["pool"] if has_pools else []), "job", "result")
    table = Rows(columns, below="result")
    for job in jobs:
        took = (
            format_duration(job.duration)
            if job.duration is not None
            else job.progress.sentence or job.progress.phase
        )
        result = job.failure_message or (
            job.effect.sentence if job.effect is not None else job.reason
        )
        table.add_row(
            str(job.table),
            job.rule.value,
            Text(job.state.value, style=STATE_STYLES.get(job.state, "")),
            took,
            *([job.pool] if has_pools else []),
            job.job_id,
            result,
        )
    return table


def effect_table(before: Measurement, after: Measurement) -> Rows:
    """Return a row for each figure, before and after."""
    table = Rows(("", "before", "after"), right=("before", "after"))
    table.add_row("data files", write_count(before.data_files), write_count(after.data_files))
    table.add_row(
        "average file size",
        write_size(before.average_file_size_bytes),
        write_size(after.average_file_size_bytes),
    )
    table.add_row("data bytes", write_size(before.data_bytes), write_size(after.data_bytes))
    table.add_row("delete files", write_count(before.delete_files), write_count(after.delete_files))
    table.add_row("manifests", write_count(before.manifests), write_count(after.manifests))
    table.add_row("snapshots", write_count(before.snapshots), write_count(after.snapshots))
    table.add_row("records in files", write_count(before.records), write_count(after.records))
    return table


def fleet_table(before: Sequence[ScannedTable], after: Sequence[ScannedTable]) -> Rows:
    """Return a row for each table of the fleet, before and after."""
    numbers = ("files", "avg file", "deletes", "manifests", "snapshots")
    table = Rows(
        ("table", "band", *numbers, "why"),
        right=numbers,
        below="why",
        optional=("snapshots", "manifests", "deletes"),
    )
    earlier = {one.health.table: one for one in before if not isinstance(one, TableFault)}
    for one in after:
        if isinstance(one, TableFault):
            table.add_row(*fault_row(one, len(numbers)))
            continue
        old = earlier.get(one.health.table, one)
        table.add_row(
            str(one.health.table),
            _change_of_band(old.grade.band, one.grade.band),
            *_changes(old.health, one.health),
            Text(one.grade.reason),
        )
    return table


def _change_of_band(old: Band, new: Band) -> Text:
    text = Text(old.value, style=BAND_STYLES[old])
    return (
        text
        if old is new
        else text.append(" -> ", style="default").append(new.value, style=BAND_STYLES[new])
    )


def _changes(old: TableHealth, new: TableHealth) -> tuple[str, ...]:
    def deletes(health: TableHealth) -> int:
        return (
            (health.position_delete_files or 0)
            + (health.equality_delete_files or 0)
            + (health.deletion_vectors or 0)
        )

    pairs = (
        (write_count(old.data_files), write_count(new.data_files)),
        (write_size(old.average_file_size_bytes), write_size(new.average_file_size_bytes)),
        (write_count(deletes(old)), write_count(deletes(new))),
        (write_count(old.manifests), write_count(new.manifests)),
        (write_count(old.snapshots), write_count(new.snapshots)),
    )
    return tuple(before if before == after else f"{before} -> {after}" for before, after in pairs)


def describe_error(error: EstimateError) -> str:
    """Write an estimate and the actual figure: "duration 38 s, was 41 s (-8 %)"."""
    ratio = "" if error.ratio is None else f"{error.ratio:+.0%}"
    off = f" ({error.note or ratio})" if error.note or ratio else ""
    write = _QUANTITIES.get(error.quantity, "{:,.0f}".format)
    return (
        f"{error.quantity.value.replace('_', ' ')} {write(error.estimated)}, was "
        f"{write(error.actual)}{off}"
    )
