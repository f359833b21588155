"""The figures of a run: as JSON for programs, as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.torture.chaos import Event
from tests.torture.check import Checked, Fault
from tests.torture.ledger import Operation, Told
from tests.torture.schedule import TABLES, Kind

MOST_MORE_FAILURES = 0.05  # of a writer's operations, against the run without the daemon
ENOUGH_OPERATIONS = 20  # of one writer, in both phases; below it, one failure alone would be more than the bound, and writers of a kind are taken together


@dataclass(frozen=True, slots=True)
class WriterFigures:
    """What one writer, or all of one kind, got done."""

    operations: int
    failed: int
    attempts: int
    resolved: int  # an error came back, and the commit was there
    unknown: int

    @property
    def failure_rate(self) -> float:
        """Operations given up after every attempt."""
        return self.failed / self.operations if self.operations else 0.0

    @property
    def conflicts(self) -> int:
        """Attempts that had to be made again."""
        return max(0, self.attempts - self.operations)


def count_operations(operations: Sequence[Operation]) -> WriterFigures:
    """Of any selection; what was never told anything counts as unknown."""
    return WriterFigures(
        operations=len(operations),
        failed=sum(one.told is Told.FAILED for one in operations),
        attempts=sum(one.attempts for one in operations),
        resolved=sum(one.is_resolved for one in operations),
        unknown=sum(one.told in {Told.UNKNOWN, Told.INTENDED} for one in operations),
    )


def compare_writers(checked: Checked, control: Sequence[Operation], torture: Sequence[Operation]) -> None:
    """No writer, and no kind of writers, failed more often beside the daemon, by more than the bound."""
    kinds = {writer.name: writer.kind for table in TABLES for writer in table.writers}
    groups = [(f"writer {name}", {name}) for name in kinds]
    groups += [(f"all {kind}", {name for name in kinds if kinds[name] is kind}) for kind in Kind]
    groups.append(("all writers", set(kinds)))
    for group, names in groups:
        without, beside = (count_operations([one for one in operations if one.writer in names]) for operations in (control, torture))
        is_enough = min(without.operations, beside.operations) >= ENOUGH_OPERATIONS
        if is_enough and beside.failure_rate > without.failure_rate + MOST_MORE_FAILURES:
            what = f"{beside.failure_rate:.1%} of {beside.operations} failed, {without.failure_rate:.1%} of {without.operations} without the daemon"
            checked.add(Fault.WRITER_FAILS_MORE, group, [what])


@dataclass(slots=True)
class Report:
    """Everything that a run has to say."""

    seed: int
    minutes: float
    control: list[Operation]
    torture: list[Operation]
    checked: Checked
    jobs: list[Mapping[str, Any]]
    our_commits: int
    events: list[Event]
    held: int
    daemon_starts: int
    daemon_exits: list[int]
    requests: int
    strays: int
    strays_removed: int
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Nothing that must not be was found."""
        return not self.checked.findings

    @property
    def total_commits(self) -> int:
        """Of writers, beside the daemon, and of the daemon."""
        return count_committed(self.torture) + self.our_commits

    def as_document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "seed": self.seed,
            "minutes": self.minutes,
            "is_clean": self.is_clean,
            "commits": {
                "writers": count_committed(self.torture),
                "daemon": self.our_commits,
                "all": self.total_commits,
                "control": count_committed(self.control),
            },
            "jobs": {"all": len(self.jobs), "by_action_and_state": dict(sorted(self._count_jobs().items())), "failures": self._count_failures()},
            "chaos": {"all": len(self.events), "hit": sum(event.has_hit for event in self.events), "by_kind": self._count_events()},
            "daemon": {"starts": self.daemon_starts, "ends_nobody_asked_for": self.daemon_exits, "requests": self.requests},
            "writers": {name: {"without": _describe(without), "beside": _describe(beside)} for name, without, beside in self._writers()},
            "checked": {
                "rows": self.checked.rows,
                "files": self.checked.files,
                "snapshots_listed": self.checked.snapshots_listed,
                "snapshots_read": self.checked.snapshots_read,
                "held": self.held,
                "strays": self.strays,
                "strays_removed": self.strays_removed,
            },
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "findings": [asdict(finding) for finding in self.checked.findings],
        }

    def as_text(self) -> str:
        """For people."""
        document = self.as_document()
        lines = [f"torture: seed {self.seed}, {self.minutes:g} minutes of chaos", ""]
        document["chaos"]["by_kind"] = {kind: f"{count['hit']} of {count['all']}" for kind, count in document["chaos"]["by_kind"].items()}
        for name in ("commits", "jobs", "chaos", "daemon", "checked", "seconds"):
            lines += [f"  {f'{name}, {key}':42}{_inline(value)}" for key, value in document[name].items()]
        lines += ["", f"  {'writer':14}{'operations':>12}{'failed':>8}{'again':>8}{'beside: operations':>20}{'failed':>8}{'again':>8}{'resolved':>10}"]
        for name, without, beside in self._writers():
            lines.append(
                f"  {name:14}{without.operations:>12}{without.failure_rate:>8.1%}{without.conflicts:>8}"
                f"{beside.operations:>20}{beside.failure_rate:>8.1%}{beside.conflicts:>8}{beside.resolved:>10}"
            )
        lines += ["", *(f"  FOUND {one.fault.value} in {one.where}: {one.what}" for one in self.checked.findings)]
        lines.append("  nothing was lost" if self.is_clean else f"  {len(self.checked.findings)} findings")
        return "\n".join(lines)

    def _writers(self) -> list[tuple[str, WriterFigures, WriterFigures]]:
        def of(phase: list[Operation], name: str) -> WriterFigures:
            return count_operations([one for one in phase if one.writer == name])

        return [(writer.name, of(self.control, writer.name), of(self.torture, writer.name)) for table in TABLES for writer in table.writers]

    def _count_jobs(self) -> Counter[str]:
        return Counter(f"{job['rule']} {job['state']}" for job in self.jobs)

    def _count_failures(self) -> dict[str, int]:
        return dict(Counter(str(job["failure_reason"]) for job in self.jobs if job["state"] == "failed"))

    def _count_events(self) -> dict[str, dict[str, int]]:
        kinds = sorted({event.trouble.value for event in self.events})
        of_kind = {kind: [event for event in self.events if event.trouble.value == kind] for kind in kinds}
        return {kind: {"all": len(events), "hit": sum(event.has_hit for event in events)} for kind, events in of_kind.items()}


def count_committed(operations: Sequence[Operation]) -> int:
    """Operations whose writers know that they are committed."""
    return sum(one.told is Told.COMMITTED for one in operations)


def _describe(figures: WriterFigures) -> dict[str, float]:
    return asdict(figures) | {"failure_rate": round(figures.failure_rate, 4), "conflicts": figures.conflicts}


def _inline(value: object) -> str:
    return ", ".join(f"{name}: {count}" for name, count in value.items()) or "none" if isinstance(value, dict) else str(value)
