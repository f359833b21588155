from __future__ import annotations

import pytest

from tests.adapters.spark.behaviour.cancelling import Scene, make_scene
from tests.adapters.spark.behaviour.sites import Site


@pytest.fixture(scope="module")
def scene(site: Site) -> Scene:
    """The table that each procedure is cancelled on."""
    return make_scene(site)
