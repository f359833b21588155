"""Parts of logs by the time of their lines."""

from __future__ import annotations

import pytest

from maintainer.adapters.spark.launcher.kubernetes.launcher import read_part, second_of
from maintainer.adapters.spark.link import LogPart

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
    assert read_part(content, 0, len(content)) == LogPart("one\n", AT_TEN, has_more=True)


def test_the_second_of_a_position_is_rounded_down() -> None:
    assert second_of(AT_TEN + 999_999_999) == "2026-11-22T10:00:00Z"
