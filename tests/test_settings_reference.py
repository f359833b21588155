"""docs/configuration.md is what the settings generate."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generator.configuration import write_reference
from maintainer.settings import Settings

_PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"


def test_the_page_is_what_the_settings_generate() -> None:
    assert _PAGE.read_text(encoding="utf-8") == write_reference(), "run: make generate"


@pytest.mark.parametrize(
    "row",
    [
        "| `catalogs.<name>` | properties | required |  |",
        "| `catalogs.<name>.spark.<name>` | text |  |  |",
        "| `catalogs.<name>.locations.<name>` | text |  |  |",
        "| `workers` | count | 8 | 1 to 64 |",
        "| `manifest_memory` | size | 256MiB | 16MiB to 64GiB |",
        "| `remeasure` | duration | 6h | at least 1m |",
        "| `catalogs.<name>.max_requests` | count |  | 1 to 512 |",
        "| `profiles.large.executors.memory` | such as `4g` | 2048m |  |",
        "| `blackouts[].duration` | duration | required | 1m to 31d |",
        "| `scorer` | `maintainer`, `autocomp`, `autocomp_quota` | maintainer |  |",
    ],
)
def test_a_row_has_the_kind_the_default_and_the_bounds(row: str) -> None:
    assert any(line.startswith(row) for line in write_reference().splitlines())


def test_every_section_of_the_file_has_a_heading() -> None:
    page = write_reference()
    for name in Settings.model_fields:
        assert f"\n## {name}\n" in page or f"| `{name}" in page


def test_a_setting_without_a_description_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings.model_fields["drain_timeout"], "description", None)
    with pytest.raises(ValueError, match=r"Settings\.drain_timeout has no description"):
        write_reference()
