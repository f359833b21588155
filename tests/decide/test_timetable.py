"""Windows and blackouts on the days when the clocks change, held against a reckoning of their own:
what is planned, and what is admitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import event, given
from hypothesis import strategies as st

from maintainer.admit.admission import admit, choose
from maintainer.admit.budgets import AdmissionCircumstances
from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.admission import AdmissionRules, Candidate
from maintainer.domain.cost import Benefit, Cost, CostBasis, Worth
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy, RuleName, Window
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.domain.rules import RewriteDataFilesRule
from tests.samples import NOW, TABLE, UUID, health_of_partitions

ONE, OTHER = (
    (0,),
    (0, 1),
)  # passings of a time that the clocks pass twice: a window opens at the first, a blackout at both
TABLE_OF_SMALL_FILES = health_of_partitions({"day=1": [1000] * 60})
CANDIDATE = Candidate(
    TABLE,
    UUID,
    RuleName.REWRITE_DATA_FILES,
    Cost(1.0, 1.0, 60.0, CostBasis.TABLE),
    Worth(Benefit(value=100.0), 1.0, 100, 1.0),
    1000,
    NOW,
)


@dataclass(frozen=True)
class Daily:
    """Every day at a time by the clocks of a zone, for a duration."""

    at: time
    duration: timedelta
    zone: str

    @property
    def window(self) -> Window:
        return Window(f"{self.at.minute} {self.at.hour} * * *", self.duration, self.zone)

    def covers(self, now: datetime, passings: Sequence[int]) -> bool:
        today = now.astimezone(ZoneInfo(self.zone)).date()
        firings = [
            datetime.combine(today + timedelta(days=day), self.at, ZoneInfo(self.zone))
            for day in (-2, -1, 0, 1)
        ]
        opened = [
            firing.replace(fold=passing).astimezone(UTC)
            for firing in firings
            for passing in passings
        ]
        return any(opening <= now < opening + self.duration for opening in opened)


ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
DAILY = st.builds(
    Daily,
    st.builds(time, st.integers(0, 23), st.sampled_from([0, 15, 30, 45])),
    st.integers(1, 40).map(lambda quarters: timedelta(minutes=15 * quarters)),
    ZONES,
)
CHANGES = (
    "2026-03-29T01:00",
    "2026-10-25T01:00",
    "2026-03-08T07:00",
    "2026-11-01T06:00",
    "2026-04-04T15:00",
    "2026-10-03T15:30",
)
MOMENTS = st.builds(
    lambda text, minutes: (
        datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(minutes=minutes)
    ),
    st.sampled_from(CHANGES),
    st.integers(-900, 900),
)
BLACKOUTS = st.lists(DAILY, max_size=2)


@given(st.none() | DAILY, BLACKOUTS, MOMENTS)
def test_a_rule_is_planned_exactly_in_its_window_and_outside_of_every_blackout(
    window: Daily | None, blackouts: list[Daily], now: datetime
) -> None:
    rules = (RewriteDataFilesRule(quiet_period=timedelta(0), hot_partition_age=timedelta(0)),)
    policy = Policy(
        Mode.ENFORCE,
        window=window.window if window else None,
        rules=rules,
        blackouts=tuple(blackout.window for blackout in blackouts),
    )
    plan = decide(TABLE_OF_SMALL_FILES, policy, Circumstances(now))
    may_start = (window is None or window.covers(now, ONE)) and not any(
        blackout.covers(now, OTHER) for blackout in blackouts
    )
    event("open" if may_start else "shut")
    assert bool(plan.planned) is may_start
    assert [skipped.code for skipped in plan.skipped] == (
        [] if may_start else [SkipCode.OUTSIDE_WINDOW]
    )
    assert all(skipped.next_at is not None and skipped.next_at > now for skipped in plan.skipped)


@given(BLACKOUTS, MOMENTS)
def test_something_is_admitted_exactly_outside_of_every_blackout_of_all_tables(
    blackouts: list[Daily], now: datetime
) -> None:
    rules = AdmissionRules(blackouts=tuple(blackout.window for blackout in blackouts))
    circumstances = AdmissionCircumstances(now, {DEFAULT_POOL: 1}, rules)
    may_start = not any(blackout.covers(now, OTHER) for blackout in blackouts)
    event("open" if may_start else "shut")
    assert [verdict.is_admitted for verdict in admit([CANDIDATE], circumstances)] == [may_start]
    assert len(choose([CANDIDATE], circumstances)) == int(may_start)
