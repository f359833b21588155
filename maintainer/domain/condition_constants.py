"""Reads the constants of a condition, and the names that stand beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from re import compile as compile_regex
from typing import Final, NoReturn

from maintainer.domain.condition_text import read_text
from maintainer.domain.condition_tokens import MAX_NAME_CHARACTERS, Token
from maintainer.domain.condition_tree import (
    CastTo,
    Computed,
    Constant,
    DateCall,
    Enclosed,
    Interval,
    Moment,
    Number,
    Shifted,
    Text,
    Truth,
    Typed,
)
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.units import read_whole

# Iceberg's functions in the namespace `system` of each catalog, with their number of arguments
TRANSFORMS: Final[Mapping[str, int]] = {
    "bucket": 2, "days": 1, "hours": 1, "months": 1, "truncate": 2, "years": 1,
}  # fmt: skip
# The functions of date arithmetic: their cost does not depend on their arguments.
DATE_FUNCTIONS: Final[Mapping[str, int]] = {
    "add_months": 2, "date": 1, "date_add": 2, "date_sub": 2, "date_trunc": 2, "last_day": 1,
    "timestamp": 1, "to_date": 1, "to_timestamp": 1, "trunc": 2,
}  # fmt: skip
_MOMENTS: Final = frozenset({"current_date", "current_timestamp", "curdate", "now"})
_TIMES: Final = frozenset({"current_timestamp", "now", "date_trunc", "timestamp", "to_timestamp"})
_WITHOUT_BRACKETS: Final = frozenset({"current_date", "current_timestamp"})
_UNITS: Final = frozenset(
    ("year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
)
_LITERAL_TYPES: Final = {
    "DATE": compile_regex(r"\d{4,7}(-\d{1,2}(-\d{1,2})?)?"),
    "TIMESTAMP": compile_regex(
        r"\d{4,7}-\d{1,2}-\d{1,2}([ T][0-9:.]{1,20}[A-Za-z0-9/_+: -]{0,40})?"
    ),
    "X": compile_regex(r"([0-9A-Fa-f]{2})*"),
}
_TIMESTAMPS: Final = ("TIMESTAMP_LTZ", "TIMESTAMP_NTZ")
_CAST_TYPES: Final = frozenset((
    "BOOLEAN", "TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG", "FLOAT",
    "REAL", "DOUBLE", "DECIMAL", "DEC", "NUMERIC", "STRING", "BINARY", "DATE", "TIMESTAMP",
    "TIMESTAMP_LTZ", "TIMESTAMP_NTZ",
))  # fmt: skip
_WITH_SIZE: Final = frozenset({"DECIMAL", "DEC", "NUMERIC"})
_RESERVED: Final = frozenset((
    "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "CASE",
    "WHEN", "THEN", "ELSE", "END", "INTERVAL", "TRUE", "FALSE", "DIV", "ESCAPE", "CAST", "EXISTS",
))  # fmt: skip
# Spark would write a larger exponent out as digits.
_MAX_EXPONENT: Final = 400
_MAX_DIGITS: Final = 100
_MAX_TERMS_OF_A_SUM: Final = 10
_MOST_OF_A_UNIT: Final = 1_000_000
_MAX_SHOWN: Final = 40
_OPERATORS: Final = frozenset({"+", "-", "*", "/", "%"})
_SHIFTS: Final = frozenset({"+", "-"})
END: Final = Token("end", "", 0)


class RefusedError(InvalidValueError):
    """Why a condition is refused, with the position."""


class ConstantParser:
    """A place in the tokens, and the reading of constants and names from there."""

    def __init__(self, tokens: Sequence[Token], deepest: int) -> None:
        self._tokens = tokens
        self.at = 0
        self._deepest = deepest
        self.depth = 0

    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self._tokens[at] if at < len(self._tokens) else END

    @property
    def next(self) -> Token:
        return self.peek()

    def word(self, ahead: int = 0) -> str:
        token = self.peek(ahead)
        return token.text.upper() if token.kind == "word" else ""

    def take(self) -> Token:
        token = self.next
        self.at += 1
        return token

    def take_word(self, *words: str) -> bool:
        is_there = self.word() in words
        self.at += is_there
        return is_there

    def take_sign(self, sign: str) -> bool:
        is_there = self.next.text == sign and self.next.kind in {"sign", "open", "close"}
        self.at += is_there
        return is_there

    def require(self, sign: str) -> None:
        if not self.take_sign(sign):
            self.refuse_next(sign)

    def refuse_next(self, wanted: str) -> NoReturn:
        token = self.next
        if token is END:
            raise RefusedError(f"ends where {wanted} was expected")
        raise RefusedError(
            f"holds {_shorten(token.text)} at character {token.at + 1}, where {wanted} was expected"
        )

    def deeper(self, place: Token) -> None:
        self.depth += 1
        if self.depth > self._deepest:
            raise RefusedError(
                f"is nested {self.depth} deep at character {place.at + 1}; it may be "
                f"{self._deepest} deep"
            )

    def refuse_call(self, name: str, start: Token) -> NoReturn:
        raise RefusedError(
            f"calls {_shorten(name)} at character {start.at + 1}, which Iceberg cannot use to "
            f"choose files; on a column it may call CAST(... AS DATE) and of a catalog's "
            f"system {', '.join(sorted(TRANSFORMS))}, and for a date or time "
            f"{', '.join(sorted(_MOMENTS))}, {', '.join(sorted(DATE_FUNCTIONS))}"
        )

    def read_path(self) -> tuple[tuple[str, bool], ...]:
        levels: list[tuple[str, bool]] = []
        while True:
            token = self.next
            if token.kind not in {"word", "name"} or self.word() in _RESERVED:
                self.refuse_next("a column" if not levels else "the name of a nested column")
            if len(token.name) > MAX_NAME_CHARACTERS:
                raise RefusedError(
                    f"has a name of {len(token.name)} characters at character {token.at + 1}; it "
                    f"may have {MAX_NAME_CHARACTERS}"
                )
            levels.append((token.name, token.kind == "name"))
            self.at += 1
            if not self.take_sign("."):
                return tuple(levels)

    def require_constant(self) -> Constant:
        value = self.read_constant()
        if value is None:
            if self.peek(1).text == "(" and self.next.kind in {"word", "name"}:
                self.refuse_call(self.next.name, self.next)
            self.refuse_next("a value (IS NULL finds what is null)")
        return value

    def read_constant(self) -> Constant | None:
        value = self._read_single()
        terms = 0
        while value is not None and self.next.kind == "sign":
            operators = _OPERATORS if _is_number(value) else _SHIFTS
            if self.next.text not in _OPERATORS:
                break
            terms += 1
            if (
                terms > _MAX_TERMS_OF_A_SUM
                or self.next.text not in operators
                or isinstance(value, Text | Truth)
            ):
                self.refuse_next(
                    f"the end of a value (numbers are computed, and days and intervals are added "
                    f"to a date or time, at most {_MAX_TERMS_OF_A_SUM} times)"
                )
            operator = self.take().text
            value = (
                Computed(value, operator, self._read_operand())
                if _is_number(value)
                else Shifted(value, operator, self._read_shift(value))
            )
        return value.inner if isinstance(value, Enclosed) else value

    def _read_operand(self) -> Constant:
        start = self.at
        value = self._read_single()
        if value is None or not _is_number(value):
            self.at = start
            self.refuse_next("a number")
        return value

    def _read_shift(self, base: Constant) -> Constant | Interval:
        if self.take_word("INTERVAL"):
            return self._read_interval()
        if _is_time(base):
            self.refuse_next("INTERVAL, because days are added to a date only")
        return self._read_days()

    def _read_days(self) -> Constant:
        if self.next.text == "(":
            return self._read_enclosed_days()
        sign = "-" if self.take_sign("-") else ""
        token = self.next
        number = read_whole(token.text) if token.kind == "number" else None
        if number is None or number > _MOST_OF_A_UNIT:
            self.refuse_next(f"a number up to {_MOST_OF_A_UNIT}, or INTERVAL")
        self.at += 1
        return Number(f"{sign}{number}")

    def _read_enclosed_days(self) -> Constant:
        start = self.at
        days = self._read_operand()
        number = read_whole(days.text.removeprefix("-")) if isinstance(days, Number) else 0
        if number is None or number > _MOST_OF_A_UNIT:
            self.at = start
            self.refuse_next(f"a number up to {_MOST_OF_A_UNIT}, or INTERVAL")
        return days

    def _read_interval(self) -> Interval:
        parts: list[tuple[int, str]] = []
        is_quoted = self.next.kind == "text"
        while (self.next.kind == "text") is is_quoted and (not parts or self._begins_part()):
            parts.append(self._read_part(is_quoted=is_quoted))
        return Interval(tuple(parts), is_quoted)

    def _begins_part(self) -> bool:
        return self.peek().kind in {"text", "number"}

    def _read_part(self, *, is_quoted: bool) -> tuple[int, str]:
        sign = -1 if not is_quoted and self.take_sign("-") else 1
        token = self.next
        digits = token.text[1:-1] if is_quoted else token.text
        if is_quoted and digits.startswith("-"):
            sign, digits = -1, digits[1:]
        number = read_whole(digits)
        if number is None or number > _MOST_OF_A_UNIT:
            self.refuse_next(f"a number up to {_MOST_OF_A_UNIT}")
        self.at += 1
        unit = self.word().lower()
        if unit.removesuffix("s") not in _UNITS:
            self.refuse_next(f"a unit ({', '.join(sorted(_UNITS))})")
        self.at += 1
        return sign * number, unit.upper()

    def _read_single(self) -> Constant | None:
        token, word = self.next, self.word()
        if token.kind == "text":
            return self.read_text()
        if token.kind == "number" or (token.text in {"+", "-"} and self.peek(1).kind == "number"):
            return self._read_number()
        if token.text == "(":
            return self._nested(self._read_enclosed)
        if word in {"TRUE", "FALSE"}:
            self.at += 1
            return Truth(word == "TRUE")
        if self.peek(1).kind == "text" and word:
            return self._read_typed(word)
        return self._read_called(word) if word else None

    def _read_enclosed(self) -> Constant | None:
        """A constant in brackets; None for a column."""
        start = self.at
        self.require("(")
        value = self.read_constant()
        if value is None:
            self.at = start
            return None
        self.require(")")
        return Enclosed(value) if isinstance(value, Shifted | Computed) else value

    def _read_called(self, word: str) -> Constant | None:
        name = word.lower()
        has_brackets = self.peek(1).text == "("
        if name in _MOMENTS and (has_brackets or name in _WITHOUT_BRACKETS):
            self.at += 1
            if has_brackets:
                self.require("(")
                self.require(")")
            return Moment(name, has_brackets)
        if not has_brackets:
            return None
        if name in DATE_FUNCTIONS:
            return self._nested(lambda: self._read_call(name))
        return self._nested(self._read_cast) if word == "CAST" else None

    def _nested(self, read: Callable[[], Constant | None]) -> Constant | None:
        place = self.next
        self.deeper(place)
        value = read()
        self.depth -= 1
        return value

    def _read_call(self, name: str) -> DateCall | None:
        """A call with constants; None for date() of a column."""
        start = self.at
        self.at += 1
        self.require("(")
        first = self.read_constant()
        if first is None and name == "date":
            self.at = start
            return None
        arguments = [self.require_constant() if first is None else first]
        while self.take_sign(","):
            arguments.append(self.require_constant())
        if len(arguments) != DATE_FUNCTIONS[name]:
            self.refuse_next(f"argument {len(arguments) + 1} of {DATE_FUNCTIONS[name]} of {name}")
        self.require(")")
        return DateCall(name, tuple(arguments))

    def _read_cast(self) -> Constant | None:
        """A cast of a constant; None for that of a column."""
        start = self.at
        self.at += 2
        value = self.read_constant()
        if value is None:
            self.at = start
            return None
        if not self.take_word("AS"):
            self.refuse_next("AS")
        type_name = self.word()
        if type_name not in _CAST_TYPES:
            self.refuse_next(f"a type ({', '.join(sorted(_CAST_TYPES))})")
        self.at += 1
        if type_name in _WITH_SIZE and self.take_sign("("):
            sizes = [str(self._read_size())]
            if self.take_sign(","):
                sizes.append(str(self._read_size()))
            self.require(")")
            type_name += f"({', '.join(sizes)})"
        self.require(")")
        return CastTo(value, type_name)

    def _read_size(self) -> int:
        number = read_whole(self.next.text) if self.next.kind == "number" else None
        if number is None or number > _MAX_DIGITS:
            self.refuse_next("a size")
        self.at += 1
        return number

    def _read_number(self) -> Number:
        start = self.next
        sign = self.take().text if start.kind == "sign" else ""
        text = self.take().text
        mantissa, _, exponent = text.lower().partition("e")
        if len(mantissa) > _MAX_DIGITS or int(exponent.rstrip("lsyfdb") or 0) not in range(
            -_MAX_EXPONENT, _MAX_EXPONENT + 1
        ):
            raise RefusedError(
                f"holds the number {_shorten(text)} at character {start.at + 1}; a number has at "
                f"most {_MAX_DIGITS} digits and an exponent of {_MAX_EXPONENT}"
            )
        return Number(f"{sign.strip('+')}{text}")

    def read_text(self) -> Text:
        pieces = [self.take()]
        while self.next.kind == "text":
            last = pieces[-1]
            is_doubled = self.next.at == last.at + len(last.text) and (
                self.next.text[0] == last.text[0] == "'"
            )
            if not is_doubled:
                self.refuse_next("one text, and not two")
            pieces.append(self.take())
        texts: list[str] = []
        for piece in pieces:
            text = read_text(piece.text)
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise RefusedError(
                    f"holds half of a surrogate pair in the text at character {piece.at + 1}"
                )
            texts.append(text)
        return Text(tuple(texts))

    def _read_typed(self, word: str) -> Typed:
        pattern = _LITERAL_TYPES.get("TIMESTAMP" if word in _TIMESTAMPS else word)
        if pattern is None:
            self.refuse_next("a value")
        self.at += 1
        text = self.next.text[1:-1]
        if pattern.fullmatch(text) is None or self.peek(1).kind == "text":
            self.refuse_next(f"a {word} as Spark reads it")
        self.at += 1
        return Typed(word, text)


def _is_number(value: Constant) -> bool:
    return isinstance(value, Number | Computed) or (
        isinstance(value, Enclosed) and isinstance(value.inner, Computed)
    )


def _is_time(value: Constant) -> bool:
    """True for a constant that Spark takes for a time, and not for a date."""
    match value:
        case Moment(name, _) | DateCall(name, _):
            return name in _TIMES
        case Typed(name, _) | CastTo(_, name):
            return name.startswith("TIMESTAMP")
        case Shifted(base, _, by):
            return _is_time(base) or (isinstance(by, Interval) and by.has_time)
        case Enclosed(inner):
            return _is_time(inner)
        case _:  # pragma: no cover - nothing is added to other constants
            return False


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…")
