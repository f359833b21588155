"""Convert domain objects to the API's schemas; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, get_origin
from urllib.parse import quote

from maintainer import __version__
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api import health_schemas, job_schemas, plan_schemas, schemas
from maintainer.api.spans import thin
from maintainer.api.status_schemas import write_status
from maintainer.decide.explanation import DOING, explain, explain_admission
from maintainer.decide.grading.partitioning import advise_partitions
from maintainer.decide.outlook import Outlook
from maintainer.domain.access import Person
from maintainer.domain.admission import AdmissionDecision, WaitCode
from maintainer.domain.driver import JobDriver
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES, has_present_bins
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.plan import Plan, PlannedAction, RuleVerdict, SkippedRule, is_waiting
from maintainer.domain.policy import Policy, PolicyLayer, PolicyProblem, PolicySet
from maintainer.domain.status import TableStatus
from maintainer.measure.impact import ImpactModel, estimate_impact
from maintainer.policy.ambiguity import describe_ambiguity, find_ambiguities
from maintainer.policy.effective import built_in_values
from maintainer.policy.inherited import ICEBERG_DEFAULT
from maintainer.policy.layering import BUILT_IN, weak_to_strong
from maintainer.policy.writing import describe, describe_layer, write_path, write_value
from maintainer.ports.store.figures import Overview
from maintainer.ports.store.pages import Page
from maintainer.ports.store.tables import TableRecord

_OF_HEALTH = {field.name for field in fields(TableHealth)}
_BUILT_IN_TEXTS = {
    write_path(path): write_value(path, value)
    for path, value in built_in_values().items()
    if value is not None
}
_EMPTY: Mapping[Any, object] = {
    list: (),
    dict: {},
}  # for a table without health; other types: unknown
# The waits whose sentences contain numbers of jobs or spent budgets.
_OTHERS = {
    WaitCode.QUEUED: "no free slot",
    WaitCode.OVER_BUDGET: "a budget that it shares has too little left",
    WaitCode.RESERVED: "what is left of a budget that it shares is reserved for others",
}


def write_summary(record: TableRecord, status: TableStatus | None) -> schemas.TableSummary:
    """Convert a record to one row of the table list."""
    return schemas.TableSummary.of(record, **_summary_fields(schemas.TableSummary, record, status))


def write_detail(  # noqa: PLR0913, PLR0917 - the parts of one answer
    record: TableRecord,
    policy: Policy,
    model: ImpactModel,
    outlook: health_schemas.OutlookOut,
    reads_per_day: float | None,
    status: TableStatus | None,
) -> schemas.TableDetail:
    """Convert a record to the table's page."""
    health = record.health
    return schemas.TableDetail.of(
        record,
        **_summary_fields(schemas.TableDetail, record, status)
        | {
            "partitions": len(health.partitions) if health else None,
            "histogram": _write_histogram(health),
            "policy": write_policy(record.table, policy),
            "impact": (
                estimate_impact(health, model, record.grade.compaction if record.grade else None)
                if health
                else None
            ),
            "reads_per_day": reads_per_day,
            "outlook": outlook,
            "partition_advice": advise_partitions(health) if health else None,
        },
    )


def _summary_fields(
    model: type[schemas.TableSummary], record: TableRecord, status: TableStatus | None
) -> dict[str, Any]:
    table, health, grade = record.table, record.health, record.grade
    of_health = {
        name: getattr(health, name) if health else _EMPTY.get(get_origin(field.annotation))
        for name, field in model.model_fields.items()
        if name in _OF_HEALTH
    }
    return of_health | {
        "table": table,
        "catalog": table.catalog,
        "namespace": table.namespace_text,
        "name": table.name,
        "band": grade.band if grade else None,
        "reason": grade.reason if grade else "",
        "band_since": grade.entered_at if grade else None,
        "previous_band": grade.came_from if grade else None,
        "findings": grade.findings if grade else (),
        "status": write_status(status) if status else None,
    }


def _write_histogram(health: TableHealth | None) -> list[health_schemas.HistogramBin]:
    if health is None or not has_present_bins(health.histogram):
        return []
    lower, upper = (0, *HISTOGRAM_BOUNDS_BYTES), (*HISTOGRAM_BOUNDS_BYTES, None)
    sizes = health.histogram_bytes or (None,) * len(health.histogram)
    return [
        health_schemas.HistogramBin(from_bytes=low, to_bytes=high, files=files, bytes=size)
        for low, high, files, size in zip(lower, upper, health.histogram, sizes, strict=True)
    ]


def write_policy(table: TableIdentifier, policy: Policy) -> schemas.EffectivePolicyOut:
    """Convert the policy in force for a table, each value with its source."""
    return schemas.EffectivePolicyOut(
        table=str(table),
        mode=policy.mode,
        priority=policy.priority,
        version=policy.version,
        rules=[rule.name for rule in policy.rules],
        values=_write_values(describe(policy)),
        problems=write_problems(
            describe_ambiguity(ambiguity, f"{table} gets no action until then")
            for ambiguity in policy.ambiguities
        ),
    )


def write_policy_set(
    policies: PolicySet, idle: Iterable[PolicyProblem] = ()
) -> schemas.PolicySetOut:
    """Convert the policy files in force, and the problems of those that are not.

    idle: the patterns that select no table.
    """
    layers = [_write_layer(layer) for layer in weak_to_strong(policies.layers)]
    problems = (*policies.problems, *find_ambiguities(policies), *idle)
    return schemas.PolicySetOut(
        version=policies.version, layers=layers, problems=write_problems(problems)
    )


def write_problems(problems: Iterable[PolicyProblem]) -> list[schemas.PolicyProblemOut]:
    return [schemas.PolicyProblemOut.model_validate(problem) for problem in problems]


def _write_layer(layer: PolicyLayer) -> schemas.PolicyLayerOut:
    tables = [pattern.text for pattern in layer.tables]
    return schemas.PolicyLayerOut(
        name=layer.name, tables=tables, values=_write_values(describe_layer(layer))
    )


def _write_values(described: Iterable[tuple[str, str, str]]) -> list[schemas.PolicyValueOut]:
    return [
        schemas.PolicyValueOut(
            path=path,
            value=value,
            source=source,
            is_built_in=source in {BUILT_IN, ICEBERG_DEFAULT},
            built_in=_BUILT_IN_TEXTS.get(path),
        )
        for path, value, source in described
    ]


def write_job(job: Job, spark_ui: Mapping[str, str]) -> job_schemas.JobOut:
    """Convert a job with its effect. ``spark_ui`` has the setting spark.ui_url of each pool."""
    template = spark_ui.get(job.pool, "")
    driver = None if job.driver is None else _write_driver(job.driver, template)
    return job_schemas.JobOut.of(
        job,
        action=main_statement(job.table, job.action),
        policy=job.policy_version,
        driver=driver,
    )


def _write_driver(driver: JobDriver, template: str) -> job_schemas.DriverOut:
    values = {name: quote(text, safe="") for name, text in driver.ui_values.items()}
    is_known = all(text or f"{{{name}}}" not in template for name, text in values.items())
    return job_schemas.DriverOut.of(driver, ui_url=template.format(**values) if is_known else "")


def write_outlook(outlook: Outlook, job: Job | None) -> health_schemas.OutlookOut:
    """Convert what happens next on a table, and its unfinished job."""
    return health_schemas.OutlookOut.of(outlook, job=job)


def write_event(event: JobEvent) -> job_schemas.JobEventOut:
    return job_schemas.JobEventOut.of(event, fields=dict(event.fields))


def write_history(
    table: TableIdentifier,
    metric: str,
    samples: Sequence[tuple[datetime, float | None]],
    limit: int,
) -> schemas.History:
    """Convert a time series, thinned evenly to at most `limit` samples; the latest is kept."""
    return schemas.History(
        table=str(table),
        metric=metric,
        samples=[schemas.Sample(at=at, value=value) for at, value in thin(samples, limit)],
    )


def write_overview(overview: Overview) -> schemas.OverviewOut:
    """Convert the fleet's sums; every band and every state is named, even with zero."""
    return schemas.OverviewOut.of(
        overview,
        bands={band: overview.bands.get(band, 0) for band in Band},
        jobs={state: overview.jobs.get(state, 0) for state in JobState},
        version=__version__,
    )


def hide_others(decision: AdmissionDecision, person: Person) -> AdmissionDecision:
    """The decision without figures of tables that the person may not see."""
    return decision if person.sees_all else hide_wait(decision)


def hide_wait(decision: AdmissionDecision) -> AdmissionDecision:
    """The decision without figures of other tables."""
    wait = decision.wait
    if wait is None or wait.code not in _OTHERS:
        return decision
    kept = replace(wait, reason=_OTHERS[wait.code], ahead=None, budget=None)
    return replace(decision, wait=kept)


def write_plan(plan: Plan, decisions: Iterable[AdmissionDecision] = ()) -> plan_schemas.PlanOut:
    """Convert a plan, with the CALL statement and the queue position of each action."""
    admissions = {
        decision.candidate.rule: decision
        for decision in decisions
        if decision.candidate.table_uuid == plan.table_uuid
    }
    return plan_schemas.PlanOut.of(
        plan,
        policy=plan.policy_version,
        planned=[
            _write_planned(plan.table, planned, admissions.get(planned.rule))
            for planned in plan.planned
        ],
        skipped=[_write_skipped(plan.table, skipped) for skipped in plan.skipped],
    )


def _write_planned(
    table: TableIdentifier,
    planned: PlannedAction,
    admission: AdmissionDecision | None,
) -> plan_schemas.PlannedOut:
    return plan_schemas.PlannedOut.of(
        planned,
        action=main_statement(table, planned.action),
        sentence=explain(planned),
        admission=None if admission is None else write_admission(admission),
    )


def write_admission(decision: AdmissionDecision) -> plan_schemas.AdmissionOut:
    wait = decision.wait
    return plan_schemas.AdmissionOut.of(
        decision,
        code=wait.code if wait is not None else None,
        sentence=explain_admission(decision),
        next_at=wait.next_at if wait is not None else None,
        ahead=wait.ahead if wait is not None else None,
        waiting_since=decision.candidate.waiting_since,
    )


def _write_skipped(table: TableIdentifier, skipped: SkippedRule) -> plan_schemas.SkippedOut:
    return plan_schemas.SkippedOut.of(
        skipped,
        action=main_statement(table, skipped.would_do) if skipped.would_do is not None else None,
        sentence=explain(skipped),
    )


def write_verdicts(page: Page[RuleVerdict], person: Person) -> plan_schemas.VerdictPage:
    """Convert a page of the history of verdicts, without figures of tables of others."""
    items = [
        verdict
        if person.sees_all or not is_waiting(verdict.key)
        else replace(verdict, sentence=f"{DOING[verdict.rule]} waits: others were first.")
        for verdict in page.items
    ]
    return plan_schemas.VerdictPage.of(page, items=[write_verdict(item) for item in items])


def write_verdict(verdict: RuleVerdict) -> plan_schemas.VerdictOut:
    """Convert one entry of the history of verdicts."""
    return plan_schemas.VerdictOut.of(verdict, policy=verdict.policy_version)
