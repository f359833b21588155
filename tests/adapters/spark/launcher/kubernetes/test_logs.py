"""Parts of logs by the time of their lines, and the logs of drivers that are gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher import LogPart
from maintainer.adapters.spark.launcher.kubernetes import logs
from maintainer.adapters.spark.launcher.kubernetes.logs import KeptLogs, read_part, second_of

AT_TEN = 1_795_341_600 * 1_000_000_000  # 2026-11-22T10:00:00Z


@pytest.mark.parametrize(
    ("line", "position"),
    [
        (b"2026-11-22T10:00:00.000000007Z text\n", AT_TEN + 7),
        (b"2026-11-22T10:00:00.5Z text\n", AT_TEN + 500_000_000),
        (b"2026-11-22T10:00:00Z text\n", AT_TEN),
        (b"2026-11-22T12:00:00.25+02:00 text\n", AT_TEN + 250_000_000),
        (b"2026-11-22T10:00:00.000000007Z text", AT_TEN + 7),
    ],
)
def test_a_line_is_known_by_its_time(line: bytes, position: int) -> None:
    assert read_part(line, 0) == LogPart("text\n", position)
    assert read_part(line, position) == LogPart("", position)


def test_a_line_without_a_time_is_kept() -> None:
    content = b"2026-11-22T10:00:00Z one\nunable to retrieve container logs\n"
    assert read_part(content, 0) == LogPart("one\nunable to retrieve container logs\n", AT_TEN)


def test_a_line_that_is_not_text_is_shown_as_far_as_it_is() -> None:
    assert read_part(b"2026-11-22T10:00:00Z a\xffb\n", 0).text == "a\N{REPLACEMENT CHARACTER}b\n"


def test_a_line_that_the_limit_cut_comes_with_the_next_part() -> None:
    content = b"2026-11-22T10:00:00Z one\n2026-11-22T10:00:01Z tw"
    assert read_part(content, 0, len(content)) == LogPart("one\n", AT_TEN)


def test_the_second_of_a_position_is_rounded_down() -> None:
    assert second_of(AT_TEN + 999_999_999) == "2026-11-22T10:00:00Z"


def test_a_kept_log_is_its_owners_alone_and_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_MAX_KEPT_BYTES", 60)
    kept = KeptLogs(tmp_path / "logs")
    lines = b"".join(b"2026-11-22T10:00:0%dZ line\n" % second for second in range(5))
    kept.keep("driver", lines)
    assert kept.read("driver", 0).text == "line\nline\n"
    assert (tmp_path / "logs" / "driver.log").stat().st_mode & 0o077 == 0


def test_the_oldest_kept_logs_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_MAX_KEPT_LOGS", 2)
    kept = KeptLogs(tmp_path)
    for number in range(3):
        kept.keep(f"driver-{number}", b"2026-11-22T10:00:00Z line\n")
        os.utime(tmp_path / f"driver-{number}.log", (number, number))
    kept.keep("driver-3", b"2026-11-22T10:00:00Z line\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["driver-2.log", "driver-3.log"]


def test_a_name_does_not_lead_out_of_the_directory(tmp_path: Path) -> None:
    kept = KeptLogs(tmp_path / "logs")
    (tmp_path / "secret.log").write_text("2026-11-22T10:00:00Z secret\n")
    assert kept.read("../secret", 0) == LogPart("", 0)
