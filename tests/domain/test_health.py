from __future__ import annotations

import pytest

from maintainer.domain.action import rollback_tag
from maintainer.domain.health import RefRetention


@pytest.mark.parametrize(
    ("name", "is_branch", "is_ours"),
    [
        (rollback_tag("job-1"), False, True),
        (rollback_tag("job-1"), True, False),
        ("v1", False, False),
    ],
)
def test_a_rollback_tag_is_ours_and_a_branch_of_its_name_is_not(
    name: str, is_branch: bool, is_ours: bool
) -> None:
    assert RefRetention(name, is_branch, 1, None, 1, None).is_ours is is_ours
