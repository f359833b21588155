"""Beside writers that do not check for rewrites, data files are rewritten only in a window."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide, on_request
from maintainer.domain.health import TableHealth, WriterRate
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import Mode, Policy, RuleName, UncheckedWriter, Window
from maintainer.domain.rules import RewriteDataFilesRule, RewriteManifestsRule
from tests.samples import NOW, health_of_partitions

REWRITE = RuleName.REWRITE_DATA_FILES
TABLE = replace(health_of_partitions({"day=1": [1000] * 60}), properties={})
CHANGED = replace(TABLE, last_change_at=NOW - timedelta(days=3))
HIVE = {"engine.hive.enabled": "TRUE"}
POLICY = Policy(mode=Mode.ENFORCE, rules=(RewriteDataFilesRule(when=()),))
IMPALA = replace(POLICY, writers=(UncheckedWriter.IMPALA,))
NONE = replace(POLICY, writers=())
OPEN = Window(f"{NOW.minute} {NOW.hour} * * *", timedelta(hours=1))
SHUT = Window(f"{NOW.minute} {(NOW.hour + 5) % 24} * * *", timedelta(hours=1))


def written_by(name: str) -> TableHealth:
    return replace(CHANGED, writers=(WriterRate("others", 2, 0.1), WriterRate(name, 3, 0.1)))


def verdict(plan: Plan) -> tuple[SkipCode, str] | None:
    """Why the rewrite is skipped; None when it is planned."""
    if any(one.rule is REWRITE for one in plan.planned):
        return None
    return next((one.code, one.reason) for one in plan.skipped if one.rule is REWRITE)


@pytest.mark.parametrize(
    ("health", "policy", "known"),
    [
        (TABLE, POLICY, None),
        (CHANGED, POLICY, None),
        (TABLE, IMPALA, "impala (`writers` of the policy)"),
        (CHANGED, NONE, None),
        (
            replace(CHANGED, properties=HIVE),
            POLICY,
            "hive (table property engine.hive.enabled=true)",
        ),
        (replace(CHANGED, properties=HIVE), NONE, None),
        (replace(TABLE, properties=HIVE), POLICY, None),
        (written_by("Hive"), POLICY, "hive (commits of Hive)"),
        (written_by("starrocks-3.4"), POLICY, "starrocks (commits of starrocks-3.4)"),
        (written_by("spark"), POLICY, None),
        (written_by("Hive"), replace(POLICY, window=OPEN), None),
        (TABLE, replace(IMPALA, window=OPEN), None),
    ],
)
def test_without_a_window_no_rewrite_runs_beside_a_writer_that_does_not_check(
    health: TableHealth, policy: Policy, known: str | None
) -> None:
    found = verdict(decide(health, policy, Circumstances(NOW)))
    if known is None:
        assert found is None
        return
    assert found is not None
    assert found[0] is SkipCode.UNSUPPORTED
    assert found[1].startswith(f"{known} may change rows without checking")
    assert found[1].endswith("changes rows") is (policy.writers is None)


def test_a_request_waits_for_the_window_too() -> None:
    shut = replace(IMPALA, window=SHUT)
    circumstances = Circumstances(NOW, is_requested=True)
    found = verdict(decide(TABLE, on_request(shut, (REWRITE,)), circumstances))
    assert found is not None
    assert found[0] is SkipCode.OUTSIDE_WINDOW
    others = replace(POLICY, window=SHUT)
    assert verdict(decide(TABLE, on_request(others, (REWRITE,)), circumstances)) is None


def test_other_rules_do_not_depend_on_such_writers() -> None:
    policy = replace(IMPALA, rules=(RewriteManifestsRule(),))
    (skipped,) = decide(TABLE, policy, Circumstances(NOW)).skipped
    assert skipped.code is not SkipCode.UNSUPPORTED
