from __future__ import annotations

from maintainer.api.plan_schemas import EstimateOut
from maintainer.cli.output.show import weigh
from maintainer.domain.plan import Estimate

UNSURE = Estimate(100, 10, 90, 1000, note="only classes of file sizes are known", error_bound=3)


def test_how_far_an_estimate_may_be_off_is_reported_everywhere() -> None:
    assert weigh(None, None, UNSURE) == [
        "the figures may be wrong by up to 3: only classes of file sizes are known"
    ]
    assert weigh(None, None, Estimate(1, 1, 0, 0)) == []
    assert EstimateOut.model_validate(UNSURE).error_bound == 3
