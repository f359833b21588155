"""The order of candidates: maintainer's score, and the published score.

Sources: docs/decisions.md; the published model is AutoComp, SIGMOD-Companion 2025.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import assert_never

from maintainer.domain.admission import Candidate, Scorer
from maintainer.domain.cost import BENEFIT, Cost, Score, Worth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads

GAIN_WEIGHT = 0.7  # published: w1, and w2 = 1 - w1
_LEAST_GB_HOURS = 1e-6  # keeps the ratio finite
_MOST_DECADES = 100.0  # a limit for waits of unknown start, so that the factor is finite
_PRIORITY_STEP = 25  # points of a policy's priority for a factor of ten
DEFAULT_PRIORITY = 50
_DAY = timedelta(days=1)
TYPICAL_READS_PER_DAY = 24.0  # once an hour; a table with so many reads counts twice


def standing_score(worth: Worth, cost: Cost) -> Score:
    """Chance times benefit per GB-hour, without priority and waiting, as a plan shows it."""
    value = _value_standing(worth, cost)
    terms = (
        ("chance", worth.chance),
        (BENEFIT, worth.benefit.value),
        ("gb_hours_p90", cost.gb_hours_p90),
    )
    return Score(Scorer.MAINTAINER, value, terms, f"{_write(value)} = {_write_ratio(worth, cost)}")


def waiting_factor(waiting: timedelta, sla: timedelta) -> float:
    """The factor for waiting: 1 + waiting / SLA until the SLA is reached.

    From then on it is ten times as much for each further SLA, so that every waiting action comes
    first in the end.
    """
    shares = max(0.0, waiting / sla)
    return 1 + shares if shares <= 1 else 2 * 10 ** min(_MOST_DECADES, shares - 1)


def priority_factor(priority: int) -> float:
    """The factor for a policy's priority of 0 to 100: 25 points are a factor of ten, 50 is 1."""
    return float(10 ** ((priority - DEFAULT_PRIORITY) / _PRIORITY_STEP))


def reads_factor(reads_per_day: float | None) -> float:
    """The factor for reads: 1 + reads per day / TYPICAL_READS_PER_DAY; 1 where none are known.

    Every later read benefits from the files that a job removes.
    """
    return 1 + max(0.0, reads_per_day or 0.0) / TYPICAL_READS_PER_DAY


def rate_reads(known: Iterable[TableReads], now: datetime) -> Mapping[TableIdentifier, float]:
    """The reads per day of each table.

    A catalog counts from the day of its first report, and for at least one day. Otherwise a table
    whose first read was today would seem to be read more often than it is.
    """
    everything = list(known)
    begins: dict[str, str] = {}
    for one in everything:
        catalog = one.table.catalog
        begins[catalog] = min(one.first_day, begins.get(catalog, one.first_day))
    days = {
        catalog: max(1.0, (now - datetime.fromisoformat(day).replace(tzinfo=UTC)) / _DAY)
        for catalog, day in begins.items()
    }
    return {one.table: one.reads / days[one.table.catalog] for one in everything}


def score_all(
    candidates: Sequence[Candidate],
    scorer: Scorer,
    now: datetime,
    sla: timedelta,
    quota_used: float = 0.0,
) -> list[Score]:
    """The score of each candidate among all.

    quota_used is the used share of the daily budget, 0 without a budget.
    """
    match scorer:
        case Scorer.MAINTAINER:
            return [_score_ours(candidate, now, sla) for candidate in candidates]
        case Scorer.AUTOCOMP:
            return _score_published(candidates, scorer, GAIN_WEIGHT)
        case Scorer.AUTOCOMP_QUOTA:
            return _score_published(candidates, scorer, 0.5 * (1 + min(1.0, max(0.0, quota_used))))
        case _:
            assert_never(scorer)


def value_all(
    candidates: Sequence[Candidate],
    scorer: Scorer,
    now: datetime,
    sla: timedelta,
    quota_used: float = 0.0,
) -> list[float]:
    """Only the values of score_all.

    Of hundreds of thousands of candidates, only those that start need a sentence.
    """
    if scorer is not Scorer.MAINTAINER:
        return [score.value for score in score_all(candidates, scorer, now, sla, quota_used)]
    return [_value_ours(candidate, now, sla) for candidate in candidates]


def _value_ours(candidate: Candidate, now: datetime, sla: timedelta) -> float:
    return (
        _value_standing(candidate.worth, candidate.cost)
        * waiting_factor(now - candidate.waiting_since, sla)
        * priority_factor(candidate.priority)
        * reads_factor(candidate.reads_per_day)
    )


def _value_standing(worth: Worth, cost: Cost) -> float:
    return worth.chance * worth.benefit.value / max(_LEAST_GB_HOURS, cost.gb_hours_p90)


def _score_ours(candidate: Candidate, now: datetime, sla: timedelta) -> Score:
    standing = standing_score(candidate.worth, candidate.cost)
    waiting = waiting_factor(now - candidate.waiting_since, sla)
    priority = priority_factor(candidate.priority)
    reads = reads_factor(candidate.reads_per_day)
    value = standing.value * waiting * priority * reads
    ratio = _write_ratio(candidate.worth, candidate.cost)
    sentence = (
        f"{_write(value)} = {ratio} x {_write(waiting)} waiting x {_write(priority)} priority"
    )
    terms = (*standing.terms, ("waiting", waiting), ("priority", priority))
    if candidate.reads_per_day is not None:
        terms = (*terms, ("reads", reads))
        sentence += f" x {_write(reads)} reads (reads a day: {_write(candidate.reads_per_day)})"
    return Score(Scorer.MAINTAINER, value, terms, sentence)


def _score_published(
    candidates: Sequence[Candidate], scorer: Scorer, gain_weight: float
) -> list[Score]:
    """The published score, changed only by the policy's priority, which scales it.

    Waiting does not count.
    """
    gains = normalise([float(candidate.worth.published_files) for candidate in candidates])
    costs = normalise([candidate.worth.published_gb_hours for candidate in candidates])
    scores = []
    for candidate, gain, cost in zip(candidates, gains, costs, strict=True):
        priority = candidate.priority / DEFAULT_PRIORITY - 1
        value = gain_weight * gain - (1 - gain_weight) * cost + priority
        terms = (
            ("gain", gain),
            ("cost", cost),
            ("gain_weight", gain_weight),
            ("priority", priority),
        )
        sentence = (
            f"{value:.3f} = {gain_weight:.2f} x gain {gain:.3f} - {1 - gain_weight:.2f} x cost "
            f"{cost:.3f} + {priority:.2f} priority"
        )
        scores.append(Score(scorer, value, terms, sentence))
    return scores


def normalise(values: Sequence[float]) -> list[float]:
    """Scale values so that the least is 0 and the greatest 1; equal values are 0."""
    least, greatest = min(values, default=0.0), max(values, default=0.0)
    span = greatest - least
    return [(value - least) / span if span else 0.0 for value in values]


def _write_ratio(worth: Worth, cost: Cost) -> str:
    return (
        f"{_write(worth.chance)} chance x {_write(worth.benefit.value)} benefit / "
        f"{_write(cost.gb_hours_p90)} GB-hours"
    )


def _write(value: float) -> str:
    # Large numbers have no digit after the point.
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004
