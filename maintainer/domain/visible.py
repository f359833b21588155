"""Texts of strangers made visible: a name must not begin a new line of a log, nor steer a
terminal.
"""

from __future__ import annotations


def make_visible(text: str, keep: str = "") -> str:
    r"""The text with every character that is not printed written as an escape: a line break as
    ``\n``, an escape as ``\x1b``; those in ``keep`` stay.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else _escape(letter) for letter in text
    )


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
