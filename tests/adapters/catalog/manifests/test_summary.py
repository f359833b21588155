from __future__ import annotations

import pytest
from msgspec import DecodeError

from maintainer.adapters.catalog.manifests.summary import LazySummary, read_operation


def test_a_summary_is_its_values_as_text_without_the_operation() -> None:
    raw = b'{"operation": "append", "added-data-files": "3", "number": 4, "nothing": null}'
    assert read_operation(raw) == "append"
    assert LazySummary(raw) == {"added-data-files": "3", "number": "4"}
    assert "operation" not in LazySummary(raw)


@pytest.mark.parametrize("raw", [b"null", b"{}"])
def test_no_summary_is_an_empty_one(raw: bytes) -> None:
    assert read_operation(raw) == ""
    assert dict(LazySummary(raw)) == {}


def test_an_invalid_summary_is_reported_before_it_is_used() -> None:
    with pytest.raises(DecodeError):
        read_operation(b"[1]")
    assert LazySummary(b'{"a": "\xff"}') == {}
