from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.decide.jobs.safeguards import OVERDUE_GRACE, find_deadline, is_over_time, may_go_on
from maintainer.domain.action import Repair
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.domain.rules import OTHER_TIMEOUT, RULES, RewriteDataFilesRule
from maintainer.policy.effective import effective
from maintainer.policy.writing import describe
from tests.adapters.store.values import make_job
from tests.samples import NOW, TABLE
from tests.steps.world import layer

SECOND = timedelta(seconds=1)
FILES = RuleName.REWRITE_DATA_FILES


def test_every_rule_has_a_default_timeout() -> None:
    assert {name: rule().timeout for name, rule in RULES.items()} == {
        RuleName.REWRITE_DATA_FILES: timedelta(hours=12),
        RuleName.REWRITE_POSITION_DELETE_FILES: timedelta(hours=6),
        RuleName.REWRITE_MANIFESTS: timedelta(hours=2),
        RuleName.COMPUTE_TABLE_STATS: timedelta(hours=6),
        RuleName.COMPUTE_PARTITION_STATS: timedelta(hours=2),
        RuleName.EXPIRE_SNAPSHOTS: timedelta(hours=6),
        RuleName.REMOVE_ORPHAN_FILES: timedelta(hours=12),
    }


def test_the_policy_says_how_long_a_job_may_take_and_explains_it() -> None:
    reported = effective(
        (layer("tables: '*'\nrules: {rewrite_data_files: {timeout: 45m}, expire_snapshots: {}}"),),
        TABLE,
        {},
    )
    rows = {path: (value, source) for path, value, source in describe(reported)}
    assert rows["rules.rewrite_data_files.timeout"] == ("45m", "all.yaml:2")
    assert rows["rules.expire_snapshots.timeout"] == ("6h", "built-in default")
    rule = reported.rule(RewriteDataFilesRule)
    assert rule is not None
    assert rule.timeout == timedelta(minutes=45)


@pytest.mark.parametrize(("written", "bound"), [("59s", "1m"), ("8d", "7d")])
def test_a_timeout_out_of_bounds_is_refused(written: str, bound: str) -> None:
    with pytest.raises(AssertionError, match=bound):
        layer(f"tables: '*'\nrules: {{rewrite_data_files: {{timeout: {written}}}}}")


def test_the_deadline_counts_from_the_submission() -> None:
    assert find_deadline(make_job(), NOW) == NOW + RULES[FILES]().timeout
    assert find_deadline(make_job(timeout=timedelta(minutes=3)), NOW) == NOW + timedelta(minutes=3)
    assert find_deadline(make_job(rule=Repair.ROLL_BACK), NOW) == NOW + OTHER_TIMEOUT


def test_a_job_is_over_time_from_its_deadline_on_and_may_not_go_on_beyond_the_grace() -> None:
    job = make_job(deadline=NOW)
    assert [is_over_time(job, NOW + late) for late in (-SECOND, 0 * SECOND)] == [False, True]
    assert [may_go_on(job, NOW + late) for late in (OVERDUE_GRACE - SECOND, OVERDUE_GRACE)] == [
        True,
        False,
    ]
    assert not is_over_time(make_job(), NOW)
    assert may_go_on(make_job(), NOW)


def test_a_layer_is_a_layer() -> None:
    assert isinstance(layer("tables: '*'\nrules: {rewrite_manifests: {timeout: 1m}}"), PolicyLayer)
