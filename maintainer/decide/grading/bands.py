"""The band of a table: its health compared with published bounds.

A table leaves a band only with a margin, so that its band does not change often near a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice

from maintainer.decide.grading.findings import (
    BAND_ORDER,
    BY_ROW,
    CODEC,
    FORMATS,
    LAG,
    estimate_compaction,
    find_findings,
    find_format_findings,
    find_stream_lag,
)
from maintainer.decide.waiting.postponement import describe_names, refuse_shared
from maintainer.domain.health import Band, Compaction, Finding, Grade, TableHealth
from maintainer.domain.identifier import Registration
from maintainer.domain.pin import Pin
from maintainer.domain.policy import Policy
from maintainer.estimate.floors import describe_lost_deletes, describe_wrong_summaries
from maintainer.estimate.retained_snapshots import find_pin_trouble

# The metric of a finding: `observed` is the figure in the metadata, `bound` the counted figure.
DISAGREEMENT = "metadata_disagreement"
UNREADABLE = "unreadable_metadata"
LOST_DELETE = "lost_deletes"  # `observed` counts delete files
WRONG_SUMMARY = "wrong_manifest_summaries"  # `observed` counts manifests
# The metrics of findings that readers notice: they fail, or return wrong rows.
DAMAGE = frozenset({UNREADABLE, LOST_DELETE, WRONG_SUMMARY})
PIN = "pin"  # the metric of a finding: a pin with a fault
NAMES = "names"  # the metric of a finding: the number of names of the table
# The metrics of findings without a bound that is crossed.
_NOTED = frozenset({DISAGREEMENT, PIN, NAMES, FORMATS, BY_ROW, CODEC, LAG})
MAX_DISAGREEMENTS = 5  # as findings; the health has all disagreements
MAX_PIN_FINDINGS = 5  # `maintainer pin` and GET .../pins list all


def grade(  # noqa: PLR0913, PLR0917 - all facts for a band and its findings
    health: TableHealth,
    policy: Policy,
    now: datetime,
    previous: Grade | None = None,
    pins: Iterable[Pin] = (),
    registrations: Sequence[Registration] = (),
) -> Grade:
    """The band, its start, and the band before.

    Findings that maintenance cannot change are noted, but do not worsen the band. previous is the
    grade of the measurement before: the bounds that it crossed need the margin.
    """
    held = (
        {finding.metric: finding.severity for finding in previous.findings if finding.is_actionable}
        if previous is not None
        else {}
    )
    gain = estimate_compaction(health, policy)
    compaction = Compaction(gain.items_removed, gain.files_with_deletes > 0)
    judged = [
        *_unreadable_findings(health),
        *_summary_findings(health),
        *_lost_delete_findings(health),
        *find_findings(health, policy, gain, now, held),
        *_disagreement_findings(health),
        *_pin_findings(health, pins, now),
        *_name_findings(health, policy, registrations),
        *find_format_findings(health),
    ]
    is_helped = any(finding.is_actionable for finding in judged)
    judged += find_stream_lag(health, policy, is_helped=is_helped)
    findings = tuple(
        sorted(judged, key=lambda f: (not f.is_actionable, -BAND_ORDER.index(f.severity)))
    )
    band = max(
        (finding.severity for finding in findings if finding.is_actionable),
        key=BAND_ORDER.index,
        default=Band.HEALTHY,
    )
    reason = _reason(health, findings)
    if previous is not None and previous.band is band:
        since, came_from = previous.entered_at, previous.came_from
    else:
        since, came_from = now, previous.band if previous is not None else None
    return Grade(band, findings, reason, since, came_from, compaction)


def _reason(health: TableHealth, findings: tuple[Finding, ...]) -> str:
    if findings and findings[0].is_actionable:
        return findings[0].sentence
    if health.snapshot_id is None:
        return "The table is empty."
    beyond = next((finding for finding in findings if finding.metric not in _NOTED), None)
    return "No limit is exceeded." if beyond is None else f"Nothing to gain: {beyond.sentence}"


def _unreadable_findings(health: TableHealth) -> list[Finding]:
    if not health.unreadable:
        return []
    first = health.unreadable[0]
    sentence = (
        f"{len(health.unreadable)} metadata files cannot be read, the first is {first.path}: "
        f"{first.reason}"
    )
    return [
        Finding(
            UNREADABLE,
            len(health.unreadable),
            0,
            Band.CRITICAL,
            is_actionable=True,
            sentence=sentence,
        )
    ]


def _summary_findings(health: TableHealth) -> list[Finding]:
    """Manifests that readers skip wrongly: queries lack rows, or return deleted ones."""
    sentence = describe_wrong_summaries(health)
    if sentence is None:
        return []
    observed = health.wrong_summaries or 1
    return [
        Finding(WRONG_SUMMARY, observed, 0, Band.CRITICAL, is_actionable=True, sentence=sentence)
    ]


def _lost_delete_findings(health: TableHealth) -> list[Finding]:
    """Deletes without effect: rows that a writer has deleted or updated are still there."""
    sentence = describe_lost_deletes(health)
    if sentence is None:
        return []
    observed = health.lost_deletes or 1
    return [Finding(LOST_DELETE, observed, 0, Band.CRITICAL, is_actionable=True, sentence=sentence)]


def _disagreement_findings(health: TableHealth) -> list[Finding]:
    """Disagreements: other engines write wrong summaries.

    People should know them, but no maintenance changes them.
    """
    return [
        Finding(
            DISAGREEMENT,
            found.claimed,
            found.counted,
            Band.WATCH,
            is_actionable=False,
            sentence=f"the {found.source} says {found.claimed:,} {found.figure}, the manifests' "
            f"entries add up to {found.counted:,}",
        )
        for found in health.disagreements[:MAX_DISAGREEMENTS]
    ]


def _pin_findings(health: TableHealth, pins: Iterable[Pin], now: datetime) -> list[Finding]:
    """Pins with a fault, which people must correct.

    Either a reader relies on protection that does not exist, or an unreadable value keeps
    everything.
    """
    troubles = islice(find_pin_trouble(health, pins, now), MAX_PIN_FINDINGS)
    return [
        Finding(PIN, 1, 0, Band.WATCH, is_actionable=False, sentence=trouble)
        for trouble in troubles
    ]


def _name_findings(
    health: TableHealth, policy: Policy, registrations: Sequence[Registration]
) -> list[Finding]:
    """A table with several names.

    People must drop a name or say which name is the owner.
    """
    if not registrations:
        return []
    refusal = refuse_shared(health, policy, registrations)
    sentence = (
        refusal.reason
        if refusal is not None
        else f"{describe_names(registrations)}; a policy names this name as the owner"
    )
    return [
        Finding(
            NAMES, len(registrations) + 1, 1, Band.WATCH, is_actionable=False, sentence=sentence
        )
    ]
