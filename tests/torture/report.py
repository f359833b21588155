"""The figures of a run: as JSON for programs, as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.torture.chaos import Event
from tests.torture.check import Checked, Fault
from tests.torture.ledger import Operation, Told
from tests.torture.minima import LONG_MINUTES, Minimum, count_successes
from tests.torture.schedule import TABLES, Kind

MOST_MORE_FAILURES = 0.05  # of a writer's operations, against the run without the daemon
# Of attempts. The policy of the run has all regard for writers switched off and rewrites a table
# every minute, so that a MERGE of seconds must lose some.
MOST_MORE_LOSSES = 0.05  # of all writers'
MOST_MORE_LOSSES_OF_ONE = 0.10  # of one writer's, or one kind's
ENOUGH_ATTEMPTS = 200  # below it a few more or less would decide
_ALL = "all writers"
# of one writer, in both phases; below it, one failure alone would be more than the bound, and
# writers of a kind are taken together
ENOUGH_OPERATIONS = 20


@dataclass(frozen=True, slots=True)
class WriterFigures:
    """What one writer, or all of one kind, got done."""

    operations: int
    failed: int
    attempts: int
    resolved: int  # an error came back, and the commit was there
    unknown: int
    lost: int  # attempts that came to nothing
    lost_to_writers: int  # of these: to other writers, and nobody else

    @property
    def failure_rate(self) -> float:
        """Operations given up after every attempt."""
        return self.failed / self.operations if self.operations else 0.0

    @property
    def loss_rate(self) -> float:
        """Attempts that came to nothing, for whatever reason."""
        return self.lost / self.attempts if self.attempts else 0.0

    @property
    def held_against_us(self) -> float:
        """Attempts that came to nothing otherwise than by another writer's commit."""
        return (self.lost - self.lost_to_writers) / self.attempts if self.attempts else 0.0


def count_operations(operations: Sequence[Operation]) -> WriterFigures:
    """Of any selection; what was never told anything counts as unknown."""
    return WriterFigures(
        operations=len(operations),
        failed=sum(one.told is Told.FAILED for one in operations),
        attempts=sum(one.attempts for one in operations),
        resolved=sum(one.is_resolved for one in operations),
        unknown=sum(one.told in {Told.UNKNOWN, Told.INTENDED} for one in operations),
        lost=sum(len(one.lost) for one in operations),
        lost_to_writers=sum(one.lost_to_writers for one in operations),
    )


def compare_writers(
    checked: Checked, control: Sequence[Operation], torture: Sequence[Operation]
) -> None:
    """No writer, and no kind of them, gave up more operations beside the daemon, or lost more
    attempts otherwise than to writers, by more than the bound.
    """
    for group, without, beside in compare_groups(control, torture):
        if min(without.operations, beside.operations) < ENOUGH_OPERATIONS:
            continue
        if beside.failure_rate > without.failure_rate + MOST_MORE_FAILURES:
            what = (
                f"{beside.failure_rate:.1%} of {beside.operations} failed, "
                f"{without.failure_rate:.1%} of {without.operations} without the daemon"
            )
            checked.add(Fault.WRITER_FAILS_MORE, group, [what])
        bound = MOST_MORE_LOSSES if group == _ALL else MOST_MORE_LOSSES_OF_ONE
        if (
            beside.attempts >= ENOUGH_ATTEMPTS
            and beside.held_against_us > without.held_against_us + bound
        ):
            what = (
                f"{beside.held_against_us:.1%} of {beside.attempts} attempts were lost otherwise "
                f"than to a writer"
            )
            checked.add(
                Fault.WRITER_LOSES_MORE,
                group,
                [f"{what}, {without.held_against_us:.1%} of {without.attempts} without the daemon"],
            )


def compare_groups(
    control: Sequence[Operation], torture: Sequence[Operation]
) -> list[tuple[str, WriterFigures, WriterFigures]]:
    """Each writer, each kind of them and all, without and beside the daemon."""
    kinds = {writer.name: writer.kind for table in TABLES for writer in table.writers}
    groups = [(f"writer {name}", {name}) for name in kinds]
    groups += [(f"all {kind}", {name for name in kinds if kinds[name] is kind}) for kind in Kind]
    groups.append((_ALL, set(kinds)))

    def of(phase: Sequence[Operation], names: set[str]) -> WriterFigures:
        return count_operations([one for one in phase if one.writer in names])

    return [(group, of(control, names), of(torture, names)) for group, names in groups]


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
    minima: list[Minimum]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def is_clean(self) -> bool:
        """Nothing that must not be was found."""
        return not self.checked.findings

    @property
    def is_enough(self) -> bool:
        """There was enough of everything that a run of these minutes must have had."""
        return all(minimum.is_met for minimum in self.minima)

    @property
    def exit_code(self) -> int:
        """What the whole program ends with: 0 when all is as it should be."""
        return 0 if self.is_clean and self.is_enough else 1

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
            "is_enough": self.is_enough,
            "minima": [asdict(minimum) | {"is_met": minimum.is_met} for minimum in self.minima],
            "commits": {
                "writers": count_committed(self.torture),
                "daemon": self.our_commits,
                "all": self.total_commits,
                "control": count_committed(self.control),
            },
            "jobs": {
                "all": len(self.jobs),
                "by_action_and_state": dict(sorted(self._count_jobs().items())),
                "succeeded": count_successes(self.jobs),
                "failures": self._count_failures(),
            },
            "chaos": {
                "all": len(self.events),
                "hit": sum(event.has_hit for event in self.events),
                "by_kind": self._count_events(),
            },
            "daemon": {
                "starts": self.daemon_starts,
                "ends_nobody_asked_for": self.daemon_exits,
                "requests": self.requests,
            },
            "writers": {
                name: {"without": _describe(without), "beside": _describe(beside)}
                for name, without, beside in self._groups()
            },
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
        document["chaos"]["by_kind"] = {
            kind: f"{count['hit']} of {count['all']}"
            for kind, count in document["chaos"]["by_kind"].items()
        }
        for name in ("commits", "jobs", "chaos", "daemon", "checked", "seconds"):
            lines += [
                f"  {f'{name}, {key}':42}{_inline(value)}" for key, value in document[name].items()
            ]
        lines += ["", *self._tabulate_writers(), "", *self._tell_minima()]
        lines += [
            "",
            *(
                f"  FOUND {one.fault.value} in {one.where}: {one.what}"
                for one in self.checked.findings
            ),
        ]
        lines.append(
            "  nothing was lost" if self.is_clean else f"  {len(self.checked.findings)} findings"
        )
        return "\n".join(lines)

    def _tabulate_writers(self) -> list[str]:
        """Operations given up; attempts lost; of these otherwise than to another writer."""
        columns = (
            f"{'operations':>12}{'failed':>8}{'attempts':>10}{'lost':>8}{'not to writers':>16}"
        )
        lines = [f"  {'without the daemon, then beside it':34}{columns}"]
        for name, *phases in self._groups():
            for title, figures in zip((name, ""), phases, strict=True):
                counts = (
                    f"{figures.operations:>12}{figures.failure_rate:>8.1%}{figures.attempts:>10}"
                    f"{figures.loss_rate:>8.1%}{figures.held_against_us:>16.1%}"
                )
                lines.append(f"  {title:34}{counts}")
        return lines

    def _tell_minima(self) -> list[str]:
        lines = [
            f"  TOO LITTLE: {one.name}: {one.found}, at least {one.least}"
            for one in self.minima
            if not one.is_met
        ]
        if self.minutes < LONG_MINUTES:
            share = ", ".join(f"{one.least} {one.name}" for one in self.minima)
            lines.append(
                f"  a run of less than {LONG_MINUTES:g} minutes: {share} were asked for; not "
                f"that every procedure succeeds and every trouble hits"
            )
        return lines

    def _groups(self) -> list[tuple[str, WriterFigures, WriterFigures]]:
        return compare_groups(self.control, self.torture)

    def _count_jobs(self) -> Counter[str]:
        return Counter(f"{job['rule']} {job['state']}" for job in self.jobs)

    def _count_failures(self) -> dict[str, int]:
        return dict(
            Counter(str(job["failure_reason"]) for job in self.jobs if job["state"] == "failed")
        )

    def _count_events(self) -> dict[str, dict[str, int]]:
        kinds = sorted({event.trouble.value for event in self.events})
        of_kind = {
            kind: [event for event in self.events if event.trouble.value == kind] for kind in kinds
        }
        return {
            kind: {"all": len(events), "hit": sum(event.has_hit for event in events)}
            for kind, events in of_kind.items()
        }


def count_committed(operations: Sequence[Operation]) -> int:
    """Operations whose writers know that they are committed."""
    return sum(one.told is Told.COMMITTED for one in operations)


def _describe(figures: WriterFigures) -> dict[str, float]:
    rates = {
        "failure_rate": figures.failure_rate,
        "loss_rate": figures.loss_rate,
        "held_against_us": figures.held_against_us,
    }
    return asdict(figures) | {name: round(rate, 4) for name, rate in rates.items()}


def _inline(value: object) -> str:
    return (
        ", ".join(f"{name}: {count}" for name, count in value.items()) or "none"
        if isinstance(value, dict)
        else str(value)
    )
