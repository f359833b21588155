"""Settings of leases: how long a process may work on a table without a renewal."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field, model_validator

from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.domain.lease import LeaseTerms
from maintainer.policy.writing import write_value

RENEWALS_PER_LEASE = 3


class LeaseSettings(Strict):
    """How long a process may work on a table without renewing its lease.

    The runner ends a job whose lease is not renewed in time, for example because the store cannot
    be reached or the daemon hangs.
    """

    duration: Annotated[timedelta, DurationBetween("30s", "1h")] = Field(
        default=timedelta(minutes=2),
        description="How long a lease lasts without renewal; at least three times "
        "`watch.interval`.",
    )
    clock_margin: Annotated[timedelta, DurationBetween("1s", "10m")] = Field(
        default=timedelta(seconds=15),
        description="The largest difference of the clocks of two machines. A takeover waits this "
        "much longer.",
    )

    @model_validator(mode="after")
    def _check_margin(self) -> LeaseSettings:
        if self.clock_margin > self.duration:
            refuse(
                f"has clock_margin {write_value('', self.clock_margin)} above duration "
                f"{write_value('', self.duration)}"
            )
        return self

    def as_terms(self) -> LeaseTerms:
        """Return the terms in the steps' form."""
        return LeaseTerms(self.duration, self.clock_margin)
