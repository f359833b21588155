from __future__ import annotations

from pathlib import Path

import pytest

from tests.experiments import __main__ as program
from tests.experiments.section import Section, factor, seconds, wrap

SECTION = Section(
    "Merges", "Thirty merges.", ("storage", "time"), (("HDFS", "6.0 s"),), ("It " + "grew " * 30,)
)


def test_a_section_is_a_table_between_its_setup_and_its_findings() -> None:
    lines = SECTION.render("Ran today.").splitlines()
    assert lines[:7] == [
        "## Merges",
        "",
        "Thirty merges. Ran today.",
        "",
        "| storage | time |",
        "|---|---|",
        "| HDFS | 6.0 s |",
    ]
    assert lines[8].startswith("- It grew")
    assert lines[9].startswith("  grew")


def test_a_row_without_all_cells_is_refused() -> None:
    section = Section("Merges", "", ("storage", "time"), (("HDFS",),), ())
    with pytest.raises(ValueError, match=r"Merges: row \('HDFS',\) has 1 cells, not 2"):
        section.render("")


def test_lines_end_before_column_100() -> None:
    assert wrap("word " * 40) == ["word " * 19 + "word", "word " * 19 + "word"]


@pytest.mark.parametrize(("value", "text"), [(1.844, "1.84x"), (9.3, "9.30x"), (12.48, "12.5x")])
def test_a_factor_has_three_digits(value: float, text: str) -> None:
    assert factor(value) == text
    assert seconds(value) == f"{value:.1f} s"


def test_a_section_takes_its_place_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "PAGE", tmp_path / "experiments.md")
    program.write_page({"merges": "## Old\n"})
    program.write_page({**program.read_page(), "file_sizes": "## Sizes\n"})
    program.write_page({**program.read_page(), "merges": SECTION.render("Ran today.")})
    assert [*program.read_page()] == ["file_sizes", "merges"]
    page = program.PAGE.read_text(encoding="utf-8")
    assert page.startswith("# The published experiments, repeated\n")
    assert "## Old" not in page
    assert page.index("## Sizes") < page.index("## Merges")
    assert max(map(len, page.splitlines())) <= 100


def test_an_unknown_experiment_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["--only", "merges,nothing"])
    assert "there is no experiment nothing; there are file_sizes, merges" in capsys.readouterr().err


def test_the_committed_page_has_all_experiments() -> None:
    assert [*program.read_page()] == [*program.EXPERIMENTS]
