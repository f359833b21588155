from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.plan import PLANNED, RuleVerdict, StandingVerdict, stands_on
from maintainer.domain.policy import RuleName
from tests.samples import NOW, TABLE, UUID

FRESH = RuleVerdict(RuleName.REWRITE_DATA_FILES, PLANNED, "a", "It is worth doing.", NOW)
SAME = StandingVerdict(TABLE, UUID, RuleName.REWRITE_DATA_FILES, PLANNED, "a")


@pytest.mark.parametrize(
    ("standing", "is_kept"),
    [
        (SAME, True),
        (replace(SAME, code="over_budget", key="a|admission: the fleet"), True),
        (replace(SAME, code="over_budget", key="a,b|admission: the fleet"), False),
        (replace(SAME, code="over_budget", key="a"), False),
        (replace(SAME, key="b"), False),
        (replace(SAME, table_uuid="another"), False),
    ],
)
def test_a_plan_that_wants_what_stands_or_waits_changes_nothing(
    standing: StandingVerdict, is_kept: bool
) -> None:
    assert stands_on(standing, UUID, FRESH) is is_kept


def test_a_wait_does_not_stand_when_the_plan_holds_the_rule_back_itself() -> None:
    held = replace(SAME, code="over_budget", key="a|admission: the fleet")
    assert not stands_on(held, UUID, replace(FRESH, code="paused", key="a"))
