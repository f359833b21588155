from __future__ import annotations

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.sql import quote_text


def test_half_of_a_surrogate_pair_is_refused_before_it_meets_the_wire() -> None:
    with pytest.raises(InvalidValueError, match="half of a surrogate pair"):
        quote_text("a\ud800b")
