"""The protocol of a chapter: everything that the daemon knows about one of Iceberg's procedures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Generic, TypeVar

from maintainer.domain.action import Action
from maintainer.domain.cost import BYTES_PER_FILE, BYTES_PER_GROUP, Benefit, Calibration
from maintainer.domain.driver import Version, write_version
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import StatisticsFile, TableInventory
from maintainer.domain.orphan import Surroundings
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Estimate, RuleHistory, SkipCode
from maintainer.domain.policy import Charge, Rule, RuleName
from maintainer.domain.pool import JobSize, SizeProfile
from maintainer.estimate.cost import PUBLISHED_START_UP_GB_HOURS, Pace
from maintainer.estimate.floors import Refusal
from maintainer.procedures.memory import Need, weigh_files

RuleT = TypeVar("RuleT", bound=Rule)
ActionT = TypeVar("ActionT", bound=Action)
Argument = tuple[str, str]  # the name and the value, as Spark SQL
Result = Mapping[str, int | str | None]  # the columns of a procedure's result


@dataclass(frozen=True, slots=True)
class Situation:
    """What a procedure's decision needs besides the rule and the table's health."""

    now: datetime
    target_bytes: int | None = None  # the policy's target file size; None: the table's own
    pins: tuple[Pin, ...] = ()  # snapshots that readers need
    surroundings: Surroundings | None = None  # only if the policy has orphan scans
    history: RuleHistory | None = None  # of the rule on this table; None: it never ran
    calibration: Calibration = field(default_factory=Calibration)
    profile: SizeProfile = field(default_factory=lambda: SizeProfile(JobSize.SMALL, 1.0))
    tasks_at_once: int = 1  # Spark tasks of one job that run at the same time
    has_waited_out: bool = False  # it has waited for writers as long as the rule allows
    most_per_job: Charge | None = None  # of the daily budgets; None: no limit


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


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault of Iceberg: the rule does not run on such tables with a version before `until`."""

    until: Version | None  # the first version without the fault; None: every version has it
    reason: str
    concerns: Callable[[Rule, TableHealth], bool] | None = None  # None: every table

    @property
    def sentence(self) -> str:
        """The fault with the version that it ends with."""
        if self.until is None:
            return f"in every version of Iceberg so far {self.reason}"
        return f"before Iceberg {write_version(self.until)} {self.reason}"


def has_row_lineage(_: Rule, health: TableHealth) -> bool:
    """True from the format version on in which rows have ids."""
    return health.format_version >= 3  # noqa: PLR2004 - the format version with row lineage


@dataclass(frozen=True, slots=True)
class Removed:
    """What the commits of one job removed, and the bytes that they rewrote."""

    files: int = 0
    manifests: int = 0
    snapshots: int = 0
    bytes_rewritten: int = 0


class Chapter(ABC, Generic[RuleT, ActionT]):
    """One procedure. A chapter has no state and knows no other chapter."""

    rule: ClassVar[type[Rule]]
    doing: ClassVar[str]  # what a job does, as the begin of a sentence
    first_pace: ClassVar[Pace]  # before any job has finished
    faults: ClassVar[tuple[KnownFault, ...]] = ()
    # True: tables that may be other names of this one are measured before a job
    measures_suspects: ClassVar[bool] = False
    # True: an older state of the table than was seen before could make a job delete needed files
    needs_newest_state: ClassVar[bool] = False
    items: ClassVar[str] = ""  # what a rewrite replaces; empty: it rewrites nothing
    replaced_figure: ClassVar[str] = ""  # of summaries: the files that a rewrite in parts replaced
    statistics_figure: ClassVar[str] = ""  # of Spark's result: the path of the written statistics
    left_over: ClassVar[str] = ""  # what a job that ended early may leave, as a sentence

    @property
    def name(self) -> RuleName:
        """The name of the rule, which is that of the procedure."""
        return self.rule.name

    # ---- whether it may run

    def refuse(self, rule: RuleT, health: TableHealth, situation: Situation) -> Refusal | None:
        """The first reason not to run the rule on this table; None when there is none."""
        return None

    def only_restores(self, situation: Situation) -> bool:
        """True when the next job only puts back what an earlier job took, which harms nothing."""
        return False

    def restores(self, action: ActionT) -> bool:
        """True when the action only puts files back."""
        return False

    def takes_away(self, action: ActionT) -> bool:
        """True when the action deletes or moves files of the table's location."""
        return False

    # ---- what it would do

    @abstractmethod
    def find_gain(self, rule: RuleT, health: TableHealth, situation: Situation) -> Gain | None:
        """The rule's next action with its estimate; None if it has nothing to do on the table.

        The table has a snapshot.
        """

    def predict_health(
        self,
        health: TableHealth,
        rule: RuleT,
        action: ActionT,
        estimate: Estimate,
        situation: Situation,
    ) -> TableHealth | None:
        """The table after the action, without its snapshot; None: no figure of it changes."""
        return None

    # ---- what it costs, and what it is worth

    def measure_work(self, estimate: Estimate, health: TableHealth) -> float:
        """The work that the duration depends on, in the unit of the pace."""
        return (
            estimate.bytes_rewritten
            + BYTES_PER_FILE * estimate.items_before
            + BYTES_PER_GROUP * estimate.partitions
        )

    def find_need(self, rule: RuleT, health: TableHealth, tasks_at_once: int) -> Need:
        """The memory of a job."""
        return Need(weigh_files(health))

    @abstractmethod
    def find_benefit(self, estimate: Estimate) -> Benefit:
        """The weighted sum of what the action removes. All tables count the same."""

    def publish(self, estimate: Estimate, health: TableHealth) -> tuple[int, float]:
        """AutoComp's published gain in files, and its cost in GB-hours."""
        return estimate.items_removed, PUBLISHED_START_UP_GB_HOURS

    # ---- how it is called

    @abstractmethod
    def write_arguments(self, action: ActionT) -> list[Argument]:
        """The arguments of the CALL after the table.

        InvalidValueError for an unknown option or an invalid value.
        """

    # ---- what proves it, and what is said of it

    def commits_in_parts(self, action: ActionT) -> bool:
        """True when the action makes several commits, so that a part of it may be lost."""
        return False

    def count_removed(
        self,
        add_up: Callable[[str], int],
        before: Measurement,
        after: Measurement,
        other_commits: int,
    ) -> Removed:
        """What a job removed. `add_up` adds a figure of the summaries of the job's commits."""
        return Removed()

    def find_violation(self, effect: Effect) -> str | None:
        """What the job did and must not have done; None if there is nothing."""
        return None

    def find_statistics(
        self, action: ActionT, inventory: TableInventory
    ) -> Sequence[StatisticsFile]:
        """The table's files of the kind of statistics, and the snapshot, that the action writes."""
        return ()

    def explain_difference(self, estimate: Estimate, result: Result, taken: int) -> str:
        """How Spark's own result differs from the estimate; empty when it does not say.

        `taken` is the number of items that Spark reports to have rewritten.
        """
        return ""

    @abstractmethod
    def describe(self, effect: Effect) -> str:
        """The effect of a job that changed something, as one sentence."""
