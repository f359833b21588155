from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.session import Session
from tests.conformance.tables import Lake


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """One Spark for all shapes."""
    directory = tmp_path_factory.mktemp("conformance")
    with Session(directory) as session:
        made = Lake(directory, session)
        yield made
        made.close()
