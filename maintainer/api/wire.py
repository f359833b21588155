"""Convert domain objects to the API's schemas; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from maintainer import __version__
from maintainer.adapters.spark.statements.job import main_statement
from maintainer.api import health_schemas, job_schemas, outlook_schemas, plan_schemas, schemas
from maintainer.decide.grading.partitioning import advise_partitions
from maintainer.decide.outlook import Outlook
from maintainer.domain.cost import Cost, Score
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.health import Band, Finding, ManifestGroup, RefRetention, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import HISTOGRAM_BOUNDS_BYTES
from maintainer.domain.job import Job, JobEvent, JobState
from maintainer.domain.policy import Policy, PolicyLayer, PolicyProblem, PolicySet
from maintainer.domain.safeguards import is_rollback_tag
from maintainer.measure.impact import ImpactModel, estimate_impact
from maintainer.policy.ambiguity import describe_ambiguity, find_ambiguities
from maintainer.policy.layering import weak_to_strong
from maintainer.policy.writing import describe, describe_layer
from maintainer.ports.store.figures import Overview
from maintainer.ports.store.tables import TableRecord

_MEASURED = (
    "format_version", "target_file_size_bytes", "data_files", "data_bytes",
    "average_file_size_bytes", "small_files", "small_file_ratio", "records",
    "position_delete_files", "equality_delete_files", "deletion_vectors", "manifests",
    "manifest_bytes", "snapshots", "measured_at",
)  # fmt: skip
_DETAILED = (
    "table_uuid", "location", "metadata_location", "metadata_bytes", "small_file_bytes",
    "delete_bytes", "delete_records", "data_manifests", "delete_manifests",
    "oldest_snapshot_at", "newest_snapshot_at", "branches", "tags", "delete_file_ratio",
    "oldest_delete_at", "partition_skew", "manifest_excess",
    "kept_data_files", "live_file_ratio", "commits_per_hour", "commit_window_seconds",
    "growth_bytes_per_day", "growth_records_per_day", "metadata_files",
    "storage_files", "dangling_delete_files",
)  # fmt: skip


def write_findings(findings: Iterable[Finding]) -> list[plan_schemas.FindingOut]:
    """Convert findings, in their order."""
    return [plan_schemas.FindingOut.model_validate(finding) for finding in findings]


def write_cost(cost: Cost | None) -> plan_schemas.CostOut | None:
    """Convert a cost, if there is one."""
    return None if cost is None else plan_schemas.CostOut.model_validate(cost)


def write_score(score: Score | None) -> plan_schemas.ScoreOut | None:
    """Convert a score, if there is one."""
    return None if score is None else score_out(score)


def score_out(score: Score) -> plan_schemas.ScoreOut:
    """Convert a score with its terms in their order."""
    terms = [plan_schemas.TermOut(name=name, value=value) for name, value in score.terms]
    return plan_schemas.ScoreOut(
        scorer=score.scorer, value=score.value, terms=terms, sentence=score.sentence
    )


def write_summary(record: TableRecord) -> schemas.TableSummary:
    """Convert a record to one row of the table list."""
    return schemas.TableSummary(**_summary_fields(record))


def write_detail(
    record: TableRecord,
    policy: Policy,
    model: ImpactModel,
    outlook: outlook_schemas.OutlookOut,
) -> schemas.TableDetail:
    """Convert a record to the table's page."""
    health = record.health
    return schemas.TableDetail(
        **_summary_fields(record),
        **_read_fields(health, _DETAILED),
        partitions=len(health.partitions) if health else None,
        histogram=_write_histogram(health),
        formats=dict(health.formats) if health else {},
        manifest_groups=[_write_group(group) for group in health.manifest_groups] if health else [],
        refs=[
            health_schemas.RefOut(
                name=ref.name, snapshot_id=str(ref.snapshot_id), is_branch=ref.is_branch
            )
            for ref in health.refs
        ]
        if health
        else [],
        properties=dict(health.properties) if health else {},
        unreadable=[
            health_schemas.UnreadableOut.model_validate(piece) for piece in health.unreadable
        ]
        if health
        else [],
        policy=write_policy(record.table, policy),
        first_seen_at=record.first_seen_at,
        writers=[health_schemas.WriterRateOut.model_validate(rate) for rate in health.writers]
        if health
        else [],
        ref_retention=[_write_retention(one) for one in health.ref_retention] if health else [],
        disagreements=[
            health_schemas.DisagreementOut.model_validate(found) for found in health.disagreements
        ]
        if health
        else [],
        impact=_write_impact(health, model),
        outlook=outlook,
        partition_advice=_write_advice(health),
    )


def _write_group(group: ManifestGroup) -> health_schemas.ManifestGroupOut:
    return health_schemas.ManifestGroupOut(
        spec_id=group.spec_id,
        content=group.content.value,
        count=group.count,
        bytes=group.bytes,
        ideal=group.ideal,
    )


def _write_retention(retention: RefRetention) -> health_schemas.RefRetentionOut:
    fields = {
        name: getattr(retention, name)
        for name in health_schemas.RefRetentionOut.model_fields
        if name not in {"snapshot_id", "is_ours"}
    }
    is_ours = not retention.is_branch and is_rollback_tag(retention.name)
    return health_schemas.RefRetentionOut(
        snapshot_id=str(retention.snapshot_id), is_ours=is_ours, **fields
    )


def _write_impact(
    health: TableHealth | None, model: ImpactModel
) -> health_schemas.ImpactOut | None:
    impact = estimate_impact(health, model) if health else None
    return health_schemas.ImpactOut.model_validate(impact) if impact else None


def _summary_fields(record: TableRecord) -> dict[str, Any]:
    table, health, grade = record.table, record.health, record.grade
    return {
        "table": str(table),
        "catalog": table.catalog,
        "namespace": table.namespace_text,
        "name": table.name,
        "band": grade.band if grade else None,
        "reason": grade.reason if grade else "",
        "band_since": grade.entered_at if grade else None,
        "previous_band": grade.came_from if grade else None,
        "findings": write_findings(grade.findings) if grade else [],
        "fault": schemas.FaultOut.model_validate(record.fault) if record.fault else None,
        "pause": schemas.PauseOut.model_validate(record.pause) if record.pause else None,
        "snapshot_id": write_id(health.snapshot_id) if health else None,
        **_read_fields(health, _MEASURED),
    }


def _read_fields(health: TableHealth | None, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(health, name) if health else None for name in names}


def write_id(snapshot_id: int | None) -> str | None:
    """A snapshot id as text, because JavaScript's numbers lose digits of 64-bit integers."""
    return None if snapshot_id is None else str(snapshot_id)


def _write_histogram(health: TableHealth | None) -> list[health_schemas.HistogramBin]:
    if health is None or not health.histogram:
        return []
    lower, upper = (0, *HISTOGRAM_BOUNDS_BYTES), (*HISTOGRAM_BOUNDS_BYTES, None)
    return [
        health_schemas.HistogramBin(from_bytes=low, to_bytes=high, files=files)
        for low, high, files in zip(lower, upper, health.histogram, strict=True)
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


def write_policy_set(policies: PolicySet) -> schemas.PolicySetOut:
    """Convert the policy files in force, and the problems of those that are not."""
    layers = [_write_layer(layer) for layer in weak_to_strong(policies.layers)]
    problems = (*policies.problems, *find_ambiguities(policies))
    return schemas.PolicySetOut(
        version=policies.version, layers=layers, problems=write_problems(problems)
    )


def write_problems(problems: Iterable[PolicyProblem]) -> list[schemas.PolicyProblemOut]:
    """Convert the problems of policy files."""
    return [schemas.PolicyProblemOut.model_validate(problem) for problem in problems]


def _write_layer(layer: PolicyLayer) -> schemas.PolicyLayerOut:
    tables = [pattern.text for pattern in layer.tables]
    return schemas.PolicyLayerOut(
        name=layer.name, tables=tables, values=_write_values(describe_layer(layer))
    )


def _write_values(described: Iterable[tuple[str, str, str]]) -> list[schemas.PolicyValueOut]:
    return [
        schemas.PolicyValueOut(path=path, value=value, source=source)
        for path, value, source in described
    ]


def write_job(job: Job) -> job_schemas.JobOut:
    """Convert a job with its effect."""
    return job_schemas.JobOut(
        job_id=job.job_id,
        table=str(job.table),
        rule=job.rule,
        action=main_statement(job.table, job.action),
        state=job.state,
        reason=job.reason,
        findings=write_findings(job.findings),
        estimate=plan_schemas.EstimateOut.model_validate(job.estimate),
        requested_by=job.requested_by,
        policy=job.policy_version,
        created_at=job.created_at,
        submitted_at=job.submitted_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        finished_at=job.finished_at,
        progress=outlook_schemas.ProgressOut.model_validate(job.progress),
        cancel_requested_by=job.cancel_requested_by,
        effect=_write_effect(job.effect) if job.effect else None,
        failure_reason=job.failure_reason,
        failure_message=job.failure_message,
        cost=write_cost(job.cost),
        score=write_score(job.score),
        gb_hours=job.gb_hours,
        estimate_errors=[
            job_schemas.EstimateErrorOut.model_validate(error) for error in job.estimate_errors
        ],
        size=job.size,
        size_reason=job.size_reason,
    )


def _write_advice(health: TableHealth | None) -> outlook_schemas.PartitionAdviceOut | None:
    advice = advise_partitions(health) if health else None
    return outlook_schemas.PartitionAdviceOut.model_validate(advice) if advice else None


def write_outlook(outlook: Outlook, job: Job | None) -> outlook_schemas.OutlookOut:
    """Convert what happens next on a table, and its unfinished job."""
    return outlook_schemas.OutlookOut(
        kind=outlook.kind,
        sentence=outlook.sentence,
        why=outlook.why,
        next_at=outlook.next_at,
        job=None if job is None else outlook_schemas.UnfinishedJobOut.model_validate(job),
    )


def _write_effect(effect: Effect) -> job_schemas.EffectOut:
    fields = {
        name: getattr(effect, name)
        for name in job_schemas.EffectOut.model_fields
        if name not in {"before", "after"}
    }
    return job_schemas.EffectOut(
        before=_write_measurement(effect.before), after=_write_measurement(effect.after), **fields
    )


def _write_measurement(measurement: Measurement) -> job_schemas.MeasurementOut:
    fields = {
        name: getattr(measurement, name)
        for name in job_schemas.MeasurementOut.model_fields
        if name != "snapshot_id"
    }
    return job_schemas.MeasurementOut(snapshot_id=write_id(measurement.snapshot_id), **fields)


def write_event(event: JobEvent) -> job_schemas.JobEventOut:
    """Convert one event of a job."""
    return job_schemas.JobEventOut(
        sequence=event.sequence, at=event.at, name=event.name, fields=dict(event.fields)
    )


def write_history(
    table: TableIdentifier,
    metric: str,
    samples: Sequence[tuple[datetime, float | None]],
    limit: int,
) -> schemas.History:
    """Convert a time series, thinned evenly to at most `limit` samples; the latest is kept."""
    stride = -(-len(samples) // limit) or 1
    kept = samples[::-1][::stride][::-1]
    return schemas.History(
        table=str(table),
        metric=metric,
        samples=[schemas.Sample(at=at, value=value) for at, value in kept],
    )


def write_overview(overview: Overview) -> schemas.OverviewOut:
    """Convert the fleet's sums; every band and every state is named, even with zero."""
    fields = {
        name: getattr(overview, name)
        for name in schemas.OverviewOut.model_fields
        if name not in {"bands", "jobs", "version"}
    }
    return schemas.OverviewOut(
        **fields,
        bands=_write_counts(Band, overview.bands),
        jobs=_write_counts(JobState, overview.jobs),
        version=__version__,
    )


def _write_counts(keys: Iterable[Any], counts: Mapping[Any, int]) -> dict[Any, int]:
    return {key: counts.get(key, 0) for key in keys}
