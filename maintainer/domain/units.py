"""Sizes, durations, counts and instants: parsing, formatting, and times of other clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from re import compile as compile_regex

from maintainer.domain.errors import InvalidValueError

KIB = 1024
MIB = 1024**2
GIB = 1024**3

_SIZE_UNITS = {
    "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KIB": KIB, "MIB": MIB, "GIB": GIB, "TIB": 1024**4, "PIB": 1024**5,
}  # fmt: skip
_DURATION_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_NUMBER = r"([0-9]{1,19}(?:\.[0-9]{1,19})?)"  # enough digits for 64 bits, as int() limits them
_SIZE = compile_regex(rf"{_NUMBER}\s*([a-zA-Z]+)?")
_DURATION_PART = compile_regex(rf"{_NUMBER}\s*(ms|s|m|h|d|w)")
_DURATION = compile_regex(rf"(?:{_DURATION_PART.pattern}\s*)+")

LARGEST_LONG = 2**63 - 1  # of Java and of databases
CLOCK_TOLERANCE = timedelta(minutes=5)  # allowed difference between the clocks of two machines


def read_whole(text: str) -> int | None:
    """A whole number from 0 to 2^63 - 1; None for any other text.

    int() raises on more than 4,300 digits and accepts digits of other alphabets.
    """
    plain = text.strip()
    if not plain.isascii() or not plain.isdecimal():
        return None
    digits = plain.lstrip("0") or "0"
    number = int(digits) if len(digits) <= len(str(LARGEST_LONG)) else None
    return number if number is not None and number <= LARGEST_LONG else None


def parse_size(text: object) -> int:
    """Bytes from ``256MiB``, ``1.5 GB`` or a plain number of bytes; InvalidValueError otherwise."""
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise InvalidValueError(
            f"size {text!r} is neither a number of bytes nor a text such as 256MiB"
        )
    if isinstance(text, int):
        if text < 0:
            raise InvalidValueError(f"size {text} is negative")
        return text
    match = _SIZE.fullmatch(text.strip())
    unit = _SIZE_UNITS.get((match[2] or "B").upper()) if match else None
    if match is None or unit is None:
        raise InvalidValueError(
            f"size {text!r} is not understood; write it like 256MiB, 1.5GB or 1048576"
        )
    return round(float(match[1]) * unit) if "." in match[1] else int(match[1]) * unit


def parse_duration(text: object) -> timedelta:
    """The duration of ``30m``, ``6h``, ``5d`` or ``1h30m``.

    InvalidValueError otherwise; a number without a unit is invalid.
    """
    if not isinstance(text, str) or _DURATION.fullmatch(text.strip()) is None:
        raise InvalidValueError(
            f"duration {text!r} is not understood; write it with a unit, like 30m, 6h or 5d"
        )
    try:
        return timedelta(
            seconds=sum(
                float(n) * _DURATION_UNITS[unit] for n, unit in _DURATION_PART.findall(text)
            )
        )
    except OverflowError as error:
        raise InvalidValueError(f"duration {text!r} is too long") from error


def format_size(size_bytes: float) -> str:
    """A size for people: ``1.5 GiB``, with at most one decimal digit."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(round(value, 1)) < KIB:  # else 1,023.97 KiB would be 1024.0 KiB
            return (
                f"{value:.0f} {unit}"
                if unit == "B" or value == int(value)
                else f"{value:.1f} {unit}"
            )
        value /= KIB
    return f"{value:.1f} PiB"


def format_count(number: int, noun: str) -> str:
    """A count with its noun: ``1 table``, ``2,000 tables``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_number(number: int | None, noun: str = "") -> str:
    """A number that may be unknown: ``1,631 data files``, ``an unknown number of data files``."""
    if number is None:
        return f"an unknown number of {noun}" if noun else "an unknown number"
    return f"{number:,} {noun}".rstrip()


def format_instant(instant: datetime) -> str:
    """An instant for people: ``2026-01-05 14:30 UTC``."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def format_duration(span: timedelta) -> str:
    """A duration for people in its two largest units: ``2 d 3 h``."""
    seconds = round(span.total_seconds())
    if seconds < 1:
        return "0 s"
    parts: list[str] = []
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, length)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def write_size(size_bytes: float) -> str:
    """A size as in a policy file, not rounded: ``32MiB``."""
    for unit, length in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if size_bytes >= length and size_bytes % length == 0:
            return f"{int(size_bytes // length)}{unit}"
    return str(int(size_bytes)) if float(size_bytes).is_integer() else str(size_bytes)


def write_duration(seconds: float) -> str:
    """A duration as in a policy file, not rounded: ``1d12h``."""
    if not seconds:
        return "0s"
    if not float(seconds).is_integer() or seconds < 0:
        return f"{seconds}s"
    text, rest = "", int(seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, length)
        text += f"{count}{unit}" if count else ""
    return text


def is_ahead(instant: datetime, now: datetime) -> bool:
    """True when the instant is further in the future than clocks may differ.

    Then it does not say when anything happened.
    """
    return instant > now + CLOCK_TOLERANCE


def is_recent(instant: datetime, span: timedelta, now: datetime) -> bool:
    """True when the instant is less than the span ago.

    An instant slightly in the future counts as recent, because the writer's clock may be ahead. An
    instant that is ahead by the whole span does not count.
    """
    return abs(now - instant) < span
