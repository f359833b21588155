"""The shapes of tables that the planner twin is held against Spark on: a list by hand, and as many
more as a seed makes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.conformance.tables import KIB, Batch, Deletes, Fields, File, Layout

TARGET = 100 * KIB
TARGET_PROPERTIES: Mapping[str, str] = {
    "write.target-file-size-bytes": str(TARGET),
    "write.parquet.row-group-size-bytes": str(1024 * KIB),
}


@dataclass(frozen=True)
class Shape:
    """A table and what is asked of it."""

    name: str
    layout: Layout
    options: Mapping[str, str] = field(default_factory=dict)
    strategy: str = "binpack"
    sort_order: str | None = None
    chosen: Sequence[int] | None = (
        None  # positions of the partitions, in the order of their text, that a filter is to select
    )
    seed: int = 0
    where: str | None = None  # a policy's own filter


def table(files: Sequence[File], fields: Fields = (), **more: Any) -> Layout:
    properties = {**TARGET_PROPERTIES, **more.pop("properties", {})}
    return Layout([Batch(files)], fields, properties=properties, **more)


def files(*sizes: int, **values: Any) -> list[File]:
    return [File(size * KIB, values) for size in sizes]


def plain() -> Iterator[Shape]:
    for count in (1, 2, 4, 5, 6):
        yield Shape(f"{count} small files", table(files(*[15] * count)))
    yield Shape("two files under the target", table(files(45, 45)))
    yield Shape("two files over the target", table(files(60, 60)))
    yield Shape(
        "files around three quarters of the target", table(files(70, 72, 74, 75, 76, 78, 80, 73))
    )
    yield Shape("only files of the right size", table(files(90, 100, 120, 170)))
    yield Shape("a remainder that is folded", table(files(*[21] * 10)))
    yield Shape("a remainder of its own", table(files(*[29] * 5)))
    yield Shape("a remainder of a valid size", table(files(*[18] * 10)))
    yield Shape("files that do not fit together", table(files(*[32] * 25)))
    yield Shape("files of many sizes", table(files(*[8 + n * 13 % 60 for n in range(30)])))
    yield Shape("the least that a file can have", table([File(1, rows=1) for _ in range(7)]))
    yield Shape(
        "one file to split at its row groups",
        table(
            [File(400 * KIB, rows=40, row_groups=8)],
            properties={"write.parquet.row-group-size-bytes": "52000"},
        ),
    )
    yield Shape("one file that cannot be split, of few rows", table([File(400 * KIB, rows=40)]))
    yield Shape(
        "one file that cannot be split, of many rows", table([File(900 * KIB, rows=30_000)])
    )
    yield Shape(
        "a large file among small ones", table([*files(15, 15, 15), File(300 * KIB, rows=30)])
    )
    yield Shape(
        "several commits",
        Layout([Batch(files(*[20 + n] * 3)) for n in range(4)], properties=TARGET_PROPERTIES),
    )
    yield Shape(
        "several commits of many sizes",
        Layout([Batch(files(9, 33, 51)) for _ in range(6)], properties=TARGET_PROPERTIES),
    )
    yield Shape("an empty table", Layout([], properties=TARGET_PROPERTIES))


def options() -> Iterator[Shape]:
    yield Shape("min-input-files 2", table(files(15, 15)), {"min-input-files": "2"})
    yield Shape(
        "min-input-files 1 does not take a single file", table(files(15)), {"min-input-files": "1"}
    )
    yield Shape("min-input-files 10", table(files(*[10] * 9)), {"min-input-files": "10"})
    yield Shape("rewrite-all", table(files(90, 100, 110)), {"rewrite-all": "true"})
    yield Shape("rewrite-all of one file", table(files(100)), {"rewrite-all": "true"})
    yield Shape(
        "min-file-size-bytes",
        table(files(20, 30, 40, 50, 60, 30, 35)),
        {"min-file-size-bytes": str(38 * KIB)},
    )
    yield Shape(
        "max-file-size-bytes",
        table([*files(90, 100), File(150 * KIB, rows=30)]),
        {"max-file-size-bytes": str(130 * KIB)},
    )
    yield Shape(
        "another target than the table's",
        table([File(300 * KIB) for _ in range(6)]),
        {"target-file-size-bytes": str(1024 * KIB)},
    )
    yield Shape(
        "another target with many partitions",
        by("number", [7, 5, 3], 250),
        {"target-file-size-bytes": str(1536 * KIB)},
    )
    wide = {"write.target-file-size-bytes": str(600 * KIB)}
    yield Shape(
        "max-file-group-size-bytes",
        table([File(300 * KIB) for _ in range(8)], properties=wide),
        {"max-file-group-size-bytes": str(1024 * KIB)},
    )
    rest = {"max-file-group-size-bytes": str(1100 * KIB)}
    yield Shape(
        "a group's rest that is too small",
        table([File(250 * KIB) for _ in range(13)], properties=wide),
        rest,
    )
    yield Shape(
        "max-file-group-input-files", table(files(*[12] * 14)), {"max-file-group-input-files": "6"}
    )
    yield Shape("max-files-to-rewrite", by("number", [6, 6, 6]), {"max-files-to-rewrite": "8"})
    yield Shape(
        "max-files-to-rewrite of one group", table(files(*[12] * 12)), {"max-files-to-rewrite": "7"}
    )


def by(
    column: str,
    counts: Sequence[int],
    size: int = 15,
    transform: str = "identity",
    values: Sequence[Any] | None = None,
    **more: Any,
) -> Layout:
    """So many files in each partition."""
    chosen = list(range(len(counts))) if values is None else values
    made = [
        File(size * KIB, {column: value})
        for count, value in zip(counts, chosen, strict=True)
        for _ in range(count)
    ]
    return table(made, [(column, transform)], **more)


NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
TRANSFORMS: Sequence[tuple[str, str, Sequence[Any]]] = (
    ("number", "identity", (3, -7, 2**40, None)),
    ("small", "identity", (3, -7, 0, None)),
    ("word", "identity", ("a", "it's \\ a/b=c%41 ${x} `é`\n", "", "null", None)),
    ("flag", "identity", (True, False, None)),
    ("day", "identity", (date(2026, 2, 28), date(1969, 12, 31), None)),
    ("at", "identity", (NOON, NOON + timedelta(microseconds=1), None)),
    # A timestamp without a zone.
    ("local", "identity", (NOON.replace(tzinfo=None), datetime(1960, 1, 1), None)),  # noqa: DTZ001
    ("price", "identity", (Decimal("1.50"), Decimal("-0.01"), None)),
    ("rate", "identity", (0.1, -1e300, float("inf"), None)),
    ("raw", "identity", (b"\x00'", b"", None)),
    ("od`d \"na'me", "identity", ("x", "y'", None)),
    ("nested.key", "identity", ("x", "y", None)),
    ("number", "bucket[4]", (1, 2, 3, 8, None)),
    ("word", "bucket[16]", ("a", "b", "c", None)),
    ("word", "truncate[2]", ("abc", "abd", "b", "'", None)),
    ("number", "truncate[10]", (1, 11, -1, None)),
    ("small", "truncate[10]", (1, 11, -1, None)),
    ("price", "truncate[50]", (Decimal("1.75"), Decimal("0.10"), None)),
    ("at", "year", (NOON, NOON.replace(year=1969), NOON.replace(year=2027), None)),
    ("at", "month", (NOON, NOON + timedelta(days=1), None)),
    ("at", "day", (NOON, NOON + timedelta(hours=12), NOON.replace(year=1969), None)),
    (
        "at",
        "hour",
        (NOON, NOON + timedelta(hours=11, minutes=59), NOON + timedelta(hours=12), None),
    ),
    ("local", "day", (NOON.replace(tzinfo=None), datetime(2026, 4, 1), None)),  # noqa: DTZ001
    ("local", "hour", (NOON.replace(tzinfo=None), datetime(2026, 3, 31, 13), None)),  # noqa: DTZ001
    ("day", "month", (date(2026, 2, 28), date(2026, 3, 1), None)),
    ("day", "year", (date(2026, 12, 31), date(2027, 1, 1), None)),
)


def partitioned() -> Iterator[Shape]:
    """Each transform with a filter for one partition, for the one without a value, or for two of
    them.
    """
    for number, (column, transform, values) in enumerate(TRANSFORMS):
        counts = [6 if position % 2 == number % 2 else 5 for position in range(len(values))]
        places = len(values)
        chosen = [[number % places], [places - 1], sorted({0, number % places})][number % 3]
        layout = by(column, counts, transform=transform, values=values)
        yield Shape(
            f"{transform} of {column!r}, filtered",
            layout,
            chosen=chosen if "bucket" not in transform and "truncate" not in transform else [0],
        )
    yield Shape("partitions of which some have enough", by("number", [5, 4, 1, 8, 2]))
    yield Shape("four small files in each of many partitions", by("number", [4] * 12))
    yield Shape(
        "two fields",
        table(
            [File(15 * KIB, {"word": word, "at": NOON}) for word in "aabbbbb" for _ in (0, 1)],
            [("word", "identity"), ("at", "day")],
        ),
    )
    both = [("word", "identity"), ("at", "day")]
    pairs = table(
        [
            File(15 * KIB, {"word": word, "at": at})
            for word in ("a", None)
            for at in (NOON, None)
            for _ in range(5)
        ],
        both,
    )
    yield Shape("two fields without values, filtered", pairs, chosen=[1])
    for column, transform, values in TRANSFORMS:
        if transform.startswith(("bucket", "truncate")):
            counts = [5] * (len(values) - 1) + [6]
            yield Shape(
                f"{transform} of {column!r} without a value, filtered",
                by(column, counts, transform=transform, values=values),
                chosen=[-1],
            )


def evolved() -> Iterator[Shape]:
    days = [
        File(15 * KIB, {"at": NOON + timedelta(days=day)}) for day in range(-2, 4) for _ in (0, 1)
    ]
    months = [File(15 * KIB, {"at": NOON + timedelta(days=day)}) for day in (0, 0, 0, 0, 0, 40, 40)]

    def then(
        first: Sequence[File], before: Fields, second: Sequence[File], after: Fields
    ) -> Layout:
        return Layout([Batch(first), Batch(second, after)], before, properties=TARGET_PROPERTIES)

    yield Shape("days, then months", then(days, [("at", "day")], months, [("at", "month")]))
    yield Shape("months, then days", then(months, [("at", "month")], days, [("at", "day")]))
    yield Shape("partitions, then none", then(days, [("at", "day")], files(15, 15, 15), []))
    yield Shape(
        "no partitions, then some", then(files(15, 15, 15, 15, 15), [], months, [("at", "month")])
    )
    empty = [File(15 * KIB, {"at": None}), *months]
    yield Shape(
        "old files join those without a value",
        then(days[:4], [("at", "day")], empty, [("at", "month")]),
    )
    yield Shape(
        "the old spec is written again",
        then(days, [("at", "day")], months, [("at", "month")]),
        {"output-spec-id": "1"},
    )
    yield Shape(
        "new files of an evolved table, filtered",
        then(days[:2], [("at", "day")], months, [("word", "identity")]),
        chosen=[1],
    )
    noons = [
        File(15 * KIB, {"at": NOON + timedelta(days=day)})
        for day in (-2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1)
    ]
    yield Shape(
        "an old day of what are months now, filtered",
        then(noons, [("at", "day")], months, [("at", "month")]),
        chosen=[0],
    )
    springs = [
        File(15 * KIB, {"at": NOON + timedelta(days=day)}) for day in (0, 0, 40, 40, 40, 40, 40)
    ]
    yield Shape(
        "an old month of what are days now, filtered",
        then(springs, [("at", "month")], noons, [("at", "day")]),
        chosen=[1],
    )
    numbers = [File(15 * KIB, {"number": number}) for number in (3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4)]
    none = [*numbers[:6], *[File(15 * KIB, {"number": None})] * 5]
    later = [File(15 * KIB, {"number": 5})] * 6
    yield Shape(
        "an old partition of what has none now, filtered",
        then(numbers, [("number", "identity")], later, []),
        chosen=[1],
    )
    yield Shape(
        "the old partition without a value of what has none now, filtered",
        then(none, [("number", "identity")], later, []),
        chosen=[2],
    )
    yield Shape(
        "an old bucket of what are values now, filtered",
        then(numbers, [("number", "bucket[4]")], later, [("number", "identity")]),
        chosen=[0],
    )


def deleted() -> Iterator[Shape]:
    right = [File(90 * KIB, {"number": number}) for number in range(4)]
    by_number: Fields = [("number", "identity")]
    for rows in (2, 3, 5, 10):
        deletes = [Deletes("file", [0, 1], rows)]
        yield Shape(f"{rows} of 10 rows deleted", table(right, by_number, deletes=deletes))
    yield Shape(
        "delete-ratio-threshold",
        table(right, by_number, deletes=[Deletes("file", [0], 4), Deletes("file", [1], 6)]),
        {"delete-ratio-threshold": "0.5"},
    )
    two = [Deletes("file", [0], 1), Deletes("file", [0], 1), Deletes("file", [1], 1)]
    yield Shape(
        "delete-file-threshold",
        table(right, by_number, deletes=two),
        {"delete-file-threshold": "2"},
    )
    together = [File(90 * KIB, {"number": number % 2}) for number in range(4)]
    whole = [Deletes("partition", [0, 2], 4)]
    yield Shape("deletes for a partition have no ratio", table(together, by_number, deletes=whole))
    yield Shape(
        "deletes for a partition count",
        table(together, by_number, deletes=whole),
        {"delete-file-threshold": "1"},
    )
    equality = [Deletes("equality", [0], 4)]
    yield Shape(
        "equality deletes count",
        table(together, by_number, deletes=equality),
        {"delete-file-threshold": "1"},
    )
    everywhere = table(together, deletes=equality)
    yield Shape("equality deletes without a partition", everywhere, {"delete-file-threshold": "1"})
    yield Shape(
        "a small file with deletes takes its group along",
        table(files(15, 15, 90), deletes=[Deletes("file", [0], 9)]),
    )
    vectors = {"write.delete.mode": "merge-on-read"}
    some = [Deletes("vector", [], where="number = 1 AND id % 2 = 0")]
    yield Shape(
        "deletion vectors",
        table(right, by_number, deletes=some, properties=vectors, format_version=3),
    )
    few = [
        Deletes("vector", [], where="id % 10 < 3 AND number < 3"),
        Deletes("vector", [], where="id % 10 < 5 AND number = 0"),
    ]
    yield Shape(
        "deletion vectors that replace others",
        table(right, deletes=few, properties=vectors, format_version=3),
        {"delete-ratio-threshold": "0.5"},
    )


def third() -> Iterator[Shape]:
    """Format version 3, with rows that were written under it and have their ids."""
    vectors = {"write.delete.mode": "merge-on-read"}
    by_number: Fields = [("number", "identity")]
    right = [File(90 * KIB, {"number": number}) for number in range(3)]
    insert = (
        "INSERT INTO {{table}} (id, number, word) SELECT id, {number}, 'late' "
        "FROM range({start}, {start} + 10)"
    )
    late = [insert.format(number=n % 2, start=n * 10 + 500_000) for n in range(8)]
    some = "DELETE FROM {table} WHERE id % 10 < 4 AND number = 1"
    yield Shape(
        "version 3: deletion vectors beside rows that were added to the partitions",
        table(right, by_number, properties=vectors, format_version=3, statements=[*late, some]),
    )
    yield Shape(
        "version 3: one partition of those, filtered",
        table(right, by_number, properties=vectors, format_version=3, statements=[*late, some]),
        chosen=[1],
    )
    yield Shape(
        "version 3: a column with a default value",
        table(files(*[15] * 4), format_version=3, default=7, statements=late),
    )
    upgrade = "ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')"
    scoped = [Deletes("file", [0], 2), Deletes("file", [1], 1)]
    yield Shape(
        "version 3: upgraded with the position deletes of version 2",
        table(right, by_number, properties=vectors, deletes=scoped, statements=[upgrade]),
        {"delete-ratio-threshold": "0.2"},
    )
    yield Shape(
        "version 3: upgraded, then deleted from and added to",
        table(
            right,
            by_number,
            properties=vectors,
            deletes=scoped,
            statements=[upgrade, *late, "DELETE FROM {table} WHERE number = 0 AND id % 10 = 5"],
        ),
        {"delete-file-threshold": "1"},
    )


def sorted_() -> Iterator[Shape]:
    yield Shape("sort of one output", table(files(*[15] * 6)), strategy="sort", sort_order="id")
    yield Shape(
        "sort of several outputs",
        by("number", [7, 5, 4], 30),
        strategy="sort",
        sort_order="id DESC",
    )
    yield Shape("z-order", by("number", [8, 3], 25), strategy="sort", sort_order="zorder(id, word)")


def filtered() -> Iterator[Shape]:
    """Under a policy's own filter."""
    dates = by(
        "day",
        [6, 5, 5, 7],
        transform="identity",
        values=[date(2026, 3, 1), date(2026, 3, 2), None, date(2999, 1, 1)],
    )
    yield Shape("whole days of the past", dates, where="day < current_date")
    yield Shape(
        "days from when until when", dates, where="day BETWEEN DATE '2026-03-02' AND '2026-12-31'"
    )
    yield Shape("what has no value", dates, where="day IS NULL")
    months = by(
        "day", [6, 5, 7], transform="month", values=[date(2026, 2, 28), date(2026, 3, 31), None]
    )
    yield Shape(
        "months at their boundary",
        months,
        where="day >= DATE '2026-03-01' AND day < DATE '2026-04-01'",
    )
    moments = by(
        "at",
        [5, 5, 6, 7],
        transform="day",
        values=[NOON - timedelta(days=1), NOON, NOON + timedelta(days=1), None],
    )
    yield Shape(
        "days of times up to a boundary", moments, where="at < TIMESTAMP '2026-04-01 00:00:00 UTC'"
    )
    yield Shape(
        "days of times up to within a day",
        moments,
        where="at < TIMESTAMP '2026-03-31 09:00:00 UTC' AND id >= 0",
    )
    hours = by(
        "local",
        [5, 6],
        transform="hour",
        # A timestamp without a zone.
        values=[NOON.replace(tzinfo=None), datetime(2026, 3, 31, 13)],  # noqa: DTZ001
    )
    yield Shape("hours without a zone", hours, where="'2026-03-31 13:00:00' <= local")
    pairs = [
        File(15 * KIB, {"word": word, "number": number})
        for word in "ab"
        for number in (1, 2, 3)
        for _ in range(5)
    ]
    yield Shape(
        "two fields",
        table(pairs, [("word", "identity"), ("number", "identity")]),
        where="word = 'a' AND number IN (1, 3)",
    )
    yield Shape(
        "a filter that takes nothing", table(pairs, [("word", "identity")]), where="word > 'b'"
    )
    old = [File(15 * KIB, {"at": NOON - timedelta(days=day)}) for day in (1, 2) for _ in range(5)]
    new = [File(15 * KIB, {"at": NOON + timedelta(days=30)})] * 5
    both = Layout(
        [Batch(old), Batch(new, [("at", "month")])], [("at", "day")], properties=TARGET_PROPERTIES
    )
    yield Shape(
        "a filter over two specs",
        both,
        where="at >= TIMESTAMP '2026-03-30 00:00:00 UTC' AND at < TIMESTAMP '2026-04-01 00:00:00 "
        "UTC'",
    )


def by_hand() -> list[Shape]:
    """The fixed list, the same at every run."""
    return [
        *plain(),
        *options(),
        *partitioned(),
        *evolved(),
        *deleted(),
        *third(),
        *sorted_(),
        *(replace(shape, name=f"where: {shape.name}") for shape in filtered()),
    ]


def by_seed(seed: int, number: int) -> list[Shape]:
    """Any shapes; the same seed makes the same."""
    chance = random.Random(seed)
    return [_any_shape(chance, f"seed {seed}, number {position}") for position in range(number)]


def _any_shape(chance: random.Random, name: str) -> Shape:
    column, transform, values = chance.choice([*TRANSFORMS, ("number", "", (1, 2))])
    # No larger than a writer puts in one file: what becomes of those takes many rows to show, and
    # is among the shapes by hand.
    sizes = [
        chance.choice([5, 12, 30, 45, 74, 76, 90, 120, 130]) for _ in range(chance.randint(1, 12))
    ]
    made = [
        File(chance.choice(sizes) * KIB, {column: chance.choice(values)})
        for _ in range(chance.randint(1, 24))
    ]
    parts = chance.choice([1, 1, 2, 3])
    cuts = sorted(chance.randrange(len(made) + 1) for _ in range(parts - 1))
    pieces = [
        made[start:end]
        for start, end in zip([0, *cuts], [*cuts, len(made)], strict=True)
        if start < end
    ]
    # Each later commit may be of another spec, so that a table evolves once or twice.
    evolves = chance.choice([False, False, True])
    specs: list[Fields | None] = [None, *(_any_spec(chance) if evolves else None for _ in pieces)]
    batches = [Batch(piece, spec) for piece, spec in zip(pieces, specs, strict=False)]
    version = chance.choice([2, 2, 3])
    chosen = {
        "min-input-files": chance.choice([None, None, "2", "3", "8"]),
        "rewrite-all": chance.choice([None, None, None, "true"]),
        "delete-file-threshold": chance.choice([None, None, "1", "2"]),
        "min-file-size-bytes": chance.choice([None, None, str(40 * KIB)]),
        "max-file-group-input-files": chance.choice([None, None, "3", "7"]),
        "max-file-group-size-bytes": chance.choice([None, None, str(1024 * KIB)]),
    }
    layout = Layout(
        batches,
        [(column, transform)] if transform else (),
        _any_deletes(chance, made, pieces, column, version),
        {**TARGET_PROPERTIES, "write.delete.mode": "merge-on-read"},
        version,
    )
    return Shape(
        name,
        layout,
        {key: value for key, value in chosen.items() if value is not None},
        seed=chance.randrange(1000),
        where=chance.choice([None, None, _any_where(column, values)]),
    )


def _any_spec(chance: random.Random) -> Fields:
    return chance.choice(
        [[("number", "identity")], [("word", "bucket[4]")], [("at", "month")], [("small", "")][:0]]
    )


def _any_where(column: str, values: Sequence[Any]) -> str | None:
    if column in {"number", "small"}:
        return f"{column} = {values[0]}"
    return f"{column} IS NOT NULL" if column in {"day", "at", "flag"} else None


def _any_deletes(
    chance: random.Random,
    made: Sequence[File],
    pieces: Sequence[Sequence[File]],
    column: str,
    version: int,
) -> list[Deletes]:
    """Deletes of single files, and such as files of one commit and partition share."""
    kinds = ["equality", "vector"] if version > 2 else ["file", "file", "partition", "equality"]
    found = []
    for _ in range(chance.choice([0, 0, 1, 3])):
        kind, rows = chance.choice(kinds), chance.randint(1, 10)
        one = chance.randrange(len(made))
        if kind == "vector":
            found.append(Deletes(kind, [], where=f"id % 10 < {rows // 2} AND id < {one}000000"))
            continue
        start = 0
        for piece in pieces:
            if start <= one < start + len(piece):
                break
            start += len(piece)
        alike = [
            number
            for number, file in enumerate(piece, start)
            if file.values[column] == made[one].values[column]
        ]
        found.append(Deletes(kind, [one] if kind == "file" else alike, rows))
    return found
