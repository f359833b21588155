from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.units import (
    format_count,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
    read_whole,
    write_duration,
    write_size,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("256MiB", 256 * 1024**2),
        ("1.5GB", 1_500_000_000),
        ("1048576", 1_048_576),
        (4096, 4096),
        ("64 kb", 64_000),
        ("1 TiB", 1024**4),
        ("0", 0),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "MiB", "12 parsecs", "-5MiB", -5, True, None, 1.5, "1e9", [1]]
)
def test_malformed_sizes_are_refused(text: object) -> None:
    with pytest.raises(InvalidValueError, match="size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "span"),
    [("30m", timedelta(minutes=30)), ("6h", timedelta(hours=6)), ("5d", timedelta(days=5)),
    ("1h30m", timedelta(minutes=90)),
     ("250ms", timedelta(milliseconds=250)), ("2w", timedelta(weeks=2))],
)  # fmt: skip
def test_durations_are_read_as_people_write_them(text: str, span: timedelta) -> None:
    assert parse_duration(text) == span


@pytest.mark.parametrize("text", ["", "5", 5, "d", "5 years", "-5m", None, "99999999999999d"])
def test_malformed_durations_are_refused(text: object) -> None:
    with pytest.raises(InvalidValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (32 * 1024**2, "32 MiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**5, "5.0 PiB"),
    ],
)
def test_sizes_are_written_with_at_most_one_digit(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("span", "text"),
    [(timedelta(0), ("0 "
        "s")), (timedelta(seconds=59), ("59 "
        "s")), (timedelta(hours=6), (
        "6 "
        "h"
    )), (timedelta(days=5, hours=3, minutes=2), "5 d 3 h"),
     (timedelta(minutes=61), "1 h 1 min")],
)  # fmt: skip
def test_durations_are_written_with_their_two_largest_units(span: timedelta, text: str) -> None:
    assert format_duration(span) == text


@pytest.mark.parametrize("text", ["9" * 20 + "d", "9" * 5000 + "d", "1." + "9" * 5000 + "d"])
def test_durations_of_very_many_digits_are_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    "text",
    ["9" * 20, "9" * 5000, "9" * 400 + ".5", "9" * 5000 + "MiB", "\N{ARABIC-INDIC DIGIT THREE}"],
)
def test_sizes_of_very_many_digits_or_of_other_alphabets_are_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match="size"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ((" "
        "12 "), 12), ("0" * 5000 + "7", 7), (str(2**63 - 1), 2**63 - 1), (str(2**63), None),
        ("9" * 5000, None), ("", None), ("-1", None),
     ("1.5", None), ("1_000", None), ("\N{ARABIC-INDIC DIGIT THREE}", None), ("many", None)],
)  # fmt: skip
def test_a_whole_number_has_at_most_64_bits(text: str, number: int | None) -> None:
    assert read_whole(text) == number


@pytest.mark.parametrize(
    ("size", "text"), [(32 * 1024**2, "32MiB"), (1000, "1000"), (1000.5, "1000.5")]
)
def test_sizes_in_policies_are_not_rounded(size: float, text: str) -> None:
    assert write_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (129_600, "1d12h"), (1.5, "1.5s"), (-60, "-60s")]
)
def test_durations_in_policies_are_not_rounded(seconds: float, text: str) -> None:
    assert write_duration(seconds) == text


@given(st.integers(min_value=0, max_value=10**18))
def test_a_plain_number_of_bytes_reads_back(size: int) -> None:
    assert parse_size(str(size)) == size


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 tables"), (1, "1 table"), (2, "2 tables"), (12_000, "12,000 tables")],
)
def test_one_thing_is_singular(number: int, text: str) -> None:
    assert format_count(number, "table") == text
