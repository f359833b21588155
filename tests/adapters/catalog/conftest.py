from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.catalog.lake import Lake
from tests.plain_manifests import check_every_manifest


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """After every test, our readers read its manifests as fastavro does."""
    opened = Lake(tmp_path)
    yield opened
    opened.close()
    check_every_manifest(tmp_path / "warehouse")
