"""Reads a condition into its tree. What Iceberg cannot use as a filter of files is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maintainer.domain.condition_constants import (
    END,
    TRANSFORMS,
    ConstantParser,
    RefusedError,
)
from maintainer.domain.condition_tokens import Token
from maintainer.domain.condition_tree import (
    Between,
    Column,
    Compared,
    Condition,
    Constant,
    DateOf,
    Group,
    Joined,
    Listed,
    Not,
    Null,
    Prefixed,
    Term,
    Transformed,
    Truth,
)
from maintainer.domain.units import read_whole

_OPERATORS: Final = frozenset({"=", "==", "<", "<=", ">", ">=", "<>", "!=", "<=>"})
_AFTER_A_SIDE: Final = frozenset({"IS", "IN", "NOT", "LIKE", "BETWEEN"})
_LARGEST_INT: Final = 2**31 - 1


def parse(tokens: Sequence[Token], deepest: int) -> Condition:
    """The tree of these tokens; RefusedError if they are not a condition of the language."""
    parser = _Parser(tokens, deepest)
    tree = parser.read_joined()
    if parser.next.kind == "close":
        raise RefusedError(
            f"closes a bracket with {parser.next.text} at character {parser.next.at + 1} that was "
            f"not opened so"
        )
    if parser.next is not END:
        parser.refuse_next("AND, OR or the end")
    return tree


class _Parser(ConstantParser):
    def read_joined(self) -> Condition:
        """Conditions that are joined by OR, each of conditions that are joined by AND."""
        alternatives: list[Condition] = []
        parts = [self._read_one()]
        while True:
            if self.take_word("AND"):
                parts.append(self._read_one())
                continue
            alternatives.append(parts[0] if len(parts) == 1 else Joined("AND", tuple(parts)))
            if not self.take_word("OR"):
                break
            parts = [self._read_one()]
        return alternatives[0] if len(alternatives) == 1 else Joined("OR", tuple(alternatives))

    def _read_one(self) -> Condition:
        place = self.next
        if self.take_word("NOT") or self.take_sign("!"):
            self.deeper(place)
            inner: Condition = Not(self._read_one())
        elif self.next.text == "(" and not self._encloses_side():
            self.require("(")
            self.deeper(place)
            inner = Group(self.read_joined())
            self.require(")")
        else:
            return self._read_comparison()
        self.depth -= 1
        return inner

    def _encloses_side(self) -> bool:
        """True if the brackets that open here hold one side of a comparison."""
        depth, ahead = 0, 0
        while True:
            token = self.peek(ahead)
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
            ahead += 1
            if token is END or depth == 0:
                return self.peek(ahead).kind == "sign" or self.word(ahead) in _AFTER_A_SIDE

    def _read_comparison(self) -> Condition:
        start = self.next
        value = self.read_constant()
        if value is not None:
            return self._read_turned(start, value)
        term = self._read_term()
        operator = self._read_operator()
        if operator is not None:
            return Compared(term, operator, self.require_constant())
        if self.take_word("IS"):
            is_negated = self.take_word("NOT")
            if not self.take_word("NULL"):
                self.refuse_next("NULL")
            return Null(term, is_negated)
        is_negated = self.take_word("NOT")
        found = self._read_range(term, is_negated=is_negated)
        if found is not None:
            return found
        if is_negated or not isinstance(term, Column):
            self.refuse_next("a comparison")
        return term

    def _read_turned(self, start: Token, value: Constant) -> Condition:
        operator = self._read_operator()
        if operator is None:
            if isinstance(value, Truth):
                return value
            self.refuse_next("a comparison")
        place = self.next
        if self.read_constant() is not None:
            raise RefusedError(
                f"compares two constants at character {start.at + 1} and at character "
                f"{place.at + 1}; one of them must be a column"
            )
        return Compared(self._read_term(), operator, value, is_turned=True)

    def _read_range(self, term: Term, *, is_negated: bool) -> Condition | None:
        if self.take_word("IN"):
            self.require("(")
            values = [self.require_constant()]
            while self.take_sign(","):
                values.append(self.require_constant())
            self.require(")")
            return Listed(term, tuple(values), is_negated)
        if self.take_word("BETWEEN"):
            low = self.require_constant()
            if not self.take_word("AND"):
                self.refuse_next("AND")
            return Between(term, low, self.require_constant(), is_negated)
        place = self.next
        if self.take_word("LIKE"):
            return Prefixed(term, self._read_prefix(place), is_negated)
        return None

    def _read_prefix(self, like: Token) -> str:
        token = self.next
        pattern = self.read_text() if token.kind == "text" else None
        prefix = "".join(pattern.pieces)[:-1] if pattern is not None else ""
        if (
            pattern is None
            or len(pattern.pieces) > 1
            or not pattern.pieces[0].endswith("%")
            or not prefix
            or any(sign in prefix for sign in "%_\\")
            or self.word() == "ESCAPE"
        ):
            raise RefusedError(
                f"has a LIKE at character {like.at + 1} whose pattern is not a prefix; Iceberg "
                f"can use only a text that ends with its one %, without _ and backslash"
            )
        return prefix

    def _read_operator(self) -> str | None:
        signs = ""
        while (
            self.next.kind == "sign"
            and self.next.text in "<>=!"
            and (not signs or self.next.at == self.peek(-1).at + 1)
        ):
            signs += self.take().text
        if signs and signs not in _OPERATORS:
            raise RefusedError(
                f"holds {signs!r} at character {self.peek(-1).at + 2 - len(signs)}; the operators "
                f"are {', '.join(sorted(_OPERATORS))}"
            )
        return signs or None

    def _read_term(self) -> Term:
        place = self.next
        if self.take_sign("("):
            self.deeper(place)
            term = self._read_term()
            self.require(")")
            self.depth -= 1
            return term
        if self.word() in {"CAST", "DATE"} and self.peek(1).text == "(":
            is_cast = self.word() == "CAST"
            self.at += 2
            column = self._read_column()
            if is_cast and not (self.take_word("AS") and self.take_word("DATE")):
                self.refuse_next("AS DATE, to which alone a column may be cast")
            self.require(")")
            return DateOf(column)
        start = self.next
        path = self.read_path()
        if self.take_sign("("):
            return self._read_transform(path, start)
        return Column(path, start.at)

    def _read_transform(self, path: tuple[tuple[str, bool], ...], start: Token) -> Transformed:
        name = path[-1][0].lower()
        if len(path) == 1 or path[-2][0].lower() != "system" or name not in TRANSFORMS:
            self.refuse_call(".".join(level for level, _ in path), start)
        parameter = None
        if TRANSFORMS[name] > 1:
            token = self.take()
            parameter = read_whole(token.text) if token.kind == "number" else None
            if parameter is None or not 0 < parameter <= _LARGEST_INT:
                self.at -= 1
                self.refuse_next(f"a number from 1 to {_LARGEST_INT}")
            self.require(",")
        column = self._read_column()
        self.require(")")
        return Transformed(path, parameter, column)

    def _read_column(self) -> Column:
        start = self.next
        return Column(self.read_path(), start.at)
