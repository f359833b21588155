"""The chart's generated files follow the daemon's settings."""

from __future__ import annotations

from pathlib import Path

from helm.generator.__main__ import FILES, main
from tests.project.repository import read_text

CHART = "helm/iceberg-maintainer"


def test_what_is_committed_is_what_the_model_generates(tmp_path: Path) -> None:
    main(tmp_path)
    stale = [
        name for name in FILES if (tmp_path / name).read_text() != read_text(f"{CHART}/{name}")
    ]
    assert stale == [], f"run: make generate, or python -m helm.generator {CHART}"
