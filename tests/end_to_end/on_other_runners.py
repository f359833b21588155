"""Three replicas that are restarted at once, on the runners that test_replicas leaves out. Run by
`make test-runners`, before a release.
"""

from __future__ import annotations

import pytest

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.places import on_this_machine, on_yarn
from tests.end_to_end.test_replicas import Surround, restart_all_replicas

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1200)]

PLACES = (on_this_machine, on_yarn)
SECONDS_TO_START = 400  # on YARN, on a busy machine


@pytest.mark.parametrize("surround", PLACES, ids=lambda surround: surround.__name__)
def test_a_rewrite_outlives_the_restart_of_all_replicas_at_once(
    lake: Lake, surround: Surround
) -> None:
    restart_all_replicas(lake, surround, SECONDS_TO_START)
