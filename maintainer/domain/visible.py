"""Texts of strangers made safe to print: no new lines in logs, no control of terminals."""

from __future__ import annotations


def make_visible(text: str, keep: str = "") -> str:
    r"""Write unprintable characters as escapes, such as ``\n``; ``keep`` stays as it is."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else _escape(letter) for letter in text
    )


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
