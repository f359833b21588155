"""The rows of the lake: realistic, and the same on every machine and every day.

Their dates never depend on today's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa

SEED = 20260105
FIRST_DAY = date(2026, 1, 5)
FIRST_MOMENT = datetime(2026, 1, 5, tzinfo=UTC)

Row = tuple[object, ...]

_REGIONS = ("north", "east", "south", "west")


def seed(*parts: object) -> Random:
    """Return a generator for one file, so that no file depends on the order of creation."""
    return Random(f"{SEED}:{parts}")  # noqa: S311 - demo rows, not secrets


def draw_money(random: Random, least: int, above: int) -> Decimal:
    """Draw an amount from `least` to below `above` hundredths."""
    return Decimal(random.randrange(least, above)).scaleb(-2)


def make_table(schema: pa.Schema, rows: Iterator[Row]) -> pa.Table:
    """Build a table from rows, with the schema's types and field ids."""
    columns = list(zip(*rows, strict=True))
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def initial_accounts(count: int) -> Iterator[Row]:
    """Yield the first accounts, as operation I of batch 0.

    A row has key, region, status, balance and time of change.
    """
    random = seed("accounts", 0)
    for key in range(count):
        yield _account(0, "I", key, "open", draw_money(random, 0, 1_000_000))


def account_changes(batch: int, count: int, known: int) -> Iterator[Row]:
    """Yield one batch of changes: updates (U), closures (D) and new accounts (I).

    Each key has at most one change.
    """
    random = seed("accounts", batch)
    inserts = count // 10
    for key in sorted(random.sample(range(known), count - inserts)):
        operation = "D" if random.randrange(12) == 0 else "U"
        balance = draw_money(random, 0, 1_000_000)
        yield _account(batch, operation, key, random.choice(("open", "open", "frozen")), balance)
    for number in range(inserts):
        key = 1_000_000 + batch * 1000 + number
        yield _account(batch, "I", key, "open", draw_money(random, 0, 100_000))


def _account(batch: int, operation: str, key: int, state: str, balance: Decimal) -> Row:
    moment = FIRST_MOMENT + timedelta(minutes=15 * batch)
    return batch, operation, key, _REGIONS[key % len(_REGIONS)], state, balance, moment
