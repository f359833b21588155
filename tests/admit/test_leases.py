from __future__ import annotations

from datetime import timedelta

import pytest

from maintainer.admit.replicas import is_abandoned, is_due
from maintainer.domain.replica import Lease, LeaseTerms
from tests.samples import NOW

TERMS = LeaseTerms(timedelta(minutes=3), timedelta(seconds=15))
SECOND = timedelta(seconds=1)


def lease(left: timedelta) -> Lease:
    return Lease("uuid", "job", "one", 1, NOW + left)


@pytest.mark.parametrize(
    ("seconds", "due"),
    [(180, False), (121, False), (120, True), (0, True), (-9, True), (181, True)],
)
def test_a_lease_is_renewed_when_a_third_is_over_or_the_clock_went_back(
    seconds: int, due: bool
) -> None:
    assert is_due(lease(seconds * SECOND), NOW, TERMS) is due


@pytest.mark.parametrize("left", [-1000, 0, 60])
def test_what_this_machine_knows_of_a_process_counts_before_any_clock(left: int) -> None:
    assert is_abandoned(lease(left * SECOND), NOW, TERMS, is_holder_alive=False)
    assert not is_abandoned(lease(left * SECOND), NOW, TERMS, is_holder_alive=True)


@pytest.mark.parametrize(
    ("seconds", "abandoned"), [(60, False), (0, False), (-15, False), (-16, True)]
)
def test_a_process_elsewhere_is_gone_only_when_its_lease_is_out_by_the_clock_margin(
    seconds: int, abandoned: bool
) -> None:
    assert is_abandoned(lease(seconds * SECOND), NOW, TERMS, is_holder_alive=None) is abandoned


def test_a_job_without_a_lease_is_abandoned_unless_its_process_lives_here() -> None:
    assert is_abandoned(None, NOW, TERMS, is_holder_alive=None)
    assert not is_abandoned(None, NOW, TERMS, is_holder_alive=True)
