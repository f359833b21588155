"""An index of parts of table names, so that a search reads only names that may match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, insert, select

from maintainer.adapters.store.database import MAX_SQL_VARIABLES
from maintainer.adapters.store.schema import name_parts, searched_names, tables

PART_CHARACTERS = (
    8  # longer parts: fewer candidates and more bytes; a shorter text is a prefix of parts
)
CANDIDATES_AT_MOST = MAX_SQL_VARIABLES
PARTS_ASKED_AT_MOST = 4  # parts of a long search text that are tried until one is in few names
# names with the rarest of these parts that are compared with the others
COMPARED_AT_MOST = 5_000
SWEPT_ABOVE = (
    4 * MAX_SQL_VARIABLES
)  # above this number of names, one pass over all parts is cheaper than a lookup for each name
_LAST_CHARACTER = "\U0010ffff"
_FIRST_SURROGATE, _AFTER_SURROGATES = 0xD800, 0xE000


def split_name(search_name: str) -> list[str]:
    """Return the parts that begin at each character, each once."""
    return list(
        dict.fromkeys(
            search_name[start : start + PART_CHARACTERS] for start in range(len(search_name))
        )
    )


def add_names(connection: Connection, search_names: Mapping[str, str]) -> None:
    """Add the names of tables that this transaction added; the keys are full names."""
    names = list(search_names)
    for start in range(0, len(names), MAX_SQL_VARIABLES):
        some = names[start : start + MAX_SQL_VARIABLES]
        connection.execute(insert(searched_names), [{"full_name": name} for name in some])
        rows = connection.execute(
            select(searched_names).where(searched_names.c.full_name.in_(some))
        ).all()
        parts = [
            {"part": part, "name_id": row.name_id}
            for row in rows
            for part in split_name(search_names[row.full_name])
        ]
        connection.execute(insert(name_parts), parts)


def add_missing_names(connection: Connection) -> int:
    """Add names that an earlier version wrote; return their number."""
    missing = (
        select(tables.c.full_name, tables.c.search_name)
        .outerjoin(searched_names)
        .where(searched_names.c.name_id.is_(None))
    )
    found = {row.full_name: row.search_name for row in connection.execute(missing)}
    add_names(connection, found)
    return len(found)


def delete_names(connection: Connection, full_names: Sequence[str]) -> None:
    """Delete the names of tables that this transaction is about to delete."""
    are_many = len(full_names) > SWEPT_ABOVE
    for start in range(0, len(full_names), MAX_SQL_VARIABLES):
        some = full_names[start : start + MAX_SQL_VARIABLES]
        if not are_many:
            _delete_parts(connection, some)
        connection.execute(delete(searched_names).where(searched_names.c.full_name.in_(some)))
    if are_many:
        connection.execute(
            delete(name_parts).where(name_parts.c.name_id.not_in(select(searched_names.c.name_id)))
        )


def _delete_parts(connection: Connection, full_names: Sequence[str]) -> None:
    rows = connection.execute(
        select(searched_names.c.name_id, tables.c.search_name)
        .join(tables)
        .where(tables.c.full_name.in_(full_names))
    ).all()
    keys = [
        {"key_part": part, "key_id": row.name_id}
        for row in rows
        for part in split_name(row.search_name)
    ]
    if keys:
        connection.execute(
            delete(name_parts).where(
                name_parts.c.part == bindparam("key_part"),
                name_parts.c.name_id == bindparam("key_id"),
            ),
            keys,
        )


def find_candidates(connection: Connection, text: str) -> Sequence[str] | None:
    """Return the full names that may contain the case-folded text; None if there are too many."""
    parts = list(_choose_parts(text))
    for part in parts:
        # In the order of the key: PostgreSQL would otherwise read all parts when it expects many
        # matches.
        near = (
            select(name_parts.c.name_id)
            .where(*_begins_with(part))
            .order_by(name_parts.c.part, name_parts.c.name_id)
        )
        ids = connection.execute(near.limit(CANDIDATES_AT_MOST + 1)).scalars().all()
        if len(ids) <= CANDIDATES_AT_MOST:
            return _read_names(connection, ids)
    return _find_in_common(connection, parts) if len(parts) > 1 else None


def _find_in_common(connection: Connection, parts: Sequence[str]) -> Sequence[str] | None:
    """Return the names that have all of these parts, each of which is in many names.

    Together a frequent date, region and kind may be in one name only.
    """
    numbers = [
        select(func.count()).select_from(
            select(name_parts)
            .where(name_parts.c.part == part)
            .limit(COMPARED_AT_MOST + 1)
            .subquery()
        )
        for part in parts
    ]
    number, rarest = min(
        (int(connection.execute(counted).scalar_one()), part)
        for counted, part in zip(numbers, parts, strict=True)
    )
    if number > COMPARED_AT_MOST:
        return None
    has_others = [_has_part(part) for part in parts if part != rarest]
    near = (
        select(name_parts.c.name_id)
        .where(name_parts.c.part == rarest, *has_others)
        .order_by(name_parts.c.part, name_parts.c.name_id)
    )
    ids = connection.execute(near.limit(CANDIDATES_AT_MOST + 1)).scalars().all()
    return _read_names(connection, ids) if len(ids) <= CANDIDATES_AT_MOST else None


def _has_part(part: str) -> ColumnElement[bool]:
    other = name_parts.alias()
    return exists().where(other.c.part == part, other.c.name_id == name_parts.c.name_id)


def _read_names(connection: Connection, ids: Sequence[int]) -> Sequence[str]:
    names = select(searched_names.c.full_name).where(searched_names.c.name_id.in_(set(ids)))
    return connection.execute(names).scalars().all() if ids else []


def _choose_parts(text: str) -> Iterator[str]:
    """Yield the parts of the text, the last first: names differ more at their ends."""
    last = max(0, len(text) - PART_CHARACTERS)
    steps = PARTS_ASKED_AT_MOST - 1
    for start in dict.fromkeys(last - last * step // steps for step in range(PARTS_ASKED_AT_MOST)):
        yield text[start : start + PART_CHARACTERS]


def _begins_with(part: str) -> tuple[ColumnElement[bool], ...]:
    """Match a prefix by one range of the index; both databases compare by code points."""
    if len(part) == PART_CHARACTERS:
        return (name_parts.c.part == part,)
    kept = part.rstrip(_LAST_CHARACTER)
    if not kept:
        return (name_parts.c.part >= part,)
    following = ord(kept[-1]) + 1
    end = kept[:-1] + chr(_AFTER_SURROGATES if following == _FIRST_SURROGATE else following)
    return name_parts.c.part >= part, name_parts.c.part < end
