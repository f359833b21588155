"""Jobs on one table with what surrounds them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from maintainer.domain.action import Action, Canary, Checksum, Safeguards
from maintainer.domain.effect import Measurement
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Baseline, Job
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ORDERS = TableIdentifier("lake", ("sales",), "or`ders")
NAME = "`lake`.`sales`.`or``ders`"
MEASURED = Measurement(7, NOW, 1, 1, 1.0, 0, 1, 1, 1, 1)
BASELINE = Baseline(7, 3, NOW, "m.json", MEASURED, snapshot_at=NOW - timedelta(days=2))
SURROUNDED = Safeguards(timedelta(days=1), Canary.SAMPLE, Checksum.FULL)
TAG = (
    f"ALTER TABLE {NAME} CREATE TAG IF NOT EXISTS `maintainer-before-m-1` AS OF VERSION 7 RETAIN "
    f"4320 MINUTES"
)


def job_of(action: Action, guards: Safeguards, baseline: Baseline | None = BASELINE) -> Job:
    rule = RuleName(action.procedure.value)
    made = Job(
        "m-1",
        ORDERS,
        "uuid",
        rule,
        action,
        (),
        Estimate(1, 1, 0, 0),
        "",
        "v",
        50,
        "policy",
        NOW,
        submitted_at=NOW,
        application="ours",
    )
    return replace(made, safeguards=guards, baseline=baseline)
