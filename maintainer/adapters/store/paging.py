"""Keyset cursors. A cursor holds the end of a page, and is valid for one list and order."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    and_,
    false,
    func,
    or_,
    true,
    tuple_,
    type_coerce,
)

from maintainer.adapters.store.types import AnyRow
from maintainer.domain.errors import InvalidValueError
from maintainer.ports.store.pages import MAX_PAGE, Page

T = TypeVar("T")

MAX_CURSOR_CHARACTERS = 8192
_INTEGER_LIMIT = 2**63

SortValue = int | float | str | None
_DECODER = msgspec.json.Decoder(tuple[str, int | float | str | None, str])


@dataclass(frozen=True, slots=True)
class Position:
    """The last row of a page: its sort value, and the id that breaks ties."""

    value: SortValue
    row_id: str


def is_named_within(
    full_name: ColumnElement[Any], prefixes: Sequence[str] | None
) -> ColumnElement[bool]:
    """Match full names that begin with one of the prefixes; each prefix is a range of an index.

    A prefix ends with "."; "/" is the character after ".". None matches all names.
    """
    if prefixes is None:
        return true()
    ranges = (
        and_(full_name >= prefix, full_name < f"{prefix.removesuffix('.')}/") for prefix in prefixes
    )
    return or_(false(), *ranges)


def check_limit(limit: int) -> None:
    """Raise InvalidValueError outside 1..MAX_PAGE."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidValueError(f"limit {limit} is outside 1..{MAX_PAGE}")


def read_newest(  # noqa: PLR0913, PLR0917 - the arguments of a page
    connection: Connection,
    rows: Select[Any],
    keys: tuple[ColumnElement[Any], ...],
    order: str,
    limit: int,
    cursor: str | None,
    read: Callable[[AnyRow], T],
) -> Page[T]:
    """Read a page of these rows, newest first, with the total number of rows.

    The first key is an instant or a number. If its values can be equal, the second key is a name.
    """
    check_limit(limit)
    after = read_cursor(cursor, order, int)
    counted = rows.with_only_columns(func.count(), maintain_column_froms=True)
    raw = [type_coerce(keys[0], BigInteger).label("raw_key"), *keys[1:]]
    page = rows.add_columns(*raw).order_by(*(key.desc() for key in keys)).limit(limit + 1)
    if after is not None:
        page = page.where(tuple_(*raw) < (after.value or 0, after.row_id)[: len(raw)])
    found = connection.execute(page).all()
    following = None
    if len(found) > limit:
        value, row_id = (*found[limit - 1][-len(raw) :], "")[:2]
        following = write_cursor(order, Position(value, row_id))
    total = connection.execute(counted).scalar_one()
    return Page(tuple(map(read, found[:limit])), following, total)


def write_cursor(order: str, position: Position) -> str:
    """Write the cursor as an opaque text that is safe in a URL."""
    return (
        base64.urlsafe_b64encode(msgspec.json.encode((order, position.value, position.row_id)))
        .rstrip(b"=")
        .decode()
    )


def read_cursor(cursor: str | None, order: str, kind: type[int | float | str]) -> Position | None:
    """Read a cursor that write_cursor made for this order; InvalidValueError for other texts."""
    if cursor is None:
        return None
    message = (
        f"cursor {cursor[:40]!r} is not valid for this list and order; start again without a cursor"
    )
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found, value, row_id = _DECODER.decode(
            base64.b64decode(padded, altchars=b"-_", validate=True)
        )
    except (UnicodeEncodeError, binascii.Error, msgspec.DecodeError) as error:
        raise InvalidValueError(message) from error
    if len(cursor) > MAX_CURSOR_CHARACTERS or found != order or not _fits(value, kind):
        raise InvalidValueError(message)
    return Position(value, row_id)


def _fits(value: SortValue, kind: type[int | float | str]) -> bool:
    match value:
        case None:
            return True
        case str():
            return kind is str
        case int():
            return kind is not str and -_INTEGER_LIMIT <= value < _INTEGER_LIMIT
        case float():
            return kind is float
