from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.inventory import (
    PartitionField,
    PartitionSpec,
    escape,
    null_partition,
    read_partition,
    unescape,
)

SPEC = PartitionSpec(
    0,
    (
        PartitionField("a=b", "identity", ("a",), "string"),
        PartitionField("gone", "void"),
        PartitionField("c", "identity", ("c",), "string"),
    ),
)


@given(st.text(max_size=20), st.text(max_size=20) | st.none())
def test_values_are_read_back_as_they_were_written(first: str, second: str | None) -> None:
    text = f"{escape('a=b')}={escape(first)}/c={'null' if second is None else escape(second)}"
    assert read_partition(text, SPEC) == {"a=b": first, "c": second}


def test_the_word_null_and_no_value_are_kept_apart() -> None:
    assert escape("null") == "%6Eull"
    assert unescape("%6Eull") == "null"
    assert null_partition(SPEC) == "a%3Db=null/c=null"
    assert read_partition(null_partition(SPEC), SPEC) == {"a=b": None, "c": None}


def test_a_text_of_another_spec_is_not_read() -> None:
    for text in ("", "a%3Db=1", "c=1/a%3Db=1", "a%3Db=1/c", "a%3Db=1/c=2/d=3"):
        assert read_partition(text, SPEC) is None


def test_a_spec_without_fields_has_one_partition() -> None:
    empty = PartitionSpec(0, (PartitionField("gone", "void"),))
    assert (null_partition(empty), read_partition("", empty), read_partition("x=1", empty)) == (
        "",
        {},
        None,
    )
