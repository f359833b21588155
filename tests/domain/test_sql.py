from __future__ import annotations

import pytest

from maintainer.domain.condition_tokens import MAX_NAME_CHARACTERS, quote_identifier, quote_text
from maintainer.domain.errors import InvalidValueError


def test_half_of_a_surrogate_pair_is_refused_before_it_meets_the_wire() -> None:
    with pytest.raises(InvalidValueError, match="half of a surrogate pair"):
        quote_text("a\ud800b")


def test_a_name_of_any_characters_is_quoted_and_refused_when_it_is_empty_or_too_long() -> None:
    assert quote_identifier("a`b.c") == "`a``b.c`"
    for wrong in ("", "x" * (MAX_NAME_CHARACTERS + 1)):
        with pytest.raises(
            InvalidValueError, match=f"has {len(wrong)} characters; a level has 1 to"
        ):
            quote_identifier(wrong)
