"""Output about jobs: their states, their effects, and the errors of their estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from maintainer.cli.rows import Rows
from maintainer.cli.show import BAND_STYLES, fault_row, write_count, write_size
from maintainer.domain.cost import EstimateError, Quantity
from maintainer.domain.effect import Measurement, RowProof
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job, JobState
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.units import format_duration, format_size
from maintainer.steps.scan import ScannedTable

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


_QUANTITIES: Mapping[Quantity, Callable[[float], str]] = {
    Quantity.BYTES_REWRITTEN: format_size,
    Quantity.GB_HOURS: "{:.3g}".format,
    Quantity.DURATION_SECONDS: "{:.3g}".format,
}
