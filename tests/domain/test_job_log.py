from __future__ import annotations

from maintainer.domain.driver import JobLog


def test_the_next_part_begins_where_this_one_ends() -> None:
    assert JobLog("two\nlines\n", 5).next == 15
