from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(
        f"tests.adapters.spark.behaviour.{module}"
        for module in ("cancelling", "link_suite", "orphans", "suite")
    )
)

from tests.adapters.spark.behaviour.cancelling import Scene, make_scene  # noqa: E402
from tests.adapters.spark.behaviour.sites import Site  # noqa: E402


@pytest.fixture(scope="module")
def scene(site: Site) -> Scene:
    """The table that each procedure is cancelled on."""
    return make_scene(site)
