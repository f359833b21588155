"""The statements before and after a rewrite: rollback tag, canary and row checksums."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from maintainer.adapters.spark.driver.results import EXECUTE
from maintainer.domain.action import (
    Canary,
    Checksum,
    JobAction,
    rollback_tag,
    where_of,
)
from maintainer.domain.condition import enclose
from maintainer.domain.condition_tokens import quote_identifier, quote_text
from maintainer.domain.job import JOBS_MARK, Job
from maintainer.procedures.call import PARTS_OF_SCOPE, name_table

CANARY_ROWS = 100
_LEAST_MINUTES = 1
_PARTS_OF_SAMPLE = PARTS_OF_SCOPE + 1  # with the partitions of the sample
# Spark hashes no maps by default, because their order is undefined. A rewrite keeps the order.
_HASH_MAPS = "SET spark.sql.legacy.allowHashOnMapType = true"
_SUMS = (
    "count(*) AS row_count, CAST(bit_xor(row_hash) AS STRING) AS xor, CAST(sum(CAST(row_hash AS "
    "DECIMAL(38, 0))) AS STRING) AS sum"
)


def statements_before(job: Job) -> list[str]:
    """Write statements that remove expired tags and tag the current snapshot; repeatable."""
    baseline = job.baseline
    if baseline is None or baseline.snapshot_id is None:
        return []
    table, guards = name_table(job.table), job.safeguards
    statements = [
        f"ALTER TABLE {table} DROP TAG IF EXISTS {quote_identifier(tag)}"
        for tag in baseline.lapsed_tags
    ]
    if guards.rollback_for:
        tag, minutes = quote_identifier(rollback_tag(job.job_id)), retained_minutes(job)
        statements.append(
            f"ALTER TABLE {table} CREATE TAG IF NOT EXISTS {tag} AS OF VERSION "
            f"{baseline.snapshot_id} RETAIN {minutes} MINUTES"
        )
    if guards.checksum is not Checksum.OFF:
        # If the table's rows cannot be hashed, the job fails here, before any change.
        trial = (
            f"(SELECT xxhash64(*) AS row_hash FROM {table} VERSION AS OF "
            f"{baseline.snapshot_id}{_write_where(_condition(job))} LIMIT 0)"
        )
        statements += [_HASH_MAPS, f"SELECT {_SUMS} FROM {trial}"]
    return statements


def statements_after(job: Job) -> list[str]:
    """Write statements that read some rows, and compare the rows before and after own commits."""
    table, guards = name_table(job.table), job.safeguards
    statements = []
    if guards.canary is not Canary.OFF:
        within = _write_where(_scope_of(job.action))
        # The contents of rows are never reported. The length of each row as text makes Spark read
        # all columns.
        statements.append(
            f"SELECT length(to_json(struct(*))) AS canary_characters FROM {table}{within} LIMIT "
            f"{CANARY_ROWS}"
        )
    if (
        guards.checksum is not Checksum.OFF
        and job.baseline is not None
        and job.baseline.snapshot_at is not None
    ):
        statements.append(f"{EXECUTE}{_write_comparison(job)}")
    return statements


def retained_minutes(job: Job) -> int:
    """Return the tag's retention in minutes; Iceberg counts it from the snapshot's commit."""
    committed_at = job.baseline.snapshot_at if job.baseline is not None else None
    age = (
        job.submitted_at - committed_at
        if job.submitted_at is not None and committed_at is not None
        else timedelta(0)
    )
    return max(
        _LEAST_MINUTES,
        ceil((max(age, timedelta(0)) + job.safeguards.rollback_for) / timedelta(minutes=1)),
    )


def _scope_of(action: JobAction) -> str | None:
    """Return the condition for the rewritten rows, in brackets.

    InvalidValueError if the condition could end the brackets.
    """
    where = where_of(action)
    return (
        enclose(f"where of {action.procedure}", where, PARTS_OF_SCOPE)
        if where is not None
        else None
    )


def _condition(job: Job) -> str | None:
    """Return the condition for the compared rows, in brackets; InvalidValueError as above."""
    chosen = job.safeguards.checksum_where
    return (
        enclose("checksum_where", chosen, _PARTS_OF_SAMPLE)
        if chosen is not None
        else _scope_of(job.action)
    )


def _write_where(enclosed: str | None) -> str:
    # Brackets alone are not enough: Spark reads FROM t WHERE (a) as a table with the alias WHERE
    # and a column a.
    return f" WHERE true AND {enclosed}" if enclosed is not None else ""


def _write_comparison(job: Job) -> str:
    """Write a query whose result is the query to run.

    The second query returns one row with the sums over the rows at both ends of each unbroken
    sequence of the job's own commits.
    """
    table = name_table(job.table)
    since = (
        int(job.baseline.snapshot_at.timestamp() * 1000)
        if job.baseline is not None and job.baseline.snapshot_at is not None
        else 0
    )
    job_id = quote_text(job.job_id)
    own = (
        f"SELECT snapshot_id, parent_id FROM {table}.snapshots WHERE operation = 'replace' AND "
        f"unix_millis(committed_at) > {since} "
        f"AND summary['app-name'] = {quote_text(job.application)} "
        f"AND array_contains(split(coalesce(summary['{JOBS_MARK}'], {job_id}), ','), {job_id})"
    )
    ends = (
        "SELECT parent_id AS snapshot_id FROM own WHERE parent_id NOT IN (SELECT snapshot_id "
        "FROM own) "
        "UNION SELECT snapshot_id FROM own WHERE snapshot_id NOT IN (SELECT parent_id FROM own)"
    )
    before = (
        f" AS snapshot_id, {_SUMS} FROM (SELECT xxhash64(*) AS row_hash FROM {table} VERSION AS OF "
    )
    one = (
        f"concat('SELECT ', snapshot_id, {quote_text(before)}, snapshot_id, "
        f"{quote_text(f'{_write_where(_condition(job))})')})"
    )
    whole = (
        f"concat('SELECT to_json(collect_list(struct(*))) AS checksums FROM (', concat_ws(' "
        f"UNION ALL ', collect_list({one})), ')')"
    )
    return (
        f"WITH own AS ({own}), ends AS ({ends}) SELECT IF(count(*) = 0, 'SELECT CAST(NULL AS "
        f"STRING) AS checksums', {whole}) FROM ends"
    )
