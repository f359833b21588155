"""Compare a rule's thresholds with a table's health."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor
from typing import assert_never

from maintainer.domain.health import Band, Finding, TableHealth
from maintainer.domain.metric import Metric, Threshold, Unit
from maintainer.domain.policy import Rule
from maintainer.domain.units import format_duration, format_size

_HOUR_SECONDS = 3600


def _write_value(metric: Metric, value: float) -> str:
    match metric.unit:
        case Unit.BYTES:
            return format_size(value)
        case Unit.SECONDS:
            return format_duration(timedelta(seconds=value))
        case Unit.SHARE | Unit.RATIO:
            return f"{value:.0%}"
        case Unit.COUNT:
            return f"{value:,.0f}"
        case _:
            assert_never(metric.unit)


def describe_threshold(threshold: Threshold, observed: float) -> str:
    """One comparison as text: "average file size 48 KiB, threshold below 32 MiB"."""
    metric = threshold.metric
    value, bound = _write_value(metric, observed), _write_value(metric, threshold.bound)
    return f"{metric.label} {value}, threshold {metric.direction} {bound}"


@dataclass(frozen=True, slots=True)
class Assessment:
    """A rule's thresholds for one table: met, not met, and not measured."""

    findings: tuple[Finding, ...]
    unmet: tuple[str, ...]
    not_measured: tuple[Metric, ...]


def assess(rule: Rule, health: TableHealth, now: datetime) -> Assessment:
    findings: list[Finding] = []
    unmet: list[str] = []
    not_measured: list[Metric] = []
    for threshold in rule.when:
        observed = threshold.metric.observe(health, now)
        if observed is None:
            not_measured.append(threshold.metric)
            continue
        holds = (
            observed < threshold.bound
            if threshold.metric.direction == "below"
            else observed > threshold.bound
        )
        shown = (
            _round_away(observed, holds=holds)
            if threshold.metric.unit is Unit.SECONDS
            else observed
        )
        sentence = describe_threshold(threshold, shown)
        if holds:
            findings.append(
                Finding(
                    threshold.metric,
                    shown,
                    threshold.bound,
                    Band.WATCH,
                    is_actionable=True,
                    sentence=sentence,
                )
            )
        else:
            unmet.append(sentence)
    return Assessment(tuple(findings), tuple(unmet), tuple(not_measured))


def _round_away(seconds: float, *, holds: bool) -> float:
    """An age rounded to the full hour: up when it crosses its bound, else down.

    An age grows by itself, and an unchanged verdict must have the same text.
    """
    hours = seconds / _HOUR_SECONDS
    return float(_HOUR_SECONDS * (ceil(hours) if holds else floor(hours)))
