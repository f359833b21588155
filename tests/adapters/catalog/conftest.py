from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.catalog.lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    opened = Lake(tmp_path)
    yield opened
    opened.close()
