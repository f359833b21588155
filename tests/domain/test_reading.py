from __future__ import annotations

import pytest

from maintainer.domain.action import Procedure, RewriteManifests
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.domain.reading import DigestManifests, JobAction, Reading
from tests.samples import NOW, TABLE, UUID


def make_job(rule: RuleName | Reading, action: JobAction) -> Job:
    return Job(
        "m-1", TABLE, UUID, rule, action, (), Estimate(2, 1, 1, 0), "", "v1", 50, "policy", NOW
    )


def test_a_job_of_a_policy_has_a_rule_and_a_procedure() -> None:
    job = make_job(RuleName.REWRITE_MANIFESTS, RewriteManifests(0))
    assert (job.policy_rule, job.procedure) == (
        RuleName.REWRITE_MANIFESTS,
        Procedure.REWRITE_MANIFESTS,
    )


def test_a_reading_has_neither() -> None:
    job = make_job(
        Reading.DIGEST_MANIFESTS, DigestManifests(7, 1000, is_partitioned=True, lists_files=False)
    )
    with pytest.raises(
        InvalidValueError, match="m-1 carries out digest_manifests, which is no rule of a policy"
    ):
        _ = job.policy_rule
    with pytest.raises(
        InvalidValueError, match="m-1 carries out digest_manifests, which calls no procedure"
    ):
        _ = job.procedure


def test_no_reading_is_named_like_a_rule() -> None:
    assert not {reading.value for reading in Reading} & {rule.value for rule in RuleName}
