from __future__ import annotations

import pytest

from maintainer.domain.driver import Version, read_version, write_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.1.4", (4, 1, 4)),
        ("3.5", (3, 5, 0)),
        ("1.10.0-SNAPSHOT", (1, 10, 0)),
        ("3.5.3-amzn-1", (3, 5, 3)),
        ("17.0.9+9", (17, 0, 9)),
        ("21", (21, 0, 0)),
        ("", None),
        ("unspecified", None),
    ],
)
def test_a_version_is_read_by_its_first_three_numbers(text: str, version: Version | None) -> None:
    assert read_version(text) == version


def test_a_version_is_written_as_people_write_it() -> None:
    assert [write_version(one) for one in ((1, 10, 0), (3, 5, 2), (21,))] == ["1.10", "3.5.2", "21"]
