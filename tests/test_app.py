"""What the composition root joins: the reader of manifests and those who are told when it is slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from maintainer.adapters.catalog import ReadCount, fast
from maintainer.adapters.catalog.generated import NotGeneratedError
from maintainer.app import App, open_app
from maintainer.settings import load_settings
from maintainer.steps.scan import scan
from tests.adapters.catalog.lake import Lake, rows


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    lake = Lake(tmp_path)
    table = lake.make_table("sales", "orders")
    for _ in range(2):
        table.append(rows(1))
    (tmp_path / "policies").mkdir()
    file = tmp_path / "maintainer.yaml"
    file.write_text("catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}\nscan: {decode_processes: 0}\n")
    yield file
    lake.close()


def read_metrics(app: App) -> dict[str, float]:
    """Series as written, and their values."""
    lines = app.telemetry.render()[0].decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith("maintainer_slow")}


def test_nothing_is_read_slowly_as_it_is_installed(config: Path) -> None:
    with open_app(load_settings(config, {})) as app:
        assert scan(app.ports).manifests_read == 2
        assert set(read_metrics(app).values()) == {0}


def test_what_is_read_is_counted_while_it_is_read(config: Path) -> None:
    with open_app(load_settings(config, {})) as app:
        assert app.read == ReadCount()
        scan(app.ports)
        assert app.read == ReadCount(manifests=2, entries=2)


def test_a_schema_that_makes_reading_slow_is_counted(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_schema: object) -> None:
        message = "its writer wrote something new"
        raise NotGeneratedError(message)

    monkeypatch.setattr(fast, "_compile_entries", refuse)
    with open_app(load_settings(config, {})) as app:
        assert scan(app.ports).manifests_read == 2
        found = read_metrics(app)
        assert {name for name, value in found.items() if value} == {'maintainer_slow_reads_total{reason="schema"}'}
        assert found['maintainer_slow_reads_total{reason="schema"}'] == 2


def test_a_decoder_that_an_upgrade_took_away_is_told_at_the_start_and_counted(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "CythonBinaryDecoder", None)
    fast.slow_reader_reason.cache_clear()
    try:
        with open_app(load_settings(config, {})) as app:
            assert read_metrics(app)['maintainer_slow_reader{reason="no_decoder"}'] == 1
            assert scan(app.ports).manifests_read == 2
            assert read_metrics(app)['maintainer_slow_reads_total{reason="reader"}'] == 3, "the list, and its two manifests"
    finally:
        fast.slow_reader_reason.cache_clear()
