from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.redaction import make_visible


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("lake.sales.größe 日本", "lake.sales.größe 日本"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2J\x07\x00\x7f", r"\x1b[2J\x07\x00\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("\u2028\u202e\u200b\U000e0041\ud800", r"\u2028\u202e\u200b\U000e0041\ud800"),
        ("", ""),
    ],
)
def test_what_is_not_printed_is_written_as_an_escape(text: str, visible: str) -> None:
    assert make_visible(text) == visible


def test_line_breaks_may_be_kept() -> None:
    assert make_visible("a\nb\r", keep="\n") == "a\nb\\r"


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    visible = make_visible(text)
    assert visible.isprintable()
    assert make_visible(visible) == visible
